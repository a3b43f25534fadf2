#version 450
// Light by four comparisons with a shadow map around the place.
layout(set = 0, binding = 0) uniform sampler2DShadow map;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 result;

const float kReceiver = 0.5;  // depth of what is lit, seen from the light

void main() {
  const vec2 texel = 1.0 / vec2(textureSize(map, 0));
  float light = 0.0;
  for (int i = 0; i < 4; ++i) {
    const vec2 offset = vec2(i & 1, i >> 1) - 0.5;
    light += texture(map, vec3(uv + offset * texel, kReceiver));
  }
  result = vec4(vec3(0.1 + 0.2 * light), 1.0);
}
