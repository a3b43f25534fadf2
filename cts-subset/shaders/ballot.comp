#version 450
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer Out { uvec4 r[16]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  uvec2 odd = unpackUint2x32(ballotARB((i & 1u) == 1u));
  r[i] = uvec4(odd.x, readInvocationARB(i * 3u, 5u), anyInvocationARB(i == 3u) ? 1u : 0u,
               allInvocationsARB(i < 3u) ? 1u : 0u);
}
