//! vulkan1.1
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
// The whole target; whether the subgroup's counts agree.
layout(location = 0) flat out uint right;
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
  uint count = subgroupAdd(1u);
  uint bits = subgroupBallotBitCount(subgroupBallot(true));
  bool most = subgroupMax(gl_VertexIndex) >= gl_VertexIndex && subgroupMin(gl_VertexIndex) <= gl_VertexIndex;
  right = count == bits && count >= 1u && count <= gl_SubgroupSize && most ? 1u : 0u;
}
