// A small Vulkan host for benchmark programs: instance, one device with one queue, host-visible buffers, compute
// kernels and command buffers (graphics_host.h has what drawing needs). It uses whatever driver the loader finds and
// nothing beyond Vulkan 1.0/1.1.
//
// Not thread-safe: one Host and everything made from it belong to one thread. Failures throw VulkanError; the programs
// catch it once, in main.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>

namespace pumice::bench {

class VulkanError : public std::runtime_error {
 public:
  VulkanError(VkResult result, const char* what);
  VkResult result;
};

// Thrown by what a device does not offer; the text says what that is. A line that meets it is skipped, not wrong.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws unless result is VK_SUCCESS (or a positive status code).
void check(VkResult result, const char* what);

class Host;

// Host-visible, coherent, mapped for its whole life, for every use that buffers of Vulkan 1.0 have but texels. Size in
// bytes. Must not outlive its Host.
class Buffer {
 public:
  Buffer(Host& host, VkDeviceSize bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  VkDeviceSize bytes() const { return bytes_; }

  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(mapped_), static_cast<size_t>(bytes_ / sizeof(T))};
  }

 private:
  VkDevice device_;
  VkDeviceSize bytes_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
};

// A 2D image of one level in the GENERAL layout, optimal tiling, with a view of it all and a sampler. It can be copied,
// blitted and sampled; `storage`: also read and written by shaders. Must not outlive its Host.
class Image {
 public:
  Image(Host& host, VkFormat format, uint32_t width, uint32_t height, bool storage, VkFilter filter);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  VkImage handle() const { return image_; }
  VkImageView view() const { return view_; }
  VkSampler sampler() const { return sampler_; }
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  // All texels from or to a buffer, tightly packed; waits for the GPU.
  void upload(const Buffer& from);
  void download(Buffer& to) const;

 private:
  Host& host_;
  uint32_t width_, height_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkSampler sampler_ = VK_NULL_HANDLE;
};

// What a descriptor is made of: a storage buffer, a storage image, or an image with its sampler.
struct Resource {
  Resource(const Buffer* b) : type(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER), buffer(b) {}
  Resource(const Image* i, VkDescriptorType imageType) : type(imageType), image(i) {}

  VkDescriptorType type;
  const Buffer* buffer = nullptr;
  const Image* image = nullptr;
};

// A compute pipeline whose descriptor set 0 holds one descriptor of each given type at bindings 0, 1, ... and whose
// push constant block has `pushBytes` bytes. Specialisation constant i takes the value specConstants[i].
class Kernel {
 public:
  Kernel(Host& host, std::span<const uint32_t> spirv, std::span<const VkDescriptorType> types, uint32_t pushBytes,
         std::span<const uint32_t> specConstants = {});
  // With storage buffers alone.
  Kernel(Host& host, std::span<const uint32_t> spirv, uint32_t bufferCount, uint32_t pushBytes,
         std::span<const uint32_t> specConstants = {});
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // A descriptor set of these resources, valid as long as the kernel.
  VkDescriptorSet bind(std::initializer_list<Resource> resources);

  VkPipeline pipeline() const { return pipeline_; }
  VkPipelineLayout layout() const { return layout_; }

 private:
  VkDevice device_;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

// A command buffer that is recorded once and can be submitted many times, one submission at a time.
class Commands {
 public:
  explicit Commands(Host& host);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  template <typename Push>
  void dispatch(const Kernel& kernel, VkDescriptorSet set, const Push& push, uint32_t x, uint32_t y = 1,
                uint32_t z = 1) {
    dispatchBytes(kernel, set, &push, sizeof(Push), x, y, z);
  }
  void dispatch(const Kernel& kernel, VkDescriptorSet set, uint32_t x) {
    dispatchBytes(kernel, set, nullptr, 0, x, 1, 1);
  }
  // Without push constants.
  void dispatchGrid(const Kernel& kernel, VkDescriptorSet set, uint32_t x, uint32_t y) {
    dispatchBytes(kernel, set, nullptr, 0, x, y, 1);
  }
  // All writes so far become visible to all later reads and writes, of shaders and of transfers.
  void barrier();
  // All texels, tightly packed in the buffer.
  void copy(const Buffer& from, const Image& to);
  void copy(const Image& from, const Buffer& to);
  // The whole of one image, scaled to the whole of the other.
  void blit(const Image& from, const Image& to, VkFilter filter);
  // Forgets all and begins once more. Not while the GPU may be executing it.
  void restart();
  // Ends recording; called once after the beginning or a restart.
  void finish();

  VkCommandBuffer handle() const { return commands_; }

 private:
  void begin();
  void dispatchBytes(const Kernel& kernel, VkDescriptorSet set, const void* push, uint32_t pushBytes, uint32_t x,
                     uint32_t y, uint32_t z);

  Host& host_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline boundPipeline_ = VK_NULL_HANDLE;
  VkDescriptorSet boundSet_ = VK_NULL_HANDLE;
};

class Host {
 public:
  explicit Host(const char* applicationName);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Submits and blocks until the GPU is done. With VK_NULL_HANDLE an empty submission.
  void submitAndWait(VkCommandBuffer commands);

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physicalDevice() const { return physicalDevice_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t queueFamily() const { return queueFamily_; }
  // Whether the queue can draw. It always computes and copies.
  bool canDraw() const { return canDraw_; }
  VkCommandPool commandPool() const { return commandPool_; }
  VkFence fence() const { return fence_; }
  // Kernels made from now on use it. Stays the caller's.
  void setPipelineCache(VkPipelineCache cache) { pipelineCache_ = cache; }
  VkPipelineCache pipelineCache() const { return pipelineCache_; }
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  // The features that were on offer; all of the 1.0 ones named in the constructor's source are enabled.
  const VkPhysicalDeviceFeatures& enabledFeatures() const { return enabledFeatures_; }
  // What optimally tiled images of the format are good for.
  VkFormatFeatureFlags formatFeatures(VkFormat format) const;

  // Index of a memory type that the host can map coherently and that `typeBits` allows.
  uint32_t hostVisibleMemoryType(uint32_t typeBits) const;

 private:
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queueFamily_ = 0;
  bool canDraw_ = false;
  VkCommandPool commandPool_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  VkPipelineCache pipelineCache_ = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties_{};
  VkPhysicalDeviceFeatures enabledFeatures_{};
  VkPhysicalDeviceMemoryProperties memoryProperties_{};
};

}  // namespace pumice::bench
