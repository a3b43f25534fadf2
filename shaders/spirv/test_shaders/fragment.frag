#version 460
#extension GL_EXT_demote_to_helper_invocation : require
#extension GL_ARB_shader_stencil_export : require
#extension GL_KHR_shader_subgroup_quad : require

layout(location = 0) in vec4 color;
layout(location = 1) noperspective sample in vec2 list[2];
layout(location = 3) flat in ivec2 numbers;
layout(location = 4) in Block {
  centroid vec2 a;
  flat uint b;
} block;
in float gl_ClipDistance[2];

layout(set = 0, binding = 0) uniform sampler2DShadow image;
layout(set = 0, binding = 1, input_attachment_index = 0) uniform subpassInputMS attachment;
layout(set = 0, binding = 2) buffer Log {
  uint count;
};

layout(location = 0) out vec4 first;
layout(location = 1) out ivec2 second[2];

float shade(float v) {
  if (v < 0.25) discard;
  return texture(image, vec3(block.a, v), 1.0) + dFdx(v);
}

void main() {
  float sum = 0;
  for (int i = 0; i < numbers.x; ++i) {
    if (color.y > float(i)) demote;
    sum += interpolateAtOffset(list[i & 1].x, block.a) + shade(color.x + float(i));
  }
  if (gl_HelperInvocation || helperInvocationEXT()) sum += 1;
  first = color * sum + subpassLoad(attachment, gl_SampleID) + interpolateAtCentroid(color) * gl_FragCoord.w;
  first.x += subgroupQuadSwapDiagonal(sum) + gl_ClipDistance[1] + gl_PointCoord.y + gl_SamplePosition.x;
  second[numbers.y & 1] = ivec2(gl_PrimitiveID, gl_FrontFacing ? gl_SampleMaskIn[0] : int(block.b));
  gl_FragDepth = fwidthFine(sum);
  gl_SampleMask[0] = numbers.x;
  gl_FragStencilRefARB = numbers.y;
  atomicAdd(count, 1);
}
