#version 450
// As whole.vert; the left quarter is clipped, the whole is culled where the pushed depth is negative.
layout(push_constant) uniform Push {
  vec4 color;
  float depth;
};
out gl_PerVertex {
  vec4 gl_Position;
  float gl_ClipDistance[1];
  float gl_CullDistance[1];
};
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0);
  gl_ClipDistance[0] = gl_Position.x + 0.5;
  gl_CullDistance[0] = depth;
}
