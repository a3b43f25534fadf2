#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(binding = 1, r32f) uniform image2D image;
layout(binding = 2, r32f) uniform imageBuffer texels;

void main() {
  uint i = gl_GlobalInvocationID.x;
  float value = float(i + 1u);
  imageAtomicAdd(image, ivec2(0, 0), value);
  result[2 * i] = imageAtomicExchange(image, ivec2(1, 0), value);
  imageAtomicAdd(texels, int(i & 3u), 0.5 * value);
  result[2 * i + 1] = imageAtomicExchange(texels, 4, value);
}
