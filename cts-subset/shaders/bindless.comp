#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint result[]; };
layout(set = 0, binding = 1) readonly buffer In { uint value[4]; } inputs[];
void main() {
  uint i = gl_GlobalInvocationID.x;
  result[i] = inputs[nonuniformEXT(i)].value[i & 3u];
}
