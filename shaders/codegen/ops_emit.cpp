#include "shaders/codegen/ops_emit.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <cassert>

#include "shaders/codegen/fma_emulation.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::codegen {
namespace {

using ir::Kind;
using ir::Op;
using llvm::Intrinsic::ID;

uint32_t lanesOf(const llvm::Type* type) {
  const auto* v = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return v != nullptr ? v->getNumElements() : 0;
}

llvm::Type* withElement(llvm::Type* shape, llvm::Type* element) {
  const uint32_t lanes = lanesOf(shape);
  return lanes == 0 ? element : llvm::FixedVectorType::get(element, lanes);
}

bool isSignedOp(Op op) {
  return op == Op::SDiv || op == Op::SRem;
}

bool isRemainder(Op op) {
  return op == Op::URem || op == Op::SRem;
}

// The one value of all lanes of a constant, or nullptr.
const llvm::ConstantInt* splatInteger(llvm::Value* v) {
  auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (c == nullptr) return nullptr;
  if (c->getType()->isVectorTy()) c = c->getSplatValue();
  return c == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(c);
}

llvm::Constant* intConstant(llvm::Type* type, uint64_t v) {
  const unsigned bits = type->getScalarSizeInBits();
  return llvm::ConstantInt::get(type, bits >= 64 ? v : v & ((1ull << bits) - 1));
}

llvm::Constant* floatConstant(llvm::Type* type, double v) {
  return llvm::ConstantFP::get(type, v);
}

}  // namespace

llvm::Type* llvmType(llvm::LLVMContext& context, ir::Kind kind, uint32_t lanes) {
  llvm::Type* t = nullptr;
  switch (kind) {
    case Kind::kVoid:
      return llvm::Type::getVoidTy(context);
    case Kind::kBool:
      t = llvm::Type::getInt1Ty(context);
      break;
    case Kind::kI8:
      t = llvm::Type::getInt8Ty(context);
      break;
    case Kind::kI16:
    case Kind::kF16:
      t = llvm::Type::getInt16Ty(context);
      break;
    case Kind::kI32:
      t = llvm::Type::getInt32Ty(context);
      break;
    case Kind::kI64:
      t = llvm::Type::getInt64Ty(context);
      break;
    case Kind::kF32:
      t = llvm::Type::getFloatTy(context);
      break;
    case Kind::kF64:
      t = llvm::Type::getDoubleTy(context);
      break;
    case Kind::kBufferRef:
      assert(false && "a buffer reference is no single LLVM value");
      return nullptr;
  }
  return lanes == 0 ? t : llvm::FixedVectorType::get(t, lanes);
}

bool OpsEmitter::handles(ir::Op op) {
  return (op >= Op::IAdd && op <= Op::FScale) || (op >= Op::SExt && op <= Op::Bitcast);
}

llvm::Constant* OpsEmitter::constant(ir::Kind kind, uint64_t bits, uint32_t lanes) {
  llvm::LLVMContext& context = b_.getContext();
  llvm::Constant* c = nullptr;
  if (kind == Kind::kF32) {
    c = llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits & 0xffffffffu)));
  } else if (kind == Kind::kF64) {
    c = llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  } else {
    c = intConstant(llvmType(context, kind), bits);
  }
  return lanes == 0 ? c : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), c);
}

llvm::Value* OpsEmitter::emit(const ir::Inst& inst, std::span<llvm::Value* const> operands) {
  const ir::Value* first = inst.operands[inst.op == Op::Select ? 1 : 0];
  return emit(inst.op, first->type.kind, inst.result->type.kind, operands);
}

