// kWrite. Vulkan specification: "Texel Output Operations": coordinates outside the image write nothing, components that
// the format lacks are dropped, numbers are converted by the texel codecs.
#include <cstring>

#include "backend/texture/access.h"
#include "backend/texture/address.h"

namespace pumice::texture {
namespace {

constexpr uint32_t kMaxTexelBytes = 32;

void storeWide(const abi::ImageCall& call, uint32_t lane, std::byte* texel, uint32_t bytes) {
  // The call carries one 64-bit component; formats of more have no storage images.
  std::byte full[kMaxTexelBytes] = {};
  std::memcpy(full, &call.texel[0][lane], 4);
  std::memcpy(full + 4, &call.texel[1][lane], 4);
  std::memcpy(texel, full, bytes);
}

}  // namespace

void storeTexels(const abi::ImageCall* call, uint32_t lanes, const View& view) {
  if (!view.format->codec) return;  // compressed
  const Level level = view.level(0);
  const TexelFormat& format = *view.format;
  std::byte* address[abi::kImageCallLanes];
  alignas(64) uint32_t numbers[abi::kImageCallLanes][4];
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::byte* texel = texelOfLane(*call, lane, view, level);
    if (texel == nullptr) continue;
    if (format.kind == TexelKind::kWide) {
      storeWide(*call, lane, texel, format.bytes);
      continue;
    }
    for (uint32_t c = 0; c < 4; ++c) numbers[count][c] = call->texel[c][lane];
    address[count++] = texel;
  }
  if (count == 0) return;
  std::byte encoded[abi::kImageCallLanes * kMaxTexelBytes];
  format.codec.encode(numbers, count, encoded);
  const auto copy = [&](auto bytes) {
    for (uint32_t i = 0; i < count; ++i) std::memcpy(address[i], encoded + i * bytes, bytes);
  };
  switch (format.bytes) {  // constant sizes, so that a copy is one move
    case 1:
      return copy(std::integral_constant<size_t, 1>());
    case 2:
      return copy(std::integral_constant<size_t, 2>());
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 8:
      return copy(std::integral_constant<size_t, 8>());
    case 16:
      return copy(std::integral_constant<size_t, 16>());
    default:
      return copy(size_t{format.bytes});
  }
}

}  // namespace pumice::texture
