#version 450
// Some of everything that the tiers compile differently: loops that one of them unrolls, a private array, a product that
// travels from one iteration to the next, a barrier, functions.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint salt = 0u;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { float y[]; };
shared float tile[64];

void main() {
  uint li = gl_LocalInvocationID.x;
  uint gi = gl_GlobalInvocationID.x;
  float part[8];
  for (uint i = 0u; i < 8u; ++i) part[i] = x[(gi + i * 64u) & 4095u];
  tile[li] = part[0] * part[1] + part[2];
  barrier();
  float carried = 0.0;
  float sum = float(salt);
  for (uint k = 0u; k < 32u; ++k) {
    sum += carried;
    carried = tile[(li + k) & 63u] * part[k & 7u];
  }
  y[gi] = sum + carried + sin(sum) * exp(-abs(carried));
}
