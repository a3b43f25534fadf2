#version 460
#extension GL_EXT_multiview : require
#extension GL_ARB_shader_viewport_layer_array : require

layout(location = 0) in vec3 position;
layout(location = 3) in ivec2 numbers;
layout(location = 5) in dvec3 wide;  // two locations
layout(location = 8) in mat2 matrix;

layout(set = 0, binding = 0) buffer Count {
  uint count;
};
layout(push_constant) uniform Push {
  vec4 scale;
  int pick;
};

out gl_PerVertex {
  vec4 gl_Position;
  float gl_PointSize;
  float gl_ClipDistance[2];
  float gl_CullDistance[1];
};
layout(location = 0) out vec4 color;
layout(location = 2) flat out ivec4 ids;
layout(location = 3) flat out uvec3 more;
layout(location = 4) out float list[3];
layout(location = 9) out Block {
  vec2 a;
  vec2 b;
} block;
layout(location = 12) flat out dvec3 wideOut;
layout(location = 20, component = 1) out vec2 middle;
layout(location = 21) out vec4 neverWritten;

void main() {
  atomicAdd(count, 1u);
  gl_Position = vec4(position, 1.0) * scale;
  gl_PointSize = position.x + 0.5;
  gl_ClipDistance[0] = position.y;
  gl_ClipDistance[1] = -position.z;
  gl_CullDistance[0] = position.x - position.y;
  gl_Layer = numbers.x;
  gl_ViewportIndex = numbers.y & 15;
  color = vec4(0.25);
  if ((gl_VertexIndex & 1) == 0) {
    color.y = position.y;
  } else if (numbers.x > 3) {
    return;
  }
  color.z += 1.0;
  ids = ivec4(gl_VertexIndex, gl_InstanceIndex, gl_BaseVertex, gl_BaseInstance);
  more = uvec3(gl_DrawID, gl_ViewIndex, uint(numbers.y));
  for (int i = 0; i < 3; ++i) list[i] = float(i) + position.x;
  list[pick] = 100.0;
  block.a = matrix * vec2(1.0, 2.0);
  block.b = matrix[numbers.y & 1];
  wideOut = wide * 2.0;
  middle = position.zx;
}
