// The texture unit: reads, writes, atomics and sampling for every view, sampler and format. It knows descriptors and
// memory, nothing of Vulkan's objects. docs/texture.md says which rules of the specification it follows and where it
// had a choice.
#pragma once

#include "backend/abi/image_call.h"

namespace pumice::texture {

/// The road of RuntimeTable::accessImage. Any thread may call it; it allocates nothing, takes no lock and keeps no
/// state. Descriptors are trusted to describe memory that exists; coordinates, levels, layers and samples are not.
void accessImage(abi::ImageCall* call);

/// VkPhysicalDeviceLimits::maxSamplerLodBias: the sum of a sampler's and a shader's bias is clamped to it.
inline constexpr float kMaxSamplerLodBias = 15.0f;

/// VkPhysicalDeviceLimits::maxSamplerAnisotropy.
inline constexpr float kMaxAnisotropy = 16.0f;

}  // namespace pumice::texture
