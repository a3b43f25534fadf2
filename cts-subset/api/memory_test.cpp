// covers: vkAllocateMemory, vkFreeMemory, vkMapMemory, vkUnmapMemory, vkFlushMappedMemoryRanges,
// covers: vkInvalidateMappedMemoryRanges, vkGetDeviceMemoryCommitment, vkCreateBuffer, vkDestroyBuffer,
// covers: vkGetBufferMemoryRequirements, vkGetBufferMemoryRequirements2, vkBindBufferMemory, vkBindBufferMemory2,
// covers: vkGetBufferDeviceAddress, vkGetBufferOpaqueCaptureAddress, vkGetDeviceMemoryOpaqueCaptureAddress,
// covers: VK_EXT_memory_budget, VK_KHR_dedicated_allocation, VK_KHR_get_memory_requirements2, VK_KHR_bind_memory2,
// covers: VK_KHR_buffer_device_address, feature:bufferDeviceAddress, feature:bufferDeviceAddressCaptureReplay
#include <algorithm>
#include <cstring>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

class MemoryTest : public VulkanTest {
 protected:
  VkDeviceMemory allocate(VkDeviceSize size, const void* chain = nullptr, VkResult expected = VK_SUCCESS) {
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, chain, size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(device(), &info, nullptr, &memory), expected);
    return memory;
  }

  VkDeviceSize heapUsage(VkDeviceSize* budget = nullptr) {
    INSTANCE_FN(vkGetPhysicalDeviceMemoryProperties2KHR);
    VkPhysicalDeviceMemoryBudgetPropertiesEXT b{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &b};
    vkGetPhysicalDeviceMemoryProperties2KHR(physicalDevice(), &p);
    EXPECT_LE(b.heapBudget[0], p.memoryProperties.memoryHeaps[0].size);
    EXPECT_EQ(b.heapBudget[1], 0u);
    if (budget != nullptr) *budget = b.heapBudget[0];
    return b.heapUsage[0];
  }
};

TEST_F(MemoryTest, MappedMemoryHoldsWhatWasWritten) {
  createDevice();
  for (VkDeviceSize size : {VkDeviceSize{1}, VkDeviceSize{4096}, VkDeviceSize{3} << 20}) {
    VkDeviceMemory memory = allocate(size);
    void* first = nullptr;
    VK_OK(vkMapMemory(device(), memory, 0, VK_WHOLE_SIZE, 0, &first));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(first, 0x5a, size);
    VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, nullptr, memory, 0, VK_WHOLE_SIZE};
    VK_OK(vkFlushMappedMemoryRanges(device(), 1, &range));
    VK_OK(vkInvalidateMappedMemoryRanges(device(), 1, &range));
    vkUnmapMemory(device(), memory);
    void* again = nullptr;
    VK_OK(vkMapMemory(device(), memory, size - 1, 1, 0, &again));
    EXPECT_EQ(*static_cast<unsigned char*>(again), 0x5a);
    vkUnmapMemory(device(), memory);
    vkFreeMemory(device(), memory, nullptr);
  }
}

TEST_F(MemoryTest, ManyAllocationsDoNotOverlap) {
  createDevice();
  std::vector<std::pair<VkDeviceMemory, uint32_t*>> all;
  for (uint32_t i = 0; i < 2000; ++i) {
    VkDeviceMemory memory = allocate(256 + 64 * (i % 7));
    void* p = nullptr;
    VK_OK(vkMapMemory(device(), memory, 0, VK_WHOLE_SIZE, 0, &p));
    std::fill_n(static_cast<uint32_t*>(p), 64, i);
    all.emplace_back(memory, static_cast<uint32_t*>(p));
  }
  for (uint32_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(std::count(all[i].second, all[i].second + 64, i), 64);
    vkFreeMemory(device(), all[i].first, nullptr);
  }
}

