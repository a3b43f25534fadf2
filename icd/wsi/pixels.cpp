#include "icd/wsi/pixels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/gpu/image_copy.h"

namespace pumice::icd {
namespace {

constexpr PixelForm kBgra8{4, 0x00ff0000, 0x0000ff00, 0x000000ff, 0xff000000};
constexpr PixelForm kRgba8{4, 0x000000ff, 0x0000ff00, 0x00ff0000, 0xff000000};
constexpr PixelForm kRgb10a2{4, 0x000003ff, 0x000ffc00, 0x3ff00000, 0xc0000000};
constexpr PixelForm kBgr10a2{4, 0x3ff00000, 0x000ffc00, 0x000003ff, 0xc0000000};
constexpr PixelForm kRgb565{2, 0xf800, 0x07e0, 0x001f, 0};

struct PresentableFormat {
  VkFormat format;
  PixelForm form;
};
constexpr PresentableFormat kFormats[] = {
    {VK_FORMAT_B8G8R8A8_UNORM, kBgra8},
    {VK_FORMAT_B8G8R8A8_SRGB, kBgra8},
    {VK_FORMAT_R8G8B8A8_UNORM, kRgba8},
    {VK_FORMAT_R8G8B8A8_SRGB, kRgba8},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32, kBgr10a2},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, kRgb10a2},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, kRgb565},
};

// Leaves a pixel's worth of rows in the cache between the copy and the conversion.
constexpr uint64_t kBandBytes = 64 * 1024;

bool sameColors(const PixelForm& a, const PixelForm& b) {
  return a.bytes == b.bytes && a.red == b.red && a.green == b.green && a.blue == b.blue;
}

// One is blue before red, the other red before blue, in bytes.
bool swappedColors(const PixelForm& a, const PixelForm& b) {
  const bool bytes =
      (sameColors(a, kBgra8) && sameColors(b, kRgba8)) || (sameColors(a, kRgba8) && sameColors(b, kBgra8));
  return bytes && (b.alpha == 0 || a.alpha == b.alpha);
}

// The colour's bits in the other form's precision, rounded: v * max' / max.
uint32_t convertChannel(uint32_t pixel, uint32_t fromMask, uint32_t toMask) {
  if (toMask == 0) return 0;
  if (fromMask == 0) return toMask;  // no alpha: 1
  const uint32_t value = (pixel & fromMask) >> std::countr_zero(fromMask);
  const uint32_t fromMax = fromMask >> std::countr_zero(fromMask), toMax = toMask >> std::countr_zero(toMask);
  // At most 16 bits each: no overflow in 64.
  const auto scaled = static_cast<uint32_t>((uint64_t{value} * toMax * 2 + fromMax) / (uint64_t{fromMax} * 2));
  return scaled << std::countr_zero(toMask);
}

void swapRedAndBlue(std::byte* row, uint32_t width, uint32_t kept, uint32_t set) {
  for (uint32_t x = 0; x < width; ++x) {
    uint32_t p;
    std::memcpy(&p, row + 4 * x, 4);
    p = (p & kept) | (p >> 16 & 0xff) | (p & 0xff) << 16 | set;
    std::memcpy(row + 4 * x, &p, 4);
  }
}

void setBits(std::byte* row, uint32_t width, uint32_t set) {
  for (uint32_t x = 0; x < width; ++x) {
    uint32_t p;
    std::memcpy(&p, row + 4 * x, 4);
    p |= set;
    std::memcpy(row + 4 * x, &p, 4);
  }
}

void convertRow(const std::byte* in, const PixelForm& from, std::byte* out, const PixelForm& to, uint32_t width,
                uint32_t set) {
  for (uint32_t x = 0; x < width; ++x, in += from.bytes, out += to.bytes) {
    uint32_t p = 0;
    std::memcpy(&p, in, from.bytes);
    const uint32_t q = convertChannel(p, from.red, to.red) | convertChannel(p, from.green, to.green) |
                       convertChannel(p, from.blue, to.blue) | convertChannel(p, from.alpha, to.alpha) | set;
    std::memcpy(out, &q, to.bytes);
  }
}

