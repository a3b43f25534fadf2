#version 460
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const int N = 4;
layout(constant_id = 2) const bool kOn = false;
layout(constant_id = 3) const float kF = 2.5;
layout(constant_id = 4) const double kD = 1.0;
const int M = N * 2 + 1;
layout(binding = 0) buffer O { int o[]; };
void main() {
  int t[M];
  for (int i = 0; i < M; ++i) t[i] = i * N;
  int s = 0;
  for (int i = 0; i < t.length(); ++i) s += t[i];
  if (gl_LocalInvocationIndex == 0) {
    o[0] = s;
    o[1] = M;
    o[2] = int(gl_WorkGroupSize.x) * 100 + int(gl_WorkGroupSize.y);
    o[3] = kOn ? 1 : 2;
    o[4] = int(kF * 10.0);
    o[5] = int(kD * 8.0);
    if (kOn) o[6] = 42;
  }
}
