// For tests: images in memory of their own, with everything about their layout and their texels computed here once
// more, from the words of abi/descriptor.h and of the specification.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "backend/abi/descriptor.h"
#include "backend/abi/image_call.h"
#include "backend/formats/block_decode.h"
#include "backend/formats/codec_reference.h"
#include "backend/formats/format_table.h"
#include "backend/texture/access.h"
#include "backend/texture/texel_format.h"

namespace pumice::texture::test {

/// Bytes with an inaccessible page directly behind them, or directly before.
class GuardedBytes {
 public:
  GuardedBytes(size_t size, bool guardBehind) {
    constexpr size_t kPage = 4096;
    const size_t inner = (size + kPage - 1) / kPage * kPage;
    mappedSize_ = inner + 2 * kPage;
    void* mapped = mmap(nullptr, mappedSize_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    mapped_ = static_cast<std::byte*>(mapped);
    if (mprotect(mapped_ + kPage, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = mapped_ + kPage + (guardBehind ? inner - size : 0);
  }
  ~GuardedBytes() { munmap(mapped_, mappedSize_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* mapped_;
  std::byte* data_;
  size_t mappedSize_;
};

/// Four numbers; absent components are there (0, 0, 0, 1).
struct Rgba {
  double c[4];
};

struct ImageShape {
  abi::ViewShape shape = abi::ViewShape::k2D;
  VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
  uint32_t width = 1, height = 1;
  uint32_t depthOrLayers = 1;
  uint32_t levels = 1;
  uint32_t samples_log2 = 0;
  bool quadMajor = false;
  bool guardBehind = true;
};

class TestImage {
 public:
  explicit TestImage(const ImageShape& shape) : shape_(shape), info_(formats::formatInfo(shape.format)) {
    if (!formats::isCompressed(info_)) channels_ = formats::reference::channelsOf(info_.name);
    bytes_ = info_.blockBytes;
    const uint32_t samples = 1u << shape.samples_log2;
    const bool volume = shape.shape == abi::ViewShape::k3D;
    uint64_t at = 0;
    for (uint32_t l = 0; l < shape.levels; ++l) {
      abi::ImageLevel level{};
      level.offset_B = at;
      uint64_t rows = rowsOf(l);
      if (shape.quadMajor) {
        rows = (rows + 3) / 4;
        level.rowPitch_B = (columnsOf(l) + 3) / 4 * 16 * bytes_ * samples;
      } else {
        samplePitch_ = (shape.width + 1) * bytes_;  // one texel of padding
        level.rowPitch_B = samples > 1 ? samplePitch_ * samples : (columnsOf(l) + 1) * bytes_;
      }
      const uint64_t slice = (rows * level.rowPitch_B + 63) / 64;
      level.slicePitch_64B = static_cast<uint32_t>(slice);
      at += slice * 64 * (volume ? depth(l) : 1);
      levels_.push_back(level);
    }
    if (shape.quadMajor) samplePitch_ = 16 * bytes_;
    layerPitch_ = at;
    // The memory ends with the last byte of a texel or a block.
    size_t end = 0;
    for (uint32_t l = 0; l < shape.levels; ++l) {
      for (uint32_t s = 0; s < samples; ++s) {
        const uint32_t lastX = columnsOf(l) - 1;
        const uint32_t lastY = rowsOf(l) - 1;
        for (uint32_t y : {lastY, lastY / 4 * 4, lastY / 2 * 2 - (lastY >= 2 ? 1 : 0)}) {
          for (uint32_t x : {lastX, lastX / 4 * 4, lastX > 0 ? lastX - 1 : 0}) {
            end = std::max(end, offset(l, x, y, slices(l) - 1, s) + bytes_);
          }
        }
      }
    }
    if (shape.quadMajor) end = (end + 16 * bytes_ - 1) / (16 * bytes_) * (16 * bytes_);  // blocks are whole
    memory_ = std::make_unique<GuardedBytes>(end, shape.guardBehind);
    size_ = end;
    descriptor_.address = reinterpret_cast<uint64_t>(memory_->data());
    descriptor_.width = shape.width;
    descriptor_.height = shape.height;
    descriptor_.depthOrLayers = shape.depthOrLayers;
    descriptor_.viewClass = abi::makeViewClass(shape.shape, shape.quadMajor, texelFormatIndex(shape.format));
    descriptor_.levelCount = static_cast<uint8_t>(shape.levels);
    descriptor_.samples_log2 = static_cast<uint8_t>(shape.samples_log2);
    descriptor_.samplePitch_B = samplePitch_;
    descriptor_.swizzle = abi::kIdentitySwizzle;
    descriptor_.layerPitch_B = layerPitch_;
    descriptor_.levelTable = reinterpret_cast<uint64_t>(levels_.data());
  }

  uint32_t width(uint32_t l) const { return std::max(shape_.width >> l, 1u); }
  uint32_t height(uint32_t l) const {
    return shape_.shape == abi::ViewShape::k1D ? 1 : std::max(shape_.height >> l, 1u);
  }
  uint32_t depth(uint32_t l) const { return std::max(shape_.depthOrLayers >> l, 1u); }
  uint32_t slices(uint32_t l) const { return shape_.shape == abi::ViewShape::k3D ? depth(l) : shape_.depthOrLayers; }

  bool inside(int64_t l, int64_t x, int64_t y, int64_t slice, int64_t sample = 0) const {
    if (l < 0 || l >= shape_.levels || sample < 0 || sample >= 1 << shape_.samples_log2) return false;
    const auto level = static_cast<uint32_t>(l);
    return x >= 0 && x < width(level) && y >= 0 && y < height(level) && slice >= 0 && slice < slices(level);
  }

  /// In texels or compressed blocks.
  uint32_t columnsOf(uint32_t l) const { return (width(l) + info_.blockExtent[0] - 1) / info_.blockExtent[0]; }
  uint32_t rowsOf(uint32_t l) const { return (height(l) + info_.blockExtent[1] - 1) / info_.blockExtent[1]; }

  /// x, y: of a texel or a compressed block.
  size_t offset(uint32_t l, uint32_t x, uint32_t y, uint32_t slice, uint32_t sample = 0) const {
    const abi::ImageLevel& level = levels_[l];
    const bool volume = shape_.shape == abi::ViewShape::k3D;
    size_t at = level.offset_B + slice * (volume ? size_t{level.slicePitch_64B} * 64 : layerPitch_);
    if (!shape_.quadMajor) return at + y * size_t{level.rowPitch_B} + sample * size_t{samplePitch_} + x * bytes_;
    static constexpr uint32_t kOrder[4][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}};
    at += y / 4 * size_t{level.rowPitch_B} + x / 4 * ((16 * bytes_) << shape_.samples_log2);
    return at + sample * size_t{16} * bytes_ + kOrder[y % 4][x % 4] * bytes_;
  }

  std::byte* texelBytes(uint32_t l, uint32_t x, uint32_t y, uint32_t slice, uint32_t sample = 0) const {
    return memory_->data() + offset(l, x, y, slice, sample);
  }

  Rgba texel(uint32_t l, uint32_t x, uint32_t y, uint32_t slice, uint32_t sample = 0) const {
    if (!formats::isCompressed(info_)) return decode(texelBytes(l, x, y, slice, sample));
    const uint32_t w = info_.blockExtent[0];
    const uint32_t h = info_.blockExtent[1];
    float block[12 * 12 * 4];
    formats::blockCodec(info_.format).decodeFloat(texelBytes(l, x / w, y / h, slice), block);
    Rgba out;
    for (uint32_t c = 0; c < 4; ++c) out.c[c] = static_cast<double>(block[4 * (y % h * w + x % w) + c]);
    return out;
  }

  Rgba decode(const std::byte* bytes) const {
    Rgba out{{0, 0, 0, 1}};
    for (const auto& c : channels_) {
      if (c.letter == 'X' || c.letter == 'E') continue;
      const uint64_t code = formats::reference::bitsOf(bytes, c.offset, c.bits);
      if (info_.sharedExponentBits != 0) {  // E5B9G9R9: number x 2^(exponent - 15 - 9)
        const auto exponent = static_cast<int>(formats::reference::bitsOf(bytes, 27, 5));
        out.c[slot(c.letter)] = std::ldexp(static_cast<double>(code), exponent - 24);
      } else {
        out.c[slot(c.letter)] = formats::reference::decodeChannel(c, code);
      }
    }
    return out;
  }

  /// What a texel outside reads as.
  Rgba outside() const {
    Rgba out{{0, 0, 0, has(3) ? 0.0 : 1.0}};
    return out;
  }

  bool has(uint32_t component) const {
    if (formats::isCompressed(info_)) {
      const auto of = std::span(info_.components, info_.componentCount);
      return std::ranges::any_of(of, [&](const auto& c) { return static_cast<uint32_t>(c.name) == component; });
    }
    return std::ranges::any_of(
        channels_, [&](const auto& c) { return c.letter != 'X' && c.letter != 'E' && slot(c.letter) == component; });
  }

  /// Random bytes; floats become finite numbers of moderate size.
  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    auto* data = reinterpret_cast<unsigned char*>(memory_->data());
    for (size_t i = 0; i < size_; ++i) data[i] = static_cast<unsigned char>(random());
    if (!isFloat() || info_.sharedExponentBits != 0) return;
    for (uint32_t l = 0; l < shape_.levels; ++l)
      forEachTexel(l, [&](std::byte* texel) {
        for (const auto& c : channels_) {
          uint64_t bits = formats::reference::bitsOf(texel, c.offset, c.bits);
          if (c.numeric == formats::reference::Numeric::kSfloat && c.bits == 32) {
            const float value = static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-30f;
            uint32_t word;
            std::memcpy(&word, &value, 4);
            bits = word;
          } else if (c.numeric == formats::reference::Numeric::kSfloat && c.bits == 16) {
            bits = (bits & 0x83FF) | (8 + (bits >> 10 & 7)) << 10;
          } else if (c.numeric == formats::reference::Numeric::kUfloat) {
            const int mantissa = c.bits - 5;
            bits = (bits & ((1u << mantissa) - 1)) | (uint64_t{8} + (bits >> mantissa & 7)) << mantissa;
          }
          formats::reference::setBits(texel, c.offset, c.bits, bits);
        }
      });
  }

  template <typename Visit>
  void forEachTexel(uint32_t l, Visit visit) {
    for (uint32_t slice = 0; slice < slices(l); ++slice) {
      for (uint32_t y = 0; y < height(l); ++y) {
        for (uint32_t x = 0; x < width(l); ++x) {
          for (uint32_t s = 0; s < 1u << shape_.samples_log2; ++s) visit(texelBytes(l, x, y, slice, s));
        }
      }
    }
  }

  std::vector<std::byte> contents() const { return {memory_->data(), memory_->data() + size_}; }
  const ImageShape& shape() const { return shape_; }
  const formats::FormatInfo& info() const { return info_; }
  const std::vector<formats::reference::Channel>& channels() const { return channels_; }
  uint32_t bytes() const { return bytes_; }
  std::byte* memory() const { return memory_->data(); }
  abi::ImageDescriptor& descriptor() { return descriptor_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(&descriptor_); }

  bool isFloat() const {
    return std::ranges::any_of(channels_, [](const auto& c) {
      return c.numeric == formats::reference::Numeric::kSfloat || c.numeric == formats::reference::Numeric::kUfloat;
    });
  }

  static uint32_t slot(char letter) {
    const char* found = std::strchr("RGBA", letter);
    return found != nullptr ? static_cast<uint32_t>(found - "RGBA") : 0;  // depth, stencil
  }

 private:
  ImageShape shape_;
  const formats::FormatInfo& info_;
  std::vector<formats::reference::Channel> channels_;
  uint32_t bytes_ = 0;
  std::vector<abi::ImageLevel> levels_;
  uint32_t samplePitch_ = 0;
  uint64_t layerPitch_ = 0;
  std::unique_ptr<GuardedBytes> memory_;
  size_t size_ = 0;
  abi::ImageDescriptor descriptor_{};
};

/// A call with every field that nobody sets full of rubbish.
inline abi::ImageCall makeCall(abi::ImageOp op, uint32_t flags, uint32_t seed = 1) {
  abi::ImageCall call;
  std::mt19937 random(seed);
  auto* words = reinterpret_cast<uint32_t*>(&call);
  for (size_t i = 0; i < sizeof call / 4; ++i) words[i] = random();
  call.op = op;
  call.activeLanes = 0xFFFF;
  call.flags = flags;
  return call;
}

/// accessImage() with every set of kernels in turn.
inline void accessInTurn(abi::ImageCall* call) {
  static uint32_t turn = 0;
  const Kernels* kernels[3];
  const uint32_t count = usableKernels(kernels);
  accessImage(call, *kernels[turn++ % count]);
}

/// The bits of a number of the format's type.
inline uint32_t bitsOfNumber(double number, formats::TexelType type) {
  if (type == formats::TexelType::kUint) return static_cast<uint32_t>(number);
  if (type == formats::TexelType::kSint) return static_cast<uint32_t>(static_cast<int32_t>(number));
  const auto value = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Formats that have texels of their own and components of at most 32 bits.
inline std::vector<VkFormat> plainFormats() {
  std::vector<VkFormat> out;
  for (const formats::FormatInfo& info : formats::allFormats()) {
    if (formats::isCompressed(info) || info.planeCount != 1 || info.blockExtent[0] != 1) continue;
    if (info.components[0].bits == 64) continue;
    out.push_back(info.format);
  }
  return out;
}

}  // namespace pumice::texture::test
