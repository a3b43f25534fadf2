#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_image_int64 : require
// Every atomic operation on 64-bit texels, all invocations on the same ones; then plain loads and stores.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uint64_t result[]; };
layout(binding = 1, r64ui) uniform u64image2D image;
layout(binding = 2, r64i) uniform i64image2D signedImage;
layout(binding = 3, r64ui) uniform u64imageBuffer texels;

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint64_t n = uint64_t(i);
  uint64_t large = (uint64_t(1) << 40) + n;
  imageAtomicAdd(image, ivec2(0, 0), (n + 1ul) * 0x100000001ul);
  imageAtomicMin(image, ivec2(1, 0), large);
  imageAtomicMax(image, ivec2(2, 0), large);
  imageAtomicAnd(image, ivec2(3, 0), ~(uint64_t(1) << (i & 63u)));
  imageAtomicOr(image, ivec2(4, 0), uint64_t(1) << (i & 63u));
  imageAtomicXor(image, ivec2(5, 0), n * 0x9e3779b97f4a7c15ul);
  result[4 * i] = imageAtomicExchange(image, ivec2(6, 0), large);
  result[4 * i + 1] = imageAtomicCompSwap(image, ivec2(7, 0), 0x500000005ul, large);
  imageAtomicMin(signedImage, ivec2(0, 0), -int64_t(large));
  imageAtomicMax(signedImage, ivec2(1, 0), int64_t(large) - (int64_t(1) << 41));
  imageAtomicAdd(texels, int(i & 3u), large);
  imageStore(image, ivec2(i, 1), u64vec4(large * 3ul));
  result[4 * i + 2] = imageLoad(image, ivec2(i, 1)).x;
  result[4 * i + 3] = imageLoad(texels, int(4u + i)).x;
}
