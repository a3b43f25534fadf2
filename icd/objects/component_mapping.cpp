#include "icd/objects/component_mapping.h"

#include "backend/abi/descriptor.h"

namespace pumice::icd {
namespace {

abi::Swizzle source(VkComponentSwizzle s, abi::Swizzle identity) {
  switch (s) {
    case VK_COMPONENT_SWIZZLE_ZERO:
      return abi::Swizzle::kZero;
    case VK_COMPONENT_SWIZZLE_ONE:
      return abi::Swizzle::kOne;
    case VK_COMPONENT_SWIZZLE_R:
      return abi::Swizzle::kRed;
    case VK_COMPONENT_SWIZZLE_G:
      return abi::Swizzle::kGreen;
    case VK_COMPONENT_SWIZZLE_B:
      return abi::Swizzle::kBlue;
    case VK_COMPONENT_SWIZZLE_A:
      return abi::Swizzle::kAlpha;
    default:
      return identity;
  }
}

}  // namespace

uint16_t packMapping(const VkComponentMapping& map) {
  return abi::packSwizzle(source(map.r, abi::Swizzle::kRed), source(map.g, abi::Swizzle::kGreen),
                          source(map.b, abi::Swizzle::kBlue), source(map.a, abi::Swizzle::kAlpha));
}

}  // namespace pumice::icd
