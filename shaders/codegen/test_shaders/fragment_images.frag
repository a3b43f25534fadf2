#version 460
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_quad : require

layout(location = 0) in vec4 value;

layout(set = 1, binding = 1) uniform sampler2D image;
layout(set = 1, binding = 2) uniform sampler2DShadow shadow;
layout(set = 1, binding = 3, input_attachment_index = 0) uniform subpassInput attachment;
layout(set = 1, binding = 4) uniform samplerCubeArray cubes;

layout(location = 0) out vec4 gradients;
layout(location = 1) out vec4 biased;
layout(location = 2) out vec4 place;
layout(location = 3) out vec4 queried;
layout(location = 4) out uvec4 group;

void main() {
  gradients = texture(image, value.xy);
  biased = texture(image, value.zw, value.x) + texture(shadow, value.xyz);
  place = subpassLoad(attachment);
  queried = vec4(textureQueryLod(cubes, value.xyz), textureProj(image, vec3(value.xy, 4.0)).xy);
  group = uvec4(subgroupBallot(value.x > 0).x, subgroupAdd(uint(abs(value.y))),
                subgroupQuadSwapHorizontal(floatBitsToUint(value.z)), subgroupElect() ? 1 : 0);
}
