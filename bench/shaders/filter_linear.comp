#version 450
// 5x5 binomial filter by nine linear samples: two texels of weights 1 and 4 are one sample 0.8 of the way. FORMAT: of
// the result.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, FORMAT) uniform writeonly image2D target;

const float kPlace[3] = float[](-1.2, 0.0, 1.2);
const float kWeight[3] = float[](5.0 / 16, 6.0 / 16, 5.0 / 16);

void main() {
  const vec2 texel = 1.0 / vec2(textureSize(source, 0));
  const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  vec4 sum = vec4(0);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x)
      sum += kWeight[x] * kWeight[y] *
             textureLod(source, (vec2(at) + 0.5 + vec2(kPlace[x], kPlace[y])) * texel, 0.0);
  imageStore(target, at, sum);
}
