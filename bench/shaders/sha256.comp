#version 450
// The first word of SHA-256 of a 32-byte message (eight words: the invocation's index, then a key), padded to one block.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint salt = 0u;  // makes a pipeline unique where creation is measured
layout(push_constant) uniform Push { uint key[7]; };
layout(std430, binding = 0) writeonly buffer Digests { uint digests[]; };

const uint K[64] = uint[64](
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u, 0xd807aa98u,
    0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u,
    0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u,
    0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u,
    0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u,
    0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au,
    0x5b9cca4fu, 0x682e6ff3u, 0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u);

uint rotateRight(uint v, uint n) { return (v >> n) | (v << (32u - n)); }

void main() {
  uint w[16];
  w[0] = gl_GlobalInvocationID.x ^ salt;
  for (int i = 0; i < 7; ++i) w[i + 1] = key[i];
  w[8] = 0x80000000u;
  for (int i = 9; i < 15; ++i) w[i] = 0u;
  w[15] = 256u;

  const uint start0 = 0x6a09e667u;
  uint a = start0, b = 0xbb67ae85u, c = 0x3c6ef372u, d = 0xa54ff53au;
  uint e = 0x510e527fu, f = 0x9b05688cu, g = 0x1f83d9abu, h = 0x5be0cd19u;
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      uint w15 = w[(i + 1) & 15];
      uint w2 = w[(i + 14) & 15];
      uint s0 = rotateRight(w15, 7u) ^ rotateRight(w15, 18u) ^ (w15 >> 3);
      uint s1 = rotateRight(w2, 17u) ^ rotateRight(w2, 19u) ^ (w2 >> 10);
      w[i & 15] += s0 + w[(i + 9) & 15] + s1;
    }
    uint sum1 = rotateRight(e, 6u) ^ rotateRight(e, 11u) ^ rotateRight(e, 25u);
    uint choose = (e & f) ^ (~e & g);
    uint t1 = h + sum1 + choose + K[i] + w[i & 15];
    uint sum0 = rotateRight(a, 2u) ^ rotateRight(a, 13u) ^ rotateRight(a, 22u);
    uint majority = (a & b) ^ (a & c) ^ (b & c);
    uint t2 = sum0 + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  digests[gl_GlobalInvocationID.x] = a + start0;
}
