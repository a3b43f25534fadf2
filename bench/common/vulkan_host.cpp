#include "bench/common/vulkan_host.h"

#include <fmt/format.h>

#include <vector>

namespace pumice::bench {

namespace {

// Descriptor sets per kernel: enough for the multi-pass lines.
constexpr uint32_t kMaxSetsPerKernel = 8;

VkBufferImageCopy wholeImage(const Image& image) {
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {image.width(), image.height(), 1};
  return region;
}

}  // namespace

VulkanError::VulkanError(VkResult code, const char* what)
    : std::runtime_error(fmt::format("{} failed with VkResult {}", what, static_cast<int>(code))), result(code) {}

void check(VkResult result, const char* what) {
  if (result < 0) throw VulkanError(result, what);
}

Host::Host(const char* applicationName) {
  VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  app.pApplicationName = applicationName;
  app.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo instanceInfo{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instanceInfo.pApplicationInfo = &app;
  check(vkCreateInstance(&instanceInfo, nullptr, &instance_), "vkCreateInstance");

  uint32_t count = 1;
  check(vkEnumeratePhysicalDevices(instance_, &count, &physicalDevice_), "vkEnumeratePhysicalDevices");
  if (count == 0) throw std::runtime_error("no Vulkan device");
  vkGetPhysicalDeviceProperties(physicalDevice_, &properties_);
  vkGetPhysicalDeviceMemoryProperties(physicalDevice_, &memoryProperties_);

  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice_, &count, families.data());
  const auto find = [&](VkQueueFlags flags) {
    queueFamily_ = 0;
    while (queueFamily_ < count && (families[queueFamily_].queueFlags & flags) != flags) ++queueFamily_;
    return queueFamily_ < count;
  };
  canDraw_ = find(VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
  if (!canDraw_ && !find(VK_QUEUE_COMPUTE_BIT)) throw std::runtime_error("no queue family can compute");

  VkPhysicalDeviceFeatures offered{};
  vkGetPhysicalDeviceFeatures(physicalDevice_, &offered);
  enabledFeatures_.shaderFloat64 = offered.shaderFloat64;
  enabledFeatures_.shaderInt64 = offered.shaderInt64;
  enabledFeatures_.samplerAnisotropy = offered.samplerAnisotropy;
  enabledFeatures_.occlusionQueryPrecise = offered.occlusionQueryPrecise;

  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queueInfo{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queueInfo.queueFamilyIndex = queueFamily_;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo deviceInfo{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  deviceInfo.pEnabledFeatures = &enabledFeatures_;
  check(vkCreateDevice(physicalDevice_, &deviceInfo, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, queueFamily_, 0, &queue_);

  VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  poolInfo.queueFamilyIndex = queueFamily_;
  check(vkCreateCommandPool(device_, &poolInfo, nullptr, &commandPool_), "vkCreateCommandPool");
  VkFenceCreateInfo fenceInfo{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  check(vkCreateFence(device_, &fenceInfo, nullptr, &fence_), "vkCreateFence");
}

Host::~Host() {
  if (device_) {
    vkDeviceWaitIdle(device_);
    vkDestroyFence(device_, fence_, nullptr);
    vkDestroyCommandPool(device_, commandPool_, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  if (instance_) vkDestroyInstance(instance_, nullptr);
}

void Host::submitAndWait(VkCommandBuffer commands) {
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = commands ? 1 : 0;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
  check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  check(vkResetFences(device_, 1, &fence_), "vkResetFences");
}

VkFormatFeatureFlags Host::formatFeatures(VkFormat format) const {
  VkFormatProperties properties{};
  vkGetPhysicalDeviceFormatProperties(physicalDevice_, format, &properties);
  return properties.optimalTilingFeatures;
}

uint32_t Host::hostVisibleMemoryType(uint32_t typeBits) const {
  const VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (const VkMemoryPropertyFlags wanted : {coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, coherent}) {
    for (uint32_t i = 0; i < memoryProperties_.memoryTypeCount; ++i) {
      if ((typeBits >> i & 1) && (memoryProperties_.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    }
  }
  throw std::runtime_error("no host-visible, coherent memory type");
}

Buffer::Buffer(Host& host, VkDeviceSize bytes) : device_(host.device()), bytes_(bytes) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  check(vkCreateBuffer(device_, &info, nullptr, &buffer_), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device_, buffer_, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = host.hostVisibleMemoryType(needs.memoryTypeBits);
  check(vkAllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory");
  check(vkBindBufferMemory(device_, buffer_, memory_, 0), "vkBindBufferMemory");
  check(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "vkMapMemory");
}

Buffer::~Buffer() {
  vkDestroyBuffer(device_, buffer_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
}

Image::Image(Host& host, VkFormat format, uint32_t width, uint32_t height, bool storage, VkFilter filter)
    : host_(host), width_(width), height_(height) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {width, height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  if (storage) info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
  check(vkCreateImage(host.device(), &info, nullptr, &image_), "vkCreateImage");
  VkMemoryRequirements needs{};
  vkGetImageMemoryRequirements(host.device(), image_, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) == 0) ++allocate.memoryTypeIndex;
  check(vkAllocateMemory(host.device(), &allocate, nullptr, &memory_), "vkAllocateMemory");
  check(vkBindImageMemory(host.device(), image_, memory_, 0), "vkBindImageMemory");

  VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  viewInfo.image = image_;
  viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D;
  viewInfo.format = format;
  viewInfo.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  check(vkCreateImageView(host.device(), &viewInfo, nullptr, &view_), "vkCreateImageView");
  VkSamplerCreateInfo samplerInfo{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  samplerInfo.magFilter = samplerInfo.minFilter = filter;
  samplerInfo.addressModeU = samplerInfo.addressModeV = samplerInfo.addressModeW =
      VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  check(vkCreateSampler(host.device(), &samplerInfo, nullptr, &sampler_), "vkCreateSampler");

  Commands commands(host);
  VkImageMemoryBarrier general{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  general.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  general.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  general.srcQueueFamilyIndex = general.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  general.image = image_;
  general.subresourceRange = viewInfo.subresourceRange;
  vkCmdPipelineBarrier(commands.handle(), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                       nullptr, 0, nullptr, 1, &general);
  commands.finish();
  host.submitAndWait(commands.handle());
}

Image::~Image() {
  vkDestroySampler(host_.device(), sampler_, nullptr);
  vkDestroyImageView(host_.device(), view_, nullptr);
  vkDestroyImage(host_.device(), image_, nullptr);
  vkFreeMemory(host_.device(), memory_, nullptr);
}

void Image::upload(const Buffer& from) {
  Commands commands(host_);
  commands.copy(from, *this);
  commands.barrier();
  commands.finish();
  host_.submitAndWait(commands.handle());
}

void Image::download(Buffer& to) const {
  Commands commands(host_);
  commands.barrier();
  commands.copy(*this, to);
  commands.finish();
  host_.submitAndWait(commands.handle());
}

Kernel::Kernel(Host& host, std::span<const uint32_t> spirv, uint32_t bufferCount, uint32_t pushBytes,
               std::span<const uint32_t> specConstants)
    : Kernel(host, spirv, std::vector<VkDescriptorType>(bufferCount, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER), pushBytes,
             specConstants) {}

Kernel::Kernel(Host& host, std::span<const uint32_t> spirv, std::span<const VkDescriptorType> types, uint32_t pushBytes,
               std::span<const uint32_t> specConstants)
    : device_(host.device()) {
  std::vector<VkDescriptorSetLayoutBinding> bindings(types.size());
  std::vector<VkDescriptorPoolSize> sizes(types.size());
  for (uint32_t i = 0; i < types.size(); ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = types[i];
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    sizes[i] = {types[i], kMaxSetsPerKernel};
  }
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  setInfo.bindingCount = static_cast<uint32_t>(bindings.size());
  setInfo.pBindings = bindings.data();
  check(vkCreateDescriptorSetLayout(device_, &setInfo, nullptr, &setLayout_), "vkCreateDescriptorSetLayout");

  VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes};
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout_;
  layoutInfo.pushConstantRangeCount = pushBytes ? 1 : 0;
  layoutInfo.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(device_, &layoutInfo, nullptr, &layout_), "vkCreatePipelineLayout");

  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = spirv.size_bytes();
  moduleInfo.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device_, &moduleInfo, nullptr, &module), "vkCreateShaderModule");

  std::vector<VkSpecializationMapEntry> entries(specConstants.size());
  for (uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i, i * 4, 4};
  VkSpecializationInfo specialization{};
  specialization.mapEntryCount = static_cast<uint32_t>(entries.size());
  specialization.pMapEntries = entries.data();
  specialization.dataSize = specConstants.size_bytes();
  specialization.pData = specConstants.data();

  VkComputePipelineCreateInfo pipelineInfo{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipelineInfo.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  pipelineInfo.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipelineInfo.stage.module = module;
  pipelineInfo.stage.pName = "main";
  pipelineInfo.stage.pSpecializationInfo = entries.empty() ? nullptr : &specialization;
  pipelineInfo.layout = layout_;
  const VkResult created =
      vkCreateComputePipelines(device_, host.pipelineCache(), 1, &pipelineInfo, nullptr, &pipeline_);
  vkDestroyShaderModule(device_, module, nullptr);
  check(created, "vkCreateComputePipelines");

  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = kMaxSetsPerKernel;
  poolInfo.poolSizeCount = static_cast<uint32_t>(sizes.size());
  poolInfo.pPoolSizes = sizes.data();
  check(vkCreateDescriptorPool(device_, &poolInfo, nullptr, &pool_), "vkCreateDescriptorPool");
}

Kernel::~Kernel() {
  vkDestroyDescriptorPool(device_, pool_, nullptr);
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, setLayout_, nullptr);
}

VkDescriptorSet Kernel::bind(std::initializer_list<Resource> resources) {
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &setLayout_;
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(device_, &allocate, &set), "vkAllocateDescriptorSets");
  uint32_t binding = 0;
  for (const Resource& resource : resources) {
    VkDescriptorBufferInfo buffer{};
    VkDescriptorImageInfo image{};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = binding++;
    write.descriptorCount = 1;
    write.descriptorType = resource.type;
    if (resource.image) {
      image = {resource.image->sampler(), resource.image->view(), VK_IMAGE_LAYOUT_GENERAL};
      write.pImageInfo = &image;
    } else {
      buffer = {resource.buffer->handle(), 0, VK_WHOLE_SIZE};
      write.pBufferInfo = &buffer;
    }
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  }
  return set;
}

Commands::Commands(Host& host) : host_(host) {
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = host.commandPool();
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  check(vkAllocateCommandBuffers(host.device(), &allocate, &commands_), "vkAllocateCommandBuffers");
  begin();
}

void Commands::begin() {
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands_, &info), "vkBeginCommandBuffer");
}

void Commands::restart() {
  boundPipeline_ = VK_NULL_HANDLE;
  boundSet_ = VK_NULL_HANDLE;
  begin();
}

Commands::~Commands() {
  vkFreeCommandBuffers(host_.device(), host_.commandPool(), 1, &commands_);
}

void Commands::dispatchBytes(const Kernel& kernel, VkDescriptorSet set, const void* push, uint32_t pushBytes,
                             uint32_t x, uint32_t y, uint32_t z) {
  if (boundPipeline_ != kernel.pipeline()) {
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
    boundPipeline_ = kernel.pipeline();
  }
  if (boundSet_ != set) {
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout(), 0, 1, &set, 0, nullptr);
    boundSet_ = set;
  }
  if (pushBytes) vkCmdPushConstants(commands_, kernel.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
  vkCmdDispatch(commands_, x, y, z);
}

void Commands::barrier() {
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                         VK_ACCESS_TRANSFER_WRITE_BIT;
  vkCmdPipelineBarrier(commands_, kStages, kStages, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void Commands::copy(const Buffer& from, const Image& to) {
  const VkBufferImageCopy region = wholeImage(to);
  vkCmdCopyBufferToImage(commands_, from.handle(), to.handle(), VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

void Commands::copy(const Image& from, const Buffer& to) {
  const VkBufferImageCopy region = wholeImage(from);
  vkCmdCopyImageToBuffer(commands_, from.handle(), VK_IMAGE_LAYOUT_GENERAL, to.handle(), 1, &region);
}

void Commands::blit(const Image& from, const Image& to, VkFilter filter) {
  const auto corner = [](const Image& i) {
    return VkOffset3D{static_cast<int32_t>(i.width()), static_cast<int32_t>(i.height()), 1};
  };
  VkImageBlit region{};
  region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.srcOffsets[1] = corner(from);
  region.dstOffsets[1] = corner(to);
  vkCmdBlitImage(commands_, from.handle(), VK_IMAGE_LAYOUT_GENERAL, to.handle(), VK_IMAGE_LAYOUT_GENERAL, 1, &region,
                 filter);
}

void Commands::finish() {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
  check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
}

}  // namespace pumice::bench
