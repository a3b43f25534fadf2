#version 450
// One compare-exchange step of distance j >= 1,024 in stage k.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint k; uint j; };
layout(std430, binding = 0) buffer Keys { uint keys[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint low = 2u * i - (i & (j - 1u));
  uint a = keys[low];
  uint b = keys[low + j];
  if ((a > b) == ((low & k) == 0u)) {
    keys[low] = b;
    keys[low + j] = a;
  }
}
