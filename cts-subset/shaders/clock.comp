#version 450
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer Out { uvec2 before[16]; uvec2 after[16]; uvec2 device[16]; uint work[16]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  before[i] = clock2x32ARB();
  uint n = i;
  for (uint k = 0; k < 1000u; ++k) n = n * 1664525u + 1013904223u;
  work[i] = n;
  after[i] = clock2x32ARB();
  device[i] = clockRealtime2x32EXT();
}
