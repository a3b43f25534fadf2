#version 450
layout(location = 0) in vec4 clipPosition;
layout(location = 1) in vec3 vertexPosition;
layout(location = 2) in vec3 vertexNormal;
layout(location = 3) in vec3 vertexTangent;
layout(location = 4) in vec2 vertexUv;
layout(location = 0) out vec3 position;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 tangent;
layout(location = 3) out vec2 uv;

void main() {
  gl_Position = clipPosition;
  position = vertexPosition;
  normal = vertexNormal;
  tangent = vertexTangent;
  uv = vertexUv;
}
