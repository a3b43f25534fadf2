//! vulkan1.1
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_vote : require
// Red and green: the place of the quad's other pixels. Blue: whether the subgroup's counts agree. Alpha: the vertices'.
layout(location = 0) flat in uint right;
layout(location = 0) out vec4 target;
void main() {
  uint count = subgroupAdd(1u);
  uint bits = subgroupBallotBitCount(subgroupBallot(true));
  uint chosen = subgroupAdd(subgroupElect() ? 1u : 0u);
  bool agrees = count == bits && chosen == 1u && subgroupAll(count == bits);
  target = vec4(subgroupQuadSwapHorizontal(floor(gl_FragCoord.x)) / 255.0,
                subgroupQuadSwapVertical(floor(gl_FragCoord.y)) / 255.0, agrees ? 1.0 : 0.0, float(right));
}
