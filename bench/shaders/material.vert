#version 450
// Cell gl_InstanceIndex of a grid of `columns` by `rows`, without its margin.
layout(push_constant) uniform Push {
  float columns;
  float rows;
  float margin;  // part of the cell at each side
};
layout(location = 0) out vec2 uv;

// Six vertices: two clockwise triangles, corners 0 1 2 and 1 3 2.
void main() {
  const vec2 corner = vec2(0x1a >> gl_VertexIndex & 1, 0x34 >> gl_VertexIndex & 1);
  const vec2 cell = vec2(gl_InstanceIndex % int(columns), gl_InstanceIndex / int(columns));
  const vec2 place = (cell + margin + corner * (1.0 - 2.0 * margin)) / vec2(columns, rows);
  gl_Position = vec4(place * 2.0 - 1.0, 0.5, 1.0);
  uv = corner;
}
