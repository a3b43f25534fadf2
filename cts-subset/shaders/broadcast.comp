//! vulkan1.2
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer In { uint lane[4]; };
layout(set = 0, binding = 1) buffer Out { uvec4 result[]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  uint size = gl_SubgroupSize;
  uint from = lane[(i / size) & 3u];  // uniform in the subgroup, known only at run time
  result[i] = uvec4(subgroupBroadcast(i * 3u, from), subgroupQuadBroadcast(i * 5u, from & 3u), size, i / size);
}
