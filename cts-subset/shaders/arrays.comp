#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) uniform U { uint u; } us[4];
layout(set = 0, binding = 1) buffer S { uint s; } ss[4];
layout(set = 0, binding = 2) buffer Out { uint r[48]; };
layout(push_constant) uniform P { uint which; };
void main() {
  uint i = gl_LocalInvocationIndex;
  r[i] = us[which].u + ss[which ^ 1u].s;             // dynamically uniform
  r[16u + i] = us[nonuniformEXT(i & 3u)].u;
  r[32u + i] = ss[nonuniformEXT((i >> 1u) & 3u)].s;
}
