#include "shaders/codegen/texel_pack.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "backend/formats/srgb.h"

namespace pumice::shader::codegen {
namespace {

using formats::NumericFormat;

constexpr uint32_t kLanes = 16;
constexpr uint32_t kFloatInfinity = 0x7F80'0000;

uint8_t componentNumber(formats::ComponentName name) {
  return static_cast<uint8_t>(name) - static_cast<uint8_t>(formats::ComponentName::kR);
}

}  // namespace

TargetFormat::TargetFormat(VkFormat format) {
  const formats::FormatInfo& info = formats::formatInfo(format);
  bytes = info.blockBytes;
  channelCount = info.componentCount;
  for (uint32_t i = 0; i < channelCount; ++i) {
    const formats::Component& c = info.components[i];
    channels[i] = {componentNumber(c.name), c.bits, static_cast<uint8_t>(c.bitOffset / 32),
                   static_cast<uint8_t>(c.bitOffset % 32), c.numeric};
  }
}

bool TargetFormat::isInteger() const {
  return channels[0].numeric == NumericFormat::kUint || channels[0].numeric == NumericFormat::kSint;
}

bool TargetFormat::isSrgb() const {
  return std::any_of(channels, channels + channelCount,
                     [](const TargetChannel& c) { return c.numeric == NumericFormat::kSrgb; });
}

bool TargetFormat::isUnorm() const {
  return channels[0].numeric == NumericFormat::kUnorm || isSrgb();
}

bool TargetFormat::isSnorm() const {
  return channels[0].numeric == NumericFormat::kSnorm;
}

bool TargetFormat::hasComponent(uint32_t component) const {
  return std::any_of(channels, channels + channelCount,
                     [&](const TargetChannel& c) { return c.component == component; });
}

uint32_t TargetFormat::wordMask(uint32_t word, uint32_t components) const {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < channelCount; ++i) {
    const TargetChannel& c = channels[i];
    if (c.word == word && (components >> c.component & 1) != 0) mask |= c.codeMask() << c.shift;
  }
  return mask;
}

llvm::Constant* TexelPack::real(double v) {
  return llvm::ConstantFP::get(llvm::FixedVectorType::get(b_.getFloatTy(), kLanes), v);
}

llvm::Constant* TexelPack::integer(uint32_t v) {
  return llvm::ConstantInt::get(llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes), v);
}

llvm::Value* TexelPack::clamp(llvm::Value* number, llvm::Value* low, llvm::Value* high) {
  number = b_.CreateSelect(b_.CreateFCmpOGT(number, low), number, low);
  return b_.CreateSelect(b_.CreateFCmpOLT(number, high), number, high);
}

// The exact product, rounded once to nearest even: two's complement in the lower 22 bits at least. The unit in the last
// place of 1.5 x 2^23 is one, but that needs the fused sum and has room for 22 bits.
llvm::Value* TexelPack::roundedProduct(llvm::Value* number, double factor) {
  if (features_.fma && factor < 0x1p21) {
    llvm::Type* type = number->getType();
    return asInteger(b_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {number, real(factor), real(0x1.8p23)}));
  }
  llvm::Type* wide = llvm::FixedVectorType::get(b_.getDoubleTy(), kLanes);
  llvm::Value* product = b_.CreateFMul(b_.CreateFPExt(number, wide), llvm::ConstantFP::get(wide, factor));
  llvm::Value* sum = b_.CreateFAdd(product, llvm::ConstantFP::get(wide, 0x1.8p52));
  llvm::Value* bits = b_.CreateBitCast(sum, llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
  return b_.CreateTrunc(bits, integer(0)->getType());
}

llvm::Value* TexelPack::unormCode(llvm::Value* number, uint32_t bits) {
  const uint32_t largest = (1u << bits) - 1;
  number = clamp(number, real(0), real(1));
  return b_.CreateAnd(roundedProduct(number, largest), integer(largest));
}

llvm::Value* TexelPack::snormCode(llvm::Value* number, uint32_t bits) {
  number = b_.CreateSelect(b_.CreateFCmpORD(number, number), number, real(0));
  number = clamp(number, real(-1), real(1));
  return b_.CreateAnd(roundedProduct(number, (1u << (bits - 1)) - 1), integer((1u << bits) - 1));
}

