// Signals: the application's handlers keep working beside the driver's, before, while and after a device exists, and
// a stray access of the GPU is a lost device, not the application's signal.
//
// covers: vkFreeMemory, vkQueueSubmit, vkWaitForFences, vkDestroyInstance
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

sigjmp_buf gRecovery;
constinit std::atomic<int> gHandled{0};

void applicationHandler(int, siginfo_t*, void*) {
  ++gHandled;
  siglongjmp(gRecovery, 1);
}

// An access of the application's own that faults. True: its handler saw it.
bool faultReachesApplication() {
  const int before = gHandled;
  if (sigsetjmp(gRecovery, 1) == 0) {
    volatile int* volatile nowhere = reinterpret_cast<int*>(8);
    *nowhere = 1;
  }
  return gHandled == before + 1;
}

void installApplicationHandler() {
  struct sigaction action {};
  action.sa_sigaction = applicationHandler;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
}

class SignalTest : public VulkanTest {
 protected:
  // Fills a buffer whose memory is gone: what an application must not do, and what some do.
  VkResult fillFreedMemory() {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 64 << 20;
    info.usage = kAllUsages;
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateBuffer(device(), &info, nullptr, &buffer), VK_SUCCESS);
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, info.size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(device(), &allocate, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(vkBindBufferMemory(device(), buffer, memory, 0), VK_SUCCESS);
    VkCommandBuffer commands = makeCommands();
    begin(commands);
    vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 1);
    EXPECT_EQ(vkEndCommandBuffer(commands), VK_SUCCESS);
    vkFreeMemory(device(), memory, nullptr);
    VkFence fence = makeFence();
    VkSubmitInfo submission{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submission.commandBufferCount = 1;
    submission.pCommandBuffers = &commands;
    // The submission may see the loss itself, if a worker is quick.
    VkResult result = vkQueueSubmit(queue(), 1, &submission, fence);
    if (result == VK_SUCCESS) result = vkWaitForFences(device(), 1, &fence, VK_TRUE, 10'000'000'000u);
    vkDestroyBuffer(device(), buffer, nullptr);
    return result;
  }
};

TEST_F(SignalTest, AStrayAccessLosesTheDeviceAlone) {
  createInstance({.validation = false});
  createDevice();
  EXPECT_EQ(fillFreedMemory(), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(vkDeviceWaitIdle(device()), VK_ERROR_DEVICE_LOST);
  destroyAll();
  // The next device of the same process works.
  createInstance();
  createDevice();
  const TestBuffer buffer = makeBuffer(4096);
  run([&](VkCommandBuffer c) { vkCmdFillBuffer(c, buffer.buffer, 0, VK_WHOLE_SIZE, 0x01020304); });
  EXPECT_EQ(buffer.as<uint32_t>()[1023], 0x01020304u);
}

// Run by the test below in a process where no device has been yet.
TEST_F(SignalTest, DISABLED_HandlerFromBeforeTheDevice) {
  installApplicationHandler();
  EXPECT_TRUE(faultReachesApplication());
  createInstance({.validation = false});
  createDevice();
  EXPECT_TRUE(faultReachesApplication());
  const int before = gHandled;
  EXPECT_EQ(fillFreedMemory(), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(gHandled, before);
  // The loader closes the driver now; a handler that has gone with it would be jumped into.
  destroyAll();
  EXPECT_TRUE(faultReachesApplication());
  createInstance({.validation = false});
  createDevice();
  EXPECT_TRUE(faultReachesApplication());
}

TEST_F(SignalTest, DISABLED_HandlerFromAfterTheDevice) {
  createInstance({.validation = false});
  createDevice();
  installApplicationHandler();
  EXPECT_TRUE(faultReachesApplication());
  destroyAll();
  EXPECT_TRUE(faultReachesApplication());
}

TEST_F(SignalTest, DISABLED_NoHandlerMeansTheDefaultAction) {
  createInstance({.validation = false});
  createDevice();
  volatile int* volatile nowhere = reinterpret_cast<int*>(8);
  *nowhere = 1;
}

int statusOfFresh(const char* test) {
  const std::string filter = std::string("--gtest_filter=SignalTest.DISABLED_") + test;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    execl("/proc/self/exe", "api_test", filter.c_str(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
          "--gtest_catch_exceptions=0", static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(SignalFreshTest, HandlersOfTheApplicationKeepWorking) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's handler is in the chain";
#endif
  EXPECT_EQ(statusOfFresh("HandlerFromBeforeTheDevice"), 0);
  EXPECT_EQ(statusOfFresh("HandlerFromAfterTheDevice"), 0);
  const int status = statusOfFresh("NoHandlerMeansTheDefaultAction");
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

}  // namespace
}  // namespace pumice::cts
