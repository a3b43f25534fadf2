#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint go; uint count; };
void main() {
  uint n = 0;
  while (go == 0u) {
    n = n * 1664525u + 1013904223u;
    if (n == 12345u) atomicAdd(count, 1u);
    if (n == 12346u) go = 1u;
    go = 0u;
  }
}
