#version 450
#extension GL_ARB_sparse_texture_clamp : require
#extension GL_EXT_samplerless_texture_functions : require
// One operation on a 2D image for each question.
layout(local_size_x = 32) in;
layout(constant_id = 0) const int kOperation = 0;
layout(constant_id = 1) const int kOffsetX = -32;  // beyond what a compiler lets pass as a literal
layout(constant_id = 2) const int kOffsetY = 31;
struct Question {
  vec4 at;         // x, y, level, minimum level
  vec4 gradients;  // by screen x, by screen y
};
layout(std430, binding = 0) buffer Out { vec4 result[]; };
layout(std430, binding = 1) readonly buffer In { Question questions[]; };
layout(binding = 2) uniform sampler2D image;

void main() {
  uint i = gl_GlobalInvocationID.x;
  Question q = questions[i];
  if (kOperation == 0) {
    result[i] = textureLod(image, q.at.xy, q.at.z);
  } else if (kOperation == 1) {
    result[i] = textureGrad(image, q.at.xy, q.gradients.xy, q.gradients.zw);
  } else if (kOperation == 2) {
    result[i] = textureGradClampARB(image, q.at.xy, q.gradients.xy, q.gradients.zw, q.at.w);
  } else if (kOperation == 3) {
    result[i] = texelFetch(image, ivec2(q.at.xy), int(q.at.z));
  } else if (kOperation == 5) {
    result[i] = textureLodOffset(image, q.at.xy, q.at.z, ivec2(kOffsetX, kOffsetY));
  } else {
    result[i] = textureGather(image, q.at.xy, 0);
  }
}
