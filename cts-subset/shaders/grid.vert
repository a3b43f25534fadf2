#version 450
// Squares of a grid of 16 by 16 pixels of a target of 64 by 64: instance i is square i. Two triangles of six indices,
// whose corners are the vertex numbers 0 to 3.
layout(location = 0) flat out uvec4 numbers;
void main() {
  uint square = uint(gl_InstanceIndex);
  vec2 corner = vec2(gl_VertexIndex & 1, (gl_VertexIndex >> 1) & 1);
  vec2 place = vec2(square & 3u, square >> 2) + corner;
  gl_Position = vec4(place * 0.5 - 1.0, 0.0, 1.0);
  numbers = uvec4(square, 0u, 0u, 255u);
}
