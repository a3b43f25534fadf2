// Memory that is shared with another device or process, or that the application has allocated.
//
// covers: VK_KHR_external_memory, VK_KHR_external_memory_fd, VK_EXT_external_memory_host, vkGetMemoryFdKHR,
// covers: vkGetMemoryFdPropertiesKHR, vkGetMemoryHostPointerPropertiesEXT,
// covers: vkGetPhysicalDeviceExternalBufferProperties, VK_KHR_external_memory_capabilities
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <string>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/triple.spv.h"

namespace pumice::cts {
namespace {

constexpr auto kFd = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr auto kHost = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
constexpr VkDeviceSize kBytes = 4096;
constexpr uint32_t kWords = kBytes / 4;

class ExternalMemoryTest : public VulkanTest {
 protected:
  void create() {
    createDevice(
        {.extensions = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}});
  }

  VkDeviceMemory allocate(const void* chain, VkResult expected = VK_SUCCESS, VkDeviceSize size = kBytes) {
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, chain, size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(device(), &info, nullptr, &memory), expected);
    if (memory != VK_NULL_HANDLE) defer([this, memory] { vkFreeMemory(device(), memory, nullptr); });
    return memory;
  }

  VkDeviceMemory allocateExported() {
    const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, kFd};
    return allocate(&exported);
  }

  int exportFd(VkDeviceMemory memory) {
    DEVICE_FN(vkGetMemoryFdKHR);
    const VkMemoryGetFdInfoKHR info{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory, kFd};
    int file = -1;
    EXPECT_EQ(vkGetMemoryFdKHR(device(), &info, &file), VK_SUCCESS);
    EXPECT_GE(file, 0);
    return file;
  }

  VkDeviceMemory importFd(int file, VkResult expected = VK_SUCCESS, VkDeviceSize size = kBytes) {
    const VkImportMemoryFdInfoKHR info{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, kFd, file};
    return allocate(&info, expected, size);
  }

  uint32_t* map(VkDeviceMemory memory) {
    void* p = nullptr;
    EXPECT_EQ(vkMapMemory(device(), memory, 0, VK_WHOLE_SIZE, 0, &p), VK_SUCCESS);
    return static_cast<uint32_t*>(p);
  }

  /// A buffer of the whole memory.
  TestBuffer bufferOn(VkDeviceMemory memory, VkExternalMemoryHandleTypeFlags type) {
    const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                                    type};
    const VkBufferCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &external, .size = kBytes, .usage = kAllUsages};
    TestBuffer out;
    out.size = kBytes;
    EXPECT_EQ(vkCreateBuffer(device(), &info, nullptr, &out.buffer), VK_SUCCESS);
    defer([this, buffer = out.buffer] { vkDestroyBuffer(device(), buffer, nullptr); });
    VkMemoryRequirements r{};
    vkGetBufferMemoryRequirements(device(), out.buffer, &r);
    EXPECT_LE(r.size, kBytes);
    EXPECT_EQ(vkBindBufferMemory(device(), out.buffer, memory, 0), VK_SUCCESS);
    return out;
  }

  /// A shader triples every word of the buffer.
  void triple(const TestBuffer& buffer) {
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    const Compute compute = makeCompute(k_triple, {&type, 1});
    bindBuffers(compute, {&buffer, 1});
    run([&](VkCommandBuffer commands) {
      bindAll(commands, compute);
      vkCmdDispatch(commands, kWords / 64, 1, 1);
    });
  }
};

TEST_F(ExternalMemoryTest, QueriesSayWhatCanBeShared) {
  create();
  const auto ofBuffers = [&](VkExternalMemoryHandleTypeFlagBits type) {
    const VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, nullptr, 0,
                                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, type};
    VkExternalBufferProperties out{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(physicalDevice(), &info, &out);
    return out.externalMemoryProperties;
  };
  const auto ofImages = [&](VkExternalMemoryHandleTypeFlagBits type, VkResult expected) {
    const VkPhysicalDeviceExternalImageFormatInfo external{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
                                                           nullptr, type};
    VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &external};
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.type = VK_IMAGE_TYPE_2D;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    VkExternalImageFormatProperties out{VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &out};
    EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &info, &properties), expected);
    return out.externalMemoryProperties;
  };
  constexpr uint32_t kImport = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  for (const auto& p : {ofBuffers(kFd), ofImages(kFd, VK_SUCCESS)}) {
    EXPECT_EQ(p.externalMemoryFeatures, kImport | VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT);
    EXPECT_EQ(p.compatibleHandleTypes, VkFlags{kFd});
    EXPECT_EQ(p.exportFromImportedHandleTypes, VkFlags{kFd});
  }
  for (const auto& p : {ofBuffers(kHost), ofImages(kHost, VK_SUCCESS)}) {
    EXPECT_EQ(p.externalMemoryFeatures, kImport);
    EXPECT_EQ(p.compatibleHandleTypes, VkFlags{kHost});
    EXPECT_EQ(p.exportFromImportedHandleTypes, 0u);
  }
  constexpr auto kOther = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  EXPECT_EQ(ofBuffers(kOther).externalMemoryFeatures, 0u);
  EXPECT_EQ(ofImages(kOther, VK_ERROR_FORMAT_NOT_SUPPORTED).externalMemoryFeatures, 0u);
}

