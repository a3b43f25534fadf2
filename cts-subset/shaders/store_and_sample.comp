#version 450
#extension GL_EXT_samplerless_texture_functions : require
// The same texels through two views.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer Out { vec4 result[]; };
layout(binding = 1, rgba8) uniform image2D stored;
layout(binding = 2) uniform texture2D fetched;
layout(push_constant) uniform Push { uint store; };
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.x, 0);
  float value = float(at.x) / 15.0;
  if (store != 0u) {
    imageStore(stored, at, vec4(value));
  } else {
    result[at.x] = texelFetch(fetched, at, 0);
  }
}
