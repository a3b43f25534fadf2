#version 460
// Samples by every road that compiled code has: pixels that lie together see texels that do, or not.
layout(location = 0) in vec4 value;

layout(set = 1, binding = 1) uniform sampler2D image;
layout(set = 1, binding = 2) uniform sampler2DShadow shadow;

layout(location = 0) out vec4 implicit;
layout(location = 1) out vec4 biased;
layout(location = 2) out vec4 stated;
layout(location = 3) out vec4 some;
layout(location = 4) out vec4 anywhere;
layout(location = 5) out vec4 compared;

layout(push_constant) uniform Push {
  vec4 rows;    // of texture coordinates by pixels
  vec2 offset;
  float lod, reference;
};

void main() {
  const vec2 at = vec2(dot(gl_FragCoord.xy, rows.xy), dot(gl_FragCoord.xy, rows.zw)) + offset;
  implicit = texture(image, at);
  biased = texture(image, at, lod - 0.5);
  stated = textureLod(image, at, lod);
  some = vec4(0.0);
  if (value.x > 0.0) some = textureGrad(image, at.yx, vec2(0.0), rows.zw);
  anywhere = texture(image, value.xy);
  compared = vec4(texture(shadow, vec3(at, reference)), textureLod(shadow, vec3(at, reference), lod),
                  texture(shadow, vec3(value.zw, reference)), textureLod(shadow, vec3(at.yx, value.x), 0.0));
}
