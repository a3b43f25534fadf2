#include "backend/gpu/image_blit.h"

#include <algorithm>
#include <cstring>

#include "backend/formats/texel_codec.h"
#include "backend/gpu/blit_axis.h"
#include "backend/gpu/blit_rows.h"
#include "backend/gpu/blit_source.h"
#include "backend/gpu/element_rows.h"
#include "backend/gpu/resolve.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kRun = kBlitRun;
static_assert(kRun <= SampleResolver::kMost);
constexpr size_t kMaxTexelBytes = 16;

struct DstRange {
  int64_t first[3];
  uint32_t count[3];

  explicit DstRange(const abi::BlitImagePacket& p) {
    for (int i = 0; i < 3; ++i) {
      const int64_t a = p.dstCorner[0][i], b = p.dstCorner[1][i];
      first[i] = std::min(a, b);
      count[i] = static_cast<uint32_t>(std::max(a, b) - first[i]);
    }
  }
};

class Blit {
 public:
  explicit Blit(const abi::BlitImagePacket& packet)
      : p_(packet),
        range_(packet),
        y_(packet, 1),
        z_(packet, 2),
        to_(formats::texelCodec(static_cast<VkFormat>(packet.dstFormat))) {}

  /// Rows first .. end - 1 of a slice of the region, run by run: what belongs to the columns of a run serves all its
  /// rows. `row(y, z, out)` makes the texels of one.
  template <typename Begin, typename Row>
  void runs(uint64_t slice, uint32_t first, uint32_t end, Begin&& begin, Row&& row) {
    const int64_t z = range_.first[2] + static_cast<int64_t>(slice);
    const Plane dst(p_.dst, static_cast<uint64_t>(z), 0);
    for (uint32_t done = 0; done < range_.count[0]; done += kRun) {
      count_ = std::min(kRun, range_.count[0] - done);
      const int64_t x = range_.first[0] + done;
      begin(x);
      for (uint32_t i = first; i < end; ++i) {
        const int64_t y = range_.first[1] + i;
        alignas(64) std::byte texels[kRun * kMaxTexelBytes];
        row(y, z, texels);
        writeRow(dst, static_cast<uint32_t>(x), static_cast<uint32_t>(y), count_, texels);
      }
    }
  }

 protected:
  const abi::BlitImagePacket& p_;
  DstRange range_;
  Axis y_, z_;
  formats::TexelCodec to_;
  uint32_t count_ = 0;  // of the run
};

class NearestBlit : Blit {
 public:
  explicit NearestBlit(const abi::BlitImagePacket& packet) : Blit(packet), x_(packet, 0), source_(packet) {}

  void rows(uint64_t slice, uint32_t first, uint32_t end) {
    runs(
        slice, first, end,
        [this](int64_t x) {
          for (uint32_t i = 0; i < count_; ++i) columns_[i] = x_.nearest(x + i);
        },
        [this](int64_t y, int64_t z, std::byte* out) { row(y_.nearest(y), z_.nearest(z), out); });
  }

 private:
  void row(uint32_t y, uint32_t z, std::byte* out) {
    if (p_.srcFormat == p_.dstFormat) return gatherTexels(source_.plane(z), columns_, y, count_, out);
    alignas(64) uint32_t numbers[4 * kRun];  // of whichever type: both formats have the same
    source_.fetch(z, columns_, y, count_, numbers);
    to_.encode(numbers, count_, out);
  }

  Axis x_;
  BlitSource source_;
  uint32_t columns_[kRun];
};

class FilteredBlit : Blit {
 public:
  explicit FilteredBlit(const abi::BlitImagePacket& packet)
      : Blit(packet), filter_(static_cast<VkFilter>(packet.filter)), source_(packet) {}

  void rows(uint64_t slice, uint32_t first, uint32_t end) {
    runs(
        slice, first, end, [this](int64_t x) { source_.begin(x, count_); },
        [this](int64_t y, int64_t z, std::byte* out) { row(y_.taps(y, filter_), z, out); });
  }

