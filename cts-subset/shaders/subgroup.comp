//! vulkan1.1
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) buffer Out { uvec4 result[]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  uvec4 even = subgroupBallot((i & 1u) == 0u);
  result[i] = uvec4(gl_SubgroupSize, subgroupInclusiveAdd(i), subgroupShuffleXor(i, 1u), even.x);
}
