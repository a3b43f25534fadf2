#version 450
// The sum of each workgroup's 256 elements, by a tree with barriers.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer In { uint data[]; };
layout(set = 0, binding = 1) buffer Out { uint sums[]; };
shared uint part[256];
void main() {
  uint l = gl_LocalInvocationIndex;
  part[l] = data[gl_GlobalInvocationID.x];
  barrier();
  for (uint k = 128; k > 0; k >>= 1) {
    if (l < k) part[l] += part[l + k];
    barrier();
  }
  if (l == 0) sums[gl_WorkGroupID.x] = part[0];
}
