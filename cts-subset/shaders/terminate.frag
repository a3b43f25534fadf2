#version 450
#extension GL_EXT_terminate_invocation : require
layout(location = 0) out vec4 target;
layout(set = 0, binding = 0, std430) buffer Counters { uint before, after; };
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  atomicAdd(before, 1u);
  if ((p.x * 5 + p.y) % 7 < 3) terminateInvocation;
  atomicAdd(after, 1u);
  target = vec4(0.0, 1.0, 0.0, 1.0);
}
