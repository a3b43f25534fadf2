#include "cts-subset/support/vulkan_test.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pumice::cts {

VulkanTest::~VulkanTest() {
  destroyAll();
}

void VulkanTest::TearDown() {
  destroyAll();
  for (const std::string& message : takeMessages()) ADD_FAILURE() << message;
}

VkBool32 VulkanTest::onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT types,
                               const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  // The loader's own remarks are about the system's other drivers and layers.
  if (data->pMessageIdName != nullptr && std::strcmp(data->pMessageIdName, "Loader Message") == 0) return VK_FALSE;
  // Image layouts are all the same to this driver: the advice to leave GENERAL is for others.
  if (types == VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT && data->pMessageIdName != nullptr &&
      std::strcmp(data->pMessageIdName, "UNASSIGNED-CoreValidation-DrawState-InvalidImageLayout") == 0) {
    return VK_FALSE;
  }
  static_cast<VulkanTest*>(user)->messages_.push_back(data->pMessage);
  return VK_FALSE;
}

std::vector<std::string> VulkanTest::takeMessages() {
  return std::exchange(messages_, {});
}

void VulkanTest::createInstance(const InstanceOptions& options) {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = options.apiVersion;
  VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = onMessage;
  messenger.pUserData = this;
  std::vector<const char*> extensions = options.extensions;
  extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  extensions.push_back(VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME);
  extensions.push_back(VK_KHR_DEVICE_GROUP_CREATION_EXTENSION_NAME);
  extensions.push_back(VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME);
  extensions.push_back(VK_KHR_EXTERNAL_FENCE_CAPABILITIES_EXTENSION_NAME);
  extensions.push_back(VK_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES_EXTENSION_NAME);
  extensions.push_back(VK_KHR_SURFACE_EXTENSION_NAME);  // VK_KHR_swapchain wants it
  const char* layer = "VK_LAYER_KHRONOS_validation";
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = &messenger;  // watches creation and destruction, too
  info.pApplicationInfo = &application;
  info.enabledLayerCount = options.validation ? 1 : 0;
  info.ppEnabledLayerNames = &layer;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VK_OK(vkCreateInstance(&info, nullptr, &instance_));
  INSTANCE_FN(vkCreateDebugUtilsMessengerEXT);
  VK_OK(vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_));
  uint32_t count = 1;
  VK_OK(vkEnumeratePhysicalDevices(instance_, &count, &physicalDevice_));
}

void VulkanTest::createDevice(const DeviceOptions& options) {
  if (instance_ == VK_NULL_HANDLE) createInstance();
  ASSERT_NE(physicalDevice_, VK_NULL_HANDLE);
  uint32_t familyCount = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice_, &familyCount, nullptr);
  std::vector<VkQueueFamilyProperties> families(familyCount);
  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice_, &familyCount, families.data());
  const std::array<float, 16> priorities{};
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t f = 0; f < familyCount; ++f) {
    VkDeviceQueueCreateInfo q{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    q.queueFamilyIndex = f;
    q.queueCount = std::min(families[f].queueCount, 16u);
    q.pQueuePriorities = priorities.data();
    queues.push_back(q);
  }
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = options.features;
  info.queueCreateInfoCount = familyCount;
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(options.extensions.size());
  info.ppEnabledExtensionNames = options.extensions.data();
  VK_OK(vkCreateDevice(physicalDevice_, &info, nullptr, &device_));
  for (uint32_t f = 0; f < familyCount; ++f) {
    VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    poolInfo.queueFamilyIndex = f;
    VkCommandPool pool = VK_NULL_HANDLE;
    VK_OK(vkCreateCommandPool(device_, &poolInfo, nullptr, &pool));
    pools_.push_back(pool);
  }
}

