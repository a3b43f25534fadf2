#include "shaders/codegen/subgroup_emit.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cassert>

namespace pumice::shader::codegen {
namespace {

using ir::Kind;
using ir::Op;
using ir::ReduceOp;

bool isAllOnes(llvm::Value* mask) {
  const auto* c = llvm::dyn_cast<llvm::Constant>(mask);
  return c != nullptr && c->isAllOnesValue();
}

}  // namespace

SubgroupEmitter::SubgroupEmitter(OpsEmitter& ops, uint32_t lanes, uint32_t subgroupSize)
    : ops_(ops), b_(ops.builder()), lanes_(lanes), size_(subgroupSize) {
  assert(lanes_ >= size_ && lanes_ % size_ == 0 && lanes_ <= 64);
}

llvm::Value* SubgroupEmitter::maskToInteger(llvm::Value* mask) {
  return b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
}

llvm::Value* SubgroupEmitter::anyLane(llvm::Value* mask) {
  llvm::Value* bits = maskToInteger(mask);
  return b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
}

llvm::Value* SubgroupEmitter::allLanes(llvm::Value* mask) {
  llvm::Value* bits = maskToInteger(mask);
  return b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()));
}

template <typename F>
llvm::Constant* SubgroupEmitter::laneTable(F f) {
  llvm::SmallVector<uint32_t, 64> v(lanes_);
  for (uint32_t i = 0; i < lanes_; i++) v[i] = f(i);
  return llvm::ConstantDataVector::get(b_.getContext(), v);
}

llvm::Constant* SubgroupEmitter::splat32(uint32_t v) {
  return laneTable([v](uint32_t) { return v; });
}

llvm::Constant* SubgroupEmitter::laneInSubgroup() {
  return laneTable([this](uint32_t lane) { return lane % size_; });
}

// <P x i32>: the mask bits of each lane's own subgroup, from bit 0.
llvm::Value* SubgroupEmitter::segmentBits(llvm::Value* mask) {
  llvm::Value* bits = maskToInteger(mask);
  if (lanes_ == size_) {
    return b_.CreateVectorSplat(lanes_, b_.CreateZExtOrTrunc(bits, b_.getInt32Ty()));
  }
  if (lanes_ <= 32) {
    llvm::Value* all = b_.CreateVectorSplat(lanes_, b_.CreateZExt(bits, b_.getInt32Ty()));
    llvm::Value* own = b_.CreateLShr(all, laneTable([this](uint32_t lane) { return lane / size_ * size_; }));
    return b_.CreateAnd(own, splat32(size_ == 32 ? ~0u : (1u << size_) - 1));
  }
  // 64 lanes: cut the integer into segments and spread them.
  llvm::Type* segment = b_.getIntNTy(size_);
  const uint32_t count = lanes_ / size_;
  llvm::Value* parts = b_.CreateBitCast(bits, llvm::FixedVectorType::get(segment, count));
  parts = b_.CreateZExt(parts, llvm::FixedVectorType::get(b_.getInt32Ty(), count));
  llvm::SmallVector<int, 64> spread(lanes_);
  for (uint32_t i = 0; i < lanes_; i++) spread[i] = static_cast<int>(i / size_);
  return b_.CreateShuffleVector(parts, spread);
}

// <P x i32>: lane, within the subgroup, of its first active lane (S if there is none: then nobody looks).
llvm::Value* SubgroupEmitter::firstActive(llvm::Value* mask) {
  if (lanes_ == size_) {
    llvm::Value* bits = b_.CreateZExtOrTrunc(maskToInteger(mask), b_.getInt32Ty());
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse());
    return b_.CreateVectorSplat(lanes_, first);
  }
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, segmentBits(mask), b_.getFalse());
}

