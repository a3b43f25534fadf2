#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Texel buffers that begin at any texel.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(binding = 1) uniform utextureBuffer bytes;
layout(binding = 2) uniform textureBuffer triples;
layout(binding = 3, r8ui) uniform uimageBuffer stored;
layout(binding = 4, r32ui) uniform uimageBuffer counters;
void main() {
  int i = int(gl_GlobalInvocationID.x);
  result[2 * i] = texelFetch(bytes, i);
  result[2 * i + 1] = floatBitsToUint(texelFetch(triples, i));
  imageStore(stored, i, uvec4(100 + i));
  imageAtomicAdd(counters, i & 7, uint(i));
}
