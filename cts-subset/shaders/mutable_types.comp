#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_nonuniform_qualifier : require
// One array of descriptors, whose elements have types of their own.
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(std430, binding = 1) buffer Storage { uint v[]; } buffers[6];
layout(std140, binding = 1) uniform Block { uvec4 v[8]; } blocks[6];
layout(binding = 1) uniform utexture2D images[6];
layout(binding = 1, r32ui) uniform uimage2D stores[6];
layout(binding = 1) uniform utextureBuffer fetched[6];
layout(binding = 1, r32ui) uniform uimageBuffer loaded[6];
layout(push_constant) uniform Push { uint first; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  result[2 * i] = uvec4(buffers[first].v[i], blocks[first + 1u].v[i].x, texelFetch(images[first + 2u], ivec2(i, 0), 0).x,
                        imageLoad(stores[first + 3u], ivec2(i, 0)).x);
  result[2 * i + 1].xy = uvec2(texelFetch(fetched[first + 4u], int(i)).x, imageLoad(loaded[first + 5u], int(i)).x);
}
