#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 vertexColor;
layout(push_constant) uniform Push {
  vec2 shift;
  float depth;
  float blue;
};
layout(location = 0) out vec4 color;

void main() {
  color = vec4(vertexColor.rg, vertexColor.b + blue, vertexColor.a);
  gl_Position = vec4(position + shift, depth, 1.0);
}
