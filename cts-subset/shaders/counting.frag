#version 450
// Counts its invocations, and marks the pixel in a row of the buffer.
layout(set = 0, binding = 0) buffer Counts {
  uint count;
  uint pixels[];
};
layout(location = 0) out vec4 target;
void main() {
  atomicAdd(count, 1u);
  pixels[uint(gl_FragCoord.y) * 64u + uint(gl_FragCoord.x)] = uint(gl_FragCoord.x) + 1u;
  target = vec4(1.0);
}