TEST_F(ExternalMemoryTest, TwoAllocationsOfOneFile) {
  create();
  const VkDeviceMemory first = allocateExported();
  uint32_t* words = map(first);
  EXPECT_EQ(std::accumulate(words, words + kWords, 0u), 0u);
  std::iota(words, words + kWords, 7u);
  const VkDeviceMemory second = importFd(exportFd(first));
  EXPECT_NE(map(second), words);
  triple(bufferOn(second, kFd));
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], 3 * (i + 7)) << i;
  // From what was imported again, and the other way round.
  const VkDeviceMemory third = importFd(exportFd(second));
  triple(bufferOn(first, kFd));
  const uint32_t* seen = map(third);
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(seen[i], 9 * (i + 7)) << i;
}

TEST_F(ExternalMemoryTest, ContentsOutliveTheFirstAllocation) {
  create();
  const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, kFd};
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported, kBytes, 0};
  VkDeviceMemory first = VK_NULL_HANDLE;
  VK_OK(vkAllocateMemory(device(), &info, nullptr, &first));
  map(first)[5] = 99;
  const int file = exportFd(first);
  vkFreeMemory(device(), first, nullptr);
  EXPECT_EQ(map(importFd(file))[5], 99u);
}

// The other process has no device: the file is mapped there.
TEST_F(ExternalMemoryTest, AnotherProcessSeesTheSame) {
  create();
  const VkDeviceMemory memory = allocateExported();
  uint32_t* words = map(memory);
  words[0] = 1234;
  const int file = exportFd(memory);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  const pid_t child = fork();
  if (child == 0) {
    void* p = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) _exit(1);
    auto* theirs = static_cast<volatile uint32_t*>(p);
    if (theirs[0] != 1234) _exit(2);
    theirs[1] = 5678;
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(words[1], 5678u);
  close(file);
}

TEST_F(ExternalMemoryTest, WhatIsNoMemoryIsRefused) {
  create();
  DEVICE_FN(vkGetMemoryFdPropertiesKHR);
  const int file = exportFd(allocateExported());
  importFd(file, VK_ERROR_INVALID_EXTERNAL_HANDLE, 16 * kBytes);  // longer than the file
  EXPECT_GE(fcntl(file, F_GETFD), 0) << "a descriptor that was refused is still the caller's";
  EXPECT_NE(ftruncate(file, 0), 0) << "the file cannot be cut";
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  const int readOnly = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(readOnly, 0);
  importFd(readOnly, VK_ERROR_INVALID_EXTERNAL_HANDLE);
  EXPECT_GE(fcntl(readOnly, F_GETFD), 0);
  close(readOnly);
  close(file);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  importFd(null, VK_ERROR_INVALID_EXTERNAL_HANDLE);
  close(null);
  const int unsealed = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(unsealed, kBytes), 0);
  importFd(unsealed, VK_ERROR_INVALID_EXTERNAL_HANDLE);
  VkMemoryFdPropertiesKHR p{VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
  EXPECT_EQ(vkGetMemoryFdPropertiesKHR(device(), VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, unsealed, &p),
            VK_ERROR_INVALID_EXTERNAL_HANDLE);
  close(unsealed);
  takeMessages();
}

TEST_F(ExternalMemoryTest, HostMemory) {
  create();
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &host};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &properties);
  const VkDeviceSize align = host.minImportedHostPointerAlignment;
  ASSERT_TRUE(align != 0 && align <= kBytes && (align & (align - 1)) == 0) << align;
  DEVICE_FN(vkGetMemoryHostPointerPropertiesEXT);

  // Between pages that nobody may touch: the device touches no byte more than it was given.
  void* range = mmap(nullptr, 3 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(range, MAP_FAILED);
  defer([range] { munmap(range, 3 * kBytes); });
  auto* words = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(range) + kBytes);
  ASSERT_EQ(mprotect(words, kBytes, PROT_READ | PROT_WRITE), 0);
  std::iota(words, words + kWords, 1u);

  VkMemoryHostPointerPropertiesEXT p{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  VK_OK(vkGetMemoryHostPointerPropertiesEXT(device(), kHost, words, &p));
  EXPECT_EQ(p.memoryTypeBits & 1, 1u);
  VkImportMemoryHostPointerInfoEXT info{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, nullptr, kHost, words};
  const VkDeviceMemory memory = allocate(&info);
  EXPECT_EQ(map(memory), words);
  const TestBuffer buffer = bufferOn(memory, kHost);
  // Buffers begin where imports may: libplacebo 4.208 fails with other places, and asks first.
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device(), buffer.buffer, &needs);
  EXPECT_EQ(needs.alignment, align);
  triple(buffer);
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], 3 * (i + 1)) << i;
  const TestBuffer copy = makeBuffer(kBytes);
  run([&](VkCommandBuffer commands) {
    const VkBufferCopy region{0, 0, kBytes};
    vkCmdCopyBuffer(commands, buffer.buffer, copy.buffer, 1, &region);
  });
  EXPECT_EQ(std::memcmp(copy.bytes, words, kBytes), 0);
}

}  // namespace
}  // namespace pumice::cts
