#version 450
layout(location = 0) flat in uvec4 numbers;
layout(location = 0) out vec4 target;
void main() { target = vec4(numbers) / 255.0; }