TEST_F(MemoryTest, MoreThanTheHeapIsOutOfDeviceMemory) {
  createInstance({.validation = false});  // the layer warns about the size
  createDevice();
  VkPhysicalDeviceMemoryProperties m{};
  vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &m);
  allocate(m.memoryHeaps[0].size + 4096, nullptr, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  allocate(VkDeviceSize{1} << 60, nullptr, VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(MemoryTest, BudgetCountsWhatIsAllocated) {
  createDevice({.extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME}});
  VkDeviceSize budget = 0;
  const VkDeviceSize before = heapUsage(&budget);
  EXPECT_GT(budget, 0u);
  VkDeviceMemory memory = allocate(64 << 20);
  EXPECT_GE(heapUsage(), before + (64 << 20));
  vkFreeMemory(device(), memory, nullptr);
  EXPECT_LT(heapUsage(), before + (64 << 20));
}

// All devices of a process are one machine: they share the heap, and the budget counts what each has taken.
TEST_F(MemoryTest, DevicesOfAProcessShareTheHeap) {
  setenv("PUMICE_HEAP_MIB", "256", 1);
  createInstance({.extensions = {VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME}});
  unsetenv("PUMICE_HEAP_MIB");
  createDevice({.extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME}});
  const float priority = 1;
  const VkDeviceQueueCreateInfo queueInfo{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queueInfo;
  VkDevice second = VK_NULL_HANDLE;
  VK_OK(vkCreateDevice(physicalDevice(), &info, nullptr, &second));
  const auto allocateOnSecond = [&](VkDeviceSize size, VkResult expected) {
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(second, &allocate, nullptr, &memory), expected);
    return memory;
  };
  constexpr VkDeviceSize kMiB = 1 << 20;
  const VkDeviceSize before = heapUsage();
  VkDeviceMemory first = allocate(150 * kMiB);
  VkDeviceMemory other = allocateOnSecond(60 * kMiB, VK_SUCCESS);
  EXPECT_EQ(heapUsage(), before + 210 * kMiB);
  allocateOnSecond(60 * kMiB, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  allocate(60 * kMiB, nullptr, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(heapUsage(), before + 210 * kMiB);
  vkFreeMemory(device(), first, nullptr);
  VkDeviceMemory more = allocateOnSecond(150 * kMiB, VK_SUCCESS);
  vkFreeMemory(second, more, nullptr);
  vkFreeMemory(second, other, nullptr);
  vkDestroyDevice(second, nullptr);
  EXPECT_EQ(heapUsage(), before);
}

TEST_F(MemoryTest, DedicatedAllocation) {
  createDevice({.extensions = {VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME,
                               VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME, VK_KHR_BIND_MEMORY_2_EXTENSION_NAME}});
  DEVICE_FN(vkGetBufferMemoryRequirements2KHR);
  DEVICE_FN(vkBindBufferMemory2KHR);
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 1000;
  info.usage = kAllUsages;
  VkBuffer buffer = VK_NULL_HANDLE;
  VK_OK(vkCreateBuffer(device(), &info, nullptr, &buffer));
  VkMemoryDedicatedRequirements dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
  VkMemoryRequirements2 need{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2, &dedicated};
  const VkBufferMemoryRequirementsInfo2 what{VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, nullptr, buffer};
  vkGetBufferMemoryRequirements2KHR(device(), &what, &need);
  EXPECT_GE(need.memoryRequirements.size, 1000u);
  EXPECT_EQ(need.memoryRequirements.memoryTypeBits, 1u);
  EXPECT_FALSE(dedicated.requiresDedicatedAllocation);
  const VkMemoryDedicatedAllocateInfo own{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, nullptr, VK_NULL_HANDLE,
                                          buffer};
  VkDeviceMemory memory = allocate(need.memoryRequirements.size, &own);
  const VkBindBufferMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, nullptr, buffer, memory, 0};
  VK_OK(vkBindBufferMemory2KHR(device(), 1, &bind));
  vkDestroyBuffer(device(), buffer, nullptr);
  vkFreeMemory(device(), memory, nullptr);
}

class AddressTest : public MemoryTest {
 protected:
  void createAddressDevice() {
    VkPhysicalDeviceBufferDeviceAddressFeatures features{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    features.bufferDeviceAddress = VK_TRUE;
    features.bufferDeviceAddressCaptureReplay = VK_TRUE;
    createDevice({.extensions = {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, VK_KHR_DEVICE_GROUP_EXTENSION_NAME},
                  .features = &features});
  }

  // A buffer of 1 MiB for capture (capture == nullptr) or replay of what was captured.
  struct Captured {
    uint64_t memory, buffer, address;
  };
  Captured make(const Captured* replay) {
    DEVICE_FN(vkGetBufferDeviceAddressKHR);
    DEVICE_FN(vkGetBufferOpaqueCaptureAddressKHR);
    DEVICE_FN(vkGetDeviceMemoryOpaqueCaptureAddressKHR);
    VkBufferOpaqueCaptureAddressCreateInfo bufferReplay{VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO};
    VkMemoryOpaqueCaptureAddressAllocateInfo memoryReplay{
        VK_STRUCTURE_TYPE_MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO};
    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT | VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.flags = VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT;
    info.size = 1 << 20;
    info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    if (replay != nullptr) {
      bufferReplay.opaqueCaptureAddress = replay->buffer;
      memoryReplay.opaqueCaptureAddress = replay->memory;
      info.pNext = &bufferReplay;
      flags.pNext = &memoryReplay;
    }
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateBuffer(device(), &info, nullptr, &buffer), VK_SUCCESS);
    VkMemoryRequirements need{};
    vkGetBufferMemoryRequirements(device(), buffer, &need);
    VkDeviceMemory memory = allocate(need.size, &flags);
    EXPECT_EQ(vkBindBufferMemory(device(), buffer, memory, 0), VK_SUCCESS);
    VkBufferDeviceAddressInfo what{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer};
    VkDeviceMemoryOpaqueCaptureAddressInfo which{VK_STRUCTURE_TYPE_DEVICE_MEMORY_OPAQUE_CAPTURE_ADDRESS_INFO, nullptr,
                                                 memory};
    const Captured out{vkGetDeviceMemoryOpaqueCaptureAddressKHR(device(), &which),
                       vkGetBufferOpaqueCaptureAddressKHR(device(), &what),
                       vkGetBufferDeviceAddressKHR(device(), &what)};
    vkDestroyBuffer(device(), buffer, nullptr);
    vkFreeMemory(device(), memory, nullptr);
    return out;
  }
};

TEST_F(AddressTest, CapturedAddressesReplayInANewDevice) {
  createAddressDevice();
  // Something in front, so that the captured address is not simply the first one.
  VkDeviceMemory front = allocate(5 << 20);
  const Captured captured = make(nullptr);
  EXPECT_NE(captured.address, 0u);
  vkFreeMemory(device(), front, nullptr);
  destroyAll();

  createAddressDevice();
  const Captured replayed = make(&captured);
  EXPECT_EQ(replayed.address, captured.address);
}

TEST_F(AddressTest, TakenAddressIsRefused) {
  createAddressDevice();
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT | VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT;
  VkDeviceMemory memory = allocate(1 << 20, &flags);
  DEVICE_FN(vkGetDeviceMemoryOpaqueCaptureAddressKHR);
  const VkDeviceMemoryOpaqueCaptureAddressInfo which{VK_STRUCTURE_TYPE_DEVICE_MEMORY_OPAQUE_CAPTURE_ADDRESS_INFO,
                                                     nullptr, memory};
  VkMemoryOpaqueCaptureAddressAllocateInfo replay{VK_STRUCTURE_TYPE_MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO};
  replay.opaqueCaptureAddress = vkGetDeviceMemoryOpaqueCaptureAddressKHR(device(), &which);
  flags.pNext = &replay;
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, 1 << 20, 0};
  VkDeviceMemory second = VK_NULL_HANDLE;
  EXPECT_EQ(vkAllocateMemory(device(), &info, nullptr, &second), VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  vkFreeMemory(device(), memory, nullptr);
}

}  // namespace
}  // namespace pumice::cts
