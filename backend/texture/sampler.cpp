#include "backend/texture/sampler.h"

#include <vulkan/vulkan_core.h>

#include <cstring>

namespace pumice::texture {
namespace {

static_assert(VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE == 4 && VK_COMPARE_OP_ALWAYS == 7);

Filter filterOf(uint32_t value) {
  return value > 2 ? Filter::kNearest : static_cast<Filter>(value);
}

AddressMode addressModeOf(uint32_t value) {
  return value > 4 ? AddressMode::kClampToEdge : static_cast<AddressMode>(value);
}

}  // namespace

Sampler loadSampler(uint64_t descriptor) {
  Sampler s{};
  if (descriptor == 0) return s;
  abi::SamplerDescriptor d;
  std::memcpy(&d, reinterpret_cast<const void*>(descriptor), sizeof d);
  if (d.samplerClass == 0) return s;
  const uint32_t bits = d.samplerClass;
  s.exists = true;
  s.magFilter = filterOf(bits & 3u);
  s.minFilter = filterOf((bits >> 2) & 3u);
  s.linearMips = (bits & 16u) != 0;
  for (uint32_t i = 0; i < 3; ++i) s.address[i] = addressModeOf((bits >> (5 + 3 * i)) & 7u);
  s.flags = d.flags;
  s.compareOp = static_cast<CompareOp>(d.compareOp & 7u);
  s.lodBias = d.lodBias;
  s.minLod = d.minLod;
  s.maxLod = d.maxLod;
  s.maxAnisotropy = d.maxAnisotropy;
  s.conversion = d.conversion;
  std::memcpy(s.borderColor, d.borderColor, sizeof s.borderColor);
  return s;
}

}  // namespace pumice::texture
