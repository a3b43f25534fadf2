// Blending, logic operations, write masks and stores of color attachments (Vulkan 1.3, 29.1 to 29.3).
//
// Blending is done in 32-bit floats, products and sums apart: the same texels with every instruction set.
#include <algorithm>
#include <cstddef>

#include "shaders/codegen/output_merger.h"

namespace pumice::shader::codegen {

namespace {

constexpr uint32_t kComponents = 4;
constexpr uint32_t kAlpha = 3;

bool isConstantFactor(uint8_t factor) {
  return factor >= VK_BLEND_FACTOR_CONSTANT_COLOR && factor <= VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
}

bool ignoresFactors(uint8_t op) {
  return op == VK_BLEND_OP_MIN || op == VK_BLEND_OP_MAX;
}

bool isCopy(uint8_t srcFactor, uint8_t dstFactor, uint8_t op) {
  return srcFactor == VK_BLEND_FACTOR_ONE && dstFactor == VK_BLEND_FACTOR_ZERO &&
         (op == VK_BLEND_OP_ADD || op == VK_BLEND_OP_SUBTRACT);
}

}  // namespace

void OutputMerger::beginBlending() {
  llvm::Value* sink = envPointer(offsetof(abi::FragmentEnv, common) + offsetof(abi::ShaderEnv, sink));
  llvm::Value* surfaces = envPointer(offsetof(abi::FragmentEnv, color));
  bool usesConstants = false;
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
    if (!isWritten(i)) continue;
    llvm::Value* surface = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), surfaces, i * sizeof(abi::Surface));
    color_[i] = texels_.plane(surface, sink, TargetFormat(key_.color[i].format).bytes, 1u << key_.samples_log2);
    const ColorTarget& t = key_.color[i];
    usesConstants |= blends(i) && (isConstantFactor(t.srcColorFactor) || isConstantFactor(t.dstColorFactor) ||
                                   isConstantFactor(t.srcAlphaFactor) || isConstantFactor(t.dstAlphaFactor));
  }
  for (uint32_t c = 0; usesConstants && c < kComponents; ++c)
    blendConstant_[c] = load(state_, offsetof(abi::FragmentState, blendConstant) + 4 * c, b_.getFloatTy());
  if (isDynamic(kDynamicColorWrite))
    colorWriteEnable_ = load(state_, offsetof(abi::FragmentState, colorWriteEnable), b_.getInt8Ty());
  if (isDynamic(kDynamicLogicOp)) logicOp_ = load(state_, offsetof(abi::FragmentState, logicOp), b_.getInt8Ty());
}

// Logic operations turn blending off for all attachments, but are not for floats and sRGB.
bool OutputMerger::usesLogicOp(uint32_t attachment) const {
  if ((key_.flags & kKeyLogicOp) == 0) return false;
  if (!isDynamic(kDynamicLogicOp) && key_.logicOp == VK_LOGIC_OP_COPY) return false;
  const TargetFormat format(key_.color[attachment].format);
  return format.isInteger() || format.isSnorm() || (format.isUnorm() && !format.isSrgb());
}

bool OutputMerger::blends(uint32_t attachment) const {
  const ColorTarget& t = key_.color[attachment];
  if (!t.blendEnable || (key_.flags & kKeyLogicOp) != 0 || TargetFormat(t.format).isInteger()) return false;
  return !isCopy(t.srcColorFactor, t.dstColorFactor, t.colorOp) ||
         !isCopy(t.srcAlphaFactor, t.dstAlphaFactor, t.alphaOp);
}

