#version 450
// One of many pipelines that differ in a constant: integers, so that the host can tell each result to the bit.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint salt = 0u;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
shared uint tile[64];

void main() {
  uint li = gl_LocalInvocationID.x;
  uint v = x[gl_GlobalInvocationID.x] ^ salt;
  for (uint k = 0u; k < 1u + salt % 5u; ++k) v = v * 1664525u + 1013904223u;
  tile[li] = v;
  barrier();
  for (uint k = 1u; k < 8u; ++k) v = (v << 1u) + (tile[(li + k) & 63u] ^ k);
  y[gl_GlobalInvocationID.x] = v;
}
