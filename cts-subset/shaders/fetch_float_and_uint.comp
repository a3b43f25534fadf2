#version 450
#extension GL_EXT_samplerless_texture_functions : require
// All texels of a level 0, as they are: depth and stencil of one image, or any two images of equal size.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Floats { vec4 floats[]; };
layout(std430, binding = 1) buffer Uints { uvec4 uints[]; };
layout(binding = 2) uniform texture2D a;
layout(binding = 3) uniform utexture2D b;
void main() {
  ivec2 size = textureSize(a, 0);
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (at.x >= size.x || at.y >= size.y) return;
  floats[at.y * size.x + at.x] = texelFetch(a, at, 0);
  uints[at.y * size.x + at.x] = texelFetch(b, at, 0);
}
