#version 460
// Every control-flow shape; each function's result has its own column of the output.
layout(local_size_x = 32) in;
layout(binding = 0) buffer O { int o[]; };
const int kColumns = 10;

int forLoop(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i * i; return s; }
int breakContinue(int n) {
  int s = 0;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 1) continue;
    if (i > n) break;
    s += i;
  }
  return s;
}
int whileLoop(int n) { int c = 0; uint v = uint(n); while (v != 1u && c < 1000) { v = (v & 1u) == 0u ? v / 2u : 3u * v + 1u; ++c; } return c; }
int doWhile(int n) { int i = 0, p = 1; do { p *= 3; ++i; } while (i < n); return p; }
int switchFall(int n) {
  int r = 0;
  switch (n) {
    case 0: r += 1;
    case 1: r += 10; break;
    case 2: case 5: r += 100;
    default: r += 1000;
    case 7: r += 10000; break;
    case 9: return -9;
  }
  return r;
}
int earlyReturn(int n) {
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      if (i * j == n) return i * 100 + j;
      if (j > n) break;
    }
  }
  return -1;
}
int switchInLoop(int n) {
  int r = 0;
  for (int i = 0; i < n; ++i) {
    switch (i & 3) {
      case 0: continue;
      case 1: r += 1; break;
      case 2: if (i > 12) { r += 1000; return r; } r += 10;
      default: r += 100;
    }
    r += 2;
  }
  return r;
}
int logic(int n) {
  if (n > 4 && n < 20 || n == 31) return n > 10 ? 2 : 1;
  else if (n == 3) return 7;
  return 0;
}
int nestedIf(int n) {
  int r = n;
  if ((n & 1) != 0) { if ((n & 2) != 0) r += 5; else { r += 7; if ((n & 4) != 0) r *= 2; } } else r -= 3;
  return r;
}
int infinite(int n) { int i = 0; for (;;) { i += 3; if (i > n) break; } return i; }

void main() {
  int n = int(gl_LocalInvocationIndex);
  int at = n * kColumns;
  o[at + 0] = forLoop(n);
  o[at + 1] = breakContinue(n);
  o[at + 2] = whileLoop(n + 1);
  o[at + 3] = doWhile(n % 7);
  o[at + 4] = switchFall(n % 11);
  o[at + 5] = earlyReturn(n);
  o[at + 6] = switchInLoop(n);
  o[at + 7] = logic(n);
  o[at + 8] = nestedIf(n);
  o[at + 9] = infinite(n);
}
