#version 450
#extension GL_ARB_sparse_texture2 : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 1, rgba8) readonly uniform image2D stored;
struct Result { vec4 fetched, sampledAt, loaded, gathered; uvec4 resident; };
layout(set = 0, binding = 2) writeonly buffer Out { Result results[]; };
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  vec2 center = (vec2(at) + 0.5) / 8.0;
  Result r;
  r.resident.x = uint(sparseTexelsResidentARB(sparseTexelFetchARB(sampled, at, 0, r.fetched)));
  r.resident.y = uint(sparseTexelsResidentARB(sparseTextureLodARB(sampled, center, 0.0, r.sampledAt)));
  r.resident.z = uint(sparseTexelsResidentARB(sparseImageLoadARB(stored, at, r.loaded)));
  r.resident.w = uint(sparseTexelsResidentARB(sparseTextureGatherARB(sampled, center + 0.5 / 8.0, r.gathered, 1)));
  results[at.y * 8 + at.x] = r;
}
