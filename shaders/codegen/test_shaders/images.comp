#version 460
// One access of every kind; image_call_test.cpp knows what each of them has to ask of the texture unit.
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_image_int64 : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 40) in;
layout(std430, binding = 0) buffer Out { uint outWords[]; };
layout(binding = 1) uniform sampler2D tex;
layout(binding = 2) uniform sampler2DArray texArray;
layout(binding = 3) uniform samplerCubeArray cubes;
layout(binding = 4) uniform sampler2DShadow shadow;
layout(binding = 5) uniform usamplerBuffer texels;
layout(binding = 6, r32ui) uniform uimage2D counters;
layout(binding = 7, r32f) uniform imageCube faces;
layout(binding = 8, rgba32i) uniform iimageBuffer words;
layout(binding = 9) uniform texture2D many[3];
layout(binding = 10) uniform sampler nearest;
layout(binding = 11, r64ui) uniform u64image1D longs;
layout(binding = 12, rgba8) uniform image2DMSArray samples;
layout(binding = 13) uniform sampler3D volume;

uint at;
void put(uint v) { outWords[at++] = v; }
void put(float v) { put(floatBitsToUint(v)); }
void put(vec4 v) { put(v.x + 2.0 * v.y + 4.0 * v.z + 8.0 * v.w); }

void main() {
  uint i = gl_GlobalInvocationID.x;
  int s = int(i);
  float f = float(i);
  at = i * 32u;
  put(texelFetch(tex, ivec2(s, 2 * s), 3));
  put(texelFetchOffset(tex, ivec2(s, 7), 1, ivec2(-1, 4)));
  put(textureLod(texArray, vec3(f, 0.5, 2.0), 1.5));
  put(textureGrad(cubes, vec4(f, 1.0, 2.0, 3.0), vec3(0.25, f, 0.5), vec3(4.0, 5.0, 6.0)));
  put(textureLod(shadow, vec3(f, 0.25, 0.75), 0.0));
  put(vec4(textureGather(tex, vec2(f, 0.125), 2)));
  put(textureProjLod(tex, vec3(4.0 * f, 8.0, 4.0), 2.0));
  put(textureLodOffset(volume, vec3(f, 2.0, 3.0), 0.0, ivec3(1, -2, 3)));
  uvec4 t = texelFetch(texels, s + 5);
  put(t.x + 2u * t.w);
  imageStore(words, s, ivec4(s, -s, 3, 4));
  put(imageAtomicAdd(counters, ivec2(s, 1), i + 100u));
  put(imageAtomicCompSwap(counters, ivec2(1, s), 5u, i));
  put(imageLoad(faces, ivec3(s, 3, 4)));
  put(texelFetch(nonuniformEXT(sampler2D(many[i % 4u], nearest)), ivec2(s, 9), 0));
  uint64_t old = imageAtomicMax(longs, s, uint64_t(i) << 33 | 7ul);
  put(uint(old));
  put(uint(old >> 32));
  put(imageLoad(samples, ivec3(s, 2, 3), 1));
  // Not all lanes.
  if (i % 3u == 1u) put(textureLod(tex, vec2(f, 6.0), f));
  else put(77u);
  put(uint(textureSize(tex, 1).x * 1000 + textureSize(tex, 1).y));
  put(uint(textureSize(cubes, 0).z));
  put(uint(textureQueryLevels(tex)));
  put(uint(imageSamples(samples)));
  put(uint(imageSize(words)));
}
