#version 450
// 5x5 binomial filter by texel fetches. FORMAT: of the result.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, FORMAT) uniform writeonly image2D target;

const float kWeight[5] = float[](1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16);

void main() {
  const ivec2 last = textureSize(source, 0) - 1;
  const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  vec4 sum = vec4(0);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 5; ++x)
      sum += kWeight[x] * kWeight[y] * texelFetch(source, clamp(at + ivec2(x, y) - 2, ivec2(0), last), 0);
  imageStore(target, at, sum);
}
