// Addresses and ranges of memory operations.
#include <algorithm>

#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

Generator::Address Generator::resolve(const Inst* i) {
  Address a{};
  a.inst = i;
  a.mem = &i->mem;
  const size_t addressOperands = addressOperandCount(i->mem.space);
  const Type t = i->result ? i->result->type : i->operands[addressOperands]->type;
  a.kind = t.kind;
  a.components = t.components;
  a.bytes = kindBytes(t.kind);
  a.index = i->operands[addressOperands - 1];
  a.base = addressOperands == 2 ? i->operands[0] : nullptr;
  a.baseInGang = !a.base || shape(a.base).sameInGang();
  a.checked = i->mem.space != Space::kGlobal;
  uint64_t size = 0;
  switch (i->mem.space) {
    case Space::kBuffer:
    case Space::kGlobal:
      if (a.baseInGang) a.pointer = b_.CreateIntToPtr(scalar(a.base), b_.getPtrTy());
      break;
    case Space::kShared:
      a.pointer = shared_;
      size = fn_.sharedBytes;
      break;
    case Space::kPush:
      a.pointer = push_;
      size = abi::kMaxPushConstantBytes;
      break;
    case Space::kLocal:
      break;  // emit_local.cpp
  }
  const auto fits = [&](uint64_t index) {
    const auto last = static_cast<Wide>(index) * a.mem->scale_B + a.mem->offset_B + uint64_t{a.components} * a.bytes;
    return last <= size;
  };
  if (!a.checked) {
    a.provenActive = true;
    a.provenAll = i->mem.everyLane;
  } else if (a.mem->space == Space::kBuffer) {
    a.provenActive = !target_.boundsChecks;
  } else {
    a.provenActive = fits(ranges_.indexMax(i));
    a.provenAll = !plan_.partial() && fits(ranges_.maxOfEveryLane(a.index));
  }
  a.provenActive |= inRange_.contains(i);
  const Shape& idx = shape(a.index);
  const bool plainBase = !a.base || (a.mem->space == Space::kGlobal ? !shape(a.base).isVarying() : a.baseInGang);
  if (idx.isVarying() || !plainBase)
    a.laneStride_B = INT64_MIN;
  else
    a.laneStride_B = idx.laneStride * int64_t{a.mem->scale_B} + (a.base ? shape(a.base).laneStride : 0);
  return a;
}

llvm::Align Generator::alignOf(const Address& a) const {
  return llvm::Align(1ull << std::min<uint32_t>(a.mem->align_log2, 4));
}

llvm::Value* Generator::index64(const Address& a, llvm::Value* index) {
  if (a.index->type.kind == Kind::kI64) return index;
  llvm::Type* to = index->getType()->isVectorTy() ? type(Kind::kI64, lanes_) : b_.getInt64Ty();
  return a.mem->space == Space::kGlobal ? b_.CreateSExt(index, to) : b_.CreateZExt(index, to);
}

// The index is at most 2^32 - 1 and the scale less than 2^32, so 64 bits hold the product exactly.
llvm::Value* Generator::offsetOf(const Address& a, llvm::Value* index, uint32_t component) {
  const auto c = [&](uint64_t v) { return llvm::ConstantInt::get(index->getType(), v); };
  llvm::Value* offset = a.mem->scale_B == 1 ? index : b_.CreateMul(index, c(a.mem->scale_B));
  const uint64_t add = uint64_t{a.mem->offset_B} + uint64_t{component} * a.bytes;
  return add == 0 ? offset : b_.CreateAdd(offset, c(add));
}

