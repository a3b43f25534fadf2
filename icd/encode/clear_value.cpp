#include "icd/encode/clear_value.h"

#include <cstdint>
#include <cstring>

#include "backend/formats/format_table.h"
#include "backend/formats/texel_codec.h"

namespace pumice::icd {

void encodeClear(VkFormat format, const void* value, std::byte (&element)[32]) {
  const formats::TexelCodec codec = formats::texelCodec(format);
  std::memset(element, 0, sizeof element);
  if (!codec) return;
  if (codec.channelBytes == 4) return codec.encode(value, 1, element);
  // "If the image or attachment format has a 64-bit component width, the first 2 array elements [...] are reinterpreted
  // as a single 64-bit element for the R component", the next 2 for G; formats with more components cannot be cleared.
  uint64_t wide[4]{};
  std::memcpy(wide, value, sizeof(VkClearColorValue));
  codec.encode(wide, 1, element);
}

void encodeClear(VkFormat format, VkImageAspectFlagBits aspect, const VkClearDepthStencilValue& value,
                 std::byte (&element)[32]) {
  const float depth[4] = {value.depth, 0, 0, 0};
  const uint32_t stencil[4] = {value.stencil & 0xff, 0, 0, 0};  // only the format's bits count
  const bool isDepth = aspect == VK_IMAGE_ASPECT_DEPTH_BIT;
  encodeClear(formats::aspectFormat(format, aspect),
              isDepth ? static_cast<const void*>(depth) : static_cast<const void*>(stencil), element);
}

}  // namespace pumice::icd
