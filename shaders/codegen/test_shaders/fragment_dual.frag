#version 460
#extension GL_ARB_shader_stencil_export : require

layout(location = 0) in vec4 value;
layout(location = 1) flat in int number;

layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec4 second;

void main() {
  first = value;
  second = value.wzyx;
  gl_FragStencilRefARB = number & 255;
}
