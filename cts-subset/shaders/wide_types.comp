#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { uint64_t a[]; };
layout(set = 0, binding = 1) buffer OutInt { uint64_t r[]; };
layout(set = 0, binding = 2) buffer OutFloat { float64_t d[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint64_t x = a[i];
  r[i] = (x * 0x9e3779b97f4a7c15ul) ^ (x >> 7u) ^ (x / (uint64_t(i) + 1ul));
  float64_t f = float64_t(int64_t(x >> 12u));
  precise float64_t q = f / 3.0lf;
  precise float64_t s = q * 7.0lf;
  d[i] = s - floor(s * 0.125lf);
}