// 1 / (2^bits - 1) in two parts: formats::unormToFloat says why.
llvm::Value* TexelPack::scale(llvm::Value* code, uint32_t bits) {
  const double whole = 1.0 / ((1u << bits) - 1);
  const auto high = static_cast<float>(static_cast<int32_t>(0x1p23 * whole) * 0x1p-23);
  const auto low = static_cast<float>(whole - static_cast<double>(high));
  llvm::Value* number = b_.CreateSIToFP(code, real(0)->getType());
  if (low == 0) return b_.CreateFMul(number, real(high));
  llvm::Value* rest = b_.CreateFMul(number, real(low));
  // The product with the high part is exact, so a fused sum is the same.
  if (features_.fma) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {number->getType()}, {number, real(high), rest});
  return b_.CreateFAdd(b_.CreateFMul(number, real(high)), rest);
}

// With t = x^(1/4), 255 * (1.055 * x^(1/2.4) - 0.055) is smooth: a polynomial of degree 6 is off by less than 0.0006.
llvm::Value* TexelPack::srgbCode(llvm::Value* number) {
  static constexpr float kPolynomial[] = {-15.233448f, 36.199356f, 345.41602f, -210.44641f,
                                          158.35558f,  -75.03315f, 15.7422485f};
  number = clamp(number, real(0), real(1));
  llvm::Value* t = b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, number);
  t = b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, t);
  llvm::Value* curve = real(kPolynomial[6]);
  for (int i = 5; i >= 0; --i) curve = b_.CreateFAdd(b_.CreateFMul(curve, t), real(kPolynomial[i]));
  llvm::Value* line = b_.CreateFMul(number, real(12.92f * 255));
  llvm::Value* code = b_.CreateSelect(b_.CreateFCmpOLE(number, real(0.0031308f)), line, curve);
  return b_.CreateAnd(asInteger(b_.CreateFAdd(code, real(0x1.8p23))), integer(255));
}

// From a table: it is as exact as reads are.
llvm::Value* TexelPack::srgbNumber(llvm::Value* code) {
  static constexpr const char* kName = "pumice.srgb";
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  llvm::GlobalVariable* table = module.getNamedGlobal(kName);
  if (!table) {
    llvm::Constant* data = llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef(formats::kSrgbToLinear, 256));
    table = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, kName);
    table->setAlignment(llvm::Align(64));
  }
  llvm::Value* pointers = b_.CreateGEP(b_.getFloatTy(), table, code);
  llvm::Constant* all = llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
  return b_.CreateMaskedGather(real(0)->getType(), pointers, llvm::Align(4), all);
}

// formats::floatToUnsignedFloat: nearest even; too large finite numbers become the largest one, negative ones zero.
llvm::Value* TexelPack::smallFloatCode(llvm::Value* number, uint32_t mantissaBits) {
  const uint32_t shift = 23 - mantissaBits;
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  const uint32_t infinity = 31u << mantissaBits;
  llvm::Value* bits = asInteger(number);
  llvm::Value* magnitude = b_.CreateAnd(bits, integer(0x7FFF'FFFF));
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, integer(shift)), integer(1));
  llvm::Value* normal = b_.CreateAdd(magnitude, integer((1u << (shift - 1)) - 1 - kRebias));
  normal = b_.CreateLShr(b_.CreateAdd(normal, odd), integer(shift));
  // The addition rounds where the unit in the last place is the denormals' unit.
  const uint32_t rounder = (127u + 23 - 14 - mantissaBits) << 23;
  llvm::Value* sum = b_.CreateFAdd(asReal(magnitude), asReal(integer(rounder)));
  llvm::Value* denormal = b_.CreateSub(asInteger(sum), integer(rounder));
  llvm::Value* code = b_.CreateSelect(b_.CreateICmpULT(magnitude, integer(kRebias + (1u << 23))), denormal, normal);
  code = b_.CreateSelect(b_.CreateICmpUGE(magnitude, integer(143u << 23)), integer(infinity), code);  // from 2^16 on
  code = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, integer(infinity - 1));
  code = b_.CreateSelect(b_.CreateICmpEQ(magnitude, integer(kFloatInfinity)), integer(infinity), code);
  code = b_.CreateSelect(b_.CreateICmpSLT(bits, integer(0)), integer(0), code);
  return b_.CreateSelect(b_.CreateICmpUGT(magnitude, integer(kFloatInfinity)),
                         integer(infinity | 1u << (mantissaBits - 1)), code);
}

