#version 450
// Register-blocked: C = A * B, row-major n x n, n a multiple of 64; a workgroup makes a 64x64 tile, an invocation 4x4
// elements of it, in steps of 16 along k.
layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
shared float tileA[16][64];  // transposed: [k][row]
shared float tileB[16][64];  // [k][column]

void main() {
  uint x = gl_LocalInvocationID.x;
  uint y = gl_LocalInvocationID.y;
  uint row0 = gl_WorkGroupID.y * 64u;
  uint column0 = gl_WorkGroupID.x * 64u;
  float acc[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) acc[i][j] = 0.0;

  for (uint t = 0u; t < n; t += 16u) {
    for (uint i = 0u; i < 4u; ++i) {
      tileA[x][y + 16u * i] = a[(row0 + y + 16u * i) * n + t + x];
      tileB[y][x + 16u * i] = b[(t + y) * n + column0 + x + 16u * i];
    }
    barrier();
    for (uint k = 0u; k < 16u; ++k) {
      float left[4];
      float right[4];
      for (uint i = 0u; i < 4u; ++i) {
        left[i] = tileA[k][y * 4u + i];
        right[i] = tileB[k][x * 4u + i];
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += left[i] * right[j];
    }
    barrier();
  }
  for (uint i = 0u; i < 4u; ++i)
    for (uint j = 0u; j < 4u; ++j) c[(row0 + y * 4u + i) * n + column0 + x * 4u + j] = acc[i][j];
}
