#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint w[]; };
layout(push_constant) uniform P { Words source; Words target; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  target.w[i] = source.w[i] * 3u + 1u;
}
