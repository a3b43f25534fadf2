#version 450
// 64 sines of different arguments per invocation, summed.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { float delta; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  float argument = x[i];
  float sum = 0.0;
  for (int k = 0; k < 64; ++k) {
    sum += sin(argument);
    argument += delta;
  }
  y[i] = sum;
}
