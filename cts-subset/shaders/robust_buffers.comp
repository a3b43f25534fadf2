#version 450
// Vectors across the end of small buffers, at indices of every kind: the same for all, in order, in steps, scattered.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { uvec4 result[]; };
layout(std430, binding = 1) buffer Words { uvec4 v[]; } loads;      // 5 words
layout(std430, binding = 2) buffer Stores { uvec4 v[]; } stores;    // 6 words
layout(std140, binding = 3) uniform Block { uvec4 v[64]; } block;   // 7 words
layout(std430, binding = 4) buffer Atomics { uint v[]; } atomics;   // 3 words
layout(push_constant) uniform Push { uint one; uint step; uint huge; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint shuffled = (i * 5u) & 31u;
  result[8 * i] = loads.v[one];
  result[8 * i + 1] = loads.v[i];
  result[8 * i + 2] = loads.v[i * step];
  result[8 * i + 3] = loads.v[shuffled];
  result[8 * i + 4] = block.v[i];
  result[8 * i + 5] = block.v[shuffled] + block.v[one];
  result[8 * i + 6] = loads.v[huge - i];
  result[8 * i + 7] = uvec4(loads.v.length(), stores.v.length(), atomics.v.length(), 0u);
  stores.v[shuffled] = uvec4(100u + shuffled);
  stores.v[huge - i] = uvec4(7u);
  atomicAdd(atomics.v[i & 7u], 1u);
  atomicExchange(atomics.v[huge - i], 9u);
}
