#version 450
layout(push_constant) uniform Push {
  vec4 color;
  float size;
};
layout(location = 0) in vec4 position;
void main() {
  gl_Position = position;
  gl_PointSize = size;
}
