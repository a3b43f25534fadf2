#version 450
// y = W * x with 8-bit signed weights, four to a word, as quantised language models do it: one workgroup per row.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint words; };  // words of a row; a multiple of 64
layout(std430, binding = 0) readonly buffer W { uint w[]; };
layout(std430, binding = 1) readonly buffer X { uint x[]; };
layout(std430, binding = 2) writeonly buffer Y { int y[]; };
shared int partial[64];

int dot4(uint a, uint b) {
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum += bitfieldExtract(int(a), 8 * k, 8) * bitfieldExtract(int(b), 8 * k, 8);
  return sum;
}

void main() {
  uint li = gl_LocalInvocationID.x;
  uint row = gl_WorkGroupID.x * words;
  int sum = 0;
  for (uint i = li; i < words; i += 64u) sum += dot4(w[row + i], x[i]);
  partial[li] = sum;
  barrier();
  for (uint k = 32u; k > 0u; k >>= 1) {
    if (li < k) partial[li] += partial[li + k];
    barrier();
  }
  if (li == 0u) y[gl_WorkGroupID.x] = partial[0];
}
