//! vulkan1.2
#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require
// Arrays of every kind of image descriptor, indexed by numbers that differ between invocations and by one that does not.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { vec4 result[]; };
layout(std430, binding = 1) readonly buffer Indices { uint indices[]; };
layout(binding = 2) uniform sampler samplers[4];
layout(binding = 3) uniform sampler2D combined[5];
layout(binding = 4, r32ui) uniform uimage2D stores[3];
layout(binding = 5) uniform samplerBuffer fetched[4];
layout(binding = 6, r32f) uniform imageBuffer loaded[4];
layout(binding = 7) uniform texture2D many[];
layout(push_constant) uniform Push { uint same; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint n = indices[i];
  vec2 at = vec2(0.75, 0.5);
  result[8 * i] = textureLod(nonuniformEXT(sampler2D(many[n], samplers[i & 3u])), at, 0.0);
  result[8 * i + 1] = textureLod(combined[nonuniformEXT(i % 5u)], at, 0.0);
  imageAtomicAdd(stores[nonuniformEXT(i % 3u)], ivec2(0), i);
  imageStore(stores[nonuniformEXT(i % 3u)], ivec2(i + 1u, 0), uvec4(1000u + i));
  result[8 * i + 2] = vec4(imageLoad(stores[nonuniformEXT(i % 3u)], ivec2(i + 1u, 0)));
  result[8 * i + 3] = texelFetch(fetched[nonuniformEXT(i & 3u)], int(i >> 2));
  result[8 * i + 4] = imageLoad(loaded[nonuniformEXT(i & 3u)], int(i >> 2));
  imageStore(loaded[nonuniformEXT(i & 3u)], int(64u + (i >> 2)), vec4(float(i)));
  result[8 * i + 5] = texelFetch(fetched[same], int(i)) + imageLoad(loaded[same], int(i & 15u));
  result[8 * i + 6] = vec4(textureSize(many[nonuniformEXT(n)], 0), imageSize(stores[nonuniformEXT(i % 3u)]));
}
