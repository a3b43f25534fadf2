#version 450
// A quad over the whole picture per instance. Red and green grow to the right and downward; blue is (instance + 0.5) /
// count. Depth goes from the middle of the first of `count` slices on, by `depthStep` a layer.
layout(push_constant) uniform Push {
  float count;
  float firstDepth;
  float depthStep;
  float alpha;
};
layout(location = 0) out vec4 color;

// Six vertices: two clockwise triangles, corners 0 1 2 and 1 3 2.
void main() {
  const vec2 corner = vec2(0x1a >> gl_VertexIndex & 1, 0x34 >> gl_VertexIndex & 1);
  color = vec4(corner, (float(gl_InstanceIndex) + 0.5) / count, alpha);
  gl_Position = vec4(corner * 2.0 - 1.0, firstDepth + depthStep * float(gl_InstanceIndex), 1.0);
}
