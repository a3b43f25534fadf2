#version 450
#extension GL_ARB_shader_viewport_layer_array : require
// The whole viewport; instance i goes to layer i / 4 and to viewport i % 4.
layout(location = 0) flat out uvec4 numbers;
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
  gl_Layer = gl_InstanceIndex / 4;
  gl_ViewportIndex = gl_InstanceIndex % 4;
  numbers = uvec4(10 * (gl_InstanceIndex + 1), 0, 0, 255);
}
