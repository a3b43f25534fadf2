#version 450
#extension GL_ARB_shader_stencil_export : require
layout(location = 0) out vec4 target;
void main() {
  target = vec4(1.0);
  gl_FragStencilRefARB = int(gl_FragCoord.x);
}
