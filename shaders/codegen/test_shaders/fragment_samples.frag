#version 460

layout(location = 0) sample in vec2 atSample;
layout(location = 1) centroid in vec2 atCentroid;
layout(location = 2) in vec2 atCenter;

layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
layout(location = 2) out ivec4 third;

void main() {
  first = vec4(atSample, atCentroid);
  second = vec4(atCenter, gl_SamplePosition);
  third = ivec4(gl_SampleID, gl_SampleMaskIn[0], ivec2(gl_FragCoord.xy * 16));
}
