#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Inline { uint a[4]; };  // std140: one word in sixteen bytes
layout(set = 0, binding = 1) uniform U { uint b; };
layout(set = 0, binding = 2) buffer Out { uint r[2]; };
void main() {
  r[0] = a[0] + a[1];
  r[1] = b;
}