llvm::Value* OpsEmitter::emit(ir::Op op, ir::Kind from, ir::Kind to, std::span<llvm::Value* const> operands) {
  llvm::Value* a = operands[0];
  llvm::Value* second = operands.size() > 1 ? operands[1] : nullptr;
  switch (op) {
    case Op::Select:
      return select(a, operands[1], operands[2]);
    case Op::SExt:
      return b_.CreateSExt(a, withElement(a->getType(), llvmType(b_.getContext(), to)));
    case Op::ZExt:
      return b_.CreateZExt(a, withElement(a->getType(), llvmType(b_.getContext(), to)));
    case Op::Trunc:
      return b_.CreateTrunc(a, withElement(a->getType(), llvmType(b_.getContext(), to)));
    case Op::Bitcast:
      return b_.CreateBitCast(a, withElement(a->getType(), llvmType(b_.getContext(), to)));
    case Op::FToS:
    case Op::FToU:
      return floatToInt(op, from, to, a);
    case Op::SToF:
    case Op::UToF: {
      // Integers that F32 cannot hold exactly are out of F16's range, so the way through F32 rounds once.
      const Kind via = to == Kind::kF64 ? Kind::kF64 : Kind::kF32;
      llvm::Type* type = withElement(a->getType(), llvmType(b_.getContext(), via));
      llvm::Value* f = op == Op::SToF ? b_.CreateSIToFP(a, type) : b_.CreateUIToFP(a, type);
      return to == Kind::kF16 ? toF16(f) : f;
    }
    case Op::FConvert:
      return convertFloat(from, to, a, false);
    case Op::FConvertRtz:
      return convertFloat(from, to, a, true);
    default:
      break;
  }
  if (op >= Op::IEq && op <= Op::FULe) return compare(op, from, a, second);
  if (op >= Op::FAdd && op <= Op::FScale) return floating(op, from, operands);
  return integer(op, from, a, second);
}

llvm::Value* OpsEmitter::select(llvm::Value* c, llvm::Value* a, llvm::Value* b) {
  return b_.CreateSelect(c, a, b);
}

llvm::Value* OpsEmitter::integer(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  const uint32_t n = ir::kindBits(kind);
  const auto shiftAmount = [&] { return b_.CreateAnd(b, intConstant(type, n - 1)); };
  const auto highHalf = [&](bool isSigned) {
    llvm::Type* wide = withElement(type, b_.getIntNTy(2 * n));
    const auto widen = [&](llvm::Value* v) { return isSigned ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
    llvm::Value* product = b_.CreateMul(widen(a), widen(b));
    return b_.CreateTrunc(b_.CreateLShr(product, llvm::ConstantInt::get(wide, n)), type);
  };
  switch (op) {
    case Op::IAdd:
      return b_.CreateAdd(a, b);
    case Op::ISub:
      return b_.CreateSub(a, b);
    case Op::IMul:
      return b_.CreateMul(a, b);
    case Op::UMulHi:
      return highHalf(false);
    case Op::SMulHi:
      return highHalf(true);
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem:
      return divide(op, kind, a, b);
    case Op::And:
      return b_.CreateAnd(a, b);
    case Op::Or:
      return b_.CreateOr(a, b);
    case Op::Xor:
      return b_.CreateXor(a, b);
    case Op::Not:
      return b_.CreateNot(a);
    case Op::Shl:
      return b_.CreateShl(a, shiftAmount());
    case Op::UShr:
      return b_.CreateLShr(a, shiftAmount());
    case Op::SShr:
      return b_.CreateAShr(a, shiftAmount());
    case Op::UMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
    case Op::UMax:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
    case Op::SMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Op::SMax:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case Op::BitCount:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
    case Op::BitReverse:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a);
    case Op::CountLeadingZeros:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, b_.getFalse());
    case Op::CountTrailingZeros:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, a, b_.getFalse());
    default:
      break;
  }
  assert(false && "not an integer operation");
  return nullptr;
}

