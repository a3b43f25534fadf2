#version 460
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 4) in;
layout(binding = 0) buffer O { uint o[]; };
layout(binding = 1) buffer I { uint v[]; } many[3];
layout(binding = 2) uniform C { uint first; } grid[4];
void main() {
  uint i = gl_LocalInvocationIndex;
  o[i] = many[nonuniformEXT(i % 3)].v[1] + many[2].v[0];
  o[4 + i] = grid[i].first;
  o[8 + i] = many[nonuniformEXT(i)].v.length();
}
