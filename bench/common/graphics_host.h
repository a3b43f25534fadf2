// What benchmark programs need for drawing: images to draw into and to sample, render passes. Nothing beyond
// Vulkan 1.0, so that every driver runs it. Threads, lifetimes and failures as in vulkan_host.h; what the device does
// not offer throws Unsupported.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/common/vulkan_host.h"

namespace pumice::bench {

// The size of the pictures that are measured, in pixels.
constexpr VkExtent2D kPicture{1920, 1080};

// A 2D image of optimal tiling in memory of its own, with a view of all its levels.
class Surface {
 public:
  struct Info {
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkExtent2D extent{};
    uint32_t levels = 1;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
    VkImageUsageFlags usage = 0;
  };
  Surface(Host& host, const Info& info);
  ~Surface();
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  VkImage handle() const { return image_; }
  VkImageView view() const { return view_; }
  VkImageSubresourceRange range() const { return range_; }
  const Info& info() const { return info_; }

 private:
  VkDevice device_;
  Info info_;
  VkImageSubresourceRange range_{};
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
};

// A sampler, which repeats the texture.
class Sampler {
 public:
  struct Info {
    VkFilter filter = VK_FILTER_NEAREST;
    VkSamplerMipmapMode mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    float maxAnisotropy = 1;  // above 1 the device must have the feature
    bool compare = false;     // reference <= texel
  };
  Sampler(Host& host, const Info& info);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  VkSampler handle() const { return sampler_; }

 private:
  VkDevice device_;
  VkSampler sampler_ = VK_NULL_HANDLE;
};

// Texels of R8G8B8A8_UNORM, red in the lowest byte.
using Texels = std::vector<uint32_t>;

// A texture of R8G8B8A8_UNORM with the given levels, ready to be sampled: levels[i] holds the texels of an image of
// max(edge >> i, 1) squared.
class Texture {
 public:
  Texture(Host& host, uint32_t edge, std::span<const Texels> levels, const Sampler::Info& sampler);

  VkImageView view() const { return surface_.view(); }
  VkSampler sampler() const { return sampler_.handle(); }

 private:
  Surface surface_;
  Sampler sampler_;
};

// Attachments and a render pass of one subpass that clears (or does not load) them. Colours end in the layout
// TRANSFER_SRC_OPTIMAL; depth is discarded, or ends in DEPTH_STENCIL_READ_ONLY_OPTIMAL. What was drawn is visible to
// later transfers and fragment shaders of the same queue.
class RenderTarget {
 public:
  struct Info {
    VkExtent2D extent = kPicture;
    uint32_t colors = 1;  // attachments of R8G8B8A8_UNORM
    VkFormat depth = VK_FORMAT_UNDEFINED;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;  // above 1 each colour is resolved
    bool clear = true;                                      // colours; else they are not loaded. Depth is cleared to 1
    bool keepDepth = false;                                 // for sampling
  };
  RenderTarget(Host& host, const Info& info);
  ~RenderTarget();
  RenderTarget(const RenderTarget&) = delete;
  RenderTarget& operator=(const RenderTarget&) = delete;

  const Info& info() const { return info_; }
  VkRenderPass pass() const { return pass_; }
  const Surface& depth() const { return *depth_; }

  void begin(VkCommandBuffer commands) const;
  // The color that cleared pixels have, in bytes.
  static constexpr std::array<uint8_t, 4> kClear{51, 102, 153, 255};

  // Overwrites all (resolved) colours, so that a check sees what was drawn since; waits for the GPU.
  void scrub();
  // The pixels of a (resolved) colour, row by row; waits for the GPU. Valid until the next call.
  std::span<const uint8_t> pixels(uint32_t color = 0);

 private:
  Host& host_;
  Info info_;
  std::vector<std::unique_ptr<Surface>> colors_;    // of `samples` samples
  std::vector<std::unique_ptr<Surface>> resolved_;  // of one; empty if colors_ are
  std::unique_ptr<Surface> depth_;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  std::unique_ptr<Buffer> readback_;

  const std::vector<std::unique_ptr<Surface>>& pictures() const { return resolved_.empty() ? colors_ : resolved_; }
  void createPass();
  void createFramebuffer();
};

using Color = std::array<double, 4>;  // 0 to 255

// Compares a picture of kPicture: for each pixel whose number is a multiple of `stride`, every channel is at most
// `tolerance` from expected(x, y); pixels of which nothing is expected are passed over. The first disagreement as text,
// also if all were passed over.
std::string comparePicture(std::span<const uint8_t> pixels,
                           const std::function<std::optional<Color>(uint32_t, uint32_t)>& expected, double tolerance,
                           uint32_t stride = 37);

}  // namespace pumice::bench