llvm::Value* SubgroupEmitter::permute32(llvm::Value* value, llvm::Value* index) {
  llvm::Type* type = value->getType();
  const bool isFloat = type->getScalarType()->isFloatTy();
  const TargetFeatures& f = ops_.features();
  using namespace llvm::Intrinsic;
  if (lanes_ == 16 && f.avx512) {
    const ID id = isFloat ? x86_avx512_permvar_sf_512 : x86_avx512_permvar_si_512;
    return b_.CreateIntrinsic(type, id, {value, index});
  }
  if (lanes_ == 8 && f.avx2) {
    return b_.CreateIntrinsic(type, isFloat ? x86_avx2_permps : x86_avx2_permd, {value, index});
  }
  if (lanes_ == 32 && f.avx512) {
    // Two tables of 16: vpermt2 picks by the low five bits.
    llvm::SmallVector<int, 16> low(16), high(16), joined(32);
    for (int i = 0; i < 16; i++) {
      low[static_cast<size_t>(i)] = i;
      high[static_cast<size_t>(i)] = 16 + i;
    }
    for (int i = 0; i < 32; i++) joined[static_cast<size_t>(i)] = i;
    const auto half = [&](llvm::Value* v, const llvm::SmallVector<int, 16>& m) { return b_.CreateShuffleVector(v, m); };
    llvm::Value *a = half(value, low), *b = half(value, high);
    const ID id = isFloat ? x86_avx512_vpermi2var_ps_512 : x86_avx512_vpermi2var_d_512;
    llvm::Value* x = b_.CreateIntrinsic(a->getType(), id, {a, half(index, low), b});
    llvm::Value* y = b_.CreateIntrinsic(a->getType(), id, {a, half(index, high), b});
    return b_.CreateShuffleVector(x, y, joined);
  }
  if (lanes_ > 8 && f.avx2) {
    // Every result register looks into every table register of eight; the high index bits choose.
    const uint32_t count = lanes_ / 8;
    llvm::Type* type8 = llvm::FixedVectorType::get(type->getScalarType(), 8);
    const auto piece = [&](llvm::Value* v, uint32_t p) {
      llvm::SmallVector<int, 8> m(8);
      for (uint32_t i = 0; i < 8; i++) m[i] = static_cast<int>(p * 8 + i);
      return b_.CreateShuffleVector(v, m);
    };
    llvm::SmallVector<llvm::Value*, 8> results;
    for (uint32_t r = 0; r < count; r++) {
      llvm::Value* at = piece(index, r);
      llvm::Value* table = b_.CreateLShr(at, 3);
      llvm::Value* found = nullptr;
      for (uint32_t t = 0; t < count; t++) {
        llvm::Value* here =
            b_.CreateIntrinsic(type8, isFloat ? x86_avx2_permps : x86_avx2_permd, {piece(value, t), at});
        llvm::Constant* number = llvm::ConstantInt::get(table->getType(), t);
        found = found == nullptr ? here : b_.CreateSelect(b_.CreateICmpEQ(table, number), here, found);
      }
      results.push_back(found);
    }
    return concatenate(results);
  }
  // SSE4.1: byte shuffles within registers of 16 bytes.
  llvm::Type* bytes16 = llvm::FixedVectorType::get(b_.getInt8Ty(), 16);
  llvm::Type* words4 = llvm::FixedVectorType::get(b_.getInt32Ty(), 4);
  llvm::Type* type4 = llvm::FixedVectorType::get(type->getScalarType(), 4);
  const uint32_t count = lanes_ / 4;
  const auto piece = [&](llvm::Value* v, uint32_t p) {
    llvm::SmallVector<int, 4> m(4);
    for (uint32_t i = 0; i < 4; i++) m[i] = static_cast<int>(p * 4 + i);
    return b_.CreateShuffleVector(v, m);
  };
  llvm::SmallVector<llvm::Value*, 8> results;
  for (uint32_t r = 0; r < count; r++) {
    llvm::Value* at = piece(index, r);
    llvm::Value* table = b_.CreateLShr(at, 2);
    // Byte numbers 4 i .. 4 i + 3 of element i.
    llvm::Value* four = b_.CreateShl(b_.CreateAnd(at, llvm::ConstantInt::get(words4, 3)), 2);
    llvm::Value* control = b_.CreateMul(four, llvm::ConstantInt::get(words4, 0x01010101));
    control = b_.CreateBitCast(b_.CreateAdd(control, llvm::ConstantInt::get(words4, 0x03020100)), bytes16);
    llvm::Value* found = nullptr;
    for (uint32_t t = 0; t < count; t++) {
      llvm::Value* from = b_.CreateBitCast(piece(value, t), bytes16);
      llvm::Value* here = b_.CreateIntrinsic(bytes16, x86_ssse3_pshuf_b_128, {from, control});
      here = b_.CreateBitCast(here, type4);
      llvm::Constant* number = llvm::ConstantInt::get(table->getType(), t);
      found = found == nullptr ? here : b_.CreateSelect(b_.CreateICmpEQ(table, number), here, found);
    }
    results.push_back(found);
  }
  return concatenate(results);
}

llvm::Value* SubgroupEmitter::concatenate(llvm::ArrayRef<llvm::Value*> parts) {
  llvm::SmallVector<llvm::Value*, 8> list(parts.begin(), parts.end());
  while (list.size() > 1) {
    const auto n = llvm::cast<llvm::FixedVectorType>(list[0]->getType())->getNumElements();
    llvm::SmallVector<int, 64> order(n * 2);
    for (uint32_t i = 0; i < n * 2; i++) order[i] = static_cast<int>(i);
    llvm::SmallVector<llvm::Value*, 8> next;
    for (size_t i = 0; i < list.size(); i += 2) next.push_back(b_.CreateShuffleVector(list[i], list[i + 1], order));
    list = std::move(next);
  }
  return list[0];
}

