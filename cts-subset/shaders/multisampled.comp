//! vulkan1.2
#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Samples stored one by one, then read as a storage image and fetched as a sampled one.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Out { vec4 result[]; };
layout(binding = 1, rgba8) uniform image2DMS stored;
layout(binding = 2) uniform texture2DMS fetched;
layout(binding = 3, r32ui) uniform uimage2DMSArray counters;
layout(push_constant) uniform Push { uint store; };
void main() {
  ivec2 size = imageSize(stored);
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (at.x >= size.x || at.y >= size.y) return;
  int index = at.y * size.x + at.x;
  for (int s = 0; s < 4; ++s) {
    if (store != 0u) {
      imageStore(stored, at, s, vec4(float(at.x), float(at.y), float(s), 1.0) / 255.0);
      imageAtomicAdd(counters, ivec3(at.x & 1, 0, at.y & 1), s, uint(index));
    } else {
      result[8 * index + s] = imageLoad(stored, at, s);
      result[8 * index + 4 + s] = texelFetch(fetched, at, s) + vec4(imageSamples(stored), textureSamples(fetched), 0, 0);
    }
  }
}
