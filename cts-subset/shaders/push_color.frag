#version 450
layout(push_constant) uniform Push {
  vec4 color;
  float depth;
};
layout(location = 0) out vec4 target;
void main() { target = color; }
