#version 450
// Counts every invocation at the place of its workgroup and local index; the workgroup's size is specialised.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint kAdd = 1;
layout(set = 0, binding = 0) buffer Out { uint counts[]; };
layout(push_constant) uniform P { uvec3 extent; };
void main() {
  uvec3 g = gl_WorkGroupID;
  uint group = g.x + extent.x * (g.y + extent.y * g.z);
  uint size = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
  atomicAdd(counts[group * size + gl_LocalInvocationIndex], kAdd);
}
