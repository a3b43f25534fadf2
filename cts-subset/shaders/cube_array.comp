#version 450
// Two cubes in an array: sampled by direction and number, loaded and stored by layer.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { vec4 result[]; };
layout(std430, binding = 1) readonly buffer In { vec4 direction[]; };  // and the cube's number
layout(binding = 2) uniform samplerCubeArray cubes;
layout(binding = 3, r32f) uniform imageCubeArray faces;
layout(binding = 4) uniform samplerCube one;
void main() {
  uint i = gl_GlobalInvocationID.x;
  result[4 * i] = textureLod(cubes, direction[i], 0.0);
  result[4 * i + 1] = vec4(textureSize(cubes, 0), imageSize(faces).z);
  result[4 * i + 2] = textureLod(one, direction[i].xyz, 0.0);
  if (i < 12u) {
    result[4 * i + 3] = imageLoad(faces, ivec3(1, 0, i));
    imageStore(faces, ivec3(0, 1, i), vec4(100.0 + float(i)));
  }
}
