#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
struct S { float a; vec3 b; mat2x3 m; };
layout(binding = 0, std430) buffer O { float o[]; };
layout(binding = 1, std140) uniform U { float f[3]; layout(row_major) mat3x2 r; mat3x2 c; S s[2]; } u;
layout(binding = 2, scalar) buffer V { vec3 v[3]; S s; uint8_t bytes[4]; int16_t shorts[2]; float16_t h[2]; uint64_t q; double d; } v;
layout(push_constant) uniform P { layout(offset = 16) layout(row_major) mat2 m; int i; } p;
void main() {
  int n = 0;
  o[n++] = u.f[p.i];
  for (int c = 0; c < 3; ++c) for (int r = 0; r < 2; ++r) o[n++] = u.r[c][r];
  for (int c = 0; c < 3; ++c) for (int r = 0; r < 2; ++r) o[n++] = u.c[c][r];
  S s = u.s[p.i];
  o[n++] = s.a; o[n++] = s.b.y; o[n++] = s.m[1].z;
  vec3 w = v.v[p.i];
  o[n++] = w.x; o[n++] = w.z;
  o[n++] = v.s.m[1][2];
  o[n++] = float(v.bytes[3]); o[n++] = float(v.shorts[1]); o[n++] = float(v.h[1]); o[n++] = float(v.q); o[n++] = float(v.d);
  vec2 x = p.m * vec2(1, 10);
  o[n++] = x.x; o[n++] = x.y;
  v.v[0] = vec3(7, 8, 9);
  v.bytes[0] = uint8_t(200);
  v.shorts[0] = int16_t(-5);
  v.s.m = mat2x3(1, 2, 3, 4, 5, 6);
  o[n++] = float(o.length());
}
