#include "backend/gpu/image_blit.h"

#include <cmath>
#include <cstring>

#include "backend/formats/texel_codec.h"
#include "backend/gpu/quad_rows.h"

namespace pumice::gpu {
namespace {

// Texels are worked on in runs of so many of a row, which stay in the first-level cache as numbers.
constexpr uint32_t kRun = 64;
constexpr size_t kMaxTexelBytes = 16;

// Calls use.operator()<bytes>() with the element size as a constant.
template <typename Use>
void withElementBytes(uint32_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use.template operator()<1>();
    case 2:
      return use.template operator()<2>();
    case 3:
      return use.template operator()<3>();
    case 4:
      return use.template operator()<4>();
    case 6:
      return use.template operator()<6>();
    case 8:
      return use.template operator()<8>();
    case 12:
      return use.template operator()<12>();
    default:
      return use.template operator()<16>();
  }
}

// Texels of a row, wherever they are, side by side.
void gather(const Plane& from, const uint32_t* x, uint32_t y, uint32_t count, std::byte* out) {
  withElementBytes(from.elementBytes, [&]<size_t kBytes>() {
    if (!from.quads) {
      const std::byte* row = from.element(0, y);
      for (uint32_t i = 0; i < count; ++i) std::memcpy(out + i * kBytes, row + size_t{x[i]} * kBytes, kBytes);
    } else {
      for (uint32_t i = 0; i < count; ++i) std::memcpy(out + i * kBytes, from.element(x[i], y), kBytes);
    }
  });
}

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
  // The two texels around, and the weight of the second.
  void linear(int64_t dst, uint32_t* low, uint32_t* high, float* weight) const {
    const double u = at(dst) - 0.5, base = std::floor(u);
    *low = clamp(base);
    *high = clamp(base + 1);
    *weight = static_cast<float>(u - base);
  }
};

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
        from_(formats::texelCodec(static_cast<VkFormat>(packet.srcFormat))),
        to_(formats::texelCodec(static_cast<VkFormat>(packet.dstFormat))) {}

  void row(uint64_t slice, uint32_t row) const {
    const int64_t y = range_.first[1] + row, z = range_.first[2] + static_cast<int64_t>(slice);
    const Plane dst(p_.dst, static_cast<uint64_t>(z), 0);
    for (uint32_t done = 0; done < range_.count[0]; done += kRun) {
      const uint32_t count = std::min(kRun, range_.count[0] - done);
      const int64_t x = range_.first[0] + done;
      alignas(64) std::byte texels[kRun * kMaxTexelBytes];
      if (p_.linear != 0) {
        linear(x, y, z, count, texels);
      } else {
        nearest(x, y, z, count, texels);
      }
      writeRow(dst, static_cast<uint32_t>(x), static_cast<uint32_t>(y), count, texels);
    }
  }

 private:
  void nearest(int64_t x, int64_t y, int64_t z, uint32_t count, std::byte* out) const {
    uint32_t columns[kRun];
    for (uint32_t i = 0; i < count; ++i) columns[i] = x_.nearest(x + i);
    const Plane src(p_.src, z_.nearest(z), 0);
    if (p_.srcFormat == p_.dstFormat) return gather(src, columns, y_.nearest(y), count, out);
    alignas(64) std::byte raw[kRun * kMaxTexelBytes];
    alignas(64) uint32_t numbers[4 * kRun];  // of whichever type: both formats have the same
    gather(src, columns, y_.nearest(y), count, raw);
    from_.decode(raw, count, numbers);
    to_.encode(numbers, count, out);
  }

  void linear(int64_t x, int64_t y, int64_t z, uint32_t count, std::byte* out) const {
    uint32_t columns[2][kRun];
    float weights[kRun];
    for (uint32_t i = 0; i < count; ++i) x_.linear(x + i, &columns[0][i], &columns[1][i], &weights[i]);
    uint32_t rows[2], slices[2];
    float rowWeight, sliceWeight;
    y_.linear(y, &rows[0], &rows[1], &rowWeight);
    z_.linear(z, &slices[0], &slices[1], &sliceWeight);
    alignas(64) float sum[4 * kRun];
    planeSum(slices[0], columns, weights, rows, rowWeight, count, sum);
    if (slices[0] != slices[1] && sliceWeight != 0) {
      alignas(64) float other[4 * kRun];
      planeSum(slices[1], columns, weights, rows, rowWeight, count, other);
      mix(sum, other, sliceWeight, count);
    }
    to_.encode(sum, count, out);
  }

  // Two rows of one slice, mixed.
  void planeSum(uint32_t slice, const uint32_t (&columns)[2][kRun], const float* weights, const uint32_t* rows,
                float rowWeight, uint32_t count, float* sum) const {
    const Plane src(p_.src, slice, 0);
    rowSum(src, columns, weights, rows[0], count, sum);
    if (rows[0] == rows[1] || rowWeight == 0) return;
    alignas(64) float other[4 * kRun];
    rowSum(src, columns, weights, rows[1], count, other);
    mix(sum, other, rowWeight, count);
  }

  void rowSum(const Plane& src, const uint32_t (&columns)[2][kRun], const float* weights, uint32_t row, uint32_t count,
              float* sum) const {
    alignas(64) std::byte raw[kRun * kMaxTexelBytes];
    alignas(64) float right[4 * kRun];
    gather(src, columns[0], row, count, raw);
    from_.decode(raw, count, sum);
    gather(src, columns[1], row, count, raw);
    from_.decode(raw, count, right);
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < 4; ++c) sum[4 * i + c] = lerp(sum[4 * i + c], right[4 * i + c], weights[i]);
  }

  static void mix(float* sum, const float* other, float weight, uint32_t count) {
    for (uint32_t i = 0; i < 4 * count; ++i) sum[i] = lerp(sum[i], other[i], weight);
  }
  // A texel without weight does not count, not even as infinity or NaN.
  static float lerp(float a, float b, float weight) { return weight == 0 ? a : a * (1 - weight) + b * weight; }

  const abi::BlitImagePacket& p_;
  DstRange range_;
  Axis x_, y_, z_;
  formats::TexelCodec from_, to_;
};

}  // namespace

Bands blitBands(const abi::BlitImagePacket& p) {
  const DstRange range(p);
  return {uint64_t{range.count[0]} * p.dst.elementBytes, range.count[1],
          p.dst.order == abi::BlockOrder::kQuadMajor4 ? static_cast<uint32_t>(range.first[1] % 4) : 0, range.count[2]};
}

void blitImage(const abi::BlitImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  const Blit blit(p);
  blitBands(p).forEach(beginUnit, endUnit, [&](uint64_t slice, uint32_t first, uint32_t end) {
    for (uint32_t y = first; y < end; ++y) blit.row(slice, y);
  });
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
