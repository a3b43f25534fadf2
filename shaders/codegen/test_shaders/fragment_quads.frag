#version 460
#extension GL_EXT_demote_to_helper_invocation : require

layout(location = 0) in vec2 at;

layout(set = 0, binding = 0) buffer Log {
  uint calls;
  uint perPixel[];
};
layout(push_constant) uniform Push {
  vec4 limits;
};

layout(location = 0) out vec4 fine;
layout(location = 1) out vec4 coarse;
layout(location = 2) out vec4 rest;

void main() {
  uint index = uint(gl_FragCoord.x) + 64 * uint(gl_FragCoord.y);
  rest = vec4(gl_HelperInvocation ? 1 : 0, 0, 0, 0);
  if (at.x < limits.x) discard;
  if (at.y < limits.y) demote;
  fine = vec4(dFdxFine(at.x * at.y), dFdyFine(at.x * at.y), fwidthFine(at.x * at.x), at.x);
  coarse = vec4(dFdxCoarse(at.x * at.y), dFdyCoarse(at.x * at.y), fwidthCoarse(at.x * at.x), at.y);
  rest.y = helperInvocationEXT() ? 1 : 0;
  float sum = 0;
  for (int i = 0; i < int(at.x) % 7; ++i) sum += at.y + float(i);
  rest.z = sum;
  perPixel[index] = 1 + uint(abs(at.x));
  rest.w = float(atomicAdd(calls, 1) < 100000);
}
