#version 450
// Integers, which only the border makes interesting.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(std430, binding = 1) readonly buffer In { vec2 at[]; };
layout(binding = 2) uniform usampler2D image;
void main() {
  uint i = gl_GlobalInvocationID.x;
  result[i] = textureLod(image, at[i], 0.0);
}