// Rows of texels as they are: the copy engine's own code undoes the image's layout.
void copyRows(const abi::Surface& image, const VkRect2D& area, uint32_t firstRow, uint32_t rowCount,
              std::byte* destination, uint64_t pitch_B) {
  abi::CopyImagePacket packet{};
  packet.src = image;
  packet.srcOrigin = {static_cast<uint32_t>(area.offset.x), static_cast<uint32_t>(area.offset.y) + firstRow};
  packet.dst.address = reinterpret_cast<uint64_t>(destination);
  packet.dst.rowPitch_B = static_cast<uint32_t>(pitch_B);
  packet.dst.elementBytes = image.elementBytes;
  packet.dst.order = abi::BlockOrder::kRowLinear;
  packet.dst.sampleCount = 1;
  packet.width = area.extent.width;
  packet.height = rowCount;
  packet.sliceCount = 1;
  gpu::copyImage(packet, 0, gpu::copyBands(packet).unitCount(), false);
}

}  // namespace

PixelForm pixelForm(VkFormat format) {
  for (const PresentableFormat& f : kFormats) {
    if (f.format == format) return f.form;
  }
  return {};
}

std::vector<VkFormat> presentableFormats(const PixelForm& window) {
  std::vector<VkFormat> out;
  const auto fits = [&](const PixelForm& form) {
    return form.bytes == 4 && std::popcount(form.red) <= std::popcount(window.red) &&
           std::popcount(form.green) <= std::popcount(window.green) &&
           std::popcount(form.blue) <= std::popcount(window.blue);
  };
  for (const PresentableFormat& f : kFormats) {
    if (sameColors(f.form, window)) out.push_back(f.format);
  }
  for (const PresentableFormat& f : kFormats) {
    if (!sameColors(f.form, window) && fits(f.form)) out.push_back(f.format);
  }
  // Every program asks for one of these; a window of 16 bits shows what it can.
  if (!fits(kBgra8)) out.insert(out.end(), {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB});
  return out;
}

void writePixels(const abi::Surface& image, const PixelForm& from, const VkRect2D& area, const PixelRows& rows,
                 const PixelForm& to, bool opaque) {
  const uint32_t width = area.extent.width, height = area.extent.height;
  if (width == 0 || height == 0) return;
  const uint32_t set = opaque ? to.alpha : 0;
  std::byte* const first = rows.first + static_cast<uint32_t>(area.offset.y) * rows.pitch_B +
                           uint64_t{static_cast<uint32_t>(area.offset.x)} * to.bytes;
  const bool same = sameColors(from, to) && (to.alpha == 0 || opaque || from.alpha == to.alpha);
  const bool swapped = !same && swappedColors(from, to);
  const uint64_t texels_B = uint64_t{width} * from.bytes;
  // Whole rows of blocks, where the image has such.
  const auto band =
      static_cast<uint32_t>(std::clamp<uint64_t>(kBandBytes / std::max<uint64_t>(texels_B, 1) / 4 * 4, 4, 16384));
  std::vector<std::byte> texels;
  if (!same && !swapped) texels.resize(texels_B * std::min(band, height));
  for (uint32_t y = 0; y < height; y += band) {
    const uint32_t count = std::min(band, height - y);
    std::byte* row = first + y * rows.pitch_B;
    if (same || swapped) {
      copyRows(image, area, y, count, row, rows.pitch_B);
    } else {
      copyRows(image, area, y, count, texels.data(), texels_B);
    }
    for (uint32_t i = 0; i < count && !(same && set == 0); ++i, row += rows.pitch_B) {
      if (same) {
        setBits(row, width, set);
      } else if (swapped) {
        swapRedAndBlue(row, width, ~(to.red | to.blue), set);
      } else {
        convertRow(texels.data() + i * texels_B, from, row, to, width, set);
      }
    }
  }
}

}  // namespace pumice::icd
