#version 460

layout(location = 0) in vec4 value;

layout(location = 0) out vec4 color;

void main() {
  color = value;
  gl_FragDepth = abs(value.x) * 0.01;
  gl_SampleMask[0] = int(abs(value.y)) & 15;
}
