#version 450
#extension GL_EXT_multiview : require
layout(location = 0) flat out uvec4 numbers;
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
  numbers = uvec4(50 * (gl_ViewIndex + 1), 0, 0, 255);
}
