#version 450
// The whole target; texture coordinates from 0 to 1.
layout(location = 0) out vec2 place;
void main() {
  vec2 corner = vec2(gl_VertexIndex == 1 ? 2.0 : 0.0, gl_VertexIndex == 2 ? 2.0 : 0.0);
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
  place = corner;
}
