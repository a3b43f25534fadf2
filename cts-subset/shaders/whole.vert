#version 450
// One triangle over the whole target, at the depth that is pushed; no vertex buffer.
layout(push_constant) uniform Push {
  vec4 color;
  float depth;
};
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, depth, 1.0);
}