llvm::Value* OpsEmitter::divide(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  const uint32_t n = ir::kindBits(kind);
  const bool isSigned = isSignedOp(op);
  const auto plain = [&](llvm::Value* divisor) {
    switch (op) {
      case Op::UDiv:
        return b_.CreateUDiv(a, divisor);
      case Op::SDiv:
        return b_.CreateSDiv(a, divisor);
      case Op::URem:
        return b_.CreateURem(a, divisor);
      default:
        return b_.CreateSRem(a, divisor);
    }
  };
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(type);
  if (const llvm::ConstantInt* c = splatInteger(b)) {
    // LLVM turns a constant divisor into multiplications and shifts, scalar and vector alike.
    if (c->isZero()) return isRemainder(op) ? a : ones;
    if (isSigned && c->isMinusOne()) return isRemainder(op) ? zero : b_.CreateNeg(a);
    return plain(b);
  }
  if (type->isVectorTy() && n <= 32) return vectorDivide(op, a, b);

  // Divide by 1 instead of the two cases that trap; then INT_MIN / 1 and INT_MIN % 1 are already the result wanted.
  llvm::Value* byZero = b_.CreateICmpEQ(b, zero);
  llvm::Value* unsafe = byZero;
  if (isSigned) {
    llvm::Value* overflow =
        b_.CreateAnd(b_.CreateICmpEQ(a, intConstant(type, 1ull << (n - 1))), b_.CreateICmpEQ(b, ones));
    unsafe = b_.CreateOr(byZero, overflow);
  }
  llvm::Value* result = plain(select(unsafe, intConstant(type, 1), b));
  return select(byZero, isRemainder(op) ? a : ones, result);
}

// x86 has no vector integer division. For n-bit operands a float division with more than n bits of significand has the
// right integer part: a quotient that is no integer lies at least 1/b under the next one, and the rounding error is at
// most a/b * 2^-p < 2^(n-p) / b.
llvm::Value* OpsEmitter::vectorDivide(ir::Op op, llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  const unsigned n = type->getScalarSizeInBits();
  const bool isSigned = isSignedOp(op);
  llvm::Type* i32 = withElement(type, b_.getInt32Ty());
  llvm::Type* i64 = withElement(type, b_.getInt64Ty());
  llvm::Type* real = withElement(type, n == 32 ? b_.getDoubleTy() : b_.getFloatTy());
  const auto convert = [&](llvm::Value* v) {
    llvm::Type* to = withElement(v->getType(), real->getScalarType());
    llvm::Type* wide = withElement(v->getType(), b_.getInt32Ty());
    if (n < 32) v = isSigned ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide);
    return isSigned || n < 32 ? b_.CreateSIToFP(v, to) : b_.CreateUIToFP(v, to);
  };
  llvm::Value* byZero = nullptr;
  llvm::Value* quotient = nullptr;
  if (llvm::Value* divisor = llvm::getSplatValue(b); divisor != nullptr && !llvm::isa<llvm::Constant>(divisor)) {
    // The same divisor in all lanes: one division. The product with its reciprocal is off by up to two roundings, but
    // half a unit more in the dividend keeps exact quotients clear of the integer below, and 0.5 / b is larger than
    // those errors.
    byZero = b_.CreateICmpEQ(divisor, llvm::Constant::getNullValue(divisor->getType()));
    llvm::Value* reciprocal = b_.CreateFDiv(floatConstant(real->getScalarType(), 1.0), convert(divisor));
    llvm::Value* half = floatConstant(real, 0.5);
    llvm::Value* dividend = convert(a);
    if (isSigned) {
      half = b_.CreateSelect(b_.CreateICmpSLT(a, llvm::Constant::getNullValue(type)), floatConstant(real, -0.5), half);
    }
    quotient = b_.CreateFMul(b_.CreateFAdd(dividend, half), b_.CreateVectorSplat(lanesOf(type), reciprocal));
  } else {
    byZero = b_.CreateICmpEQ(b, llvm::Constant::getNullValue(type));
    quotient = b_.CreateFDiv(convert(a), convert(b));
  }
  llvm::Value* q = nullptr;
  if (n == 32) {
    // 1.5 * 2^52 moves the integer part to the low bits, two's complement; 2^31 = INT_MIN / -1 wraps as it should.
    quotient = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient);
    quotient = b_.CreateFAdd(quotient, floatConstant(real, 0x1.8p52));
    q = b_.CreateTrunc(b_.CreateBitCast(quotient, i64), type);
  } else {
    // Infinity and NaN of a division by zero are poison here, in lanes that are replaced below.
    q = b_.CreateTrunc(b_.CreateFPToSI(quotient, i32), type);
  }
  q = select(byZero, llvm::Constant::getAllOnesValue(type), q);
  return isRemainder(op) ? b_.CreateSub(a, b_.CreateMul(q, b)) : q;
}

