#version 450
// One partial sum per workgroup: the textbook tree with a barrier per level.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer Source { float source[]; };
layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };
shared float partial[256];

void main() {
  uint li = gl_LocalInvocationID.x;
  uint i = gl_GlobalInvocationID.x;
  partial[li] = i < n ? source[i] : 0.0;
  barrier();
  for (uint k = 128u; k > 0u; k >>= 1) {
    if (li < k) partial[li] += partial[li + k];
    barrier();
  }
  if (li == 0u) sums[gl_WorkGroupID.x] = partial[0];
}
