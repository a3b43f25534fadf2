#include "backend/gpu/image_blit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/formats/texel_codec.h"
#include "backend/gpu/blit_source.h"
#include "backend/gpu/element_bytes.h"
#include "backend/gpu/quad_rows.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kRun = kBlitRun;
constexpr size_t kMaxTexelBytes = 16;

void readRow(const Plane& from, uint32_t x, uint32_t y, uint32_t count, std::byte* out) {
  if (!from.quads) {
    std::memcpy(out, from.element(x, y), size_t{count} * from.elementBytes);
    return;
  }
  withElementBytes(from.elementBytes, [&]<size_t kBytes>() { QuadRows<kBytes>::readRow(from, x, y, count, out); });
}

void writeRow(const Plane& to, uint32_t x, uint32_t y, uint32_t count, const std::byte* texels) {
  if (!to.quads) {
    std::memcpy(to.element(x, y), texels, size_t{count} * to.elementBytes);
    return;
  }
  withElementBytes(to.elementBytes, [&]<size_t kBytes>() { QuadRows<kBytes>::writeRow(to, x, y, count, texels); });
}

// One coordinate of a blit (Vulkan 1.3, 20.5): from a destination texel to unnormalised source coordinates.
//
// u = (dst + 1/2 - d0) * (s1 - s0) / (d1 - d0) + s0 as one quotient of integers of less than 2^33: it is rounded once,
// by less than its distance to the next texel's edge, so that floor is exact.
struct Taps;
struct Axis {
  int64_t srcSize, srcFirst, dstFirst;
  double dstSize2;
  int64_t last;  // texel of the source level

  Axis(const abi::BlitImagePacket& p, int axis)
      : srcSize(int64_t{p.srcCorner[1][axis]} - p.srcCorner[0][axis]),
        srcFirst(p.srcCorner[0][axis]),
        dstFirst(p.dstCorner[0][axis]),
        dstSize2(2.0 * (double(p.dstCorner[1][axis]) - p.dstCorner[0][axis])),
        last(int64_t{p.srcExtent[axis]} - 1) {}

  double at(int64_t dst) const {
    return static_cast<double>((2 * (dst - dstFirst) + 1) * srcSize) / dstSize2 + static_cast<double>(srcFirst);
  }
  uint32_t clamp(double texel) const {
    return static_cast<uint32_t>(std::clamp<double>(texel, 0, static_cast<double>(last)));
  }
  uint32_t nearest(int64_t dst) const { return clamp(std::floor(at(dst))); }
  // The texels that a filter takes, and their weights.
  Taps taps(int64_t dst, VkFilter filter) const;
};

struct Taps {
  static constexpr uint32_t kMost = 4;
  uint32_t count;
  uint32_t texel[kMost];
  float weight[kMost];
};