llvm::Value* OpsEmitter::compare(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b) {
  if (kind == Kind::kF16) {
    a = toF32(a);
    b = toF32(b);
  }
  using P = llvm::CmpInst::Predicate;
  P p = P::ICMP_EQ;
  switch (op) {
    case Op::IEq:
      p = P::ICMP_EQ;
      break;
    case Op::INe:
      p = P::ICMP_NE;
      break;
    case Op::ULt:
      p = P::ICMP_ULT;
      break;
    case Op::ULe:
      p = P::ICMP_ULE;
      break;
    case Op::SLt:
      p = P::ICMP_SLT;
      break;
    case Op::SLe:
      p = P::ICMP_SLE;
      break;
    case Op::FOEq:
      p = P::FCMP_OEQ;
      break;
    case Op::FONe:
      p = P::FCMP_ONE;
      break;
    case Op::FOLt:
      p = P::FCMP_OLT;
      break;
    case Op::FOLe:
      p = P::FCMP_OLE;
      break;
    case Op::FUEq:
      p = P::FCMP_UEQ;
      break;
    case Op::FUNe:
      p = P::FCMP_UNE;
      break;
    case Op::FULt:
      p = P::FCMP_ULT;
      break;
    case Op::FULe:
      p = P::FCMP_ULE;
      break;
    default:
      assert(false && "not a comparison");
  }
  return llvm::CmpInst::isFPPredicate(p) ? b_.CreateFCmp(p, a, b) : b_.CreateICmp(p, a, b);
}

// Op::FScale, F32.
llvm::Value* OpsEmitter::scale(llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  if (features_.avx512) return scaleByInstruction(a, b);
  // In two steps where the result may be denormal, so that only the last one rounds, and as 2 * (a * 2^(b-1))
  // elsewhere, as 2^128 is no number. The sum has the exponent field of 2^(b-1) in its lowest bits.
  llvm::Value* small = b_.CreateFCmpOLT(b, floatConstant(type, -100));
  llvm::Value* raised = select(small, b_.CreateFAdd(b, floatConstant(type, 64)), b);
  llvm::Type* integers = withElement(type, b_.getInt32Ty());
  llvm::Value* field = b_.CreateBitCast(b_.CreateFAdd(raised, floatConstant(type, 0x1.8p23 + 126)), integers);
  llvm::Value* factor = b_.CreateBitCast(b_.CreateShl(field, intConstant(integers, 23)), type);
  llvm::Value* rest = select(small, floatConstant(type, 0x1p-63), floatConstant(type, 2));
  return b_.CreateFMul(b_.CreateFMul(a, factor), rest);
}

