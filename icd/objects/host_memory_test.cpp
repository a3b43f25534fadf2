// The driver's own host memory (operator new, beside the application's callbacks) fails at the n-th request, for every
// n: each entry point ends with a clear result, nothing is left behind, and what failed can be done again.
//
// The driver is linked into this program, so that the operator new below is its own.
#include <gtest/gtest.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "icd/objects/instance.h"

namespace {

std::atomic<int64_t> gLive{0};
thread_local int64_t tUntilFailure = -1;  // requests of this thread that succeed; negative: all
thread_local bool tFailed = false;

}  // namespace

namespace {

// nullptr if it is told to fail.
void* take(size_t size, size_t align) noexcept {
  if (tUntilFailure >= 0 && tUntilFailure-- == 0) {
    tUntilFailure = 0;  // and so do all that follow
    tFailed = true;
    return nullptr;
  }
  void* memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory != nullptr) ++gLive;
  return memory;
}

void* takeOrThrow(size_t size, size_t align) {
  void* memory = take(size, align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give(void* memory) noexcept {
  if (memory == nullptr) return;
  --gLive;
  std::free(memory);
}

constexpr size_t kPlain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// Every form: those of the library that call another form do so in the library only, AddressSanitizer's do not, and
// over-aligned objects have forms of their own.
// clang-format off
void* operator new(size_t n) { return takeOrThrow(n, kPlain); }
void* operator new[](size_t n) { return takeOrThrow(n, kPlain); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return take(n, kPlain); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return take(n, kPlain); }
void* operator new(size_t n, std::align_val_t a) { return takeOrThrow(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return takeOrThrow(n, static_cast<size_t>(a)); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, static_cast<size_t>(a)); }
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, size_t) noexcept { give(p); }
void operator delete[](void* p, size_t) noexcept { give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
// clang-format on

namespace pumice::icd {
namespace {

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    load(nullptr, "vkCreateInstance", &createInstance_);
    const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    EXPECT_EQ(createInstance_(&info, nullptr, &instance_), VK_SUCCESS);
    uint32_t one = 1;
    call<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance_, &one, &physicalDevice_);
    EXPECT_EQ(makeDevice(&device_), VK_SUCCESS);
    call<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(device_, 0, 0, &queue_);
  }
  ~HostMemoryTest() override {
    call<PFN_vkDestroyDevice>("vkDestroyDevice")(device_, nullptr);
    call<PFN_vkDestroyInstance>("vkDestroyInstance")(instance_, nullptr);
  }

  VkResult makeDevice(VkDevice* out) {
    const float priorities[] = {1, 1};
    const VkDeviceQueueCreateInfo queues[] = {
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 2, priorities},
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 2, 1, priorities}};
    const char* extension = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.queueCreateInfoCount = 2;
    info.pQueueCreateInfos = queues;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
    return call<PFN_vkCreateDevice>("vkCreateDevice")(physicalDevice_, &info, nullptr, out);
  }

  template <typename Function>
  void load(VkInstance instance, const char* name, Function* out) {
    *out = reinterpret_cast<Function>(instanceProcAddr(instance, name));
    ASSERT_NE(*out, nullptr) << name;
  }
  template <typename Function>
  Function call(const char* name) {
    Function function = nullptr;
    load(instance_, name, &function);
    return function;
  }

  // `work` with a failure at every n in turn, until it gets through without meeting it. `undo` takes back what a
  // successful run made. Returns the number of requests that could fail.
  int64_t everyFailure(const std::function<VkResult()>& work, const std::function<void()>& undo) {
    EXPECT_EQ(work(), VK_SUCCESS);  // what is made once per process is made here
    undo();
    for (int64_t n = 0; n < 10'000; ++n) {
      const int64_t before = gLive;
      tFailed = false;
      tUntilFailure = n;
      const VkResult result = work();
      tUntilFailure = -1;
      if (result == VK_SUCCESS) {
        undo();
        EXPECT_EQ(gLive, before) << "n = " << n;
        if (!tFailed) return n;
      } else {
        EXPECT_EQ(result, VK_ERROR_OUT_OF_HOST_MEMORY) << "n = " << n;
        EXPECT_EQ(gLive, before) << "n = " << n;
      }
    }
    ADD_FAILURE() << "never succeeded";
    return -1;
  }

  template <typename Handle, typename Info>
  int64_t everyFailure(const char* createName, const char* destroyName, const Info& info) {
    using Create = VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*);
    using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);
    const auto create = call<Create>(createName);
    const auto destroy = call<Destroy>(destroyName);
    Handle handle = VK_NULL_HANDLE;
    return everyFailure([&] { return create(device_, &info, nullptr, &handle); },
                        [&] { destroy(device_, handle, nullptr); });
  }

  VkCommandBuffer makeCommands(VkCommandPool* pool) {
    const VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    EXPECT_EQ(call<PFN_vkCreateCommandPool>("vkCreateCommandPool")(device_, &poolInfo, nullptr, pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo wish{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    wish.commandPool = *pool;
    wish.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    EXPECT_EQ(call<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers")(device_, &wish, &commands), VK_SUCCESS);
    return commands;
  }
  VkDescriptorSetLayout makeSetLayout(VkDescriptorSetLayoutCreateFlags flags) {
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT,
                                               nullptr};
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.flags = flags;
    info.bindingCount = 1;
    info.pBindings = &binding;
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    EXPECT_EQ(call<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout")(device_, &info, nullptr, &layout),
              VK_SUCCESS);
    return layout;
  }

  PFN_vkCreateInstance createInstance_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
};

TEST_F(HostMemoryTest, Devices) {
  VkDevice made = VK_NULL_HANDLE;
  const auto destroy = call<PFN_vkDestroyDevice>("vkDestroyDevice");
  EXPECT_GT(everyFailure([&] { return makeDevice(&made); }, [&] { destroy(made, nullptr); }), 0);
}

TEST_F(HostMemoryTest, Objects) {
  everyFailure<VkFence>("vkCreateFence", "vkDestroyFence", VkFenceCreateInfo{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO});
  everyFailure<VkSemaphore>("vkCreateSemaphore", "vkDestroySemaphore",
                            VkSemaphoreCreateInfo{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO});
  everyFailure<VkEvent>("vkCreateEvent", "vkDestroyEvent", VkEventCreateInfo{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO});
  VkMemoryAllocateInfo memory{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 4 << 20, 0};
  EXPECT_GT((everyFailure<VkDeviceMemory>("vkAllocateMemory", "vkFreeMemory", memory)), 0);
  const std::vector<uint32_t> code(1000);
  VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module.codeSize = 4000;
  module.pCode = code.data();
  EXPECT_GT((everyFailure<VkShaderModule>("vkCreateShaderModule", "vkDestroyShaderModule", module)), 0);
  const VkDescriptorSetLayout set = makeSetLayout(0);
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set;
  EXPECT_GT((everyFailure<VkPipelineLayout>("vkCreatePipelineLayout", "vkDestroyPipelineLayout", layout)), 0);
  call<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout")(device_, set, nullptr);
}

TEST_F(HostMemoryTest, RenderPassesAndFramebuffers) {
  VkAttachmentDescription attachment{};
  attachment.format = VK_FORMAT_R8G8B8A8_UNORM;
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = subpass.inputAttachmentCount = 1;
  subpass.pColorAttachments = subpass.pInputAttachments = &color;
  const VkSubpassDependency dependency{VK_SUBPASS_EXTERNAL, 0, 0, 0, 0, 0, 0};
  VkRenderPassCreateInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  pass.attachmentCount = pass.subpassCount = pass.dependencyCount = 1;
  pass.pAttachments = &attachment;
  pass.pSubpasses = &subpass;
  pass.pDependencies = &dependency;
  EXPECT_GT((everyFailure<VkRenderPass>("vkCreateRenderPass", "vkDestroyRenderPass", pass)), 3);
  const VkImageView view = VK_NULL_HANDLE;  // a framebuffer only remembers it
  VkFramebufferCreateInfo framebuffer{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  framebuffer.attachmentCount = 1;
  framebuffer.pAttachments = &view;
  EXPECT_GT((everyFailure<VkFramebuffer>("vkCreateFramebuffer", "vkDestroyFramebuffer", framebuffer)), 0);
}

// All or nothing, and null handles for nothing (Vulkan 1.3, 6.3).
TEST_F(HostMemoryTest, CommandBuffers) {
  const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreateCommandPool>("vkCreateCommandPool")(device_, &info, nullptr, &pool), VK_SUCCESS);
  const auto allocate = call<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers");
  VkCommandBufferAllocateInfo wish{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  wish.commandPool = pool;
  wish.commandBufferCount = 40;
  VkCommandBuffer commands[40];
  std::fill_n(commands, 40, reinterpret_cast<VkCommandBuffer>(1));
  tUntilFailure = 0;
  EXPECT_EQ(allocate(device_, &wish, commands), VK_ERROR_OUT_OF_HOST_MEMORY);
  tUntilFailure = -1;
  EXPECT_EQ(std::count(commands, commands + 40, nullptr), 40);
  EXPECT_EQ(allocate(device_, &wish, commands), VK_SUCCESS);
  call<PFN_vkDestroyCommandPool>("vkDestroyCommandPool")(device_, pool, nullptr);
}

// Once sets are allocated, giving them back needs no memory, in whatever order.
TEST_F(HostMemoryTest, DescriptorSets) {
  const VkDescriptorSetLayout layout = makeSetLayout(0);
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 400};
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
  info.maxSets = 200;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreateDescriptorPool>("vkCreateDescriptorPool")(device_, &info, nullptr, &pool), VK_SUCCESS);
  const auto allocate = call<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets");
  const auto free = call<PFN_vkFreeDescriptorSets>("vkFreeDescriptorSets");
  const std::vector<VkDescriptorSetLayout> layouts(100, layout);
  VkDescriptorSetAllocateInfo wish{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  wish.descriptorPool = pool;
  wish.descriptorSetCount = 100;
  wish.pSetLayouts = layouts.data();
  std::vector<VkDescriptorSet> sets(200, reinterpret_cast<VkDescriptorSet>(1));
  tUntilFailure = 0;
  EXPECT_EQ(allocate(device_, &wish, sets.data()), VK_ERROR_OUT_OF_HOST_MEMORY);
  tUntilFailure = -1;
  EXPECT_EQ(std::count(sets.begin(), sets.begin() + 100, VkDescriptorSet{}), 100);
  for (int round = 0; round < 2; ++round) {  // nothing was lost on the way
    ASSERT_EQ(allocate(device_, &wish, sets.data()), VK_SUCCESS);
    ASSERT_EQ(allocate(device_, &wish, sets.data() + 100), VK_SUCCESS);
    tUntilFailure = 0;
    for (uint32_t first : {1u, 0u}) {  // every second one: as many free ranges as there can be
      for (uint32_t i = first; i < 200; i += 2) EXPECT_EQ(free(device_, pool, 1, &sets[i]), VK_SUCCESS);
    }
    tUntilFailure = -1;
  }
  call<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device_, pool, nullptr);
  call<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout")(device_, layout, nullptr);
}

// vkCmd* functions have no result: the end of the recording tells.
TEST_F(HostMemoryTest, Recording) {
  const VkDescriptorSetLayout set = makeSetLayout(VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &set;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout")(device_, &layoutInfo, nullptr, &layout),
            VK_SUCCESS);
  VkCommandPool pool = VK_NULL_HANDLE;
  const VkCommandBuffer commands = makeCommands(&pool);

  const auto begin = call<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer");
  const auto push = call<PFN_vkCmdPushDescriptorSetKHR>("vkCmdPushDescriptorSetKHR");
  const auto end = call<PFN_vkEndCommandBuffer>("vkEndCommandBuffer");
  const VkDescriptorBufferInfo buffers[2] = {};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.descriptorCount = 2;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = buffers;
  const VkCommandBufferBeginInfo beginInfo{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  int failures = 0;
  for (int64_t n : {0, 1, -1}) {
    ASSERT_EQ(begin(commands, &beginInfo), VK_SUCCESS);
    tFailed = false;
    tUntilFailure = n;
    push(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &write);
    tUntilFailure = -1;
    EXPECT_EQ(end(commands), tFailed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS) << "n = " << n;
    failures += tFailed;
  }
  EXPECT_GT(failures, 0);
  call<PFN_vkDestroyCommandPool>("vkDestroyCommandPool")(device_, pool, nullptr);
  call<PFN_vkDestroyPipelineLayout>("vkDestroyPipelineLayout")(device_, layout, nullptr);
  call<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout")(device_, set, nullptr);
}

TEST_F(HostMemoryTest, RecordingPasses) {
  VkAttachmentDescription attachments[2]{};
  for (auto& a : attachments) {
    a.format = VK_FORMAT_R8G8B8A8_UNORM;
    a.samples = VK_SAMPLE_COUNT_1_BIT;
    a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  }
  const VkAttachmentReference colors[] = {{0, VK_IMAGE_LAYOUT_GENERAL}, {1, VK_IMAGE_LAYOUT_GENERAL}};
  VkSubpassDescription subpasses[2]{};
  for (int i = 0; i < 2; ++i) {
    subpasses[i].colorAttachmentCount = 1;
    subpasses[i].pColorAttachments = &colors[i];
  }
  const VkSubpassDependency dependency{0, 1, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, 0,
                                       0, 0};  // not by region: two passes over the tiles
  VkRenderPassCreateInfo passInfo{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  passInfo.attachmentCount = passInfo.subpassCount = 2;
  passInfo.dependencyCount = 1;
  passInfo.pAttachments = attachments;
  passInfo.pSubpasses = subpasses;
  passInfo.pDependencies = &dependency;
  VkRenderPass pass = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreateRenderPass>("vkCreateRenderPass")(device_, &passInfo, nullptr, &pass), VK_SUCCESS);
  const VkImageView views[2]{};  // what they are is asked for when the pass runs
  VkFramebufferCreateInfo framebufferInfo{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  framebufferInfo.attachmentCount = 2;
  framebufferInfo.pAttachments = views;
  framebufferInfo.width = framebufferInfo.height = framebufferInfo.layers = 1;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreateFramebuffer>("vkCreateFramebuffer")(device_, &framebufferInfo, nullptr, &framebuffer),
            VK_SUCCESS);
  VkCommandPool pool = VK_NULL_HANDLE;
  const VkCommandBuffer commands = makeCommands(&pool);

  const auto begin = call<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer");
  const auto beginPass = call<PFN_vkCmdBeginRenderPass>("vkCmdBeginRenderPass");
  const auto next = call<PFN_vkCmdNextSubpass>("vkCmdNextSubpass");
  const auto draw = call<PFN_vkCmdDraw>("vkCmdDraw");
  const auto endPass = call<PFN_vkCmdEndRenderPass>("vkCmdEndRenderPass");
  const auto end = call<PFN_vkEndCommandBuffer>("vkEndCommandBuffer");
  const VkClearValue clears[2]{};
  VkRenderPassBeginInfo passBegin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  passBegin.renderPass = pass;
  passBegin.framebuffer = framebuffer;
  passBegin.renderArea = {{0, 0}, {1, 1}};
  passBegin.clearValueCount = 2;
  passBegin.pClearValues = clears;
  const VkCommandBufferBeginInfo beginInfo{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  int64_t n = 0;
  do {
    ASSERT_EQ(begin(commands, &beginInfo), VK_SUCCESS);
    tFailed = false;
    tUntilFailure = n;
    beginPass(commands, &passBegin, VK_SUBPASS_CONTENTS_INLINE);
    draw(commands, 3, 1, 0, 0);
    next(commands, VK_SUBPASS_CONTENTS_INLINE);
    draw(commands, 3, 1, 0, 0);
    endPass(commands);
    tUntilFailure = -1;
    EXPECT_EQ(end(commands), tFailed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS) << "n = " << n;
    ++n;
  } while (tFailed && n < 1000);
  EXPECT_GT(n, 3);
  EXPECT_FALSE(tFailed);
  call<PFN_vkDestroyCommandPool>("vkDestroyCommandPool")(device_, pool, nullptr);
  call<PFN_vkDestroyFramebuffer>("vkDestroyFramebuffer")(device_, framebuffer, nullptr);
  call<PFN_vkDestroyRenderPass>("vkDestroyRenderPass")(device_, pass, nullptr);
}

// A submission that failed has not touched its semaphore: the same submission succeeds later, and a wait finds it.
TEST_F(HostMemoryTest, Submission) {
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  ASSERT_EQ(call<PFN_vkCreateSemaphore>("vkCreateSemaphore")(device_, &info, nullptr, &semaphore), VK_SUCCESS);
  const auto submit = call<PFN_vkQueueSubmit>("vkQueueSubmit");
  const auto waitIdle = call<PFN_vkQueueWaitIdle>("vkQueueWaitIdle");
  VkSubmitInfo signal{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  signal.signalSemaphoreCount = 1;
  signal.pSignalSemaphores = &semaphore;
  const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSubmitInfo wait{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  wait.waitSemaphoreCount = 1;
  wait.pWaitSemaphores = &semaphore;
  wait.pWaitDstStageMask = &all;
  int failures = 0;
  // Long enough to go through several segments of the ring, whose memory is among what fails.
  for (int i = 0; i < 3000; ++i) {
    tUntilFailure = 0;
    VkResult result = submit(queue_, 1, &signal, VK_NULL_HANDLE);
    tUntilFailure = -1;
    if (result != VK_SUCCESS) {
      ASSERT_EQ(result, VK_ERROR_OUT_OF_HOST_MEMORY);
      ++failures;
      result = submit(queue_, 1, &signal, VK_NULL_HANDLE);
    }
    ASSERT_EQ(result, VK_SUCCESS);
    ASSERT_EQ(submit(queue_, 1, &wait, VK_NULL_HANDLE), VK_SUCCESS);
  }
  EXPECT_GT(failures, 1);
  EXPECT_EQ(waitIdle(queue_), VK_SUCCESS);
  call<PFN_vkDestroySemaphore>("vkDestroySemaphore")(device_, semaphore, nullptr);
}

}  // namespace
}  // namespace pumice::icd