 private:
  void row(const Taps& rows, int64_t z, std::byte* out) {
    alignas(64) float sum[4 * kRun], nearSlice[4 * kRun], farSlice[4 * kRun];
    // Other filters are for images that are no volumes.
    const Taps slices = filter_ == VK_FILTER_LINEAR ? z_.taps(z, filter_) : Taps{1, {z_.nearest(z)}, {1}};
    const float* numbers = weightedSum(slices, sum, [&](uint32_t slice) {
      float* place = slice == slices.texel[0] ? nearSlice : farSlice;
      return weightedSum(rows, place, [&](uint32_t y) { return source_.row(slice, y); });
    });
    to_.encode(numbers, count_, out);
  }

  // The weighted sum of the numbers that get(texel) has, in `sum` or where they are. A part without weight does not
  // count, not even as infinity or NaN; parts that are all the same are taken as they are.
  template <typename Get>
  const float* weightedSum(const Taps& taps, float* sum, Get&& get) {
    if (taps.areOneTexel()) return get(taps.texel[0]);
    const float* part[Taps::kMost];
    float weight[Taps::kMost];
    uint32_t parts = 0;
    for (uint32_t k = 0; k < taps.count; ++k) {
      if (taps.weight[k] == 0) continue;
      part[parts] = get(taps.texel[k]);
      weight[parts++] = taps.weight[k];
    }
    if (parts == 2) {
      for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] = part[0][i] * weight[0] + part[1][i] * weight[1];
      return sum;
    }
    for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] = part[0][i] * weight[0];
    for (uint32_t k = 1; k < parts; ++k)
      for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] += part[k][i] * weight[k];
    return sum;
  }

  VkFilter filter_;
  FilteredRows source_;
};

}  // namespace

Bands blitBands(const abi::BlitImagePacket& p) {
  const DstRange range(p);
  return {uint64_t{range.count[0]} * p.dst.elementBytes, range.count[1],
          p.dst.order == abi::BlockOrder::kQuadMajor4 ? static_cast<uint32_t>(range.first[1] % 4) : 0, range.count[2]};
}

void blitImage(const abi::BlitImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  const auto blit = [&]<typename Worker>() {
    Worker worker(p);
    blitBands(p).forEach(beginUnit, endUnit,
                         [&](uint64_t slice, uint32_t first, uint32_t end) { worker.rows(slice, first, end); });
  };
  p.filter == VK_FILTER_NEAREST ? blit.template operator()<NearestBlit>() : blit.template operator()<FilteredBlit>();
}

Bands resolveBands(const abi::ResolveImagePacket& p) {
  return {uint64_t{p.width} * p.dst.elementBytes, p.height,
          p.dst.order == abi::BlockOrder::kQuadMajor4 ? p.dstOrigin.y % 4 : 0, p.sliceCount};
}

void resolveImage(const abi::ResolveImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  const SampleResolver resolver(static_cast<VkFormat>(p.format), abi::ResolveMode::kAverage, p.src.sampleCount);
  const uint32_t sampleCount = resolver.takesFirst() ? 1 : p.src.sampleCount;
  const auto run = [&](uint64_t slice, uint32_t x, uint32_t y, uint32_t count) {
    alignas(64) std::byte texels[abi::kMaxSamples][kRun * kMaxTexelBytes];
    alignas(64) std::byte resolved[kRun * kMaxTexelBytes];
    const std::byte* samples[abi::kMaxSamples];
    for (uint32_t sample = 0; sample < sampleCount; ++sample) {
      readRow(Plane(p.src, slice, sample), p.srcOrigin.x + x, p.srcOrigin.y + y, count, texels[sample]);
      samples[sample] = texels[sample];
    }
    resolver.run(samples, count, resolved);
    writeRow(Plane(p.dst, slice, 0), p.dstOrigin.x + x, p.dstOrigin.y + y, count, resolved);
  };
  resolveBands(p).forEach(beginUnit, endUnit, [&](uint64_t slice, uint32_t first, uint32_t end) {
    for (uint32_t y = first; y < end; ++y)
      for (uint32_t x = 0; x < p.width; x += kRun) run(slice, x, y, std::min(kRun, p.width - x));
  });
}

}  // namespace pumice::gpu
