#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Integer coordinates outside of images: in each direction, layer and level.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(std430, binding = 1) readonly buffer In { ivec4 place[]; };  // x, y, layer, level
layout(binding = 2) uniform texture2DArray sampled;      // four components
layout(binding = 3) uniform texture2DArray two;          // two components
layout(binding = 4, r32ui) uniform uimage2DArray stored;
layout(binding = 5) uniform utextureBuffer fetched;
layout(binding = 6, r32ui) uniform uimageBuffer loaded;

void main() {
  uint i = gl_GlobalInvocationID.x;
  ivec4 p = place[i];
  result[8 * i] = floatBitsToUint(texelFetch(sampled, p.xyz, p.w));
  result[8 * i + 1] = floatBitsToUint(texelFetch(two, p.xyz, p.w));
  result[8 * i + 2] = imageLoad(stored, p.xyz);
  imageStore(stored, p.xyz, uvec4(5u));
  result[8 * i + 3] = uvec4(imageAtomicAdd(stored, p.xyz, 1u));
  result[8 * i + 4] = texelFetch(fetched, p.x);
  result[8 * i + 5] = imageLoad(loaded, p.x);
  imageStore(loaded, p.x, uvec4(6u));
  result[8 * i + 6] = uvec4(imageAtomicAdd(loaded, p.x, 1u));
}
