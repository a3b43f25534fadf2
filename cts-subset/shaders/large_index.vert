#version 450
// The whole target from the three largest vertex numbers below 2^32 - 1.
layout(push_constant) uniform Push {
  vec4 color;
  float depth;
};
void main() {
  uint corner = 0xfffffffeu - uint(gl_VertexIndex);
  gl_Position = vec4(corner == 1u ? 3.0 : -1.0, corner == 2u ? 3.0 : -1.0, 0.0, 1.0);
}
