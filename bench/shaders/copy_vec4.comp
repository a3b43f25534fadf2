#version 450
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer Source { vec4 source[]; };
layout(std430, binding = 1) writeonly buffer Target { vec4 target[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n) target[i] = source[i];
}
