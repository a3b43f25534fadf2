#version 460
// As grid.vert, but the number of the draw in its command is written too, and the square is the base instance.
layout(location = 0) flat out uvec4 numbers;
void main() {
  uint square = uint(gl_BaseInstance);
  vec2 corner = vec2(gl_VertexIndex & 1, (gl_VertexIndex >> 1) & 1);
  vec2 place = vec2(square & 3u, square >> 2) + vec2(uint(gl_DrawID), 0) + corner;
  gl_Position = vec4(place * 0.5 - 1.0, 0.0, 1.0);
  numbers = uvec4(square, uint(gl_DrawID), uint(gl_BaseVertex), 255u);
}
