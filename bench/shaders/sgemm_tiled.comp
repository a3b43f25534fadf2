#version 450
// The textbook kernel: C = A * B, row-major n x n, n a multiple of 16; one invocation per element, 16x16 tiles in
// shared memory.
layout(local_size_x = 16, local_size_y = 16) in;
layout(constant_id = 0) const uint salt = 0u;  // makes a pipeline unique where creation is measured
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
shared float tileA[16][16];
shared float tileB[16][16];

void main() {
  uint x = gl_LocalInvocationID.x;
  uint y = gl_LocalInvocationID.y;
  uint row = gl_WorkGroupID.y * 16u + y;
  uint column = gl_WorkGroupID.x * 16u + x;
  float sum = 0.0;
  for (uint t = 0u; t < n; t += 16u) {
    tileA[y][x] = a[row * n + t + x];
    tileB[y][x] = b[(t + y) * n + column];
    barrier();
    for (uint k = 0u; k < 16u; ++k) sum += tileA[y][k] * tileB[k][x];
    barrier();
  }
  c[row * n + column] = sum + float(salt);
}