// vscalefps, in pieces of at most 16 lanes; a scalar is the first lane of four.
llvm::Value* OpsEmitter::scaleByInstruction(llvm::Value* a, llvm::Value* b) {
  const uint32_t lanes = lanesOf(a->getType());
  if (lanes == 0) {
    llvm::Constant* undefined = llvm::ConstantAggregateZero::get(llvm::FixedVectorType::get(b_.getFloatTy(), 4));
    llvm::Value* r = scaleByInstruction(b_.CreateInsertElement(undefined, a, uint64_t{0}),
                                        b_.CreateInsertElement(undefined, b, uint64_t{0}));
    return b_.CreateExtractElement(r, uint64_t{0});
  }
  if (lanes > 16) {
    llvm::Value* halves[2];
    for (uint32_t half = 0; half < 2; ++half) {
      const auto mask = llvm::createSequentialMask(half * lanes / 2, lanes / 2, 0);
      halves[half] = scaleByInstruction(b_.CreateShuffleVector(a, mask), b_.CreateShuffleVector(b, mask));
    }
    return llvm::concatenateVectors(b_, halves);
  }
  llvm::Constant* zero = llvm::ConstantAggregateZero::get(a->getType());
  if (lanes == 16) {
    constexpr int kRoundingOfMxcsr = 4;
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {a, b, zero, b_.getInt16(0xffff), b_.getInt32(kRoundingOfMxcsr)});
  }
  const auto id =
      lanes == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256 : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
  return b_.CreateIntrinsic(id, {}, {a, b, zero, b_.getInt8(0xff)});
}

llvm::Value* OpsEmitter::floating(ir::Op op, ir::Kind kind, std::span<llvm::Value* const> operands) {
  llvm::Value* a = operands[0];
  llvm::Value* b = operands.size() > 1 ? operands[1] : nullptr;
  llvm::Value* c = operands.size() > 2 ? operands[2] : nullptr;
  if (kind == Kind::kF16) {
    llvm::Type* type = a->getType();
    switch (op) {
      case Op::FNeg:
        return b_.CreateXor(a, intConstant(type, 0x8000));
      case Op::FAbs:
        return b_.CreateAnd(a, intConstant(type, 0x7fff));
      case Op::FMin:
        return select(compare(Op::FOLt, kind, a, b), a, b);
      case Op::FMax:
        return select(compare(Op::FOLt, kind, b, a), a, b);
      case Op::FFma:
        return fma(kind, a, b, c);
      default:
        break;
    }
    llvm::Value* wide[2] = {toF32(a), b != nullptr ? toF32(b) : nullptr};
    return toF16(floating(op, Kind::kF32, std::span<llvm::Value* const>(wide, operands.size())));
  }
  switch (op) {
    case Op::FAdd:
      return b_.CreateFAdd(a, b);
    case Op::FSub:
      return b_.CreateFSub(a, b);
    case Op::FMul:
      return b_.CreateFMul(a, b);
    case Op::FDiv:
      return b_.CreateFDiv(a, b);
    case Op::FFma:
      return fma(kind, a, b, c);
    case Op::FNeg:
      return b_.CreateFNeg(a);
    case Op::FAbs:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Op::FMin:
      return select(b_.CreateFCmpOLT(a, b), a, b);
    case Op::FMax:
      return select(b_.CreateFCmpOGT(a, b), a, b);
    case Op::FSqrt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Op::FScale:
      return scale(a, b);
    case Op::FFloor:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Op::FCeil:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
    case Op::FTrunc:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, a);
    case Op::FRoundEven:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a);
    default:
      break;
  }
  assert(false && "not a float operation");
  return nullptr;
}

llvm::Value* OpsEmitter::fma(ir::Kind kind, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  if (kind == Kind::kF16) {
    // The product is exact in F64. The sum is rounded there only when one addend is below 2^-38 of the other, which can
    // be near no tie of F16 (see semantics.cpp); the conversion then rounds once.
    llvm::Type* real = withElement(a->getType(), b_.getDoubleTy());
    const auto widen = [&](llvm::Value* v) { return b_.CreateFPExt(toF32(v), real); };
    llvm::Value* sum = b_.CreateFAdd(b_.CreateFMul(widen(a), widen(b)), widen(c));
    return toF16(f64ToF32Odd(sum));
  }
  if (features_.fma) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return kind == Kind::kF32 ? fmaF32ByF64(a, b, c) : fmaF64ByInteger(a, b, c);
}

