// Private arrays that scalar replacement could not remove. They live in the gang's block of the worker's frame, in
// double words interleaved by lane: double word d of lane l of part j stands at ((d * k + j) * P + l) * 4, so that a
// uniform index is one vector load.
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

uint32_t dwordsOf(const LocalVar& v) {
  return (v.size_B + 3) / 4;
}

}  // namespace

uint32_t Generator::localBytes() const {
  uint32_t dwords = 0;
  for (const LocalVar& v : fn_.locals) dwords += dwordsOf(v);
  return dwords * plan_.geometry.gangLanes() * 4;
}

void Generator::emitZeroLocals() {
  emitZero(gangFrame_, localBytes());
}

// Where one double word of an access lies.
Generator::LocalPlace Generator::localPlace(const Inst* i, uint32_t part, uint32_t byteInAccess, uint32_t bytes) {
  uint32_t first = 0;
  for (uint32_t v = 0; v < i->mem.local; ++v) first += dwordsOf(fn_.locals[v]);
  const uint32_t size = fn_.locals[i->mem.local].size_B;
  const Value* index = i->operands[0];
  LocalPlace at;
  at.scalar = shape(index).sameInPart();
  llvm::Value* idx = at.scalar ? partScalar(index, part) : vector(index, part);
  const auto c = [&](uint64_t v) { return llvm::ConstantInt::get(idx->getType(), v); };
  const uint64_t add = uint64_t{i->mem.offset_B} + byteInAccess;
  const uint64_t scale = i->mem.scale_B;
  // In range: index * scale + add + bytes <= size, as a limit of the index, so that nothing overflows.
  const uint64_t limit = size < add + bytes ? 0 : scale == 0 ? 1ull << 32 : (size - add - bytes) / scale + 1;
  const bool proven = limit > ranges_.indexMax(i);
  if (!proven) {
    at.inRange = b_.CreateICmpULT(idx, c(limit > 0xffff'ffffull ? 0xffff'ffffull : limit));
    idx = b_.CreateSelect(at.inRange, idx, c(0));
  } else if (!at.scalar) {
    // Inactive lanes may hold anything.
    idx = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, idx,
                                   c(limit == 0                   ? 0
                                     : limit - 1 > 0xffff'ffffull ? 0xffff'ffffull
                                                                  : limit - 1));
  }
  llvm::Value* byte = b_.CreateAdd(b_.CreateMul(idx, c(scale)), c(add));
  if (limit == 0) byte = c(0);
  if (scale % 4 != 0 || add % 4 != 0) at.shift = b_.CreateShl(b_.CreateAnd(byte, c(3)), c(3));
  llvm::Value* dword = b_.CreateAdd(b_.CreateLShr(byte, c(2)), c(first));
  const uint32_t gangLanes = plan_.geometry.gangLanes();
  if (at.scalar) {
    llvm::Value* offset = b_.CreateMul(b_.CreateZExt(dword, b_.getInt64Ty()), b_.getInt64(gangLanes * 4ull));
    at.pointer = bytePointer(gangFrame_, b_.CreateAdd(offset, b_.getInt64(uint64_t{part} * lanes_ * 4)));
  } else {
    llvm::Value* element = b_.CreateAdd(b_.CreateMul(dword, c(gangLanes)), laneRamp(b_.getInt32Ty(), 1));
    at.element = b_.CreateAdd(element, c(uint64_t{part} * lanes_));
  }
  return at;
}

llvm::Value* Generator::loadLocalDword(const LocalPlace& at) {
  llvm::Type* t = type(Kind::kI32, lanes_);
  llvm::Value* v = nullptr;
  if (at.scalar) {
    v = b_.CreateAlignedLoad(t, at.pointer, llvm::Align(4));
  } else if (features_.avx512) {
    v = b_.CreateMaskedGather(t, b_.CreateGEP(b_.getInt32Ty(), gangFrame_, at.element), llvm::Align(4),
                              llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_)), llvm::Constant::getNullValue(t));
  } else {
    llvm::Value* offset = b_.CreateShl(b_.CreateZExt(at.element, type(Kind::kI64, lanes_)), splat(b_.getInt64(2)));
    v = gatherAddresses(b_.CreateAdd(splat(b_.CreatePtrToInt(gangFrame_, b_.getInt64Ty())), offset), Kind::kI32,
                        nullptr);
  }
  return v;
}

