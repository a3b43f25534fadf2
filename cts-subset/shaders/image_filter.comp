#version 450
#extension GL_EXT_shader_image_load_formatted : require
// What a shader can do with one image of each kind, into images, a texel buffer and a buffer.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D source;  // with a linear filter, repeating
layout(binding = 1, rgba8) uniform image2D swapped;
layout(binding = 2) uniform writeonly image2D halves;  // any format
layout(binding = 3, r32ui) uniform uimage2D histogram;
layout(binding = 4) uniform samplerBuffer palette;
layout(binding = 5, r32ui) uniform uimageBuffer counters;
layout(std430, binding = 6) buffer Out { vec4 texels[]; };
layout(binding = 7) uniform usampler2DArray layers;
layout(binding = 8, rg16) uniform image2D pairs[2];
layout(binding = 9) uniform readonly image2D again;  // any format
layout(binding = 10) uniform sampler2D many[2];
layout(push_constant) uniform Push { ivec2 size; };

void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (at.x >= size.x || at.y >= size.y) return;
  int index = at.y * size.x + at.x;
  vec4 texel = texelFetch(source, at, 0);
  imageStore(swapped, ivec2(size.x - 1 - at.x, at.y), texel.bgra);
  imageStore(halves, at, texel * 2.0 - 1.0);
  imageAtomicAdd(histogram, ivec2(int(texel.r * 255.0 + 0.5), 0), 1u);
  imageAtomicMax(counters, at.x & 15, uint(index));
  imageStore(pairs[size.x & 1], at, imageLoad(again, at).grrr);
  texels[4 * index] = texel;
  texels[4 * index + 1] = textureLod(source, (vec2(at) + 1.0) / vec2(size), 0.0);  // between four texels
  vec4 red = textureGather(many[size.y & 1], (vec2(at) + 1.0) / vec2(size), 1);
  texels[4 * index + 1] += 2.0 * red;
  texels[4 * index + 2] = texelFetch(palette, index % textureSize(palette)) + vec4(textureSize(source, 1), 0, 0);
  texels[4 * index + 3] = vec4(texelFetch(layers, ivec3(at, 1), 1)) + vec4(imageSize(histogram), textureSize(layers, 0).z, 0);
}
