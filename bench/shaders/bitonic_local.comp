#version 450
// Compare-exchange steps inside blocks of 1,024 keys: with full = 1 the whole sort of a block (alternating directions),
// otherwise the steps j = 512 ... 1 of stage k.
layout(local_size_x = 512) in;
layout(push_constant) uniform Push { uint k; uint full; };
layout(std430, binding = 0) buffer Keys { uint keys[]; };
shared uint block[1024];

void exchange(uint low, uint high, bool ascending) {
  uint a = block[low];
  uint b = block[high];
  if ((a > b) == ascending) {
    block[low] = b;
    block[high] = a;
  }
}

void main() {
  uint li = gl_LocalInvocationID.x;
  uint base = gl_WorkGroupID.x * 1024u;
  block[li] = keys[base + li];
  block[li + 512u] = keys[base + li + 512u];
  barrier();
  for (uint stage = full != 0u ? 2u : k; stage <= k; stage <<= 1) {
    for (uint j = min(stage >> 1, 512u); j > 0u; j >>= 1) {
      uint low = 2u * li - (li & (j - 1u));
      exchange(low, low + j, ((base + low) & stage) == 0u);
      barrier();
    }
  }
  keys[base + li] = block[li];
  keys[base + li + 512u] = block[li + 512u];
}
