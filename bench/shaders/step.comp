#version 450
// One small dependent step: a linear congruential generator per element.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };

void main() { data[gl_GlobalInvocationID.x] = data[gl_GlobalInvocationID.x] * 1664525u + 1013904223u; }
