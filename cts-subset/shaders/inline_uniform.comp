#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Block { uvec4 values[2]; };
layout(set = 0, binding = 1) buffer Out { uvec4 result[2]; };
void main() {
  result[0] = values[1];
  result[1] = values[0];
}