// formats::smallFloatToFloat.
llvm::Value* TexelPack::smallFloatNumber(llvm::Value* code, uint32_t mantissaBits) {
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  constexpr uint32_t kSmallest = kRebias + (1u << 23);
  llvm::Value* shifted = b_.CreateShl(code, integer(23 - mantissaBits));
  llvm::Value* exponent = b_.CreateAnd(shifted, integer(31u << 23));
  llvm::Value* bits = b_.CreateAdd(shifted, integer(kRebias));
  bits = b_.CreateSelect(b_.CreateICmpEQ(exponent, integer(31u << 23)), b_.CreateAdd(bits, integer(kRebias)), bits);
  llvm::Value* denormal = b_.CreateFSub(asReal(b_.CreateAdd(shifted, integer(kSmallest))), asReal(integer(kSmallest)));
  return b_.CreateSelect(b_.CreateICmpEQ(exponent, integer(0)), denormal, asReal(bits));
}

// A code in the lower bits, zero above.
llvm::Value* TexelPack::encodeChannel(const TargetChannel& c, llvm::Value* v) {
  const uint32_t largest = c.codeMask();
  switch (c.numeric) {
    case NumericFormat::kUnorm:
      return unormCode(v, c.bits);
    case NumericFormat::kSnorm:
      return snormCode(v, c.bits);
    case NumericFormat::kSrgb:
      // Alpha of sRGB formats is UNORM in the table already.
      return srgbCode(v);
    case NumericFormat::kUfloat:
      return smallFloatCode(v, c.bits - 5u);
    case NumericFormat::kSfloat:
      return c.bits == 32 ? asInteger(v) : b_.CreateZExt(ops_.toF16(v), integer(0)->getType());
    case NumericFormat::kUint:
      return c.bits == 32 ? v : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, integer(largest));
    default:
      if (c.bits == 32) return v;
      v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, integer(largest / 2));
      v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, integer(~(largest / 2)));
      return b_.CreateAnd(v, integer(largest));
  }
}

llvm::Value* TexelPack::decodeChannel(const TargetChannel& c, llvm::Value* word) {
  const bool isSigned = c.numeric == NumericFormat::kSnorm || c.numeric == NumericFormat::kSint;
  llvm::Value* code = word;
  if (isSigned) {
    if (c.shift + c.bits != 32) code = b_.CreateShl(code, integer(32u - c.shift - c.bits));
    if (c.bits != 32) code = b_.CreateAShr(code, integer(32u - c.bits));
  } else {
    if (c.shift != 0) code = b_.CreateLShr(code, integer(c.shift));
    if (c.shift + c.bits != 32) code = b_.CreateAnd(code, integer(c.codeMask()));
  }
  switch (c.numeric) {
    case NumericFormat::kUnorm:
      return scale(code, c.bits);
    case NumericFormat::kSnorm: {
      llvm::Value* number = scale(code, c.bits - 1u);
      return b_.CreateSelect(b_.CreateFCmpOGT(number, real(-1)), number, real(-1));
    }
    case NumericFormat::kSrgb:
      return srgbNumber(code);
    case NumericFormat::kUfloat:
      return smallFloatNumber(code, c.bits - 5u);
    case NumericFormat::kSfloat:
      if (c.bits == 32) return asReal(code);
      return ops_.toF32(b_.CreateTrunc(code, llvm::FixedVectorType::get(b_.getInt16Ty(), kLanes)));
    default:
      return code;
  }
}

TexelWords TexelPack::encode(const TargetFormat& format, llvm::Value* const* numbers) {
  TexelWords words(format.words());
  for (uint32_t i = 0; i < format.channelCount; ++i) {
    const TargetChannel& c = format.channels[i];
    llvm::Value* code = encodeChannel(c, numbers[c.component]);
    if (c.shift != 0) code = b_.CreateShl(code, integer(c.shift));
    words[c.word] = words[c.word] ? b_.CreateOr(words[c.word], code) : code;
  }
  if (format.bytes < 4)
    words[0] = b_.CreateTrunc(words[0], llvm::FixedVectorType::get(b_.getIntNTy(8 * format.bytes), kLanes));
  return words;
}

void TexelPack::decode(const TargetFormat& format, const TexelWords& words, llvm::Value** numbers) {
  for (uint32_t c = 0; c < 4; ++c) {
    if (format.isInteger())
      numbers[c] = integer(c == 3 ? 1 : 0);
    else
      numbers[c] = real(c == 3 ? 1 : 0);
  }
  for (uint32_t i = 0; i < format.channelCount; ++i) {
    const TargetChannel& c = format.channels[i];
    llvm::Value* word = words[c.word];
    if (format.bytes < 4) word = b_.CreateZExt(word, integer(0)->getType());
    numbers[c.component] = decodeChannel(c, word);
  }
}

}  // namespace pumice::shader::codegen
