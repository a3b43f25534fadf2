#include "shaders/codegen/fma_emulation.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

namespace pumice::shader::codegen {
namespace {

// Emits the body. Every value is computed; selects at the end take the special cases out.
class FmaBody {
 public:
  explicit FmaBody(llvm::IRBuilder<>& builder) : b_(builder), wide_(b_.getInt128Ty()) {}

  llvm::Value* emit(llvm::Value* a, llvm::Value* b, llvm::Value* c);

 private:
  // A finite value as significand * 2^exponent.
  struct Parts {
    llvm::Value* significand;  // i128
    llvm::Value* exponent;     // i32
    llvm::Value* negative;     // i1
  };
  // Significand's leading one at bit 125: sums have a bit of headroom and the sign's bit stays clear.
  static constexpr uint32_t kTop = 125;

  Parts split(llvm::Value* v);
  Parts normalise(Parts p);
  llvm::Value* leadingZeros(llvm::Value* v) {
    return b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, b_.getFalse()), b_.getInt32Ty());
  }
  // v >> n for n up to 127 (more counts as 127), bits that fall off are kept as a sticky bit 0.
  llvm::Value* shiftRightSticky(llvm::Value* v, llvm::Value* n);
  llvm::Value* roundAndPack(llvm::Value* sum, llvm::Value* exponent, llvm::Value* negative);
  llvm::Value* i64(uint64_t v) { return b_.getInt64(v); }

  llvm::IRBuilder<>& b_;
  llvm::Type* wide_;
};

FmaBody::Parts FmaBody::split(llvm::Value* v) {
  llvm::Value* bits = b_.CreateBitCast(v, b_.getInt64Ty());
  llvm::Value* fraction = b_.CreateAnd(bits, i64((1ull << 52) - 1));
  llvm::Value* field = b_.CreateAnd(b_.CreateLShr(bits, 52), i64(0x7ff));
  llvm::Value* denormal = b_.CreateICmpEQ(field, i64(0));
  llvm::Value* significand = b_.CreateSelect(denormal, fraction, b_.CreateOr(fraction, i64(1ull << 52)));
  llvm::Value* exponent = b_.CreateTrunc(b_.CreateSelect(denormal, i64(1), field), b_.getInt32Ty());
  return {b_.CreateZExt(significand, wide_), b_.CreateSub(exponent, b_.getInt32(1075)), b_.CreateICmpSLT(bits, i64(0))};
}

FmaBody::Parts FmaBody::normalise(Parts p) {
  llvm::Value* shift = b_.CreateSub(leadingZeros(p.significand), b_.getInt32(127 - kTop));
  shift = b_.CreateAnd(shift, b_.getInt32(127));  // a zero significand (a special case) must not shift by 128 - 2
  p.significand = b_.CreateShl(p.significand, b_.CreateZExt(shift, wide_));
  p.exponent = b_.CreateSub(p.exponent, shift);
  return p;
}

llvm::Value* FmaBody::shiftRightSticky(llvm::Value* v, llvm::Value* n) {
  llvm::Value* limit = b_.getInt32(127);
  n = b_.CreateZExt(b_.CreateSelect(b_.CreateICmpULT(n, limit), n, limit), wide_);
  llvm::Value* shifted = b_.CreateLShr(v, n);
  llvm::Value* lost = b_.CreateICmpNE(b_.CreateShl(shifted, n), v);
  return b_.CreateOr(shifted, b_.CreateZExt(lost, wide_));
}

llvm::Value* FmaBody::roundAndPack(llvm::Value* sum, llvm::Value* exponent, llvm::Value* negative) {
  llvm::Value* zeros = b_.CreateAnd(leadingZeros(sum), b_.getInt32(127));
  sum = b_.CreateShl(sum, b_.CreateZExt(zeros, wide_));  // leading one at bit 127
  llvm::Value* biased = b_.CreateAdd(b_.CreateSub(exponent, zeros), b_.getInt32(127 + 1023));
  llvm::Value* denormal = b_.CreateICmpSLT(biased, b_.getInt32(1));
  llvm::Value* extra = b_.CreateSelect(denormal, b_.CreateSub(b_.getInt32(1), biased), b_.getInt32(0));
  sum = shiftRightSticky(sum, extra);

  llvm::Value* high = b_.CreateTrunc(b_.CreateLShr(sum, 64), b_.getInt64Ty());
  llvm::Value* low = b_.CreateTrunc(sum, b_.getInt64Ty());
  llvm::Value* kept = b_.CreateLShr(high, 11);
  llvm::Value* rest = b_.CreateAnd(high, i64(0x7ff));
  // Twice the dropped part, with a sticky bit, against twice the half.
  llvm::Value* sticky = b_.CreateZExt(b_.CreateICmpNE(low, i64(0)), b_.getInt64Ty());
  rest = b_.CreateOr(b_.CreateShl(rest, 1), sticky);
  llvm::Value* odd = b_.CreateICmpEQ(b_.CreateAnd(kept, i64(1)), i64(1));
  llvm::Value* up =
      b_.CreateOr(b_.CreateICmpUGT(rest, i64(0x800)), b_.CreateAnd(b_.CreateICmpEQ(rest, i64(0x800)), odd));
  kept = b_.CreateAdd(kept, b_.CreateZExt(up, b_.getInt64Ty()));

  // The hidden bit adds one to the exponent field; a carry of the rounding goes there by itself.
  llvm::Value* field = b_.CreateSelect(denormal, b_.getInt32(0), b_.CreateSub(biased, b_.getInt32(1)));
  llvm::Value* bits = b_.CreateAdd(b_.CreateShl(b_.CreateZExt(field, b_.getInt64Ty()), 52), kept);
  llvm::Value* infinity = i64(0x7ffull << 52);
  bits = b_.CreateSelect(b_.CreateICmpSGT(biased, b_.getInt32(2046)), infinity, bits);
  return b_.CreateOr(bits, b_.CreateSelect(negative, i64(1ull << 63), i64(0)));
}

