#version 450
// Adds to each block of 256 the scanned total of the blocks before it.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) buffer Target { uint target[]; };
layout(std430, binding = 1) readonly buffer Totals { uint totals[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint block = gl_WorkGroupID.x;
  if (i < n && block > 0u) target[i] += totals[block - 1u];
}
