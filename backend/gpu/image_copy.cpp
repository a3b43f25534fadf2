#include "backend/gpu/image_copy.h"

#include <cstring>

#include "backend/gpu/copy.h"
#include "backend/gpu/pattern.h"
#include "backend/gpu/quad_rows.h"

namespace pumice::gpu {
namespace {

// Each run of such stores ends with a fence.
constexpr uint64_t kNonTemporalRowBytes = 4096;

// Where the next elements to be copied are, on both sides.
struct Rows {
  Plane dst, src;
  abi::SurfaceOrigin dstAt, srcAt;
  uint32_t width, height;
};

void linearToLinear(const Rows& r, bool nonTemporal) {
  const uint64_t row_B = uint64_t{r.width} * r.dst.elementBytes;
  auto dst = reinterpret_cast<uint64_t>(r.dst.element(r.dstAt.x, r.dstAt.y));
  auto src = reinterpret_cast<uint64_t>(r.src.element(r.srcAt.x, r.srcAt.y));
  if (r.dst.rowPitch_B == row_B && r.src.rowPitch_B == row_B) {
    copyBytes(dst, src, row_B * r.height, nonTemporal);
    return;
  }
  nonTemporal = nonTemporal && row_B >= kNonTemporalRowBytes;
  for (uint32_t y = 0; y < r.height; ++y, dst += r.dst.rowPitch_B, src += r.src.rowPitch_B) {
    copyBytes(dst, src, row_B, nonTemporal);
  }
}

// For each row, or two rows where those of the quad-major side lie in one half block.
template <typename One, typename Two>
void byHalves(uint32_t y, uint32_t height, One&& one, Two&& two) {
  for (uint32_t i = 0; i < height;) {
    if ((y + i) % 2 == 0 && i + 1 < height) {
      two(i);
      i += 2;
    } else {
      one(i);
      i += 1;
    }
  }
}

// Rows of blocks in the middle, halves and rows above and below.
template <typename Four, typename Rest>
void byBlocks(uint32_t y, uint32_t height, Four&& four, Rest&& rest) {
  const uint32_t top = std::min((4 - y % 4) % 4, height), blockRows = (height - top) / 4;
  if (top != 0) rest(0, top);
  for (uint32_t i = 0; i < blockRows; ++i) four(top + 4 * i);
  const uint32_t done = top + 4 * blockRows;
  if (done != height) rest(done, height - done);
}

template <size_t kBytes>
void linearToQuads(const Rows& r, bool nonTemporal) {
  using Quads = QuadRows<kBytes>;
  const uint64_t pitch_B = r.src.rowPitch_B;
  const std::byte* src = r.src.element(r.srcAt.x, r.srcAt.y);
  byBlocks(
      r.dstAt.y, r.height,
      [&](uint32_t i) {
        const auto write = nonTemporal ? Quads::template writeFourRows<true> : Quads::template writeFourRows<false>;
        write(r.dst, r.dstAt.x, r.dstAt.y + i, r.width, src + i * pitch_B, pitch_B);
      },
      [&](uint32_t first, uint32_t count) {
        byHalves(
            r.dstAt.y + first, count,
            [&](uint32_t i) {
              const uint32_t y = first + i;
              Quads::writeRow(r.dst, r.dstAt.x, r.dstAt.y + y, r.width, src + y * pitch_B);
            },
            [&](uint32_t i) {
              const std::byte* row = src + (first + i) * pitch_B;
              Quads::writeTwoRows(r.dst, r.dstAt.x, r.dstAt.y + first + i, r.width, row, row + pitch_B);
            });
      });
  if (nonTemporal) _mm_sfence();
}

template <size_t kBytes>
void quadsToLinear(const Rows& r, bool nonTemporal) {
  using Quads = QuadRows<kBytes>;
  const uint64_t pitch_B = r.dst.rowPitch_B;
  std::byte* dst = r.dst.element(r.dstAt.x, r.dstAt.y);
  const auto byTwo = [&](uint32_t first, uint32_t count) {
    byHalves(
        r.srcAt.y + first, count,
        [&](uint32_t i) {
          const uint32_t y = first + i;
          Quads::readRow(r.src, r.srcAt.x, r.srcAt.y + y, r.width, dst + y * pitch_B);
        },
        [&](uint32_t i) {
          std::byte* row = dst + (first + i) * pitch_B;
          Quads::readTwoRows(r.src, r.srcAt.x, r.srcAt.y + first + i, r.width, row, row + pitch_B);
        });
  };
  if (!nonTemporal || !Quads::canStreamRows(r.srcAt.x, dst, pitch_B)) return byTwo(0, r.height);
  byBlocks(
      r.srcAt.y, r.height,
      [&](uint32_t i) { Quads::streamFourRows(r.src, r.srcAt.x, r.srcAt.y + i, r.width, dst + i * pitch_B, pitch_B); },
      byTwo);
  _mm_sfence();
}

template <size_t kBytes>
void quadsToQuadsByRows(Rows r) {
  using Quads = QuadRows<kBytes>;
  constexpr uint32_t kRun = 256;
  std::byte row0[kRun * kBytes], row1[kRun * kBytes];
  for (uint32_t x = 0; x < r.width; x += kRun) {
    const uint32_t width = std::min(kRun, r.width - x), dstX = r.dstAt.x + x, srcX = r.srcAt.x + x;
    byHalves(
        r.dstAt.y, r.height,
        [&](uint32_t i) {
          Quads::readRow(r.src, srcX, r.srcAt.y + i, width, row0);
          Quads::writeRow(r.dst, dstX, r.dstAt.y + i, width, row0);
        },
        [&](uint32_t i) {
          Quads::readRow(r.src, srcX, r.srcAt.y + i, width, row0);
          Quads::readRow(r.src, srcX, r.srcAt.y + i + 1, width, row1);
          Quads::writeTwoRows(r.dst, dstX, r.dstAt.y + i, width, row0, row1);
        });
  }
}

// Whole blocks where they lie alike on both sides, rows for the rest.
template <size_t kBytes>
void quadsToQuads(const Rows& r) {
  const uint32_t top = std::min((4 - r.dstAt.y % 4) % 4, r.height), left = std::min((4 - r.dstAt.x % 4) % 4, r.width);
  const uint32_t blockRows = (r.height - top) / 4, blocks = (r.width - left) / 4;
  const bool alike = r.dstAt.x % 4 == r.srcAt.x % 4 && r.dstAt.y % 4 == r.srcAt.y % 4;
  if (!alike || blockRows == 0 || blocks == 0) return quadsToQuadsByRows<kBytes>(r);
  const auto part = [&](uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    Rows piece = r;
    piece.dstAt = {r.dstAt.x + x, r.dstAt.y + y};
    piece.srcAt = {r.srcAt.x + x, r.srcAt.y + y};
    piece.width = width;
    piece.height = height;
    quadsToQuadsByRows<kBytes>(piece);
  };
  const uint32_t bottom = top + 4 * blockRows, right = left + 4 * blocks;
  part(0, 0, r.width, top);
  part(0, bottom, r.width, r.height - bottom);
  part(0, top, left, bottom - top);
  part(right, top, r.width - right, bottom - top);
  constexpr size_t kBlock = 16 * kBytes;
  for (uint32_t row = 0; row < blockRows; ++row) {
    std::byte* dst = r.dst.element(r.dstAt.x + left, r.dstAt.y + top + 4 * row);
    const std::byte* src = r.src.element(r.srcAt.x + left, r.srcAt.y + top + 4 * row);
    if (r.dst.blockPitch_B == kBlock && r.src.blockPitch_B == kBlock) {
      std::memcpy(dst, src, blocks * kBlock);
      continue;
    }
    for (uint32_t b = 0; b < blocks; ++b, dst += r.dst.blockPitch_B, src += r.src.blockPitch_B) {
      std::memcpy(dst, src, kBlock);
    }
  }
}

template <size_t kBytes>
void copyWithQuads(const Rows& r, bool nonTemporal) {
  if (!r.src.quads) return linearToQuads<kBytes>(r, nonTemporal);
  if (!r.dst.quads) return quadsToLinear<kBytes>(r, nonTemporal);
  return quadsToQuads<kBytes>(r);
}

void copyRows(const Rows& r, bool nonTemporal) {
  if (!r.dst.quads && !r.src.quads) return linearToLinear(r, nonTemporal);
  switch (r.dst.elementBytes) {
    case 1:
      return copyWithQuads<1>(r, nonTemporal);
    case 2:
      return copyWithQuads<2>(r, nonTemporal);
    case 4:
      return copyWithQuads<4>(r, nonTemporal);
    case 8:
      return copyWithQuads<8>(r, nonTemporal);
    default:
      return copyWithQuads<16>(r, nonTemporal);
  }
}

}  // namespace

Bands copyBands(const abi::CopyImagePacket& p) {
  const uint32_t phase = p.dst.order == abi::BlockOrder::kQuadMajor4   ? p.dstOrigin.y % 4
                         : p.src.order == abi::BlockOrder::kQuadMajor4 ? p.srcOrigin.y % 4
                                                                       : 0;
  return {uint64_t{p.width} * p.dst.elementBytes, p.height, phase, uint64_t{p.sliceCount} * p.dst.sampleCount};
}

void copyImage(const abi::CopyImagePacket& p, uint64_t beginUnit, uint64_t endUnit, bool nonTemporal) {
  const Bands bands = copyBands(p);
  bands.forEach(beginUnit, endUnit, [&](uint64_t plane, uint32_t first, uint32_t end) {
    const uint64_t slice = plane / p.dst.sampleCount, sample = plane % p.dst.sampleCount;
    const Rows rows{Plane(p.dst, slice, sample),
                    Plane(p.src, slice, sample),
                    {p.dstOrigin.x, p.dstOrigin.y + first},
                    {p.srcOrigin.x, p.srcOrigin.y + first},
                    p.width,
                    end - first};
    copyRows(rows, nonTemporal);
  });
}

// Quad-major levels are cleared by rows of blocks: what lies outside of the image in the last ones belongs to nobody.
Bands clearBands(const abi::ClearImagePacket& p) {
  if (p.dst.order == abi::BlockOrder::kQuadMajor4) {
    return {uint64_t{(p.width + 3) / 4} * p.dst.blockPitch_B, (p.height + 3) / 4, 0, p.sliceCount};
  }
  return {uint64_t{p.width} * p.dst.elementBytes, p.height, 0, uint64_t{p.sliceCount} * p.dst.sampleCount};
}

void clearImage(const abi::ClearImagePacket& p, uint64_t beginUnit, uint64_t endUnit) {
  const bool quads = p.dst.order == abi::BlockOrder::kQuadMajor4;
  const uint64_t row_B =
      quads ? uint64_t{(p.width + 3) / 4} * p.dst.blockPitch_B : uint64_t{p.width} * p.dst.elementBytes;
  const uint64_t planesPerSlice = quads ? 1 : p.dst.sampleCount;
  const Pattern pattern(p.element, p.dst.elementBytes);
  clearBands(p).forEach(beginUnit, endUnit, [&](uint64_t plane, uint32_t first, uint32_t end) {
    std::byte* base = Plane(p.dst, plane / planesPerSlice, plane % planesPerSlice).base;
    if (p.dst.rowPitch_B == row_B) return pattern.fill(base + first * row_B, (end - first) * row_B);
    for (uint64_t y = first; y < end; ++y) pattern.fill(base + y * p.dst.rowPitch_B, row_B);
  });
}

}  // namespace pumice::gpu