llvm::Value* SubgroupEmitter::permute(llvm::Value* value, llvm::Value* index) {
  llvm::Type* type = value->getType();
  llvm::Type* element = type->getScalarType();
  const unsigned bits = element->getScalarSizeInBits();
  llvm::Type* words = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes_);
  if (bits == 32) return permute32(value, index);
  if (bits < 32) return b_.CreateTrunc(permute32(b_.CreateZExt(value, words), index), type);
  // 64 bits: low and high halves.
  llvm::Type* longs = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes_);
  llvm::Value* whole = b_.CreateBitCast(value, longs);
  llvm::Value* low = permute32(b_.CreateTrunc(whole, words), index);
  llvm::Value* high = permute32(b_.CreateTrunc(b_.CreateLShr(whole, 32), words), index);
  whole = b_.CreateOr(b_.CreateShl(b_.CreateZExt(high, longs), 32), b_.CreateZExt(low, longs));
  return b_.CreateBitCast(whole, type);
}

// `lane` (in the subgroup) where `inSegment` (nullptr: everywhere) and that lane is active, else 0.
llvm::Value* SubgroupEmitter::shuffleFrom(llvm::Value* value, llvm::Value* lane, llvm::Value* inSegment,
                                          llvm::Value* mask) {
  lane = b_.CreateAnd(lane, splat32(size_ - 1));
  llvm::Value* index = lane;
  if (lanes_ != size_) {
    index = b_.CreateOr(lane, laneTable([this](uint32_t i) { return i / size_ * size_; }));
  }
  llvm::Value* moved = permute(value, index);
  llvm::Value* valid = inSegment;
  if (!isAllOnes(mask)) {
    llvm::Value* bit = b_.CreateAnd(b_.CreateLShr(segmentBits(mask), lane), splat32(1));
    llvm::Value* active = b_.CreateICmpNE(bit, splat32(0));
    valid = valid == nullptr ? active : b_.CreateAnd(valid, active);
  }
  return valid == nullptr ? moved : b_.CreateSelect(valid, moved, llvm::Constant::getNullValue(value->getType()));
}

llvm::Value* SubgroupEmitter::withIdentity(ReduceOp op, Kind kind, llvm::Value* value, llvm::Value* mask) {
  if (isAllOnes(mask)) return value;
  return b_.CreateSelect(mask, value, ops_.reduceIdentity(op, kind, lanes_));
}

llvm::Value* SubgroupEmitter::reduce(ReduceOp op, Kind kind, llvm::Value* value, llvm::Value* mask, uint32_t cluster) {
  if (cluster == 0 || cluster > size_) cluster = size_;
  llvm::Value* x = withIdentity(op, kind, value, mask);
  for (uint32_t d = 1; d < cluster; d *= 2) {
    llvm::SmallVector<int, 64> left(lanes_), right(lanes_);
    for (uint32_t i = 0; i < lanes_; i++) {
      left[i] = static_cast<int>(i & ~d);
      right[i] = static_cast<int>(i | d);
    }
    // The lower lane stands on the left, for NaN and signed zeros of FMin and FMax. Everything else commutes.
    if (op == ReduceOp::kFMin || op == ReduceOp::kFMax) {
      x = ops_.reduceStep(op, kind, b_.CreateShuffleVector(x, left), b_.CreateShuffleVector(x, right));
    } else {
      llvm::SmallVector<int, 64> other(lanes_);
      for (uint32_t i = 0; i < lanes_; i++) other[i] = static_cast<int>(i ^ d);
      x = ops_.reduceStep(op, kind, x, b_.CreateShuffleVector(x, other));
    }
  }
  return x;
}

llvm::Value* SubgroupEmitter::shiftUp(llvm::Value* value, uint32_t distance, llvm::Constant* fill) {
  llvm::SmallVector<int, 64> m(lanes_);
  for (uint32_t i = 0; i < lanes_; i++) {
    m[i] = static_cast<int>(i % size_ >= distance ? i - distance : lanes_ + i);
  }
  return b_.CreateShuffleVector(value, fill, m);
}