void Generator::emitLocalLoad(const Inst* i, const Flow&) {
  const Type t = i->result->type;
  const uint32_t bytes = kindBytes(t.kind);
  Lowered out(size_t{k_} * t.components);
  llvm::Type* vec = type(t.kind, lanes_);
  llvm::Type* ints = llvm::FixedVectorType::get(b_.getIntNTy(bytes * 8), lanes_);
  for (uint32_t c = 0; c < t.components; ++c)
    for (uint32_t j = 0; j < k_; ++j) {
      const LocalPlace at = localPlace(i, j, c * bytes, bytes);
      llvm::Value* v = loadLocalDword(at);
      if (bytes == 8) {
        const LocalPlace upper = localPlace(i, j, c * bytes + 4, 4);
        llvm::Value* high = b_.CreateZExt(loadLocalDword(upper), ints);
        v = b_.CreateOr(b_.CreateZExt(v, ints), b_.CreateShl(high, splat(b_.getInt64(32))));
      } else if (bytes < 4) {
        if (at.shift) v = b_.CreateLShr(v, at.scalar ? splat(at.shift) : at.shift);
        v = b_.CreateTrunc(v, ints);
      }
      v = b_.CreateBitCast(v, vec);
      if (at.inRange) v = b_.CreateSelect(at.inRange, v, llvm::Constant::getNullValue(vec));
      out[c * k_ + j] = v;
    }
  define(i->result, std::move(out), Level::kHere);
}

void Generator::emitLocalStore(const Inst* i, const Flow& flow) {
  const Value* value = i->operands[1];
  const Kind kind = value->type.kind;
  const uint32_t bytes = kindBytes(kind);
  llvm::Type* dwords = type(Kind::kI32, lanes_);
  llvm::Type* ints = llvm::FixedVectorType::get(b_.getIntNTy(bytes * 8), lanes_);
  for (uint32_t c = 0; c < value->type.components; ++c)
    for (uint32_t j = 0; j < k_; ++j) {
      llvm::Value* v = b_.CreateBitCast(vector(value, j, c), ints);
      for (uint32_t part = 0; part < std::max(1u, bytes / 4); ++part) {
        // The whole component is in range or not at all.
        LocalPlace at = localPlace(i, j, c * bytes, bytes);
        if (part == 1) {
          const LocalPlace upper = localPlace(i, j, c * bytes + 4, 4);
          at.pointer = upper.pointer;
          at.element = upper.element;
        }
        llvm::Value* d = v;
        if (bytes == 8) {
          d = b_.CreateTrunc(part == 0 ? v : b_.CreateLShr(v, splat(b_.getInt64(32))), dwords);
        } else if (bytes < 4) {
          d = b_.CreateZExt(v, dwords);
          llvm::Value* keep = splat(b_.getInt32(bytes == 1 ? 0xff : 0xffff));
          if (at.shift) {
            llvm::Value* shift = at.scalar ? splat(at.shift) : at.shift;
            d = b_.CreateShl(d, shift);
            keep = b_.CreateShl(keep, shift);
          }
          d = b_.CreateOr(d, b_.CreateAnd(loadLocalDword(at), b_.CreateNot(keep)));
        }
        llvm::Value* mask = flow.mask.all() ? nullptr : flow.mask.parts[j];
        if (at.inRange) mask = andMask(mask, at.scalar ? splat(at.inRange) : at.inRange);
        if (at.scalar) {
          if (mask)
            b_.CreateMaskedStore(d, at.pointer, llvm::Align(4), mask);
          else
            b_.CreateAlignedStore(d, at.pointer, llvm::Align(4));
        } else if (features_.avx512) {
          if (!mask) mask = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
          b_.CreateMaskedScatter(d, b_.CreateGEP(b_.getInt32Ty(), gangFrame_, at.element), llvm::Align(4), mask);
        } else {
          llvm::Value* offset =
              b_.CreateShl(b_.CreateZExt(at.element, type(Kind::kI64, lanes_)), splat(b_.getInt64(2)));
          scatterAddresses(b_.CreateAdd(splat(b_.CreatePtrToInt(gangFrame_, b_.getInt64Ty())), offset), d, Kind::kI32,
                           mask);
        }
      }
    }
}

}  // namespace pumice::shader::codegen
