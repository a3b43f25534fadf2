// Texels to numbers and back, as the texture unit does it: backend/formats/fixed_point.h and half.h.
#include <bit>

#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using ir::Kind;
using ir::Op;
using Numeric = TexelLayout::Numeric;

namespace {

// Channel `at` of a texel, counted from its lowest bits, that holds component c.
uint32_t channelOf(const TexelLayout& t, uint32_t c) {
  return t.swapped && c < 3 ? 2 - c : c;
}

// 1 / (2^bits - 1) in two parts, see formats::unormToFloat.
struct Reciprocal {
  float high, low;
};
Reciprocal reciprocal(uint32_t bits) {
  const double whole = 1.0 / ((1u << bits) - 1);
  const auto high = static_cast<float>(static_cast<int32_t>(0x1p23 * whole) * 0x1p-23);
  return {high, static_cast<float>(whole - static_cast<double>(high))};
}

}  // namespace

llvm::Value* Generator::scaleUnorm(const TexelLayout& t, llvm::Value* number, bool whole) {
  const auto constant = [&](float v) { return ops_.constant(Kind::kF32, std::bit_cast<uint32_t>(v), lanes_); };
  const Reciprocal r = reciprocal(t.channelBits);
  llvm::Value* low = b_.CreateFMul(number, constant(r.low));
  // A whole number's product with the high part is exact, so a fused sum is the same.
  if (whole && features_.fma)
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {number->getType()}, {number, constant(r.high), low});
  return b_.CreateFAdd(b_.CreateFMul(number, constant(r.high)), low);
}

Lowered Generator::decodeTexels(const TexelLayout& t, const Units& units, Scale scale) {
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Type* real = type(Kind::kF32, lanes_);
  const auto constant = [&](float v) { return ops_.constant(Kind::kF32, std::bit_cast<uint32_t>(v), lanes_); };
  llvm::Value* word = t.channelBits == 8 ? b_.CreateZExt(units[0], i32) : nullptr;
  // Channel as a number of 32 bits.
  const auto code = [&](uint32_t channel) -> llvm::Value* {
    const bool isSigned = t.numeric == Numeric::kSint;
    if (t.channelBits != 8)
      return isSigned ? b_.CreateSExtOrTrunc(units[channel], i32) : b_.CreateZExtOrTrunc(units[channel], i32);
    if (isSigned) return b_.CreateAShr(b_.CreateShl(word, 24 - 8 * channel), 24);
    llvm::Value* shifted = channel == 0 ? word : b_.CreateLShr(word, 8 * channel);
    return channel + 1 == t.channels ? shifted : b_.CreateAnd(shifted, 255);
  };
  Lowered out;
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t channel = channelOf(t, c);
    if (c >= t.channels) {
      const float missing = c == 3 ? 1.0f : 0.0f;
      out.push_back(t.isFloat() ? static_cast<llvm::Value*>(constant(missing))
                                : llvm::ConstantInt::get(i32, c == 3 ? 1 : 0));
    } else if (t.numeric == Numeric::kUnorm) {
      llvm::Value* number = b_.CreateSIToFP(code(channel), real);
      out.push_back(scale == Scale::kNow ? scaleUnorm(t, number, true) : number);
    } else if (t.numeric == Numeric::kFloat) {
      out.push_back(t.channelBits == 16 ? ops_.toF32(units[channel]) : b_.CreateBitCast(units[channel], real));
    } else {
      out.push_back(code(channel));
    }
  }
  return out;
}

Generator::Units Generator::encodeTexels(const TexelLayout& t, llvm::ArrayRef<llvm::Value*> components) {
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Type* unit = llvm::FixedVectorType::get(b_.getIntNTy(t.unitBits()), lanes_);
  const auto real = [&](float v) -> llvm::Value* {
    return ops_.constant(Kind::kF32, std::bit_cast<uint32_t>(v), lanes_);
  };
  const auto integer = [&](int64_t v) { return llvm::ConstantInt::getSigned(i32, v); };
  const auto largest = static_cast<int64_t>((1ull << t.channelBits) - 1);
  const auto encode = [&](llvm::Value* v) -> llvm::Value* {
    switch (t.numeric) {
      case Numeric::kUnorm: {
        v = b_.CreateSelect(b_.CreateFCmpOGT(v, real(0)), v, real(0));  // NaN as well
        v = b_.CreateSelect(b_.CreateFCmpOLT(v, real(1)), v, real(1));
        // The unit in the last place of 1.5 x 2^23 is one: the exact product is rounded once, to nearest even.
        llvm::Value* args[] = {v, real(static_cast<float>(largest)), real(0x1.8p23f)};
        v = b_.CreateBitCast(ops_.emit(Op::FFma, Kind::kF32, Kind::kF32, args), i32);
        return b_.CreateAnd(v, integer(largest));
      }
      case Numeric::kFloat:
        return t.channelBits == 16 ? ops_.toF16(v) : b_.CreateBitCast(v, i32);
      case Numeric::kUint:
        return t.channelBits == 32 ? v : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, integer(largest));
      case Numeric::kSint:
        if (t.channelBits == 32) return v;
        v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, integer(largest / 2));
        v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, integer(-largest / 2 - 1));
        return t.channelBits == 8 ? b_.CreateAnd(v, integer(largest)) : v;
    }
    return v;
  };
  Units out(t.units());
  for (uint32_t c = 0; c < t.channels; ++c) {
    const uint32_t channel = channelOf(t, c);
    llvm::Value* v = encode(components[c]);
    if (t.channelBits != 8) {
      out[channel] = b_.CreateZExtOrTrunc(v, unit);
      continue;
    }
    if (channel > 0) v = b_.CreateShl(v, 8 * channel);
    out[0] = out[0] ? b_.CreateOr(out[0], v) : v;
  }
  if (t.channelBits == 8) out[0] = b_.CreateZExtOrTrunc(out[0], unit);
  return out;
}

}  // namespace pumice::shader::codegen
