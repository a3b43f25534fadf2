#version 450
layout(push_constant) uniform Push {
  vec4 area;  // left, top, width, height
  vec4 fill;
  float depth;
};
layout(location = 0) out vec4 color;

// Six vertices: two clockwise triangles, corners 0 1 2 and 1 3 2.
void main() {
  const vec2 corner = vec2(0x1a >> gl_VertexIndex & 1, 0x34 >> gl_VertexIndex & 1);
  gl_Position = vec4(area.xy + corner * area.zw, depth, 1.0);
  color = fill;
}
