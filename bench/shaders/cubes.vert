#version 450
// Cubes without rotation; the view is rotated.
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 place;  // of an instance: center and half of the edge
layout(location = 3) in vec4 instanceColor;
layout(push_constant) uniform Push {
  mat4 viewProjection;
};
layout(location = 0) out vec4 color;

const vec3 kLight = vec3(0.2, 0.5, 0.3);

void main() {
  gl_Position = viewProjection * vec4(place.xyz + place.w * corner, 1.0);
  color = vec4(instanceColor.rgb * (0.5 + 0.5 * dot(normal, kLight)), 1.0);
}
