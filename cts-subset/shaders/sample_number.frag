#version 450
layout(location = 0) out vec4 target;
void main() { target = vec4(float(gl_SampleID) / 3.0, gl_SamplePosition, 1.0); }
