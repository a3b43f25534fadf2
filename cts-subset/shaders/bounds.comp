#version 450
// Reads and writes far outside of its small buffers.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Small { uint small[]; };
layout(set = 0, binding = 1) buffer Out { uint outside[]; };
layout(push_constant) uniform P { uint stride; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  outside[i] = small[i * stride];
  small[i * stride + stride] = 0xdeadbeefu;
}
