// The fixture of API tests: an instance with the validation layer, a device, and helpers that make buffers, record and
// submit. A message of severity warning or error from the layer fails the test, unless the test expects it.
#pragma once

#include <gtest/gtest.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pumice::cts {

#define VK_OK(call) ASSERT_EQ((call), VK_SUCCESS)

/// An extension's function, of a device or an instance.
#define DEVICE_FN(name) auto name = reinterpret_cast<PFN_##name>(vkGetDeviceProcAddr(device(), #name))
#define INSTANCE_FN(name) auto name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(instance(), #name))

struct InstanceOptions {
  bool validation = true;
  uint32_t apiVersion = VK_API_VERSION_1_1;
  std::vector<const char*> extensions;
};

struct DeviceOptions {
  std::vector<const char*> extensions;
  const void* features = nullptr;  // chain for VkDeviceCreateInfo::pNext
};

/// A buffer with memory of its own, mapped.
struct TestBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize size = 0;
  std::byte* bytes = nullptr;

  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes), size / sizeof(T)};
  }
};

class VulkanTest : public testing::Test {
 protected:
  ~VulkanTest() override;
  void TearDown() override;

  /// Call once, at the start of a test.
  void createInstance(const InstanceOptions& options = {});
  /// Creates the instance with default options if there is none; all queues of all families.
  void createDevice(const DeviceOptions& options = {});
  /// A device of version 1.2 with every extension and every feature that the driver reports.
  void createFullDevice(bool validation = true);
  /// Ends what createDevice and the helpers made; the instance stays.
  void destroyDevice();
  /// The instance too.
  void destroyAll();

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physicalDevice() const { return physicalDevice_; }
  VkDevice device() const { return device_; }
  VkQueue queue(uint32_t family = 0, uint32_t index = 0) const;
  VkCommandPool pool(uint32_t family = 0) const { return pools_[family]; }

  TestBuffer makeBuffer(VkDeviceSize size, VkBufferUsageFlags usage = kAllUsages, bool deviceAddress = false);
  VkCommandBuffer makeCommands(uint32_t family = 0, VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  VkFence makeFence(bool signalled = false);
  VkSemaphore makeSemaphore();
  VkSemaphore makeTimeline(uint64_t initial = 0);

  /// Records and runs to completion on a queue of the family.
  void run(const std::function<void(VkCommandBuffer)>& record, uint32_t family = 0);
  void begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags = 0);
  void submit(VkCommandBuffer commands, VkFence fence, uint32_t family = 0, uint32_t index = 0);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags src, VkPipelineStageFlags dst);

  /// A compute pipeline with one set of `bindings`, `counts` of each (empty: one), and `pushBytes` of push constants.
  struct Compute {
    VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
    std::vector<VkDescriptorType> types;
  };
  struct SetOptions {
    std::vector<VkDescriptorBindingFlags> flags =
        {};                             // of each binding; empty: none. A variable count is the whole one.
    const void* layoutChain = nullptr;  // for the set layout's pNext
    const void* poolChain = nullptr;    // for the pool's
  };
  Compute makeCompute(std::span<const uint32_t> spirv, std::span<const VkDescriptorType> bindings, uint32_t pushBytes,
                      const VkSpecializationInfo* constants, std::span<const uint32_t> counts,
                      const SetOptions& options);
  Compute makeCompute(std::span<const uint32_t> spirv, std::span<const VkDescriptorType> bindings,
                      uint32_t pushBytes = 0, const VkSpecializationInfo* constants = nullptr,
                      std::span<const uint32_t> counts = {}) {
    return makeCompute(spirv, bindings, pushBytes, constants, counts, SetOptions());
  }
  void bindBuffers(const Compute& compute, std::span<const TestBuffer> buffers);
  void bindAll(VkCommandBuffer commands, const Compute& compute);

  /// Runs at the end of the test, before the device goes; last in, first out.
  void defer(std::function<void()> cleanup) { cleanups_.push_back(std::move(cleanup)); }
  /// Messages so far; clears them.
  std::vector<std::string> takeMessages();

  static constexpr VkBufferUsageFlags kAllUsages =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;

 private:
  static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                  VkDebugUtilsMessageTypeFlagsEXT types,
                                                  const VkDebugUtilsMessengerCallbackDataEXT* data, void* user);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  std::vector<VkCommandPool> pools_;
  std::vector<std::function<void()>> cleanups_;
  std::vector<std::string> messages_;
};

}  // namespace pumice::cts
