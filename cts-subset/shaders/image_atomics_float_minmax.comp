#version 450
#extension GL_EXT_shader_atomic_float2 : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(binding = 1, r32f) uniform image2D image;
layout(binding = 2, r32f) uniform imageBuffer texels;

void main() {
  uint i = gl_GlobalInvocationID.x;
  // Neither the first nor the last invocation has the extremes.
  float value = float((i * 77u + 13u) & 255u) - 100.0;
  imageAtomicMin(image, ivec2(0, 0), value);
  imageAtomicMax(image, ivec2(1, 0), value);
  imageAtomicMin(texels, int(i & 3u), value * 0.5);
  result[i] = imageAtomicMax(texels, 4, value);
}