// Without the instruction: the product is exact in F64 (48 bits); the sum is rounded to odd there, which F32's rounding
// (29 bits shorter) cannot tell from the exact sum.
llvm::Value* OpsEmitter::fmaF32ByF64(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  llvm::Type* single = a->getType();
  llvm::Type* real = withElement(single, b_.getDoubleTy());
  llvm::Type* i64 = withElement(single, b_.getInt64Ty());
  llvm::Value* p = b_.CreateFMul(b_.CreateFPExt(a, real), b_.CreateFPExt(b, real));
  llvm::Value* z = b_.CreateFPExt(c, real);
  llvm::Value* s = b_.CreateFAdd(p, z);
  // Knuth's error of the sum; NaN (and then no correction) when s is not finite.
  llvm::Value* t = b_.CreateFSub(s, p);
  llvm::Value* error = b_.CreateFAdd(b_.CreateFSub(p, b_.CreateFSub(s, t)), b_.CreateFSub(z, t));
  llvm::Value* zero = floatConstant(real, 0);
  llvm::Value* inexact = b_.CreateFCmpONE(error, zero);
  llvm::Value* bits = b_.CreateBitCast(s, i64);
  llvm::Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, intConstant(i64, 1)), intConstant(i64, 0));
  llvm::Value* outward = b_.CreateXor(b_.CreateFCmpOGT(error, zero), b_.CreateFCmpOLT(s, zero));
  llvm::Value* step = select(outward, intConstant(i64, 1), llvm::Constant::getAllOnesValue(i64));
  bits = select(b_.CreateAnd(inexact, even), b_.CreateAdd(bits, step), bits);
  return b_.CreateFPTrunc(b_.CreateBitCast(bits, real), single);
}

// Without the instruction: integer arithmetic, lane by lane. Slow; only for machines before 2013.
llvm::Value* OpsEmitter::fmaF64ByInteger(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  llvm::Function* callee = fmaF64Function(*b_.GetInsertBlock()->getModule());
  llvm::LLVMContext& context = b_.getContext();
  const llvm::AttrBuilder same(context, b_.GetInsertBlock()->getParent()->getAttributes().getFnAttrs());
  callee->setAttributes(llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex, same));
  const uint32_t lanes = lanesOf(a->getType());
  if (lanes == 0) return b_.CreateCall(callee, {a, b, c});
  llvm::Value* r = llvm::PoisonValue::get(a->getType());
  for (uint32_t i = 0; i < lanes; i++) {
    llvm::Value* lane = b_.CreateCall(
        callee, {b_.CreateExtractElement(a, i), b_.CreateExtractElement(b, i), b_.CreateExtractElement(c, i)});
    r = b_.CreateInsertElement(r, lane, i);
  }
  return r;
}

llvm::Value* OpsEmitter::floatToInt(ir::Op op, ir::Kind from, ir::Kind to, llvm::Value* a) {
  if (from == Kind::kF16) {
    a = toF32(a);
    from = Kind::kF32;
  }
  const uint32_t n = ir::kindBits(to);
  const bool isSigned = op == Op::FToS;
  llvm::Type* real = a->getType();
  llvm::Type* result = withElement(real, llvmType(b_.getContext(), to));
  llvm::Type* wide = n < 32 ? withElement(real, b_.getInt32Ty()) : result;
  const double low = isSigned ? -std::bit_cast<double>((1023ull + n - 1) << 52) : 0.0;
  const double limit = std::bit_cast<double>((1023ull + n - (isSigned ? 1 : 0)) << 52);  // first value too large

  // NaN fails the comparison and becomes `low`.
  llvm::Value* clamped = select(b_.CreateFCmpOGT(a, floatConstant(real, low)), a, floatConstant(real, low));
  const bool topIsExact = n < (from == Kind::kF64 ? 53u : 24u);
  if (topIsExact) {
    llvm::Constant* top = floatConstant(real, limit - 1);
    clamped = select(b_.CreateFCmpOLT(clamped, top), clamped, top);
  }
  const bool asSigned = isSigned || n < 32;
  llvm::Value* r = asSigned ? b_.CreateFPToSI(clamped, wide) : b_.CreateFPToUI(clamped, wide);
  if (wide != result) r = b_.CreateTrunc(r, result);
  if (!topIsExact) {
    // Too large lanes are poison up to here; the select does not take them.
    llvm::Constant* top = intConstant(result, isSigned ? (1ull << (n - 1)) - 1 : ~0ull);
    r = select(b_.CreateFCmpOGE(a, floatConstant(real, limit)), top, r);
  }
  if (isSigned) r = select(b_.CreateFCmpORD(a, a), r, llvm::Constant::getNullValue(result));
  return r;
}