Taps Axis::taps(int64_t dst, VkFilter filter) const {
  const double u = at(dst) - 0.5, base = std::floor(u);
  const auto a = static_cast<float>(u - base);
  if (filter == VK_FILTER_LINEAR) return {2, {clamp(base), clamp(base + 1)}, {1 - a, a}};
  // Catmull-Rom (Vulkan 1.3, 16.9.4).
  const float a2 = a * a, a3 = a2 * a;
  return {4,
          {clamp(base - 1), clamp(base), clamp(base + 1), clamp(base + 2)},
          {0.5f * (-a + 2 * a2 - a3), 0.5f * (2 - 5 * a2 + 3 * a3), 0.5f * (a + 4 * a2 - 3 * a3), 0.5f * (a3 - a2)}};
}

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
        x_(packet, 0),
        y_(packet, 1),
        z_(packet, 2),
        source_(packet),
        to_(formats::texelCodec(static_cast<VkFormat>(packet.dstFormat))),
        filter_(static_cast<VkFilter>(packet.filter)) {}

  /// Rows first .. end - 1 of a slice of the region. Run by run: columns, their weights and what the filter makes of
  /// a source row serve all rows of the run.
  void rows(uint64_t slice, uint32_t first, uint32_t end) {
    const int64_t z = range_.first[2] + static_cast<int64_t>(slice);
    const Plane dst(p_.dst, static_cast<uint64_t>(z), 0);
    for (uint32_t done = 0; done < range_.count[0]; done += kRun) {
      count_ = std::min(kRun, range_.count[0] - done);
      const int64_t x = range_.first[0] + done;
      findColumns(x);
      for (uint32_t row = first; row < end; ++row) {
        const int64_t y = range_.first[1] + row;
        alignas(64) std::byte texels[kRun * kMaxTexelBytes];
        if (filter_ == VK_FILTER_NEAREST) {
          nearest(y, z, texels);
        } else {
          filtered(y, z, texels);
        }
        writeRow(dst, static_cast<uint32_t>(x), static_cast<uint32_t>(y), count_, texels);
      }
    }
  }

 private:
  void findColumns(int64_t x) {
    std::fill_n(cachedRow_, kCachedRows, kNoRow);
    columnTaps_ = 1;
    for (uint32_t i = 0; i < count_; ++i) {
      if (filter_ == VK_FILTER_NEAREST) {
        columns_[0][i] = x_.nearest(x + i);
        continue;
      }
      const Taps taps = x_.taps(x + i, filter_);
      columnTaps_ = taps.count;
      for (uint32_t k = 0; k < taps.count; ++k) {
        columns_[k][i] = taps.texel[k];
        std::fill_n(&weights_[k][size_t{4} * i], 4, taps.weight[k]);
      }
    }
  }

  void nearest(int64_t y, int64_t z, std::byte* out) {
    if (p_.srcFormat == p_.dstFormat) {
      return gatherTexels(source_.plane(z_.nearest(z)), columns_[0], y_.nearest(y), count_, out);
    }
    alignas(64) uint32_t numbers[4 * kRun];  // of whichever type: both formats have the same
    source_.fetch(z_.nearest(z), columns_[0], y_.nearest(y), count_, numbers);
    to_.encode(numbers, count_, out);
  }

  void filtered(int64_t y, int64_t z, std::byte* out) {
    const Taps rows = y_.taps(y, filter_);
    alignas(64) float sum[4 * kRun];
    if (filter_ == VK_FILTER_LINEAR) {
      alignas(64) float plane[4 * kRun];
      weightedSum(z_.taps(z, filter_), sum, [&](uint32_t slice) {
        planeSum(slice, rows, plane);
        return plane;
      });
    } else {
      planeSum(z_.nearest(z), rows, sum);  // of images that are no volumes
    }
    to_.encode(sum, count_, out);
  }

  // Rows of one slice, mixed.
  void planeSum(uint32_t slice, const Taps& rows, float* sum) {
    weightedSum(rows, sum, [&](uint32_t row) { return rowSum(slice, row); });
  }

  // sum = the weighted sum of the numbers that get(texel) has. A part without weight does not count, not even as
  // infinity or NaN; parts that are all the same are taken as they are.
  template <typename Get>
  void weightedSum(const Taps& taps, float* sum, Get&& get) {
    const uint32_t* end = taps.texel + taps.count;
    if (std::all_of(taps.texel, end, [&](uint32_t t) { return t == taps.texel[0]; })) {
      std::copy_n(get(taps.texel[0]), 4 * count_, sum);
      return;
    }
    bool first = true;
    for (uint32_t k = 0; k < taps.count; ++k) {
      const float weight = taps.weight[k];
      if (weight == 0) continue;
      const float* part = get(taps.texel[k]);
      if (first) {
        for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] = part[i] * weight;
      } else {
        for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] += part[i] * weight;
      }
      first = false;
    }
  }

  // The run's texels of one source row, mixed. Neighbouring rows of the destination ask for the same ones.
  const float* rowSum(uint32_t slice, uint32_t row) {
    const uint32_t slot = slice % 2 * Taps::kMost + row % Taps::kMost;
    float* sum = cachedSum_[slot];
    const uint64_t key = uint64_t{slice} << 32 | row;
    if (cachedRow_[slot] == key) return sum;
    cachedRow_[slot] = key;
    alignas(64) float part[4 * kRun];
    for (uint32_t k = 0; k < columnTaps_; ++k) {
      source_.fetch(slice, columns_[k], row, count_, part);
      const float* weight = weights_[k];
      if (k == 0) {
        for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] = weight[i] == 0 ? 0 : part[i] * weight[i];
      } else {
        for (uint32_t i = 0; i < 4 * count_; ++i) sum[i] += weight[i] == 0 ? 0 : part[i] * weight[i];
      }
    }
    return sum;
  }

  static constexpr uint32_t kCachedRows = 2 * Taps::kMost;
  static constexpr uint64_t kNoRow = ~uint64_t{0};

  const abi::BlitImagePacket& p_;
  DstRange range_;
  Axis x_, y_, z_;
  BlitSource source_;
  formats::TexelCodec to_;
  VkFilter filter_;
  // Of the run: how many texels of a row the filter takes, which and with what weight.
  uint32_t count_ = 0, columnTaps_ = 0;
  uint32_t columns_[Taps::kMost][kRun];
  alignas(64) float weights_[Taps::kMost][4 * kRun];  // for each component, so that loops are straight
  uint64_t cachedRow_[kCachedRows];
  alignas(64) float cachedSum_[kCachedRows][4 * kRun];
};

}  // namespace

