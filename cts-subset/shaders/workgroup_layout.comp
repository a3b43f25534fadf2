//! spirv1.4
#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint words[64]; uint halves[64]; };
shared Words { uint w[64]; };
layout(scalar) shared Bytes { uint8_t b[256]; };
layout(scalar) shared Shorts { uint16_t s[128]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  w[i] = i * 0x01020304u + 0x11223344u;
  barrier();
  // The blocks alias: the other views read the words that the neighbour wrote.
  uint k = i ^ 1u;
  words[i] = uint(b[4u * k]) | (uint(b[4u * k + 1u]) << 8u) | (uint(b[4u * k + 2u]) << 16u) | (uint(b[4u * k + 3u]) << 24u);
  halves[i] = uint(s[2u * k]) | (uint(s[2u * k + 1u]) << 16u);
}
