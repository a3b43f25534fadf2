#version 450
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { float value[]; };
layout(set = 0, binding = 1) buffer Out { float least, most; float64_t wideLeast, wideMost; float groupLeast[8]; float64_t groupMost[8]; };
shared float s;
shared float64_t d;
void main() {
  uint i = gl_GlobalInvocationID.x;
  float v = value[i];
  if (gl_LocalInvocationIndex == 0) { s = 1e9; d = -1e9lf; }
  barrier();
  atomicMin(least, v);
  atomicMax(most, v);
  atomicMin(wideLeast, float64_t(v) * 0.1lf);
  atomicMax(wideMost, float64_t(v) * 0.1lf);
  atomicMin(s, v);
  atomicMax(d, float64_t(v));
  barrier();
  if (gl_LocalInvocationIndex == 0) { groupLeast[gl_WorkGroupID.x] = s; groupMost[gl_WorkGroupID.x] = d; }
}
