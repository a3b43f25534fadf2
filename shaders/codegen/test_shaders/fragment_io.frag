#version 460
#extension GL_EXT_multiview : require

layout(location = 0) in vec4 smoothInput;
layout(location = 1) noperspective in vec2 linearInput;
layout(location = 2) flat in ivec3 numbers;
layout(location = 3) flat in double wide;
layout(location = 4, component = 2) in float list[2];  // locations 4 and 5
layout(location = 6) in Block {
  vec2 a;
  layout(location = 8) flat uint b;
} block;
layout(location = 20) in vec2 notWritten;

in float gl_ClipDistance[2];
in float gl_CullDistance[1];

layout(push_constant) uniform Push {
  vec4 scale;
};

layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
layout(location = 2) out ivec4 third;
layout(location = 3) out vec4 fourth;
layout(location = 4) out uvec4 fifth;
layout(location = 5) out vec4 sixth;

void main() {
  first = smoothInput * scale;
  second = vec4(gl_FragCoord.xyz + vec3(notWritten, 0), gl_FragCoord.w);
  third = ivec4(numbers, gl_FrontFacing ? gl_PrimitiveID : -gl_PrimitiveID);
  fourth = vec4(linearInput, list[0] + list[1], block.a.y);
  fifth = uvec4(floatBitsToUint(float(wide)), block.b, gl_Layer, gl_ViewIndex);
  sixth = vec4(gl_ClipDistance[1], gl_CullDistance[0], gl_PointCoord);
}
