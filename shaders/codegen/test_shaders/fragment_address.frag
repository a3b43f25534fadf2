#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_quad : require

layout(buffer_reference, buffer_reference_align = 4) readonly buffer Numbers {
  uint at[];
};
layout(push_constant) uniform Push {
  Numbers numbers;
};

layout(location = 0) out uvec4 color;

void main() {
  // Quads without coverage have an address that is nowhere.
  uint helpers = gl_HelperInvocation ? 1 : 0;
  helpers += subgroupQuadSwapHorizontal(helpers);
  helpers += subgroupQuadSwapVertical(helpers);
  uint index = uint(gl_FragCoord.x) + 64 * uint(gl_FragCoord.y) + (helpers == 4 ? 1u << 29 : 0);
  uint number = numbers.at[index];
  color = uvec4(number, subgroupQuadBroadcast(number, 2), subgroupQuadSwapDiagonal(number), helpers);
}
