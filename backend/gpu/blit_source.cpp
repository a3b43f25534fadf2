#include "backend/gpu/blit_source.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backend/gpu/element_rows.h"

namespace pumice::gpu {

void gatherTexels(const Plane& from, const uint32_t* x, uint32_t y, uint32_t count, std::byte* out) {
  withElementBytes(from.elementBytes, [&]<size_t kBytes>() {
    if (!from.quads) {
      const std::byte* row = from.element(0, y);
      for (uint32_t i = 0; i < count; ++i) std::memcpy(out + i * kBytes, row + size_t{x[i]} * kBytes, kBytes);
    } else {
      for (uint32_t i = 0; i < count; ++i) std::memcpy(out + i * kBytes, from.element(x[i], y), kBytes);
    }
  });
}

BlitSource::BlitSource(const abi::BlitImagePacket& packet)
    : surface_(packet.src),
      texels_(formats::texelCodec(static_cast<VkFormat>(packet.srcFormat))),
      blocks_(formats::blockCodec(static_cast<VkFormat>(packet.srcFormat))) {
  if (!isCompressed()) return;
  blockWidth_ = blocks_.info->blockExtent[0];
  blockHeight_ = blocks_.info->blockExtent[1];
  entryFloats_ = 4 * blockWidth_ * blockHeight_;
  entryCount_ = std::min(kMaxEntries, kCacheFloats / entryFloats_);
  std::fill_n(entry_, entryCount_, nullptr);
}

const float* BlitSource::decoded(const std::byte* block) {
  const uint64_t at = reinterpret_cast<uintptr_t>(block) / surface_.elementBytes % entryCount_;
  float* texels = cache_ + at * entryFloats_;
  if (entry_[at] != block) {
    blocks_.decodeFloat(block, texels);
    entry_[at] = block;
  }
  return texels;
}

void BlitSource::fetch(uint64_t slice, const uint32_t* x, uint32_t y, uint32_t count, void* numbers) {
  const Plane from = plane(slice);
  if (!isCompressed()) {
    alignas(64) std::byte raw[kBlitRun * 16];
    gatherTexels(from, x, y, count, raw);
    texels_.decode(raw, count, numbers);
    return;
  }
  auto* out = static_cast<float*>(numbers);
  const uint32_t row = y % blockHeight_ * blockWidth_;
  for (uint32_t i = 0; i < count; ++i) {
    const float* texels = decoded(from.element(x[i] / blockWidth_, y / blockHeight_));
    std::memcpy(out + size_t{4} * i, texels + size_t{4} * (row + x[i] % blockWidth_), 16);
  }
}

void BlitSource::fetchRow(uint64_t slice, uint32_t x, uint32_t y, uint32_t count, void* numbers) {
  if (!isCompressed()) {
    alignas(64) std::byte raw[kBlitRun * 16];
    readRow(plane(slice), x, y, count, raw);
    texels_.decode(raw, count, numbers);
    return;
  }
  uint32_t columns[kBlitRun];
  std::iota(columns, columns + count, x);
  fetch(slice, columns, y, count, numbers);
}

}  // namespace pumice::gpu
