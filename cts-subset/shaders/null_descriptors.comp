//! vulkan1.2
#version 450
#extension GL_EXT_samplerless_texture_functions : require
// One of each kind of descriptor, all of them null.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(std430, binding = 1) buffer Storage { uint v[]; } storage;
layout(std140, binding = 2) uniform Block { uvec4 v[4]; } block;
layout(binding = 3) uniform samplerBuffer fetched;
layout(binding = 4, rgba8) uniform imageBuffer loaded;
layout(binding = 5) uniform sampler2D combined;
layout(binding = 6) uniform texture3D volume;
layout(binding = 7) uniform sampler s;
layout(binding = 8, r32ui) uniform uimage2D stored;
layout(binding = 9) uniform texture2DMS samples;

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint at = 16u * i;
  result[at] = uvec4(storage.v[i], storage.v.length(), atomicAdd(storage.v[i & 3u], 1u), block.v[i & 3u].x);
  storage.v[i] = 1u;
  result[at + 1] = floatBitsToUint(texelFetch(fetched, int(i)));
  result[at + 2] = floatBitsToUint(imageLoad(loaded, int(i)));
  result[at + 3] = floatBitsToUint(textureLod(combined, vec2(i) * 0.1, 0.0));
  result[at + 4] = floatBitsToUint(texelFetch(volume, ivec3(i), 0));
  result[at + 5] = floatBitsToUint(textureGrad(sampler3D(volume, s), vec3(i) * 0.1, vec3(0.1), vec3(0.1)));
  result[at + 6] = imageLoad(stored, ivec2(i, 0));
  imageStore(stored, ivec2(i, 0), uvec4(1u));
  imageStore(loaded, int(i), vec4(1.0));
  result[at + 7] = uvec4(imageAtomicAdd(stored, ivec2(0), 1u), imageAtomicCompSwap(stored, ivec2(0), 0u, 1u), 0u, 0u);
  result[at + 8] = uvec4(textureSize(fetched), imageSize(loaded), textureSize(combined, 0));
  result[at + 9] = uvec4(textureSize(volume, 0), textureQueryLevels(volume));
  result[at + 10] = uvec4(imageSize(stored), textureQueryLevels(combined), textureSamples(samples));
  result[at + 11] = floatBitsToUint(textureGather(combined, vec2(0.5), 2));
  result[at + 12] = floatBitsToUint(texelFetch(samples, ivec2(0), 1));
  result[at + 13] = uvec4(textureSize(samples), textureSize(combined, 3));
}
