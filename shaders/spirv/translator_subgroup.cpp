// Subgroup operations. Booleans travel as 32-bit integers through everything but votes and ballots.
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;
using ir::ReduceOp;

// Bits of the invocations that a subgroup has.
ir::Value* Translator::lanesMask() {
  return e().i32(fn_.subgroupSize >= 32 ? ~0u : (1u << fn_.subgroupSize) - 1);
}

ir::Value* Translator::subgroupMask(spv::BuiltIn b) {
  Value* lane = loadBuiltin(spv::BuiltIn::SubgroupLocalInvocationId, 0);
  Value* bit = e().binary(Op::Shl, e().i32(1), lane);
  Value* below = e().binary(Op::ISub, bit, e().i32(1));
  Value* atOrBelow = e().binary(Op::Or, below, bit);
  switch (b) {
    case spv::BuiltIn::SubgroupEqMask:
      return bit;
    case spv::BuiltIn::SubgroupLtMask:
      return below;
    case spv::BuiltIn::SubgroupLeMask:
      return atOrBelow;
    case spv::BuiltIn::SubgroupGeMask:
      return e().binary(Op::And, e().unary(Op::Not, below), lanesMask());
    default:
      return e().binary(Op::And, e().unary(Op::Not, atOrBelow), lanesMask());
  }
}

void Translator::checkSubgroupScope(uint32_t scopeId) {
  if (static_cast<spv::Scope>(constantInt(scopeId)) != spv::Scope::Subgroup)
    failUnsupported("group operation beyond the subgroup");
}

