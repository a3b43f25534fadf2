// Numbers to texels of attachments and back, for every format of formats::isColorAttachmentFormat, and the codes of
// depth. Rules and roundings are those of backend/formats (fixed_point.h, half.h), bit for bit, with every instruction
// set; but encoding to sRGB is a polynomial that is wrong by at most 0.001 codes before it is rounded.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "backend/formats/format_table.h"
#include "shaders/codegen/ops_emit.h"
#include "shaders/codegen/target_texels.h"

namespace pumice::shader::codegen {

struct TargetChannel {
  uint8_t component;  // 0 to 3: R, G, B, A
  uint8_t bits;
  uint8_t word, shift;  // bits of TexelWords
  formats::NumericFormat numeric;
  uint32_t codeMask() const { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); }
};

struct TargetFormat {
  uint32_t bytes = 0;
  uint32_t channelCount = 0;
  TargetChannel channels[4] = {};

  explicit TargetFormat(VkFormat format);
  bool isInteger() const;
  bool isSrgb() const;
  // UNORM and sRGB, SNORM: what is blended is clamped to [0, 1] and [-1, 1]. Neither: floats.
  bool isUnorm() const;
  bool isSnorm() const;
  bool hasComponent(uint32_t component) const;
  // Bits of a word that hold components of a VkColorComponentFlags.
  uint32_t wordMask(uint32_t word, uint32_t components) const;
  uint32_t words() const { return bytes <= 4 ? 1 : bytes / 4; }
};

class TexelPack {
 public:
  TexelPack(llvm::IRBuilder<>& builder, const TargetFeatures& features, OpsEmitter& ops)
      : b_(builder), features_(features), ops_(ops) {}

  // numbers: R, G, B, A as <16 x float>, or <16 x i32> of integer formats. Those that the format lacks are not read.
  TexelWords encode(const TargetFormat& format, llvm::Value* const* numbers);
  // Components that the format lacks become 0, 0, 0, 1.
  void decode(const TargetFormat& format, const TexelWords& words, llvm::Value** numbers);

  // <16 x i32> from <16 x float>, at most 24 bits.
  llvm::Value* unormCode(llvm::Value* number, uint32_t bits);
  // Into [low, high]; NaN becomes low.
  llvm::Value* clamp(llvm::Value* number, llvm::Value* low, llvm::Value* high);
  llvm::Constant* real(double v);
  llvm::Constant* integer(uint32_t v);

 private:
  llvm::Value* encodeChannel(const TargetChannel& c, llvm::Value* number);
  llvm::Value* decodeChannel(const TargetChannel& c, llvm::Value* word);
  llvm::Value* roundedProduct(llvm::Value* number, double factor);
  llvm::Value* snormCode(llvm::Value* number, uint32_t bits);
  llvm::Value* srgbCode(llvm::Value* number);
  llvm::Value* srgbNumber(llvm::Value* code);
  llvm::Value* smallFloatCode(llvm::Value* number, uint32_t mantissaBits);
  llvm::Value* smallFloatNumber(llvm::Value* code, uint32_t mantissaBits);
  llvm::Value* scale(llvm::Value* code, uint32_t bits);

  llvm::Value* asInteger(llvm::Value* v) { return b_.CreateBitCast(v, integer(0)->getType()); }
  llvm::Value* asReal(llvm::Value* v) { return b_.CreateBitCast(v, real(0)->getType()); }

  llvm::IRBuilder<>& b_;
  const TargetFeatures& features_;
  OpsEmitter& ops_;
};

}  // namespace pumice::shader::codegen
