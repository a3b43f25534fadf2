#version 450
// Phong's lighting with a normal map and a texture. kSalt: makes pipelines differ; its low byte is the alpha.
layout(constant_id = 0) const uint kSalt = 255;
layout(set = 0, binding = 0) uniform sampler2D albedoMap;
layout(set = 0, binding = 1) uniform sampler2D normalMap;
layout(set = 0, binding = 2) uniform Scene {
  vec4 light;
  vec4 eye;
};
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 tangent;
layout(location = 3) in vec2 uv;
layout(location = 0) out vec4 result;

void main() {
  const vec3 n = normalize(normal);
  const vec3 t = normalize(tangent - n * dot(n, tangent));
  const vec3 bump = texture(normalMap, uv).xyz * 2.0 - 1.0;
  const vec3 shading = normalize(mat3(t, cross(n, t), n) * bump);
  const vec3 toLight = normalize(light.xyz - position);
  const vec3 toEye = normalize(eye.xyz - position);
  const float diffuse = max(dot(shading, toLight), 0.0);
  const float specular = pow(max(dot(shading, normalize(toLight + toEye)), 0.0), 16.0);
  const vec3 albedo = texture(albedoMap, uv).rgb;
  result = vec4(albedo * (0.15 + 0.65 * diffuse) + 0.3 * specular, float(kSalt & 255u) / 255.0);
}
