#version 460
layout(local_size_x = 64) in;
layout(binding = 0) buffer O { uint o[]; };
layout(binding = 1) buffer I { uint v[]; };
layout(binding = 2) buffer C { uint counter; uint maximum; uint swapped; };
shared uint part[64];
shared struct { uint a; vec3 b; bool flag; } mixed;
void main() {
  uint li = gl_LocalInvocationIndex;
  part[li] = v[gl_GlobalInvocationID.x];
  if (li == 5) { mixed.a = 77; mixed.b = vec3(1, 2, 3); mixed.flag = true; }
  barrier();
  for (uint s = 32; s > 0; s >>= 1) {
    if (li < s) part[li] += part[li + s];
    barrier();
  }
  if (li == 0) {
    o[gl_WorkGroupID.x] = part[0];
    o[8 + gl_WorkGroupID.x] = mixed.a + uint(mixed.b.z) + (mixed.flag ? 1000 : 0);
  }
  atomicAdd(counter, li);
  atomicMax(maximum, gl_GlobalInvocationID.x);
  if (li == 63) atomicCompSwap(swapped, 5, 9);
}
