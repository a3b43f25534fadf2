#version 460
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 4) in;
layout(binding = 0) buffer O { uint o[]; };
struct Inner { float f; mat2x3 m; };
shared A { uint words[8]; Inner inner; } a;
shared B { layout(offset = 0) uint8_t bytes[32]; } b;
shared C { layout(offset = 0) uint16_t halves[16]; } c;
void main() {
  uint i = gl_LocalInvocationIndex;
  a.words[i + 1] = 0x11111111u * (i + 1);
  if (i == 0) { a.inner.f = 5.0; a.inner.m = mat2x3(1, 2, 3, 4, 5, 6); }
  barrier();
  if (i == 0) {
    o[0] = uint(b.bytes[17]);
    o[1] = uint(c.halves[5]);
    o[2] = uint(a.inner.m[1].z);
    o[3] = uint(a.inner.f);
  }
}
