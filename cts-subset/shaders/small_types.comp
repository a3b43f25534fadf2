#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { uint8_t bytes[64]; uint16_t shorts[64]; float16_t halves[64]; };
layout(set = 0, binding = 1) buffer Out { uint8_t byteOut[64]; int16_t shortOut[64]; float16_t halfOut[64]; };
layout(set = 0, binding = 2) uniform U { uint8_t uByte; uint16_t uShort; };
layout(push_constant) uniform P { uint8_t pByte; uint16_t pShort; float16_t pHalf; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  byteOut[i] = bytes[i] * uByte + pByte;
  shortOut[i] = int16_t(shorts[i] * uShort) / int16_t(pShort) + int16_t(bytes[i]);
  halfOut[i] = halves[i] * pHalf;
}
