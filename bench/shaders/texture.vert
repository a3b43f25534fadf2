#version 450
// A quad over the whole picture, the w of whose upper and lower corners are given; texture coordinates are linear in
// (x, y, w) of clip space, so that they are right in perspective for both triangles.
layout(push_constant) uniform Push {
  vec4 rowU;
  vec4 rowV;
  float wTop;
  float wBottom;
};
layout(location = 0) out vec2 uv;

// Six vertices: two clockwise triangles, corners 0 1 2 and 1 3 2.
void main() {
  const vec2 corner = vec2(0x1a >> gl_VertexIndex & 1, 0x34 >> gl_VertexIndex & 1) * 2.0 - 1.0;
  const float w = corner.y < 0.0 ? wTop : wBottom;
  gl_Position = vec4(corner * w, 0.5 * w, w);
  uv = vec2(dot(rowU.xyz, gl_Position.xyw), dot(rowV.xyz, gl_Position.xyw));
}
