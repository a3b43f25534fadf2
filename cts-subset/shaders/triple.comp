#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Words { uint words[]; };

void main() {
  words[gl_GlobalInvocationID.x] *= 3u;
}
