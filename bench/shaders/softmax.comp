#version 450
// Softmax of each row, one workgroup per row: maximum, sum of exponentials, division.
layout(local_size_x = 256) in;
layout(constant_id = 0) const uint salt = 0u;  // makes a pipeline unique where creation is measured
layout(push_constant) uniform Push { uint columns; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
shared float partial[256];

void main() {
  uint li = gl_LocalInvocationID.x;
  uint row = gl_WorkGroupID.x * columns;

  float largest = -3.0e38;
  for (uint i = li; i < columns; i += 256u) largest = max(largest, x[row + i]);
  partial[li] = largest;
  barrier();
  for (uint k = 128u; k > 0u; k >>= 1) {
    if (li < k) partial[li] = max(partial[li], partial[li + k]);
    barrier();
  }
  largest = partial[0];
  barrier();

  float sum = float(salt);
  for (uint i = li; i < columns; i += 256u) sum += exp(x[row + i] - largest);
  partial[li] = sum;
  barrier();
  for (uint k = 128u; k > 0u; k >>= 1) {
    if (li < k) partial[li] += partial[li + k];
    barrier();
  }
  float scale = 1.0 / partial[0];

  for (uint i = li; i < columns; i += 256u) y[row + i] = exp(x[row + i] - largest) * scale;
}
