#version 460

layout(location = 0) in vec2 smoothInput;
layout(location = 1) noperspective in vec2 linearInput[2];
layout(location = 3) centroid in vec2 atCentroid;
layout(location = 4) flat in vec2 flatInput;

layout(push_constant) uniform Push {
  vec2 offset;
  int number;
};

layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
layout(location = 2) out vec4 third;
layout(location = 3) out ivec4 fourth;

void main() {
  first = vec4(interpolateAtOffset(smoothInput, offset), interpolateAtSample(smoothInput, number));
  second = vec4(interpolateAtCentroid(linearInput[1]), atCentroid);
  third = vec4(interpolateAtOffset(linearInput[number & 1].y, vec2(-0.25, smoothInput.x > 0 ? 0.25 : 0.125)),
               interpolateAtSample(atCentroid.x, 2), interpolateAtCentroid(flatInput));
  fourth = ivec4(gl_SampleMaskIn[0], 0, 0, 0);
}
