#version 460
#extension GL_EXT_samplerless_texture_functions : require
// Texels of 2D arrays by every road that compiled code has: lanes side by side, clamped, anywhere, one for all.
// texels_test.cpp gives the storage images other formats in turn.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) writeonly buffer Out { uvec4 answers[]; };
layout(std430, binding = 1) readonly buffer In { uvec4 words[]; };  // x, y: anywhere; z, w: bits to write
layout(binding = 2, r32f) uniform readonly image2DArray floats;
layout(binding = 3, r32f) uniform writeonly image2DArray floatsOut;
layout(binding = 4, r32ui) uniform readonly uimage2DArray integers;
layout(binding = 5, r32ui) uniform writeonly uimage2DArray integersOut;
layout(binding = 6) uniform sampler2DArray sampled;
layout(binding = 7) uniform texture2D plain;
layout(binding = 8) uniform sampler2D filtered;
layout(push_constant) uniform Push { ivec2 size; ivec2 offset; int layer; int outLayer; };

void main() {
  const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  const uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
  const uvec4 word = words[i];
  const ivec2 anywhere = ivec2(word.xy);
  const ivec3 places[4] = ivec3[](ivec3(at + offset, layer), ivec3(clamp(at + offset, ivec2(0), size - 1), layer),
                                  ivec3(anywhere, layer), ivec3(offset, layer));
  uint to = i * 17u;
  for (int p = 0; p < 4; ++p) {
    answers[to++] = floatBitsToUint(imageLoad(floats, places[p]));
    answers[to++] = imageLoad(integers, places[p]);
    answers[to++] = floatBitsToUint(texelFetch(sampled, places[p], 0));
  }
  answers[to++] = floatBitsToUint(texelFetch(plain, at + offset, 0));
  // Side by side, further apart than texels, anywhere.
  const vec2 scale = 1.0 / vec2(size);
  answers[to++] = floatBitsToUint(textureLod(filtered, (vec2(at + offset) + vec2(0.8, 1.3)) * scale, 0.0));
  answers[to++] = floatBitsToUint(textureLod(filtered, (vec2(at) * 1.7 + 0.1) * scale, 1.0));
  answers[to++] = floatBitsToUint(textureGrad(filtered, vec2(anywhere) * 0.37 * scale, vec2(1), vec2(0)));
  answers[to++] = uvec4(0);
  const vec4 value = uintBitsToFloat(uvec4(word.zw, word.z ^ 0x3f803f80u, ~word.w));
  const uvec4 number = uvec4(word.zw, word.z >> 20, ~word.w);
  const ivec2 back = size - 1 - at;
  if (outLayer == 0) {  // all lanes
    imageStore(floatsOut, ivec3(at + offset, 0), value);
    imageStore(integersOut, ivec3(at + offset, 0), number);
  } else if ((word.z & 1u) != 0u) {  // some
    imageStore(floatsOut, ivec3(at + offset, outLayer), value);
    imageStore(integersOut, ivec3(at + offset, outLayer), number);
    if ((word.z & 2u) != 0u) {  // not side by side
      imageStore(floatsOut, ivec3(back, 0), value);
      imageStore(integersOut, ivec3(back, 0), number);
    }
  }
}
