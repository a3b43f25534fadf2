// Creation and destruction in unusual numbers and places: many devices, none destroyed, a forked child.
//
// covers: vkCreateDevice, vkDestroyDevice, vkDestroyInstance
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

size_t entries(const char* directory) {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++n;
  return n;
}

struct ProcessSize {
  size_t threads, files, mappings, resident_KiB;
};

ProcessSize processSize() {
  ProcessSize out{entries("/proc/self/task"), entries("/proc/self/fd"), 0, 0};
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++out.mappings;
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0, shared = 0;
  statm >> total >> resident >> shared;
  out.resident_KiB = (resident - shared) * 4;  // pages of files come and go as the system likes
  return out;
}

class LifetimeTest : public VulkanTest {};

TEST_F(LifetimeTest, EnumerationStartsAndReservesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: other tests load the compiler for good
  EXPECT_EXIT(
      {
        createInstance({.validation = false});
        VkPhysicalDeviceProperties properties{};
        vkGetPhysicalDeviceProperties(physicalDevice(), &properties);
        int wrong = entries("/proc/self/task") == 1 ? 0 : 1;
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
          if (line.substr(0, 12) == "550000000000") wrong |= 2;
          if (line.find("libpumice_compiler") != std::string::npos) wrong |= 4;
        }
        std::_Exit(wrong);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LifetimeTest, AThousandDevicesLeaveNothingBehind) {
  createInstance({.validation = false});
  const float priority = 1;
  const VkDeviceQueueCreateInfo q{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &q;
  ProcessSize early{};
  for (int i = 0; i < 1000; ++i) {
    VkDevice made = VK_NULL_HANDLE;
    VK_OK(vkCreateDevice(physicalDevice(), &info, nullptr, &made));
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 65536, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VK_OK(vkAllocateMemory(made, &allocate, nullptr, &memory));
    VkQueue made_queue = VK_NULL_HANDLE;
    vkGetDeviceQueue(made, 0, 0, &made_queue);
    VK_OK(vkQueueSubmit(made_queue, 0, nullptr, VK_NULL_HANDLE));
    VK_OK(vkQueueWaitIdle(made_queue));
    vkFreeMemory(made, memory, nullptr);
    vkDestroyDevice(made, nullptr);
    if (i == 99) early = processSize();
  }
  const ProcessSize late = processSize();
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_EQ(late.files, early.files);
  EXPECT_LE(late.mappings, early.mappings + 4);
  EXPECT_LE(late.resident_KiB, early.resident_KiB + 2048);
}

// The compiler, its threads and the code arena keep what they need, not what each round needs. Every tenth round runs
// long enough to be compiled a second time in the background.
TEST_F(LifetimeTest, AThousandDevicesWithPipelinesLeaveNothingBehind) {
  createInstance({.validation = false});
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  ProcessSize early{};
  for (int i = 0; i < 1000; ++i) {
    createDevice();
    const TestBuffer x = makeBuffer(1 << 18), y = makeBuffer(1 << 18);
    const Compute saxpy = makeCompute(k_saxpy, kTwo, 8);
    const std::array<TestBuffer, 2> buffers{x, y};
    bindBuffers(saxpy, buffers);
    const struct {
      float a;
      uint32_t n;
    } push{2.0f, 1 << 16};
    run([&](VkCommandBuffer c) {
      bindAll(c, saxpy);
      vkCmdPushConstants(c, saxpy.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &push);
      for (int k = 0; k < (i % 10 == 0 ? 500 : 1); ++k) vkCmdDispatch(c, (1 << 16) / 64, 1, 1);
    });
    destroyDevice();
    if (i == 499) early = processSize();  // by now the compiler has had its largest heap, also on a slow machine
  }
  const ProcessSize late = processSize();
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_EQ(late.files, early.files);
  EXPECT_LE(late.mappings, early.mappings + 16);
  EXPECT_LE(late.resident_KiB, early.resident_KiB + 8192);
}

TEST_F(LifetimeTest, ExitWithoutDestroyingAnything) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        createInstance({.validation = false});
        createDevice();
        const TestBuffer buffer = makeBuffer(64 << 20);
        VkCommandBuffer c = makeCommands();
        begin(c);
        vkCmdFillBuffer(c, buffer.buffer, 0, VK_WHOLE_SIZE, 3);
        vkEndCommandBuffer(c);
        for (int i = 0; i < 20; ++i) submit(c, VK_NULL_HANDLE);
        std::exit(7);  // work is in flight
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(LifetimeTest, AForkedChildGetsDeviceLost) {
  createInstance({.validation = false});
  createDevice({.extensions = {VK_EXT_PRIVATE_DATA_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME}});
  DEVICE_FN(vkGetPrivateDataEXT);
  INSTANCE_FN(vkGetPhysicalDeviceMemoryProperties2);

  VkFence fence = makeFence();
  const TestBuffer buffer = makeBuffer(12345);
  VkMemoryRequirements need;
  vkGetBufferMemoryRequirements(device(), buffer.buffer, &need);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &memory);
  const VkFenceCreateInfo fenceInfo{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(5);  // a hang ends the child by a signal
    const auto start = std::chrono::steady_clock::now();
    VkFence made = VK_NULL_HANDLE;
    bool ok = vkCreateFence(device(), &fenceInfo, nullptr, &made) == VK_ERROR_DEVICE_LOST;
    ok = ok && vkWaitForFences(device(), 1, &fence, VK_TRUE, UINT64_MAX) == VK_ERROR_DEVICE_LOST;
    ok = ok && vkQueueSubmit(queue(), 0, nullptr, fence) == VK_ERROR_DEVICE_LOST;
    ok = ok && vkDeviceWaitIdle(device()) == VK_ERROR_DEVICE_LOST;
    // Queries that have no result code answer as in the parent.
    VkQueue sameQueue = VK_NULL_HANDLE;
    vkGetDeviceQueue(device(), 0, 0, &sameQueue);
    ok = ok && sameQueue == queue();
    VkMemoryRequirements again;
    std::memset(&again, 0xa5, sizeof again);
    vkGetBufferMemoryRequirements(device(), buffer.buffer, &again);
    ok = ok && again.size == need.size && again.alignment == need.alignment;
    ok = ok && again.memoryTypeBits == need.memoryTypeBits;
    VkDeviceSize committed = ~VkDeviceSize{0};
    vkGetDeviceMemoryCommitment(device(), buffer.memory, &committed);
    ok = ok && committed <= need.size;
    VkPhysicalDeviceMemoryProperties memoryAgain;
    std::memset(&memoryAgain, 0xa5, sizeof memoryAgain);
    vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &memoryAgain);
    ok = ok && memoryAgain.memoryHeapCount == 1 && memoryAgain.memoryHeaps[0].size == memory.memoryHeaps[0].size;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    budget.heapBudget[0] = 1;
    VkPhysicalDeviceMemoryProperties2 memory2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget};
    vkGetPhysicalDeviceMemoryProperties2(physicalDevice(), &memory2);
    ok = ok && budget.heapBudget[0] == memory.memoryHeaps[0].size && budget.heapUsage[0] >= need.size;
    uint64_t data = 1;
    vkGetPrivateDataEXT(device(), VK_OBJECT_TYPE_DEVICE, reinterpret_cast<uint64_t>(device()), VK_NULL_HANDLE, &data);
    ok = ok && data == 0;
    vkDestroyFence(device(), fence, nullptr);
    vkDestroyDevice(device(), nullptr);
    ok = ok && std::chrono::steady_clock::now() - start < std::chrono::seconds(1);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // The parent is none the worse.
  VK_OK(vkQueueSubmit(queue(), 0, nullptr, fence));
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, 10'000'000'000u));
}

}  // namespace
}  // namespace pumice::cts