llvm::Value* SubgroupEmitter::scan(ReduceOp op, Kind kind, llvm::Value* value, llvm::Value* mask, bool exclusive) {
  llvm::Value* x = withIdentity(op, kind, value, mask);
  llvm::Constant* identity = ops_.reduceIdentity(op, kind, lanes_);
  for (uint32_t d = 1; d < size_; d *= 2) {
    llvm::Value* combined = ops_.reduceStep(op, kind, shiftUp(x, d, identity), x);
    if (op < ReduceOp::kFAdd) {
      x = combined;  // identity op x is x
      continue;
    }
    // The first d lanes stay as they are: 0.0 + -0.0 is not -0.0, a NaN may change.
    llvm::SmallVector<llvm::Constant*, 64> keep(lanes_);
    for (uint32_t i = 0; i < lanes_; i++) keep[i] = b_.getInt1(i % size_ < d);
    x = b_.CreateSelect(llvm::ConstantVector::get(keep), x, combined);
  }
  return exclusive ? shiftUp(x, 1, identity) : x;
}

llvm::Value* SubgroupEmitter::allEqual(Kind kind, llvm::Value* value, llvm::Value* mask) {
  llvm::Value* first = permute(value, firstIndex(mask));
  llvm::Value* operands[2] = {value, first};
  const bool isFloat = kind >= Kind::kF16 && kind <= Kind::kF64;
  llvm::Value* equal = ops_.emit(isFloat ? Op::FOEq : Op::IEq, kind, Kind::kBool, operands);
  return allOf(equal, mask);
}

// <P x i32>: index in the part of the first active lane of each lane's subgroup.
llvm::Value* SubgroupEmitter::firstIndex(llvm::Value* mask) {
  if (isAllOnes(mask)) return laneTable([this](uint32_t i) { return i / size_ * size_; });
  llvm::Value* lane = b_.CreateAnd(firstActive(mask), splat32(size_ - 1));
  if (lanes_ == size_) return lane;
  return b_.CreateOr(lane, laneTable([this](uint32_t i) { return i / size_ * size_; }));
}

llvm::Value* SubgroupEmitter::anyOf(llvm::Value* value, llvm::Value* mask) {
  llvm::Value* on = b_.CreateAnd(value, mask);
  if (lanes_ == size_) return b_.CreateVectorSplat(lanes_, anyLane(on));
  return b_.CreateICmpNE(segmentBits(on), splat32(0));
}

llvm::Value* SubgroupEmitter::allOf(llvm::Value* value, llvm::Value* mask) {
  llvm::Value* off = b_.CreateAnd(b_.CreateNot(value), mask);
  return b_.CreateNot(anyOf(off, mask));
}

llvm::Value* SubgroupEmitter::emit(const ir::Inst& inst, std::span<llvm::Value* const> operands, llvm::Value* mask) {
  llvm::Value* a = operands.empty() ? nullptr : operands[0];
  const Kind kind = inst.operands.empty() ? Kind::kVoid : inst.operands[0]->type.kind;
  const auto reduceOp = static_cast<ReduceOp>(inst.imm2);
  switch (inst.op) {
    case Op::SubgroupElect:
      return b_.CreateICmpEQ(laneInSubgroup(), firstActive(mask));
    case Op::SubgroupAll:
      return allOf(a, mask);
    case Op::SubgroupAny:
      return anyOf(a, mask);
    case Op::SubgroupAllEqual:
      return allEqual(kind, a, mask);
    case Op::SubgroupBallot:
      return segmentBits(b_.CreateAnd(a, mask));
    case Op::SubgroupBroadcastFirst:
      return permute(a, firstIndex(mask));
    case Op::SubgroupShuffle:
      return shuffleFrom(a, operands[1], nullptr, mask);
    case Op::SubgroupShuffleXor: {
      llvm::Value* lane = b_.CreateXor(laneInSubgroup(), operands[1]);
      return shuffleFrom(a, lane, b_.CreateICmpULT(lane, splat32(size_)), mask);
    }
    case Op::SubgroupShuffleUp: {
      // A delta above the own lane wraps to a large unsigned number.
      llvm::Value* inside = b_.CreateICmpULE(operands[1], laneInSubgroup());
      return shuffleFrom(a, b_.CreateSub(laneInSubgroup(), operands[1]), inside, mask);
    }
    case Op::SubgroupShuffleDown: {
      llvm::Value* room = laneTable([this](uint32_t i) { return size_ - 1 - i % size_; });
      llvm::Value* inside = b_.CreateICmpULE(operands[1], room);
      return shuffleFrom(a, b_.CreateAdd(laneInSubgroup(), operands[1]), inside, mask);
    }
    case Op::SubgroupReduce:
      return reduce(reduceOp, kind, a, mask, inst.imm);
    case Op::SubgroupInclusiveScan:
      return scan(reduceOp, kind, a, mask, false);
    case Op::SubgroupExclusiveScan:
      return scan(reduceOp, kind, a, mask, true);
    default:
      break;
  }
  assert(false && "not a subgroup operation");
  return nullptr;
}

}  // namespace pumice::shader::codegen
