#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) buffer Out { uint64_t sum; uint64_t maximum; float f; float64_t d; uint64_t groupSum[8]; float groupF[8]; float64_t groupD[8]; };
shared uint64_t s;
shared float sf;
shared float64_t sd;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (gl_LocalInvocationIndex == 0) { s = 0ul; sf = 0.0; sd = 0.0lf; }
  barrier();
  atomicAdd(sum, uint64_t(i) << 20u);
  atomicMax(maximum, uint64_t(i) * 0x100000001ul);
  atomicAdd(f, 1.0);
  atomicAdd(d, 0.5lf);
  atomicAdd(s, uint64_t(i) << 33u);
  atomicAdd(sf, 2.0);
  atomicAdd(sd, 0.25lf);
  barrier();
  if (gl_LocalInvocationIndex == 0) {
    groupSum[gl_WorkGroupID.x] = s;
    groupF[gl_WorkGroupID.x] = sf;
    groupD[gl_WorkGroupID.x] = sd;
  }
}
