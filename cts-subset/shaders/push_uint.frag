#version 450
layout(push_constant) uniform Push {
  uvec4 color;
  float depth;
};
layout(location = 0) out uvec4 target;
void main() { target = color; }
