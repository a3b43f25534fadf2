#version 450
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) out vec4 target;
// Whoever is demoted still takes part in its neighbours' derivatives.
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  if ((p.x + p.y) % 3 == 0) demote;
  float square = gl_FragCoord.x * gl_FragCoord.x;
  target = vec4(dFdxFine(square), helperInvocationEXT() ? 1.0 : 0.0, square, 1.0);
}
