#version 450
layout(push_constant) uniform Push {
  vec4 color;
  float depth;
};
layout(location = 0, index = 0) out vec4 target;
layout(location = 0, index = 1) out vec4 factor;
void main() {
  target = color;
  factor = vec4(0.25, 0.5, 0.75, 1.0);
}