// source, second: the shader's. stored: what the attachment holds. All of them and the result R, G, B, A.
void OutputMerger::blend(uint32_t attachment, llvm::Value* const* source, llvm::Value* const* second,
                         llvm::Value* const* stored, llvm::Value** result) {
  const ColorTarget& target = key_.color[attachment];
  const TargetFormat format(target.format);
  const bool clamps = format.isUnorm() || format.isSnorm();
  llvm::Value* one = pack_.real(1);
  const auto clamped = [&](llvm::Value* v) {
    return clamps && v ? pack_.clamp(v, pack_.real(format.isSnorm() ? -1 : 0), one) : v;
  };
  llvm::Value *src[kComponents], *src1[kComponents], *constant[kComponents];
  for (uint32_t c = 0; c < kComponents; ++c) {
    src[c] = clamped(source[c]);
    src1[c] = clamped(second[c]);
    constant[c] = blendConstant_[c] ? clamped(splat(blendConstant_[c])) : nullptr;
  }
  // Of a SNORM in [0, 2]: what factors are made of is clamped, not they themselves, as the Khronos CTS has it.
  const auto rest = [&](llvm::Value* v) { return b_.CreateFSub(one, v); };
  // nullptr: one.
  const auto factor = [&](uint8_t which, uint32_t c) -> llvm::Value* {
    switch (which) {
      case VK_BLEND_FACTOR_SRC_COLOR:
        return src[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
        return rest(src[c]);
      case VK_BLEND_FACTOR_DST_COLOR:
        return stored[c];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
        return rest(stored[c]);
      case VK_BLEND_FACTOR_SRC_ALPHA:
        return src[kAlpha];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
        return rest(src[kAlpha]);
      case VK_BLEND_FACTOR_DST_ALPHA:
        return stored[kAlpha];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
        return rest(stored[kAlpha]);
      case VK_BLEND_FACTOR_CONSTANT_COLOR:
        return constant[c];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
        return rest(constant[c]);
      case VK_BLEND_FACTOR_CONSTANT_ALPHA:
        return constant[kAlpha];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
        return rest(constant[kAlpha]);
      case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE: {
        if (c == kAlpha) return nullptr;
        llvm::Value* free = rest(stored[kAlpha]);
        return b_.CreateSelect(b_.CreateFCmpOLT(src[kAlpha], free), src[kAlpha], free);
      }
      case VK_BLEND_FACTOR_SRC1_COLOR:
        return src1[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
        return rest(src1[c]);
      case VK_BLEND_FACTOR_SRC1_ALPHA:
        return src1[kAlpha];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
        return rest(src1[kAlpha]);
      default:
        return nullptr;
    }
  };
  // A factor of zero takes the term away, whatever it is.
  const auto term = [&](llvm::Value* v, uint8_t which, uint32_t c) -> llvm::Value* {
    if (which == VK_BLEND_FACTOR_ZERO) return pack_.real(0);
    llvm::Value* f = factor(which, c);
    return f ? b_.CreateFMul(v, f) : v;
  };
  for (uint32_t c = 0; c < kComponents; ++c) {
    result[c] = pack_.real(0);
    if (!format.hasComponent(c)) continue;
    const uint8_t op = c == kAlpha ? target.alphaOp : target.colorOp;
    if (ignoresFactors(op)) {
      llvm::Value* takes =
          op == VK_BLEND_OP_MIN ? b_.CreateFCmpOLT(src[c], stored[c]) : b_.CreateFCmpOGT(src[c], stored[c]);
      result[c] = b_.CreateSelect(takes, src[c], stored[c]);
      continue;
    }
    const uint8_t srcFactor = c == kAlpha ? target.srcAlphaFactor : target.srcColorFactor;
    const uint8_t dstFactor = c == kAlpha ? target.dstAlphaFactor : target.dstColorFactor;
    llvm::Value* s = term(src[c], srcFactor, c);
    llvm::Value* d = term(stored[c], dstFactor, c);
    if (op == VK_BLEND_OP_SUBTRACT)
      result[c] = b_.CreateFSub(s, d);
    else if (op == VK_BLEND_OP_REVERSE_SUBTRACT)
      result[c] = b_.CreateFSub(d, s);
    else
      result[c] = b_.CreateFAdd(s, d);
  }
}

// By the operation's bits (abi::FragmentState::logicOp).
llvm::Value* OutputMerger::dynamicLogic(llvm::Value* s, llvm::Value* d) {
  const auto term = [&](uint32_t bit, llvm::Value* where) {
    llvm::Value* bits = b_.CreateAnd(logicOp_, b_.getInt8(static_cast<uint8_t>(1u << bit)));
    llvm::Value* mask = b_.CreateSExt(b_.CreateICmpNE(bits, b_.getInt8(0)), s->getType()->getScalarType());
    return b_.CreateAnd(where, splat(mask));
  };
  llvm::Value *notS = b_.CreateNot(s), *notD = b_.CreateNot(d);
  llvm::Value* ofS = b_.CreateOr(term(0, b_.CreateAnd(s, d)), term(1, b_.CreateAnd(s, notD)));
  return b_.CreateOr(ofS, b_.CreateOr(term(2, b_.CreateAnd(notS, d)), term(3, b_.CreateAnd(notS, notD))));
}

llvm::Value* OutputMerger::staticLogic(llvm::Value* s, llvm::Value* d) {
  const auto invert = [&](llvm::Value* v) { return b_.CreateNot(v); };
  switch (key_.logicOp) {
    case VK_LOGIC_OP_CLEAR:
      return llvm::Constant::getNullValue(s->getType());
    case VK_LOGIC_OP_AND:
      return b_.CreateAnd(s, d);
    case VK_LOGIC_OP_AND_REVERSE:
      return b_.CreateAnd(s, invert(d));
    case VK_LOGIC_OP_AND_INVERTED:
      return b_.CreateAnd(invert(s), d);
    case VK_LOGIC_OP_NO_OP:
      return d;
    case VK_LOGIC_OP_XOR:
      return b_.CreateXor(s, d);
    case VK_LOGIC_OP_OR:
      return b_.CreateOr(s, d);
    case VK_LOGIC_OP_NOR:
      return invert(b_.CreateOr(s, d));
    case VK_LOGIC_OP_EQUIVALENT:
      return invert(b_.CreateXor(s, d));
    case VK_LOGIC_OP_INVERT:
      return invert(d);
    case VK_LOGIC_OP_OR_REVERSE:
      return b_.CreateOr(s, invert(d));
    case VK_LOGIC_OP_COPY_INVERTED:
      return invert(s);
    case VK_LOGIC_OP_OR_INVERTED:
      return b_.CreateOr(invert(s), d);
    case VK_LOGIC_OP_NAND:
      return invert(b_.CreateAnd(s, d));
    case VK_LOGIC_OP_SET:
      return llvm::Constant::getAllOnesValue(s->getType());
    default:
      return s;
  }
}

TexelWords OutputMerger::logic(const TargetFormat& format, const TexelWords& source, const TexelWords& stored) {
  TexelWords out;
  for (size_t w = 0; w < source.size(); ++w) {
    llvm::Value* r = logicOp_ ? dynamicLogic(source[w], stored[w]) : staticLogic(source[w], stored[w]);
    // Bits that belong to no channel stay zero.
    const uint32_t used = format.wordMask(static_cast<uint32_t>(w), (1u << kComponents) - 1);
    out.push_back(b_.CreateAnd(r, llvm::ConstantInt::get(r->getType(), used)));
  }
  return out;
}

void OutputMerger::writeTarget(uint32_t attachment, const FragmentVector& v, const FragmentOutputs& o) {
  if (colorWriteEnable_) {
    llvm::Value* bit = b_.CreateAnd(colorWriteEnable_, b_.getInt8(static_cast<uint8_t>(1u << attachment)));
    llvm::Value* enabled = b_.CreateICmpNE(bit, b_.getInt8(0));
    branchOver(enabled, [&] { writeSamples(attachment, v, o); });
    return;
  }
  writeSamples(attachment, v, o);
}

void OutputMerger::writeSamples(uint32_t attachment, const FragmentVector& v, const FragmentOutputs& o) {
  const ColorTarget& target = key_.color[attachment];
  const TargetFormat format(target.format);
  const TargetPlane& plane = color_[attachment];
  const bool isBlended = blends(attachment), isLogic = usesLogicOp(attachment);

  // What the shader leaves out is undefined: 0, 0, 0, 1.
  llvm::Value *source[kComponents], *second[kComponents];
  for (uint32_t c = 0; c < kComponents; ++c) {
    llvm::Value* missing = format.isInteger() ? pack_.integer(c == kAlpha ? 1 : 0) : pack_.real(c == kAlpha ? 1 : 0);
    source[c] = o.color[attachment][c] ? o.color[attachment][c] : missing;
    second[c] = o.secondColor[c] ? o.secondColor[c] : missing;
  }
  if ((key_.flags & kKeyAlphaToOne) != 0 && !format.isInteger()) source[kAlpha] = second[kAlpha] = pack_.real(1);

  bool isPartial = false;  // some bits of texels are kept
  llvm::SmallVector<uint32_t, 4> bits;
  for (uint32_t w = 0; w < format.words(); ++w) {
    bits.push_back(format.wordMask(w, target.writeMask));
    isPartial |= bits[w] != format.wordMask(w, (1u << kComponents) - 1);
  }
  if (std::all_of(bits.begin(), bits.end(), [](uint32_t mask) { return mask == 0; })) return;

  const TexelPlaces places = texels_.places(plane, v.position, v.sample);
  TexelWords words;
  if (!isBlended) words = pack_.encode(format, source);
  const auto writeSample = [&](uint32_t s) {
    const bool reads = isBlended || isLogic || isPartial;
    LoadedTexels old;
    if (reads) old = texels_.load(plane, places, s);
    TexelWords out = words;
    if (isBlended) {
      llvm::Value *stored[kComponents], *result[kComponents];
      pack_.decode(format, old.words, stored);
      blend(attachment, source, second, stored, result);
      out = pack_.encode(format, result);
    }
    if (isLogic) out = logic(format, out, old.words);
    for (size_t w = 0; isPartial && w < out.size(); ++w) {
      const auto constant = [&](uint32_t mask) { return llvm::ConstantInt::get(out[w]->getType(), mask); };
      out[w] = b_.CreateOr(b_.CreateAnd(out[w], constant(bits[w])), b_.CreateAnd(old.words[w], constant(~bits[w])));
    }
    texels_.store(plane, places, s, out, v.coverage[s], reads ? &old : nullptr);
  };
  for (uint32_t s = 0; s < samples(v); ++s) {
    if (isBlended && samples(v) > 1)
      branchOver(anyLane(v.coverage[s]), [&] { writeSample(s); });
    else
      writeSample(s);
  }
}

}  // namespace pumice::shader::codegen
