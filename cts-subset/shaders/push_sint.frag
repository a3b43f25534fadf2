#version 450
layout(push_constant) uniform Push {
  ivec4 color;
  float depth;
};
layout(location = 0) out ivec4 target;
void main() { target = color; }
