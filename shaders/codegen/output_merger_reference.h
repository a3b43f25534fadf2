// For tests: the output merger by the words of the specification, one sample and one double at a time, on vectors as
// fragment code has them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/formats/codec_reference.h"
#include "backend/formats/format_table.h"
#include "backend/gpu/image_test_support.h"
#include "shaders/compiler.h"

namespace pumice::shader::codegen::test {

using formats::reference::Channel;
using formats::reference::Numeric;
using gpu::test::TestImage;

inline constexpr uint32_t kEdge = 16;  // of the attachments

// One vector, as the rest of a fragment function would have it in registers.
struct VectorInput {
  uint32_t position[4], viewport[4];  // of a block: the first
  uint16_t backFacing;
  uint16_t coverage[abi::kMaxSamples];  // in: rasterised; out: what is left
  float depth[abi::kMaxSamples][16];
  uint32_t color[abi::kMaxColorAttachments][4][16], second[4][16];  // patterns of floats, or integers
  float shaderDepth[16];
  uint32_t stencilReference[16], sampleMask[16];
  uint32_t sampleNumber[abi::kMaxSamples];  // 0, 1, 2, ...
};

// What the shader does.
struct ShaderShape {
  bool early = false;
  bool perSample = false;  // one sample at a time
  bool writesDepth = false, writesReference = false, writesMask = false;
};

struct Pixel {
  uint32_t x, y;
};
inline Pixel pixelOf(const VectorInput& in, bool isBlock, uint32_t lane) {
  const uint32_t quad = lane / 4;
  const uint32_t position = in.position[isBlock ? 0 : quad];
  Pixel p{position & 0xFFFF, position >> 16};
  if (isBlock) p = {p.x + quad % 2 * 2, p.y + quad / 2 * 2};
  return {p.x + lane % 2, p.y + lane / 2 % 2};
}

// All attachments of a draw.
struct Targets {
  std::vector<std::unique_ptr<TestImage>> color = std::vector<std::unique_ptr<TestImage>>(abi::kMaxColorAttachments);
  std::unique_ptr<TestImage> depth, stencil;
};

// The merger by the letter. Color is only checked to be near what it should be: `Near` says how.
class MergerReference {
 public:
  MergerReference(const FragmentKey& key, const ShaderShape& shape, const abi::FragmentState& state)
      : key_(key), shape_(shape), state_(state) {}

  uint64_t passed = 0;

  struct Texel {
    bool written = false;
    double value[4] = {};   // before it is stored; integers too
    uint64_t code[4] = {};  // of channels, after logic operations
    bool isCode = false;
  };
  // What should stand in a texel of an attachment after the vector; written is false if nothing is stored.
  struct Expected {
    bool covered = false;
    Texel color[abi::kMaxColorAttachments];
  };

  // Tests lane and sample with `targets` as they were before the vector, and writes depth and stencil there.
  Expected run(const VectorInput& in, bool isBlock, uint32_t lane, uint32_t s, Targets& targets) {
    Expected e;
    bool covered = (in.coverage[s] >> lane & 1) != 0 && (state_.sampleMask >> s & 1) != 0;
    const Pixel p = pixelOf(in, isBlock, lane);
    const auto maskAfterShader = [&] {
      if ((key_.flags & kKeyAlphaToCoverage) != 0) {
        const double alpha = asFloat(in.color[0][3][lane]);
        if (!(alpha >= (s + 0.5) / (1u << key_.samples_log2))) covered = false;
      }
      if (shape_.writesMask && (in.sampleMask[lane] >> s & 1) == 0) covered = false;
    };
    if (!shape_.early) maskAfterShader();
    if (covered) covered = test(in, isBlock, lane, s, p, targets);
    if (covered) ++passed;
    if (shape_.early) maskAfterShader();
    e.covered = covered;
    for (uint32_t i = 0; covered && i < abi::kMaxColorAttachments; ++i)
      if (targets.color[i]) e.color[i] = colorOf(i, in, lane, targets.color[i]->at(0, 0, s, p.x, p.y));
    return e;
  }