// index < limit  <=>  index * scale + offset + (component + 1) * bytes <= size.
llvm::Value* Generator::indexLimit(const Address& a, uint32_t component) {
  const uint64_t need = uint64_t{a.mem->offset_B} + uint64_t{component + 1} * a.bytes;
  const uint64_t scale = std::max(1u, a.mem->scale_B);
  constexpr uint64_t kMax = 1ull << 32;
  if (a.mem->space != Space::kBuffer) {
    const uint64_t size = a.mem->space == Space::kShared ? fn_.sharedBytes : abi::kMaxPushConstantBytes;
    const uint64_t limit = a.mem->scale_B == 0 ? (size >= need ? kMax : 0)
                           : size < need       ? 0
                                               : (size - need) / scale + 1;
    return b_.getInt64(std::min(limit, kMax));
  }
  const Level lvl = level(a.base);
  const auto key = std::make_tuple(a.base, a.mem->scale_B, static_cast<uint32_t>(need), 0u);
  const auto it = limits_.find(key);
  if (it != limits_.end()) return it->second;
  LevelScope scope(*this, lvl);
  llvm::Value* size = scalar(a.base, 1);
  llvm::Value* enough = b_.CreateICmpUGE(size, b_.getInt64(need));
  llvm::Value* limit = b_.getInt64(kMax);
  if (a.mem->scale_B != 0) {
    limit = b_.CreateUDiv(b_.CreateSub(size, b_.getInt64(need)), b_.getInt64(scale));
    limit = b_.CreateAdd(limit, b_.getInt64(1));
    limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, limit, b_.getInt64(kMax));
  }
  limit = b_.CreateSelect(enough, limit, b_.getInt64(0), "limit");
  if (lvl != Level::kHere && lvl != Level::kRun) limits_[key] = limit;
  return limit;
}

llvm::Value* Generator::partInRange(const Address& a, uint32_t part, uint32_t component) {
  // Of a place that is known, the size says it at once.
  if (a.baseInGang && a.mem->space == Space::kBuffer && a.index->def == Value::Def::kConstant) {
    const Wide end =
        static_cast<Wide>(a.index->bits) * a.mem->scale_B + a.mem->offset_B + uint64_t{component + 1} * a.bytes;
    if (end >> 64 != 0) return b_.getFalse();
    return b_.CreateICmpULE(b_.getInt64(static_cast<uint64_t>(end)), scalar(a.base, 1));
  }
  llvm::Value* index = index64(a, partScalar(a.index, part));
  if (a.baseInGang) return b_.CreateICmpULT(index, indexLimit(a, component));
  llvm::Value* end = b_.CreateAdd(offsetOf(a, index, component), b_.getInt64(a.bytes));
  return b_.CreateICmpULE(end, partScalar(a.base, part, 1));
}

llvm::Value* Generator::laneAddresses(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component) {
  llvm::Value* base = a.baseInGang ? splat(b_.CreatePtrToInt(a.pointer, b_.getInt64Ty())) : vector(a.base, part, 0);
  return b_.CreateAdd(base, offsetOf(a, index64(a, indices), component));
}

llvm::Value* Generator::indexRange(const Address& a, llvm::Value* indices, uint32_t component) {
  llvm::Value* limit = indexLimit(a, component);
  if (a.mem->scale_B == 0) return splat(b_.CreateICmpNE(limit, b_.getInt64(0)));
  // 2^32 means that every index is in range; only an index of 2^32 - 1 and bytes of a 4 GiB buffer could tell the
  // difference to 2^32 - 1, and no binding is that large.
  llvm::Value* limit32 = b_.CreateTrunc(
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, limit, b_.getInt64(0xffff'ffffull)), b_.getInt32Ty());
  return b_.CreateICmpULT(indices, splat(limit32));
}

llvm::Value* Generator::laneRange(const Address& a, uint32_t part, uint32_t component) {
  if (!a.checked || a.provenAll) return nullptr;
  llvm::Value* index = vector(a.index, part);
  if (a.baseInGang) return indexRange(a, index, component);
  llvm::Value* end = b_.CreateAdd(offsetOf(a, index64(a, index), component), splat(b_.getInt64(a.bytes)));
  return b_.CreateICmpULE(end, vector(a.base, part, 1));
}

}  // namespace pumice::shader::codegen
