#version 450
// Inclusive prefix sum inside blocks of 256, and each block's total.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, binding = 1) writeonly buffer Target { uint target[]; };
layout(std430, binding = 2) writeonly buffer Totals { uint totals[]; };
shared uint line[256];

void main() {
  uint li = gl_LocalInvocationID.x;
  uint i = gl_GlobalInvocationID.x;
  line[li] = i < n ? source[i] : 0u;
  barrier();
  for (uint k = 1u; k < 256u; k <<= 1) {
    uint left = li >= k ? line[li - k] : 0u;
    barrier();
    line[li] += left;
    barrier();
  }
  if (i < n) target[i] = line[li];
  if (li == 255u) totals[gl_WorkGroupID.x] = line[255];
}
