#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 16) in;
layout(binding = 0) buffer O { uint o[]; };
void main() {
  uint i = gl_LocalInvocationIndex, n = 0, l = gl_SubgroupInvocationID;
#define PUT(x) o[16 * (n++) + i] = uint(x)
  PUT(gl_SubgroupID * 100 + l);
  PUT(gl_NumSubgroups * 100 + gl_SubgroupSize);
  PUT(subgroupElect());
  PUT(subgroupAny(i == 5));
  PUT(subgroupAll(i < 8));
  PUT(subgroupAllEqual(i / 8));
  PUT(subgroupBroadcast(i, 3));
  PUT(subgroupBroadcastFirst(i));
  uvec4 b = subgroupBallot((i & 1) != 0);
  PUT(b.x);
  PUT(subgroupInverseBallot(b));
  PUT(subgroupBallotBitExtract(b, 3));
  PUT(subgroupBallotBitCount(b));
  PUT(subgroupBallotInclusiveBitCount(b));
  PUT(subgroupBallotExclusiveBitCount(b));
  PUT(subgroupBallotFindLSB(b) * 100 + subgroupBallotFindMSB(b));
  PUT(gl_SubgroupEqMask.x); PUT(gl_SubgroupGeMask.x); PUT(gl_SubgroupGtMask.x); PUT(gl_SubgroupLeMask.x); PUT(gl_SubgroupLtMask.x);
  PUT(subgroupShuffle(i, 7 - l));
  PUT(subgroupShuffleXor(i, 2));
  if (l >= 2) PUT(subgroupShuffleUp(i, 0)); else n++;
  PUT(subgroupAdd(i));
  PUT(subgroupInclusiveAdd(i));
  PUT(subgroupExclusiveMax(int(i)) == -2147483648 ? 0u : subgroupMax(i));
  PUT(subgroupClusteredAdd(i, 4));
  PUT(subgroupAnd((i & 8) != 0));
  PUT(subgroupQuadBroadcast(i, 2));
  PUT(subgroupQuadSwapHorizontal(i)); PUT(subgroupQuadSwapVertical(i)); PUT(subgroupQuadSwapDiagonal(i));
  PUT(subgroupMin(vec2(i, -float(i))).y + 16.0);
  PUT(subgroupShuffle(i > 3, 4));
  subgroupBarrier();
}