void VulkanTest::createFullDevice(bool validation) {
  setenv("PUMICE_API_VERSION", "1.2", 1);
  createInstance({.validation = validation, .apiVersion = VK_API_VERSION_1_2});
  unsetenv("PUMICE_API_VERSION");
  uint32_t count = 0;
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice_, nullptr, &count, nullptr));
  std::vector<VkExtensionProperties> extensions(count);
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice_, nullptr, &count, extensions.data()));
  DeviceOptions options;
  for (const VkExtensionProperties& e : extensions) options.extensions.push_back(e.extensionName);

  // The structures are asked for and handed on as they are.
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  const auto chain = [&](auto& features, VkStructureType type) {
    features = {type};
    features.pNext = all.pNext;
    all.pNext = &features;
  };
  VkPhysicalDeviceVulkan11Features core11;
  VkPhysicalDeviceVulkan12Features core12;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat;
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomicFloat2;
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR workgroup;
  VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures zeroWorkgroup;
  VkPhysicalDeviceShaderClockFeaturesKHR clock;
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot;
  VkPhysicalDeviceSubgroupSizeControlFeatures sizeControl;
  VkPhysicalDeviceSynchronization2Features sync2;
  VkPhysicalDeviceInlineUniformBlockFeatures inlineBlocks;
  VkPhysicalDeviceMaintenance4Features maintenance4;
  VkPhysicalDeviceYcbcrImageArraysFeaturesEXT ycbcrArrays;
  VkPhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT ycbcr444;
  VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR uniformFlow;
  VkPhysicalDevice4444FormatsFeaturesEXT formats4444;
  VkPhysicalDeviceBorderColorSwizzleFeaturesEXT borderSwizzle;
  VkPhysicalDeviceCustomBorderColorFeaturesEXT customBorders;
  VkPhysicalDeviceImageViewMinLodFeaturesEXT viewMinLod;
  VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT nonSeamless;
  VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT texelAlignment;
  VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT mutableTypes;
  VkPhysicalDeviceImage2DViewOf3DFeaturesEXT viewOf3D;
  VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT imageInt64;
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2;
  VkPhysicalDeviceImageRobustnessFeatures imageRobustness;
  VkPhysicalDeviceDynamicRenderingFeatures dynamicRendering;
  VkPhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT feedbackLoop;
  VkPhysicalDeviceLineRasterizationFeaturesEXT lines;
  VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT listRestart;
  VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries;
  VkPhysicalDevicePipelineCreationCacheControlFeatures cacheControl;
  VkPhysicalDeviceExtendedDynamicStateFeaturesEXT dynamicState;
  VkPhysicalDeviceExtendedDynamicState2FeaturesEXT dynamicState2;
  VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT vertexInput;
  VkPhysicalDeviceVertexAttributeDivisorFeaturesEXT divisors;
  VkPhysicalDeviceColorWriteEnableFeaturesEXT colorWrite;
  VkPhysicalDeviceIndexTypeUint8FeaturesEXT indexUint8;
  VkPhysicalDeviceMultiDrawFeaturesEXT multiDraw;
  VkPhysicalDeviceDepthClipEnableFeaturesEXT depthClip;
  VkPhysicalDeviceDepthClipControlFeaturesEXT clipControl;
  VkPhysicalDeviceProvokingVertexFeaturesEXT provoking;
  VkPhysicalDeviceShaderDemoteToHelperInvocationFeatures demote;
  VkPhysicalDeviceShaderTerminateInvocationFeatures terminate;
  chain(core11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  chain(core12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  chain(atomicFloat, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  chain(workgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR);
  chain(zeroWorkgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES);
  chain(clock, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR);
  chain(maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES);
  chain(atomicFloat2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT);
  chain(ycbcrArrays, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_IMAGE_ARRAYS_FEATURES_EXT);
  chain(ycbcr444, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_2_PLANE_444_FORMATS_FEATURES_EXT);
  chain(uniformFlow, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR);
  chain(dot, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  chain(sizeControl, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  chain(sync2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
  chain(inlineBlocks, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES);
  chain(formats4444, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_4444_FORMATS_FEATURES_EXT);
  chain(borderSwizzle, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT);
  chain(customBorders, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT);
  chain(viewMinLod, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_MIN_LOD_FEATURES_EXT);
  chain(nonSeamless, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT);
  chain(texelAlignment, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT);
  chain(mutableTypes, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT);
  chain(viewOf3D, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT);
  chain(imageInt64, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT);
  chain(robustness2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT);
  chain(imageRobustness, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES);
  chain(cacheControl, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES);
  chain(libraries, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT);
  chain(lines, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT);
  chain(listRestart, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT);
  chain(feedbackLoop, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT);
  chain(dynamicRendering, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES);
  chain(dynamicState, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT);
  chain(dynamicState2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_2_FEATURES_EXT);
  chain(vertexInput, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_INPUT_DYNAMIC_STATE_FEATURES_EXT);
  chain(divisors, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES_EXT);
  chain(colorWrite, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT);
  chain(indexUint8, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES_EXT);
  chain(multiDraw, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT);
  chain(depthClip, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT);
  chain(clipControl, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_CONTROL_FEATURES_EXT);
  chain(provoking, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT);
  chain(demote, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DEMOTE_TO_HELPER_INVOCATION_FEATURES);
  chain(terminate, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TERMINATE_INVOCATION_FEATURES);
  vkGetPhysicalDeviceFeatures2(physicalDevice_, &all);
  options.features = &all;
  createDevice(options);
}

void VulkanTest::destroyDevice() {
  if (device_ == VK_NULL_HANDLE) return;
  vkDeviceWaitIdle(device_);
  while (!cleanups_.empty()) {
    cleanups_.back()();
    cleanups_.pop_back();
  }
  for (VkCommandPool pool : pools_) vkDestroyCommandPool(device_, pool, nullptr);
  pools_.clear();
  vkDestroyDevice(device_, nullptr);
  device_ = VK_NULL_HANDLE;
}

void VulkanTest::destroyAll() {
  destroyDevice();
  if (instance_ != VK_NULL_HANDLE) {
    if (messenger_ != VK_NULL_HANDLE) {
      INSTANCE_FN(vkDestroyDebugUtilsMessengerEXT);
      vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
      messenger_ = VK_NULL_HANDLE;
    }
    vkDestroyInstance(instance_, nullptr);
    instance_ = VK_NULL_HANDLE;
  }
}

VkQueue VulkanTest::queue(uint32_t family, uint32_t index) const {
  VkQueue queue = VK_NULL_HANDLE;
  vkGetDeviceQueue(device_, family, index, &queue);
  return queue;
}

TestBuffer VulkanTest::makeBuffer(VkDeviceSize size, VkBufferUsageFlags usage, bool deviceAddress) {
  TestBuffer out;
  out.size = size;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size;
  info.usage = usage | (deviceAddress ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
  EXPECT_EQ(vkCreateBuffer(device_, &info, nullptr, &out.buffer), VK_SUCCESS);
  VkMemoryRequirements need{};
  vkGetBufferMemoryRequirements(device_, out.buffer, &need);
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = deviceAddress ? &flags : nullptr;
  allocate.allocationSize = need.size;
  allocate.memoryTypeIndex = 0;
  EXPECT_EQ(vkAllocateMemory(device_, &allocate, nullptr, &out.memory), VK_SUCCESS);
  EXPECT_EQ(vkBindBufferMemory(device_, out.buffer, out.memory, 0), VK_SUCCESS);
  void* mapped = nullptr;
  EXPECT_EQ(vkMapMemory(device_, out.memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
  out.bytes = static_cast<std::byte*>(mapped);
  defer([this, out] {
    vkDestroyBuffer(device_, out.buffer, nullptr);
    vkFreeMemory(device_, out.memory, nullptr);
  });
  return out;
}

VkCommandBuffer VulkanTest::makeCommands(uint32_t family, VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pools_[family];
  info.level = level;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  EXPECT_EQ(vkAllocateCommandBuffers(device_, &info, &commands), VK_SUCCESS);
  return commands;
}

VkFence VulkanTest::makeFence(bool signalled) {
  VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  info.flags = signalled ? VK_FENCE_CREATE_SIGNALED_BIT : 0;
  VkFence fence = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateFence(device_, &info, nullptr, &fence), VK_SUCCESS);
  defer([this, fence] { vkDestroyFence(device_, fence, nullptr); });
  return fence;
}

VkSemaphore VulkanTest::makeSemaphore() {
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateSemaphore(device_, &info, nullptr, &semaphore), VK_SUCCESS);
  defer([this, semaphore] { vkDestroySemaphore(device_, semaphore, nullptr); });
  return semaphore;
}

VkSemaphore VulkanTest::makeTimeline(uint64_t initial) {
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  type.initialValue = initial;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateSemaphore(device_, &info, nullptr, &semaphore), VK_SUCCESS);
  defer([this, semaphore] { vkDestroySemaphore(device_, semaphore, nullptr); });
  return semaphore;
}

void VulkanTest::begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = flags;
  VK_OK(vkBeginCommandBuffer(commands, &info));
}

void VulkanTest::submit(VkCommandBuffer commands, VkFence fence, uint32_t family, uint32_t index) {
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = commands != VK_NULL_HANDLE ? 1 : 0;
  info.pCommandBuffers = &commands;
  VK_OK(vkQueueSubmit(queue(family, index), 1, &info, fence));
}

void VulkanTest::run(const std::function<void(VkCommandBuffer)>& record, uint32_t family) {
  VkCommandBuffer commands = makeCommands(family);
  begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  record(commands);
  VK_OK(vkEndCommandBuffer(commands));
  VkFence fence = makeFence();
  submit(commands, fence, family);
  VK_OK(vkWaitForFences(device_, 1, &fence, VK_TRUE, 60'000'000'000u));
  vkFreeCommandBuffers(device_, pools_[family], 1, &commands);
}

void VulkanTest::barrier(VkCommandBuffer commands, VkPipelineStageFlags src, VkPipelineStageFlags dst) {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vkCmdPipelineBarrier(commands, src, dst, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

VulkanTest::Compute VulkanTest::makeCompute(std::span<const uint32_t> spirv, std::span<const VkDescriptorType> bindings,
                                            uint32_t pushBytes, const VkSpecializationInfo* constants,
                                            std::span<const uint32_t> counts, const SetOptions& options) {
  Compute out;
  out.types.assign(bindings.begin(), bindings.end());
  std::vector<VkDescriptorSetLayoutBinding> layoutBindings;
  std::vector<VkDescriptorPoolSize> sizes;
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const uint32_t count = counts.empty() ? 1 : counts[i];
    layoutBindings.push_back({i, bindings[i], count, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    sizes.push_back({bindings[i], count});
  }
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  setInfo.pNext = options.layoutChain;
  const bool updateAfterBind = std::ranges::any_of(
      options.flags, [](auto flags) { return (flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT) != 0; });
  if (updateAfterBind) setInfo.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  VkDescriptorSetLayoutBindingFlagsCreateInfo bindingFlags{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, options.layoutChain,
      static_cast<uint32_t>(options.flags.size()), options.flags.data()};
  if (std::ranges::any_of(options.flags, [](auto flags) { return flags != 0; })) setInfo.pNext = &bindingFlags;
  setInfo.bindingCount = static_cast<uint32_t>(layoutBindings.size());
  setInfo.pBindings = layoutBindings.data();
  EXPECT_EQ(vkCreateDescriptorSetLayout(device_, &setInfo, nullptr, &out.setLayout), VK_SUCCESS);
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes};
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &out.setLayout;
  layoutInfo.pushConstantRangeCount = pushBytes != 0 ? 1 : 0;
  layoutInfo.pPushConstantRanges = &range;
  EXPECT_EQ(vkCreatePipelineLayout(device_, &layoutInfo, nullptr, &out.layout), VK_SUCCESS);

  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = spirv.size_bytes();
  moduleInfo.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateShaderModule(device_, &moduleInfo, nullptr, &module), VK_SUCCESS);
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = constants;
  info.layout = out.layout;
  EXPECT_EQ(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &out.pipeline), VK_SUCCESS);
  vkDestroyShaderModule(device_, module, nullptr);

  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.pNext = options.poolChain;
  if (updateAfterBind) poolInfo.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = static_cast<uint32_t>(sizes.size());
  poolInfo.pPoolSizes = sizes.data();
  VkDescriptorPool descriptorPool = VK_NULL_HANDLE;
  if (!sizes.empty()) {
    EXPECT_EQ(vkCreateDescriptorPool(device_, &poolInfo, nullptr, &descriptorPool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    const uint32_t variableCount = counts.empty() ? 1 : counts.back();
    const VkDescriptorSetVariableDescriptorCountAllocateInfo variable{
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO, nullptr, 1, &variableCount};
    if (!options.flags.empty() && (options.flags.back() & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT) != 0) {
      allocate.pNext = &variable;
    }
    allocate.descriptorPool = descriptorPool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &out.setLayout;
    EXPECT_EQ(vkAllocateDescriptorSets(device_, &allocate, &out.set), VK_SUCCESS);
  }
  defer([this, out, descriptorPool] {
    vkDestroyDescriptorPool(device_, descriptorPool, nullptr);
    vkDestroyPipeline(device_, out.pipeline, nullptr);
    vkDestroyPipelineLayout(device_, out.layout, nullptr);
    vkDestroyDescriptorSetLayout(device_, out.setLayout, nullptr);
  });
  return out;
}

void VulkanTest::bindBuffers(const Compute& compute, std::span<const TestBuffer> buffers) {
  std::vector<VkDescriptorBufferInfo> infos;
  std::vector<VkWriteDescriptorSet> writes;
  infos.reserve(buffers.size());
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    infos.push_back({buffers[i].buffer, 0, VK_WHOLE_SIZE});
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = compute.set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = compute.types[i];
    write.pBufferInfo = &infos.back();
    writes.push_back(write);
  }
  vkUpdateDescriptorSets(device_, static_cast<uint32_t>(writes.size()), writes.data(), 0, nullptr);
}

void VulkanTest::bindAll(VkCommandBuffer commands, const Compute& compute) {
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute.pipeline);
  if (compute.set == VK_NULL_HANDLE) return;
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute.layout, 0, 1, &compute.set, 0, nullptr);
}

}  // namespace pumice::cts
