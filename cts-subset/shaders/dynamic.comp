#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform A { uint a; };
layout(set = 0, binding = 1) buffer B { uint b; };
layout(set = 1, binding = 0) uniform C { uint c[2]; };
layout(set = 1, binding = 2) buffer D { uint d[]; };
void main() {
  d[0] = a;
  d[1] = b;
  d[2] = c[0];
  b = a + b;
}
