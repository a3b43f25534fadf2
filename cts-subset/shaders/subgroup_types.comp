//! vulkan1.1
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer Out { uint64_t wide[16]; uint narrow[16]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  wide[i] = subgroupAdd(uint64_t(i) << 40u);
  narrow[i] = uint(subgroupInclusiveAdd(uint16_t(i * 4096u)));
}
