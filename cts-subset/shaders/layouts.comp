#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, scalar) readonly buffer A { float first; vec3 v[16]; };
layout(set = 0, binding = 1, std430) uniform B { float w[16]; };
layout(set = 0, binding = 2, scalar) buffer Out { vec3 r[16]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  r[i] = v[i] * w[15u - i] + first;
}