  static double asFloat(uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

 private:
  bool on(abi::DepthFlags flag) const {
    if ((key_.depthFlags & flag) == 0) return false;
    return (key_.dynamic & kDynamicDepthFlags) == 0 || (state_.depthFlags & flag) != 0;
  }

  template <typename T>
  static bool compares(uint8_t op, T a, T b) {
    switch (op) {
      case VK_COMPARE_OP_NEVER:
        return false;
      case VK_COMPARE_OP_LESS:
        return a < b;
      case VK_COMPARE_OP_EQUAL:
        return a == b;
      case VK_COMPARE_OP_LESS_OR_EQUAL:
        return a <= b;
      case VK_COMPARE_OP_GREATER:
        return a > b;
      case VK_COMPARE_OP_NOT_EQUAL:
        return a != b;
      case VK_COMPARE_OP_GREATER_OR_EQUAL:
        return a >= b;
      default:
        return true;
    }
  }

  static uint8_t stencilValue(uint8_t op, uint8_t old, uint8_t reference) {
    switch (op) {
      case VK_STENCIL_OP_KEEP:
        return old;
      case VK_STENCIL_OP_ZERO:
        return 0;
      case VK_STENCIL_OP_REPLACE:
        return reference;
      case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
        return old == 255 ? old : old + 1;
      case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
        return old == 0 ? old : old - 1;
      case VK_STENCIL_OP_INVERT:
        return static_cast<uint8_t>(~old);
      case VK_STENCIL_OP_INCREMENT_AND_WRAP:
        return static_cast<uint8_t>(old + 1);
      default:
        return static_cast<uint8_t>(old - 1);
    }
  }

  bool test(const VectorInput& in, bool isBlock, uint32_t lane, uint32_t s, Pixel p, Targets& targets) {
    std::optional<Channel> depthChannel;
    uint64_t storedDepth = 0;
    if (targets.depth) {
      depthChannel = formats::reference::channelsOf(formats::formatInfo(key_.depthFormat).name).back();
      storedDepth =
          formats::reference::bitsOf(targets.depth->at(0, 0, s, p.x, p.y), depthChannel->offset, depthChannel->bits);
    }
    if (depthChannel && on(abi::kDepthBounds)) {
      const double stored = formats::reference::decodeChannel(*depthChannel, storedDepth);
      // As a float: so are the bounds.
      const auto number = static_cast<float>(stored);
      if (!(number >= state_.depthBoundsMin && number <= state_.depthBoundsMax)) return false;
    }
    bool depthPasses = true;
    uint64_t code = 0;
    if (depthChannel && on(abi::kDepthTest)) {
      double z = static_cast<double>(shape_.writesDepth && !shape_.early ? in.shaderDepth[lane] : in.depth[s][lane]);
      double low = 0, high = 1;
      if (on(abi::kDepthClamp)) {
        const float* range = state_.viewportDepth[in.viewport[isBlock ? 0 : lane / 4]];
        low = static_cast<double>(std::min(range[0], range[1]));
        high = static_cast<double>(std::max(range[0], range[1]));
      }
      z = std::isnan(z) ? low : std::min(std::max(z, low), high);
      if (depthChannel->bits == 32)
        code = std::bit_cast<uint32_t>(static_cast<float>(z));
      else
        code = formats::reference::encodeChannel(*depthChannel, z);
      const uint8_t op = (key_.dynamic & kDynamicDepthCompare) != 0 ? state_.depthCompareOp : key_.depthCompareOp;
      const double stored = formats::reference::decodeChannel(*depthChannel, storedDepth);
      const double mine = formats::reference::decodeChannel(*depthChannel, code);
      depthPasses = compares(op, mine, stored);
    }
    bool stencilPasses = true;
    if (targets.stencil && on(abi::kStencilTest)) {
      const bool isBack = (in.backFacing >> lane & 1) != 0;
      const abi::StencilFace& face = isBack ? state_.back : state_.front;
      const bool dynamic = (key_.dynamic & kDynamicStencilOps) != 0;
      const StencilOps ops = dynamic  ? StencilOps{face.compareOp, face.failOp, face.passOp, face.depthFailOp}
                             : isBack ? key_.back
                                      : key_.front;
      const auto reference =
          shape_.writesReference && !shape_.early ? static_cast<uint8_t>(in.stencilReference[lane]) : face.reference;
      std::byte* texel = targets.stencil->at(0, 0, s, p.x, p.y);
      const auto old = static_cast<uint8_t>(*texel);
      stencilPasses = compares<uint32_t>(ops.compareOp, reference & face.compareMask, old & face.compareMask);
      const uint8_t op = !stencilPasses ? ops.failOp : depthPasses ? ops.passOp : ops.depthFailOp;
      const uint8_t value = stencilValue(op, old, reference);
      *texel = static_cast<std::byte>((value & face.writeMask) | (old & ~face.writeMask));
    }
    if (!depthPasses || !stencilPasses) return false;
    if (depthChannel && on(abi::kDepthTest) && on(abi::kDepthWrite)) {
      std::byte* texel = targets.depth->at(0, 0, s, p.x, p.y);
      std::memset(texel, 0, targets.depth->shape().elementBytes);
      formats::reference::setBits(texel, depthChannel->offset, depthChannel->bits, code);
    }
    return true;
  }

  static int component(const Channel& c) { return static_cast<int>(std::string("RGBA").find(c.letter)); }

  double factor(uint8_t which, int c, const double* s, const double* s1, const double* d, const double* k) {
    switch (which) {
      case VK_BLEND_FACTOR_ZERO:
        return 0;
      case VK_BLEND_FACTOR_ONE:
        return 1;
      case VK_BLEND_FACTOR_SRC_COLOR:
        return s[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
        return 1 - s[c];
      case VK_BLEND_FACTOR_DST_COLOR:
        return d[c];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
        return 1 - d[c];
      case VK_BLEND_FACTOR_SRC_ALPHA:
        return s[3];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
        return 1 - s[3];
      case VK_BLEND_FACTOR_DST_ALPHA:
        return d[3];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
        return 1 - d[3];
      case VK_BLEND_FACTOR_CONSTANT_COLOR:
        return k[c];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
        return 1 - k[c];
      case VK_BLEND_FACTOR_CONSTANT_ALPHA:
        return k[3];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
        return 1 - k[3];
      case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
        return c == 3 ? 1 : std::min(s[3], 1 - d[3]);
      case VK_BLEND_FACTOR_SRC1_COLOR:
        return s1[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
        return 1 - s1[c];
      case VK_BLEND_FACTOR_SRC1_ALPHA:
        return s1[3];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
        return 1 - s1[3];
      default:
        ADD_FAILURE() << "factor " << int{which};
        return 0;
    }
  }

  static uint64_t logic(uint8_t op, uint64_t s, uint64_t d) {
    // The truth table is the operation's number, but for the order of its bits: of (s, d) = 11, 10, 01, 00.
    uint64_t r = 0;
    static constexpr uint8_t kTable[16] = {0b0000, 0b1000, 0b0100, 0b1100, 0b0010, 0b1010, 0b0110, 0b1110,
                                           0b0001, 0b1001, 0b0101, 0b1101, 0b0011, 0b1011, 0b0111, 0b1111};
    for (int bit = 0; bit < 32; ++bit) {
      const uint64_t which = (s >> bit & 1) * 2 + (d >> bit & 1);
      r |= uint64_t{static_cast<uint64_t>(kTable[op] >> which & 1)} << bit;
    }
    return r;
  }

  Texel colorOf(uint32_t i, const VectorInput& in, uint32_t lane, const std::byte* texel) {
    Texel t;
    const ColorTarget& target = key_.color[i];
    if ((key_.dynamic & kDynamicColorWrite) != 0 && (state_.colorWriteEnable >> i & 1) == 0) return t;
    t.written = true;
    const auto& info = formats::formatInfo(target.format);
    const auto channels = formats::reference::channelsOf(info.name);
    const formats::TexelType type = formats::texelType(info);
    const bool isFixed = std::any_of(channels.begin(), channels.end(), [](const Channel& c) {
      return c.numeric == Numeric::kUnorm || c.numeric == Numeric::kSnorm || c.numeric == Numeric::kSrgb;
    });
    const bool isSigned = channels[0].numeric == Numeric::kSnorm;
    const bool isSrgb =
        std::any_of(channels.begin(), channels.end(), [](const Channel& c) { return c.numeric == Numeric::kSrgb; });
    double s[4], s1[4], k[4], d[4] = {0, 0, 0, 1};
    for (int c = 0; c < 4; ++c) {
      const uint32_t bits = in.color[i][c][lane];
      s[c] = type == formats::TexelType::kUint   ? static_cast<double>(bits)
             : type == formats::TexelType::kSint ? static_cast<double>(static_cast<int32_t>(bits))
                                                 : asFloat(bits);
      s1[c] = asFloat(in.second[c][lane]);
      k[c] = static_cast<double>(state_.blendConstant[c]);
    }
    if ((key_.flags & kKeyAlphaToOne) != 0 && type == formats::TexelType::kFloat) s[3] = s1[3] = 1;
    for (const Channel& c : channels)
      if (c.letter != 'X')
        d[component(c)] = formats::reference::decodeChannel(c, formats::reference::bitsOf(texel, c.offset, c.bits));
    const bool isLogic = (key_.flags & kKeyLogicOp) != 0;
    if (target.blendEnable && !isLogic && type == formats::TexelType::kFloat) {
      const auto clamp = [&](double v) {
        if (!isFixed) return v;
        if (std::isnan(v)) return isSigned ? -1.0 : 0.0;
        return std::min(std::max(v, isSigned ? -1.0 : 0.0), 1.0);
      };
      for (int c = 0; c < 4; ++c) s[c] = clamp(s[c]), s1[c] = clamp(s1[c]), k[c] = clamp(k[c]);
      for (int c = 0; c < 4; ++c) {
        const uint8_t op = c == 3 ? target.alphaOp : target.colorOp;
        const uint8_t sf = c == 3 ? target.srcAlphaFactor : target.srcColorFactor;
        const uint8_t df = c == 3 ? target.dstAlphaFactor : target.dstColorFactor;
        // Zero times anything is nothing.
        const double a = sf == VK_BLEND_FACTOR_ZERO ? 0 : s[c] * factor(sf, c, s, s1, d, k);
        const double b = df == VK_BLEND_FACTOR_ZERO ? 0 : d[c] * factor(df, c, s, s1, d, k);
        t.value[c] = op == VK_BLEND_OP_ADD                ? a + b
                     : op == VK_BLEND_OP_SUBTRACT         ? a - b
                     : op == VK_BLEND_OP_REVERSE_SUBTRACT ? b - a
                     : op == VK_BLEND_OP_MIN              ? (s[c] < d[c] ? s[c] : d[c])
                                                          : (s[c] > d[c] ? s[c] : d[c]);
      }
    } else {
      std::copy(s, s + 4, t.value);
    }
    t.isCode = isLogic && (isFixed || type != formats::TexelType::kFloat) && !isSrgb;
    for (size_t n = 0; n < channels.size(); ++n) {
      const Channel& c = channels[n];
      if (c.letter == 'X') continue;
      const uint64_t old = formats::reference::bitsOf(texel, c.offset, c.bits);
      uint64_t code = 0;
      if (t.isCode)
        code = logic((key_.dynamic & kDynamicLogicOp) != 0 ? state_.logicOp : key_.logicOp,
                     formats::reference::encodeChannel(c, t.value[component(c)]), old) &
               ((uint64_t{1} << c.bits) - 1);
      t.code[n] = code;
    }
    return t;
  }

  const FragmentKey& key_;
  const ShaderShape& shape_;
  const abi::FragmentState& state_;
};

// Whether a code in memory is the number that was to be stored, `slack` being the error of the arithmetic before.
inline bool isStored(const Channel& c, uint64_t code, double value, double slack) {
  const double largest = static_cast<double>((uint64_t{1} << c.bits) - 1);
  const auto clamp = [&](double low, double high) {
    return std::isnan(value) ? 0.0 : std::min(std::max(value, low), high);
  };
  switch (c.numeric) {
    case Numeric::kUnorm:
      return std::fabs(static_cast<double>(code) - clamp(0, 1) * largest) <= 0.5 + slack * largest;
    case Numeric::kSnorm: {
      const double half = (largest - 1) / 2;
      const auto number = static_cast<double>(formats::reference::asSigned(code, c.bits));
      return std::fabs(number - clamp(-1, 1) * half) <= 0.5 + slack * half;
    }
    case Numeric::kSrgb: {
      const auto exact = static_cast<double>(255 * formats::reference::linearToSrgb(clamp(0, 1)));
      return std::fabs(static_cast<double>(code) - exact) <= 0.501 + slack * 255 * 13;
    }
    case Numeric::kUint:
    case Numeric::kSint:
      return code == formats::reference::encodeChannel(c, value);
    default: {
      const double stored = formats::reference::decodeChannel(c, code);
      if (std::isnan(value)) return std::isnan(stored);
      if (slack == 0 && c.bits == 32) return stored == value;
      if (slack == 0)
        return stored == formats::reference::decodeChannel(c, formats::reference::encodeChannel(c, value));
      if (c.bits != 32 && code == formats::reference::encodeChannel(c, value)) return true;
      if (std::isinf(value)) return stored == (c.numeric == Numeric::kUfloat && value < 0 ? 0 : value);
      const int mantissa = c.bits == 32 ? 22 : c.bits == 16 ? 10 : c.bits - 5;
      const double wanted = c.numeric == Numeric::kUfloat ? std::max(value, 0.0) : value;
      return std::fabs(stored - wanted) <= std::max(std::fabs(wanted), 0x1p-14) * std::ldexp(0.5, -mantissa) +
                                               slack * std::max(1.0, std::fabs(wanted));
    }
  }
}

}  // namespace pumice::shader::codegen::test