llvm::Value* FmaBody::emit(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  const Parts pa = split(a), pb = split(b), pc = split(c);
  Parts x = normalise({b_.CreateMul(pa.significand, pb.significand), b_.CreateAdd(pa.exponent, pb.exponent),
                       b_.CreateXor(pa.negative, pb.negative)});
  Parts y = normalise(pc);
  // x becomes the one with the larger exponent; both have their leading one at the same place.
  llvm::Value* swap = b_.CreateICmpSLT(x.exponent, y.exponent);
  const auto order = [&](llvm::Value*& p, llvm::Value*& q) {
    llvm::Value* first = b_.CreateSelect(swap, q, p);
    q = b_.CreateSelect(swap, p, q);
    p = first;
  };
  order(x.significand, y.significand);
  order(x.exponent, y.exponent);
  order(x.negative, y.negative);
  llvm::Value* aligned = shiftRightSticky(y.significand, b_.CreateSub(x.exponent, y.exponent));

  llvm::Value* opposite = b_.CreateXor(x.negative, y.negative);
  llvm::Value* difference = b_.CreateSub(x.significand, aligned);
  llvm::Value* flipped = b_.CreateICmpSLT(difference, llvm::ConstantInt::get(wide_, 0));
  difference = b_.CreateSelect(flipped, b_.CreateNeg(difference), difference);
  llvm::Value* sum = b_.CreateSelect(opposite, difference, b_.CreateAdd(x.significand, aligned));
  llvm::Value* negative = b_.CreateXor(x.negative, b_.CreateAnd(opposite, flipped));

  llvm::Value* bits = roundAndPack(sum, x.exponent, negative);
  bits = b_.CreateSelect(b_.CreateICmpEQ(sum, llvm::ConstantInt::get(wide_, 0)), i64(0), bits);
  llvm::Value* general = b_.CreateBitCast(bits, b_.getDoubleTy());

  // A zero factor, infinity or NaN: the product is exact (or decides alone). c == 0: the product's one rounding is all.
  const auto isZero = [&](llvm::Value* v) { return b_.CreateFCmpOEQ(v, llvm::ConstantFP::get(v->getType(), 0.0)); };
  const auto notFinite = [&](llvm::Value* v) {
    llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
    return b_.CreateFCmpUEQ(magnitude, llvm::ConstantFP::getInfinity(v->getType()));
  };
  llvm::Value* product = b_.CreateFMul(a, b);
  llvm::Value* cNotFinite = notFinite(c);
  llvm::Value* plain =
      b_.CreateOr(b_.CreateOr(isZero(a), isZero(b)), b_.CreateOr(b_.CreateOr(notFinite(a), notFinite(b)), cNotFinite));
  // Finite factors whose product overflows must not meet an infinite c of the other sign: there c is the result.
  llvm::Value* factorsFinite = b_.CreateNot(b_.CreateOr(notFinite(a), notFinite(b)));
  llvm::Value* plainSum = b_.CreateSelect(b_.CreateAnd(cNotFinite, factorsFinite), c, b_.CreateFAdd(product, c));
  llvm::Value* r = b_.CreateSelect(isZero(c), product, general);
  return b_.CreateSelect(plain, plainSum, r);
}

}  // namespace

llvm::Function* fmaF64Function(llvm::Module& module) {
  static constexpr const char* kName = "pumice.fma.f64";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* real = llvm::Type::getDoubleTy(context);
  auto* type = llvm::FunctionType::get(real, {real, real, real}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kName, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", f));
  builder.CreateRet(FmaBody(builder).emit(f->getArg(0), f->getArg(1), f->getArg(2)));
  return f;
}

}  // namespace pumice::shader::codegen
