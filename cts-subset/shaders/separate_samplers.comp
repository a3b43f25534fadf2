#version 450
// The images and the samplers of one array of descriptors, as variables of their own.
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(binding = 1) uniform texture2D images[4];
layout(binding = 1) uniform sampler samplers[4];
layout(push_constant) uniform Push { uint image, samplerIndex; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  // The centers of texels -2 to 5 of four in a row.
  vec2 at = vec2((float(i) - 1.5) / 4, 0.5);
  result[i] = textureLod(sampler2D(images[image], samplers[samplerIndex]), at, 0).x;
}