llvm::Value* OpsEmitter::convertFloat(ir::Kind from, ir::Kind to, llvm::Value* a, bool toZero) {
  if (from == to) return a;
  if (from == Kind::kF16) {
    llvm::Value* f = toF32(a);
    return to == Kind::kF32 ? f : b_.CreateFPExt(f, withElement(f->getType(), b_.getDoubleTy()));
  }
  if (from == Kind::kF32) {
    if (to == Kind::kF16) return toF16(a, toZero);
    return b_.CreateFPExt(a, withElement(a->getType(), b_.getDoubleTy()));
  }
  if (to == Kind::kF16) return toZero ? toF16(f64ToF32Zero(a), true) : toF16(f64ToF32Odd(a));
  return toZero ? f64ToF32Zero(a) : b_.CreateFPTrunc(a, withElement(a->getType(), b_.getFloatTy()));
}

// Rounding to odd: exact values stay, others become the neighbour with an odd pattern, so that a second rounding to a
// format at least two bits shorter is right.
llvm::Value* OpsEmitter::f64ToF32Odd(llvm::Value* a) {
  llvm::Type* single = withElement(a->getType(), b_.getFloatTy());
  llvm::Type* i32 = withElement(a->getType(), b_.getInt32Ty());
  llvm::Value* f = b_.CreateFPTrunc(a, single);
  llvm::Value* back = b_.CreateFPExt(f, a->getType());
  llvm::Value* bits = b_.CreateBitCast(f, i32);
  llvm::Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, intConstant(i32, 1)), intConstant(i32, 0));
  llvm::Value* change = b_.CreateAnd(b_.CreateFCmpONE(back, a), even);
  llvm::Value* tooLarge = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                           b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a));
  llvm::Value* step = select(tooLarge, llvm::Constant::getAllOnesValue(i32), intConstant(i32, 1));
  bits = select(change, b_.CreateAdd(bits, step), bits);
  return b_.CreateBitCast(bits, single);
}

llvm::Value* OpsEmitter::f64ToF32Zero(llvm::Value* a) {
  llvm::Type* single = withElement(a->getType(), b_.getFloatTy());
  llvm::Type* i32 = withElement(a->getType(), b_.getInt32Ty());
  llvm::Value* f = b_.CreateFPTrunc(a, single);
  llvm::Value* back = b_.CreateFPExt(f, a->getType());
  llvm::Value* tooLarge = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                           b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a));
  llvm::Value* bits = b_.CreateBitCast(f, i32);
  bits = select(tooLarge, b_.CreateSub(bits, intConstant(i32, 1)), bits);
  return b_.CreateBitCast(bits, single);
}