Bands blitBands(const abi::BlitImagePacket& p) {
  const DstRange range(p);
  return {uint64_t{range.count[0]} * p.dst.elementBytes, range.count[1],
          p.dst.order == abi::BlockOrder::kQuadMajor4 ? static_cast<uint32_t>(range.first[1] % 4) : 0, range.count[2]};
}

void blitImage(const abi::BlitImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  Blit blit(p);
  blitBands(p).forEach(beginUnit, endUnit,
                       [&](uint64_t slice, uint32_t first, uint32_t end) { blit.rows(slice, first, end); });
}

Bands resolveBands(const abi::ResolveImagePacket& p) {
  return {uint64_t{p.width} * p.dst.elementBytes, p.height,
          p.dst.order == abi::BlockOrder::kQuadMajor4 ? p.dstOrigin.y % 4 : 0, p.sliceCount};
}

void resolveImage(const abi::ResolveImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  const formats::TexelCodec codec = formats::texelCodec(static_cast<VkFormat>(p.format));
  const bool average = codec.type == formats::TexelType::kFloat;
  const auto run = [&](uint64_t slice, uint32_t x, uint32_t y, uint32_t count) {
    alignas(64) std::byte texels[kRun * kMaxTexelBytes];
    readRow(Plane(p.src, slice, 0), p.srcOrigin.x + x, p.srcOrigin.y + y, count, texels);
    if (average) {
      alignas(64) float sum[4 * kRun], more[4 * kRun];
      codec.decode(texels, count, sum);
      for (uint32_t sample = 1; sample < p.src.sampleCount; ++sample) {
        readRow(Plane(p.src, slice, sample), p.srcOrigin.x + x, p.srcOrigin.y + y, count, texels);
        codec.decode(texels, count, more);
        for (uint32_t i = 0; i < 4 * count; ++i) sum[i] += more[i];
      }
      const float share = 1.0f / static_cast<float>(p.src.sampleCount);
      for (uint32_t i = 0; i < 4 * count; ++i) sum[i] *= share;
      codec.encode(sum, count, texels);
    }
    writeRow(Plane(p.dst, slice, 0), p.dstOrigin.x + x, p.dstOrigin.y + y, count, texels);
  };
  resolveBands(p).forEach(beginUnit, endUnit, [&](uint64_t slice, uint32_t first, uint32_t end) {
    for (uint32_t y = first; y < end; ++y)
      for (uint32_t x = 0; x < p.width; x += kRun) run(slice, x, y, std::min(kRun, p.width - x));
  });
}

}  // namespace pumice::gpu
