#version 450
#extension GL_EXT_null_initializer : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint seen[64]; uint count[64]; };
struct Mixed { uint a; float b[3]; uvec2 c; };
shared uint words[1001] = {};
shared Mixed mixed[5] = {};
void main() {
  uint i = gl_LocalInvocationIndex;
  uint any = 0u;
  for (uint k = i; k < 1001u; k += 64u) any |= words[k];
  if (i < 5u) any |= mixed[i].a | floatBitsToUint(mixed[i].b[2]) | mixed[i].c.x | mixed[i].c.y;
  barrier();
  // Leave something for the next workgroup to find.
  for (uint k = i; k < 1001u; k += 64u) words[k] = 0xffffffffu;
  if (i < 5u) mixed[i] = Mixed(1u, float[3](2.0, 3.0, 4.0), uvec2(5u, 6u));
  barrier();
  any |= words[(i * 7u) % 1001u] + 1u;
  atomicOr(seen[gl_WorkGroupID.x], any);
  atomicAdd(count[gl_WorkGroupID.x], 1u);
}
