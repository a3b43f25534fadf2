// Addresses inside a Surface (backend/abi/packets.h), and how image commands are cut into units of work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::gpu {

/// Bytes that one unit of an image command moves, where its rows are not longer than that.
inline constexpr uint64_t kBandBytes = 64 * 1024;

/// One slice and sample of a surface.
struct Plane {
  std::byte* base;
  uint64_t rowPitch_B;
  uint32_t blockPitch_B;
  uint32_t elementBytes;
  bool quads;

  Plane(const abi::Surface& s, uint64_t slice, uint64_t sample)
      : base(reinterpret_cast<std::byte*>(s.address + slice * s.slicePitch_B + sample * s.samplePitch_B)),
        rowPitch_B(s.rowPitch_B),
        blockPitch_B(s.blockPitch_B),
        elementBytes(s.elementBytes),
        quads(s.order == abi::BlockOrder::kQuadMajor4) {}

  std::byte* element(uint64_t x, uint64_t y) const {
    if (!quads) return base + y * rowPitch_B + x * elementBytes;
    return base + (y / 4) * rowPitch_B + (x / 4) * blockPitch_B +
           uint64_t{abi::quadMajorIndex(static_cast<uint32_t>(x % 4), static_cast<uint32_t>(y % 4))} * elementBytes;
  }
};

/// A region of rows, in all its slices and samples, as equal units: unit u is a band of rows of one plane. Bands begin
/// where rows of quad-major blocks begin: `phase` is the first row's place in its row of blocks.
class Bands {
 public:
  Bands(uint64_t rowBytes, uint32_t height, uint32_t phase, uint64_t planes)
      : height_(height),
        phase_(phase),
        rowsPerBand_(std::max<uint64_t>(4, kBandBytes / std::max<uint64_t>(rowBytes, 1) / 4 * 4)),
        bandsPerPlane_((uint64_t{height} + phase + rowsPerBand_ - 1) / rowsPerBand_),
        unitBytes_(rowBytes * std::min<uint64_t>(rowsPerBand_, height)),
        unitCount_(rowBytes != 0 && height != 0 ? bandsPerPlane_ * planes : 0) {}

  uint64_t unitCount() const { return unitCount_; }
  uint64_t unitBytes() const { return unitBytes_; }  // at most

  /// use(plane, firstRow, endRow) for each unit of the range.
  template <typename Use>
  void forEach(uint64_t beginUnit, uint64_t endUnit, Use&& use) const {
    for (uint64_t u = beginUnit; u < endUnit; ++u) {
      const uint64_t band = u % bandsPerPlane_ * rowsPerBand_;
      const uint64_t first = band > phase_ ? band - phase_ : 0;
      const uint64_t end = std::min<uint64_t>(band + rowsPerBand_ - phase_, height_);
      use(u / bandsPerPlane_, static_cast<uint32_t>(first), static_cast<uint32_t>(end));
    }
  }

 private:
  uint64_t height_, phase_, rowsPerBand_, bandsPerPlane_, unitBytes_, unitCount_;
};

}  // namespace pumice::gpu