bool Translator::emitSubgroup(const Instr& in) {
  // Applies `f` to each leaf, booleans as integers.
  auto each = [&](uint32_t operand, auto f) {
    const Val v = get(in.operand(operand));
    std::span<Value*> out = allocate(v.leaves.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const bool isBool = v.leaves[i]->type.isBool();
      Value* r = f(isBool ? boolToInt(v.leaves[i]) : v.leaves[i]);
      out[i] = isBool ? intToBool(r) : r;
    }
    setLeaves(in, out);
  };
  auto vote = [&](Op op, uint32_t operand) {
    setScalar(in, e().inst(op, ir::kBool, {scalar(in.operand(operand))})->result);
  };
  auto lane = [&] { return loadBuiltin(spv::BuiltIn::SubgroupLocalInvocationId, 0); };
  auto index = [&](uint32_t operand) { return resizeInt(scalar(in.operand(operand)), ir::kI32, false); };
  auto shuffle = [&](Op op, uint32_t operand, Value* by) {
    each(operand, [&](Value* v) { return e().inst(op, v->type, {v, by})->result; });
  };
  auto ballotOf = [&](uint32_t operand) {
    Value* b = e().inst(Op::SubgroupBallot, ir::kI32, {scalar(in.operand(operand))})->result;
    setLeaves(in, std::initializer_list<Value*>{b, e().i32(0), e().i32(0), e().i32(0)});
  };
  auto allEqual = [&](uint32_t operand) {
    const Val v = get(in.operand(operand));
    Value* all = e().boolean(true);
    for (Value* leaf : v.leaves)
      all = e().binary(Op::And, e().inst(Op::SubgroupAllEqual, ir::kBool, {leaf})->result, all);
    setScalar(in, all);
  };
  // The first word of a ballot: subgroups have at most 32 invocations.
  auto ballotWord = [&](uint32_t operand) {
    const Val v = get(in.operand(operand));
    if (v.leaves.empty() || v.leaves[0]->type != ir::kI32) failInvalid("a ballot is expected");
    return v.leaves[0];
  };
  auto bitOf = [&](Value* word, Value* i) {
    Value* bit = e().binary(Op::And, e().binary(Op::UShr, word, i), e().i32(1));
    return e().binary(Op::And, intToBool(bit), e().compare(Op::ULt, i, e().i32(32)));
  };
  auto reduce = [&](ReduceOp op) {
    const auto group = static_cast<spv::GroupOperation>(in.operand(1));
    uint32_t cluster = 0;
    Op o = Op::SubgroupReduce;
    switch (group) {
      case spv::GroupOperation::Reduce:
        break;
      case spv::GroupOperation::InclusiveScan:
        o = Op::SubgroupInclusiveScan;
        break;
      case spv::GroupOperation::ExclusiveScan:
        o = Op::SubgroupExclusiveScan;
        break;
      case spv::GroupOperation::ClusteredReduce:
        cluster = constantInt(in.operand(3));
        if (cluster == 0 || (cluster & (cluster - 1)) != 0) failInvalid("cluster size");
        if (cluster >= fn_.subgroupSize) cluster = 0;
        break;
      default:
        failUnsupported("group operation");
    }
    each(2, [&](Value* v) {
      if (cluster == 1) return v;
      ir::Inst* i = e().inst(o, v->type, {v});
      i->imm = cluster;
      i->imm2 = static_cast<uint32_t>(op);
      return i->result;
    });
  };

  const auto first = static_cast<uint32_t>(spv::Op::OpGroupNonUniformElect);
  const auto last = static_cast<uint32_t>(spv::Op::OpGroupNonUniformQuadSwap);
  const auto code = static_cast<uint32_t>(in.op);
  if ((code >= first && code <= last) || in.op == spv::Op::OpGroupNonUniformRotateKHR)
    checkSubgroupScope(in.operand(0));

  switch (in.op) {
    case spv::Op::OpGroupNonUniformElect:
      setScalar(in, e().inst(Op::SubgroupElect, ir::kBool, {})->result);
      return true;
    case spv::Op::OpGroupNonUniformAll:
      vote(Op::SubgroupAll, 1);
      return true;
    case spv::Op::OpGroupNonUniformAny:
      vote(Op::SubgroupAny, 1);
      return true;
    case spv::Op::OpSubgroupAllKHR:
      vote(Op::SubgroupAll, 0);
      return true;
    case spv::Op::OpSubgroupAnyKHR:
      vote(Op::SubgroupAny, 0);
      return true;
    case spv::Op::OpGroupNonUniformAllEqual:
      allEqual(1);
      return true;
    case spv::Op::OpSubgroupAllEqualKHR:
      allEqual(0);
      return true;
    case spv::Op::OpGroupNonUniformBroadcast:
    case spv::Op::OpGroupNonUniformShuffle:
      shuffle(Op::SubgroupShuffle, 1, index(2));
      return true;
    case spv::Op::OpSubgroupReadInvocationKHR:
      shuffle(Op::SubgroupShuffle, 0, index(1));
      return true;
    case spv::Op::OpGroupNonUniformBroadcastFirst:
      each(1, [&](Value* v) { return e().inst(Op::SubgroupBroadcastFirst, v->type, {v})->result; });
      return true;
    case spv::Op::OpSubgroupFirstInvocationKHR:
      each(0, [&](Value* v) { return e().inst(Op::SubgroupBroadcastFirst, v->type, {v})->result; });
      return true;
    case spv::Op::OpGroupNonUniformBallot:
      ballotOf(1);
      return true;
    case spv::Op::OpSubgroupBallotKHR:
      ballotOf(0);
      return true;
    case spv::Op::OpGroupNonUniformInverseBallot:
      setScalar(in, bitOf(ballotWord(1), lane()));
      return true;
    case spv::Op::OpGroupNonUniformBallotBitExtract:
      setScalar(in, bitOf(ballotWord(1), index(2)));
      return true;
    case spv::Op::OpGroupNonUniformBallotBitCount: {
      Value* word = e().binary(Op::And, ballotWord(2), lanesMask());
      const auto group = static_cast<spv::GroupOperation>(in.operand(1));
      if (group == spv::GroupOperation::InclusiveScan)
        word = e().binary(Op::And, word, loadBuiltin(spv::BuiltIn::SubgroupLeMask, 0));
      else if (group == spv::GroupOperation::ExclusiveScan)
        word = e().binary(Op::And, word, loadBuiltin(spv::BuiltIn::SubgroupLtMask, 0));
      setScalar(in, resizeInt(e().unary(Op::BitCount, word), type(in.resultType).scalar, false));
      return true;
    }
    case spv::Op::OpGroupNonUniformBallotFindLSB: {
      Value* word = e().binary(Op::And, ballotWord(1), lanesMask());
      setScalar(in, resizeInt(e().unary(Op::CountTrailingZeros, word), type(in.resultType).scalar, false));
      return true;
    }
    case spv::Op::OpGroupNonUniformBallotFindMSB: {
      Value* word = e().binary(Op::And, ballotWord(1), lanesMask());
      setScalar(in, resizeInt(findUMsb(word), type(in.resultType).scalar, true));
      return true;
    }
    case spv::Op::OpGroupNonUniformShuffleXor:
      shuffle(Op::SubgroupShuffleXor, 1, index(2));
      return true;
    case spv::Op::OpGroupNonUniformShuffleUp:
      shuffle(Op::SubgroupShuffleUp, 1, index(2));
      return true;
    case spv::Op::OpGroupNonUniformShuffleDown:
      shuffle(Op::SubgroupShuffleDown, 1, index(2));
      return true;
    case spv::Op::OpGroupNonUniformRotateKHR: {
      const uint32_t size = in.operandCount() > 3 ? constantInt(in.operand(3)) : fn_.subgroupSize;
      if (size == 0 || (size & (size - 1)) != 0 || size > fn_.subgroupSize) failInvalid("cluster size");
      Value* turned = e().binary(Op::And, e().binary(Op::IAdd, lane(), index(2)), e().i32(size - 1));
      Value* base = e().binary(Op::And, lane(), e().i32(~(size - 1)));
      shuffle(Op::SubgroupShuffle, 1, e().binary(Op::Or, base, turned));
      return true;
    }
    case spv::Op::OpGroupNonUniformQuadBroadcast: {
      if (isFragment()) {
        // With helper invocations, which are not active otherwise. Any index: it is the same in the subgroup.
        Value* from = e().binary(Op::And, index(2), e().i32(3));
        each(1, [&](Value* v) {
          Value* out = quadShuffle(v, 0);
          for (uint32_t i = 1; i < 4; ++i)
            out = e().select(e().compare(Op::IEq, from, e().i32(i)), quadShuffle(v, i * 0x55), out);
          return out;
        });
        return true;
      }
      Value* base = e().binary(Op::And, lane(), e().i32(~3u));
      shuffle(Op::SubgroupShuffle, 1, e().binary(Op::Or, base, e().binary(Op::And, index(2), e().i32(3))));
      return true;
    }
    case spv::Op::OpGroupNonUniformQuadSwap: {
      const uint32_t direction = constantInt(in.operand(2));  // horizontal, vertical, diagonal
      if (direction > 2) failInvalid("direction of a quad swap");
      if (isFragment()) {
        const uint32_t flip = direction + 1;
        const uint32_t selector = flip | (1 ^ flip) << 2 | (2 ^ flip) << 4 | (3 ^ flip) << 6;
        each(1, [&](Value* v) { return quadShuffle(v, selector); });
        return true;
      }
      shuffle(Op::SubgroupShuffleXor, 1, e().i32(direction + 1));
      return true;
    }
    case spv::Op::OpGroupNonUniformIAdd:
      reduce(ReduceOp::kIAdd);
      return true;
    case spv::Op::OpGroupNonUniformFAdd:
      reduce(ReduceOp::kFAdd);
      return true;
    case spv::Op::OpGroupNonUniformIMul:
      reduce(ReduceOp::kIMul);
      return true;
    case spv::Op::OpGroupNonUniformFMul:
      reduce(ReduceOp::kFMul);
      return true;
    case spv::Op::OpGroupNonUniformSMin:
      reduce(ReduceOp::kSMin);
      return true;
    case spv::Op::OpGroupNonUniformUMin:
      reduce(ReduceOp::kUMin);
      return true;
    case spv::Op::OpGroupNonUniformFMin:
      reduce(ReduceOp::kFMin);
      return true;
    case spv::Op::OpGroupNonUniformSMax:
      reduce(ReduceOp::kSMax);
      return true;
    case spv::Op::OpGroupNonUniformUMax:
      reduce(ReduceOp::kUMax);
      return true;
    case spv::Op::OpGroupNonUniformFMax:
      reduce(ReduceOp::kFMax);
      return true;
    case spv::Op::OpGroupNonUniformBitwiseAnd:
    case spv::Op::OpGroupNonUniformLogicalAnd:
      reduce(ReduceOp::kAnd);
      return true;
    case spv::Op::OpGroupNonUniformBitwiseOr:
    case spv::Op::OpGroupNonUniformLogicalOr:
      reduce(ReduceOp::kOr);
      return true;
    case spv::Op::OpGroupNonUniformBitwiseXor:
    case spv::Op::OpGroupNonUniformLogicalXor:
      reduce(ReduceOp::kXor);
      return true;
    default:
      return false;
  }
}

}  // namespace pumice::shader::spirv
