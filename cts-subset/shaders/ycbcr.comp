#version 450
// Every texel of a Y'CbCr image, through its conversion, at the texel's center.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2DArray picture;
layout(set = 0, binding = 1) writeonly buffer Out { vec4 color[]; };
void main() {
  ivec3 size = textureSize(picture, 0);
  ivec3 at = ivec3(gl_GlobalInvocationID);
  if (at.x >= size.x || at.y >= size.y) return;
  vec2 center = (vec2(at.xy) + 0.5) / vec2(size.xy);
  color[(at.z * size.y + at.y) * size.x + at.x] = textureLod(picture, vec3(center, at.z), 0.0);
}
