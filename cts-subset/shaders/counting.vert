#version 450
// The whole target, counting vertices.
layout(set = 0, binding = 0) buffer Counts {
  uint count;
  uint vertices[];
};
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
  vertices[uint(gl_VertexIndex)] = uint(gl_VertexIndex) + 100u;
  atomicAdd(count, 1u);
}
