#version 450
// Eight independent chains of multiply-add, no memory in the loop: the arithmetic limit.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint rounds; float m; float c; };
layout(std430, binding = 0) writeonly buffer Result { float result[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  vec4 a = vec4(0.0, 0.25, 0.5, 0.75) + float(i & 1023u) * 0.0009765625;
  vec4 b = a + 1.0;
  for (uint r = 0u; r < rounds; ++r) {
    a = fma(a, vec4(m), vec4(c));
    b = fma(b, vec4(m), vec4(c));
  }
  vec4 s = a + b;
  result[i] = s.x + s.y + s.z + s.w;
}