llvm::Value* OpsEmitter::toF32(llvm::Value* f16) {
  llvm::Type* single = withElement(f16->getType(), b_.getFloatTy());
  if (features_.f16c) {
    llvm::Value* half = b_.CreateBitCast(f16, withElement(f16->getType(), b_.getHalfTy()));
    return b_.CreateFPExt(half, single);
  }
  llvm::Type* i32 = withElement(f16->getType(), b_.getInt32Ty());
  llvm::Value* h = b_.CreateZExt(f16, i32);
  llvm::Value* sign = b_.CreateShl(b_.CreateAnd(h, intConstant(i32, 0x8000)), intConstant(i32, 16));
  llvm::Value* magnitude = b_.CreateShl(b_.CreateAnd(h, intConstant(i32, 0x7fff)), intConstant(i32, 13));
  // The exponent field is 112 too small; a multiplication corrects it for denormals too.
  llvm::Value* scaled = b_.CreateFMul(b_.CreateBitCast(magnitude, single), floatConstant(single, 0x1p112));
  llvm::Value* finite = b_.CreateBitCast(scaled, i32);
  llvm::Value* special = b_.CreateOr(magnitude, intConstant(i32, 0x7f800000));
  llvm::Constant* infinity = intConstant(i32, 0x0f800000);
  special = select(b_.CreateICmpUGT(magnitude, infinity), b_.CreateOr(special, intConstant(i32, 0x00400000)), special);
  llvm::Value* bits = select(b_.CreateICmpUGE(magnitude, infinity), special, finite);
  return b_.CreateBitCast(b_.CreateOr(bits, sign), single);
}

llvm::Value* OpsEmitter::toF16(llvm::Value* f32, bool toZero) {
  llvm::Type* single = f32->getType();
  llvm::Type* i16 = withElement(single, b_.getInt16Ty());
  if (features_.f16c && !toZero) {
    llvm::Value* half = b_.CreateFPTrunc(f32, withElement(single, b_.getHalfTy()));
    return b_.CreateBitCast(half, i16);
  }
  llvm::Type* i32 = withElement(single, b_.getInt32Ty());
  const auto c = [&](uint32_t v) { return intConstant(i32, v); };
  llvm::Value* u = b_.CreateBitCast(f32, i32);
  llvm::Value* sign = b_.CreateAnd(b_.CreateLShr(u, c(16)), c(0x8000));
  llvm::Value* a = b_.CreateAnd(u, c(0x7fffffff));
  llvm::Value* magnitude = b_.CreateBitCast(a, single);
  llvm::Value *normal = nullptr, *denormal = nullptr;
  if (toZero) {
    normal = b_.CreateLShr(b_.CreateSub(a, c(0x38000000)), c(13));
    // Poison in lanes with large values, which are not taken.
    denormal = b_.CreateFPToSI(b_.CreateFMul(magnitude, floatConstant(single, 0x1p24)), i32);
  } else {
    llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(a, c(13)), c(1));
    normal = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(a, c(0xc8000fff)), odd), c(13));
    // One unit in the last place of 0.5 is the smallest F16 value: the addition rounds to it.
    llvm::Value* sum = b_.CreateFAdd(magnitude, floatConstant(single, 0.5));
    denormal = b_.CreateSub(b_.CreateBitCast(sum, i32), c(0x3f000000));
  }
  llvm::Value* nan = b_.CreateOr(c(0x7e00), b_.CreateAnd(b_.CreateLShr(a, c(13)), c(0x3ff)));
  llvm::Value* large = c(0x7c00);
  if (toZero) large = select(b_.CreateICmpULT(a, c(0x7f800000)), c(0x7bff), large);
  large = select(b_.CreateICmpUGT(a, c(0x7f800000)), nan, large);
  llvm::Value* r = select(b_.CreateICmpULT(a, c(0x38800000)), denormal, normal);
  r = select(b_.CreateICmpUGE(a, c(0x47800000)), large, r);
  return b_.CreateTrunc(b_.CreateOr(r, sign), i16);
}

llvm::Value* OpsEmitter::reduceStep(ir::ReduceOp op, ir::Kind kind, llvm::Value* a, llvm::Value* b) {
  llvm::Value* operands[2] = {a, b};
  return emit(ir::reduceStep(op), kind, kind, operands);
}

llvm::Constant* OpsEmitter::reduceIdentity(ir::ReduceOp op, ir::Kind kind, uint32_t lanes) {
  return constant(kind, ir::reduceIdentity(op, kind), lanes);
}

}  // namespace pumice::shader::codegen
