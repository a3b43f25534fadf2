#include "bench/common/graphics_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace pumice::bench {

namespace {

constexpr VkFormat kColorFormat = VK_FORMAT_R8G8B8A8_UNORM;

bool isDepth(VkFormat format) {
  return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D16_UNORM;
}

VkFormatFeatureFlags featuresFor(VkImageUsageFlags usage) {
  VkFormatFeatureFlags features = 0;
  if (usage & VK_IMAGE_USAGE_SAMPLED_BIT) features |= VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT;
  if (usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)
    features |= VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT;
  if (usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) features |= VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
  return features;
}

void changeLayout(VkCommandBuffer commands, const Surface& surface, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = surface.handle();
  barrier.subresourceRange = surface.range();
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr,
                       0, nullptr, 1, &barrier);
}

}  // namespace

// -- images

Surface::Surface(Host& host, const Info& wanted) : device_(host.device()), info_(wanted) {
  const VkFormatFeatureFlags missing = featuresFor(info_.usage) & ~host.formatFeatures(info_.format);
  if (missing)
    throw Unsupported(fmt::format("VkFormat {} lacks features {:#x}", static_cast<int>(info_.format), missing));
  VkImageFormatProperties limits{};
  const VkResult known = vkGetPhysicalDeviceImageFormatProperties(host.physicalDevice(), info_.format, VK_IMAGE_TYPE_2D,
                                                                  VK_IMAGE_TILING_OPTIMAL, info_.usage, 0, &limits);
  if (known != VK_SUCCESS || !(limits.sampleCounts & info_.samples))
    throw Unsupported(fmt::format("no images of VkFormat {} with {} samples and usage {:#x}",
                                  static_cast<int>(info_.format), static_cast<int>(info_.samples), info_.usage));

  range_ = {VK_IMAGE_ASPECT_COLOR_BIT, 0, info_.levels, 0, 1};
  if (isDepth(info_.format)) range_.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
  VkImageCreateInfo imageInfo{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  imageInfo.imageType = VK_IMAGE_TYPE_2D;
  imageInfo.format = info_.format;
  imageInfo.extent = {info_.extent.width, info_.extent.height, 1};
  imageInfo.mipLevels = info_.levels;
  imageInfo.arrayLayers = 1;
  imageInfo.samples = info_.samples;
  imageInfo.tiling = VK_IMAGE_TILING_OPTIMAL;
  imageInfo.usage = info_.usage;
  check(vkCreateImage(device_, &imageInfo, nullptr, &image_), "vkCreateImage");
  VkMemoryRequirements needs{};
  vkGetImageMemoryRequirements(device_, image_, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) == 0) ++allocate.memoryTypeIndex;
  check(vkAllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory");
  check(vkBindImageMemory(device_, image_, memory_, 0), "vkBindImageMemory");

  VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  viewInfo.image = image_;
  viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D;
  viewInfo.format = info_.format;
  viewInfo.subresourceRange = range_;
  check(vkCreateImageView(device_, &viewInfo, nullptr, &view_), "vkCreateImageView");
}

Surface::~Surface() {
  vkDestroyImageView(device_, view_, nullptr);
  vkDestroyImage(device_, image_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
}

Sampler::Sampler(Host& host, const Info& wanted) : device_(host.device()) {
  if (wanted.maxAnisotropy > 1 && !host.enabledFeatures().samplerAnisotropy)
    throw Unsupported("no feature samplerAnisotropy");
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.magFilter = info.minFilter = wanted.filter;
  info.mipmapMode = wanted.mipmapMode;
  info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT;
  info.anisotropyEnable = wanted.maxAnisotropy > 1;
  info.maxAnisotropy = std::min(wanted.maxAnisotropy, host.properties().limits.maxSamplerAnisotropy);
  info.compareEnable = wanted.compare;
  info.compareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
  info.maxLod = VK_LOD_CLAMP_NONE;
  check(vkCreateSampler(device_, &info, nullptr, &sampler_), "vkCreateSampler");
}

Sampler::~Sampler() {
  vkDestroySampler(device_, sampler_, nullptr);
}

Texture::Texture(Host& host, uint32_t edge, std::span<const Texels> levels, const Sampler::Info& sampler)
    : surface_(host, {kColorFormat,
                      {edge, edge},
                      static_cast<uint32_t>(levels.size()),
                      VK_SAMPLE_COUNT_1_BIT,
                      VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT}),
      sampler_(host, sampler) {
  size_t total = 0;
  for (const Texels& level : levels) total += level.size();
  Buffer staging(host, total * sizeof(uint32_t));
  std::vector<VkBufferImageCopy> regions;
  size_t offset = 0;
  for (uint32_t i = 0; i < levels.size(); ++i) {
    std::ranges::copy(levels[i], staging.as<uint32_t>().begin() + static_cast<ptrdiff_t>(offset));
    VkBufferImageCopy& region = regions.emplace_back();
    region.bufferOffset = offset * sizeof(uint32_t);
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, i, 0, 1};
    region.imageExtent = {std::max(edge >> i, 1u), std::max(edge >> i, 1u), 1};
    offset += levels[i].size();
  }
  Commands commands(host);
  changeLayout(commands.handle(), surface_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  vkCmdCopyBufferToImage(commands.handle(), staging.handle(), surface_.handle(), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         static_cast<uint32_t>(regions.size()), regions.data());
  changeLayout(commands.handle(), surface_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
               VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
  commands.finish();
  host.submitAndWait(commands.handle());
}

// -- passes

RenderTarget::RenderTarget(Host& host, const Info& info) : host_(host), info_(info) {
  if (!host.canDraw()) throw Unsupported("no queue that draws");
  const bool several = info_.samples != VK_SAMPLE_COUNT_1_BIT;
  constexpr VkImageUsageFlags kRead = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  constexpr VkImageUsageFlags kColor = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  const auto add = [&](auto& to, VkSampleCountFlagBits samples, VkImageUsageFlags usage) {
    to.push_back(std::make_unique<Surface>(host, Surface::Info{kColorFormat, info_.extent, 1, samples, usage}));
  };
  for (uint32_t i = 0; i < info_.colors; ++i) {
    add(colors_, info_.samples, several ? kColor : kColor | kRead);
    if (several) add(resolved_, VK_SAMPLE_COUNT_1_BIT, kColor | kRead);
  }
  if (info_.depth != VK_FORMAT_UNDEFINED) {
    VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (info_.keepDepth) usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    depth_ = std::make_unique<Surface>(host, Surface::Info{info_.depth, info_.extent, 1, info_.samples, usage});
  }
  createPass();
  createFramebuffer();
}

void RenderTarget::createPass() {
  const bool several = !resolved_.empty();
  std::vector<VkAttachmentDescription> attachments;
  std::vector<VkAttachmentReference> colors, resolves;
  VkAttachmentReference depth{};
  const auto attach = [&](const Surface& surface, VkAttachmentLoadOp load, bool store, VkImageLayout layout,
                          VkImageLayout finalLayout) -> VkAttachmentReference {
    VkAttachmentDescription& a = attachments.emplace_back();
    a.format = surface.info().format;
    a.samples = surface.info().samples;
    a.loadOp = load;
    a.storeOp = store ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE;
    a.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    a.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    a.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    a.finalLayout = finalLayout;
    return {static_cast<uint32_t>(attachments.size()) - 1, layout};
  };
  constexpr VkImageLayout kColor = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  constexpr VkImageLayout kDepth = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
  constexpr VkImageLayout kCopied = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  const VkAttachmentLoadOp load = info_.clear ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  for (const auto& color : colors_)
    colors.push_back(attach(*color, load, !several, kColor, several ? kColor : kCopied));
  for (const auto& resolved : resolved_)
    resolves.push_back(attach(*resolved, VK_ATTACHMENT_LOAD_OP_DONT_CARE, true, kColor, kCopied));
  if (depth_)
    depth = attach(*depth_, VK_ATTACHMENT_LOAD_OP_CLEAR, info_.keepDepth, kDepth,
                   info_.keepDepth ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL : kDepth);

  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = info_.colors;
  subpass.pColorAttachments = colors.data();
  subpass.pResolveAttachments = several ? resolves.data() : nullptr;
  subpass.pDepthStencilAttachment = depth_ ? &depth : nullptr;

  constexpr VkPipelineStageFlags kWriting = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                                            VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                            VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
  constexpr VkPipelineStageFlags kReading = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  constexpr VkAccessFlags kWrites = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
  std::array<VkSubpassDependency, 2> dependencies{};
  dependencies[0].srcSubpass = VK_SUBPASS_EXTERNAL;
  dependencies[0].srcStageMask = kWriting | kReading;
  dependencies[0].dstStageMask = kWriting;
  dependencies[0].srcAccessMask = kWrites | VK_ACCESS_TRANSFER_WRITE_BIT;
  dependencies[0].dstAccessMask =
      kWrites | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
  dependencies[1].dstSubpass = VK_SUBPASS_EXTERNAL;
  dependencies[1].srcStageMask = kWriting;
  dependencies[1].dstStageMask = kReading;
  dependencies[1].srcAccessMask = kWrites;
  dependencies[1].dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = static_cast<uint32_t>(attachments.size());
  info.pAttachments = attachments.data();
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = static_cast<uint32_t>(dependencies.size());
  info.pDependencies = dependencies.data();
  check(vkCreateRenderPass(host_.device(), &info, nullptr, &pass_), "vkCreateRenderPass");
}

void RenderTarget::createFramebuffer() {
  std::vector<VkImageView> views;
  for (const auto& color : colors_) views.push_back(color->view());
  for (const auto& resolved : resolved_) views.push_back(resolved->view());
  if (depth_) views.push_back(depth_->view());
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  info.renderPass = pass_;
  info.attachmentCount = static_cast<uint32_t>(views.size());
  info.pAttachments = views.data();
  info.width = info_.extent.width;
  info.height = info_.extent.height;
  info.layers = 1;
  check(vkCreateFramebuffer(host_.device(), &info, nullptr, &framebuffer_), "vkCreateFramebuffer");
}

RenderTarget::~RenderTarget() {
  vkDestroyFramebuffer(host_.device(), framebuffer_, nullptr);
  vkDestroyRenderPass(host_.device(), pass_, nullptr);
}

void RenderTarget::begin(VkCommandBuffer commands) const {
  VkClearValue color{};
  for (size_t i = 0; i < kClear.size(); ++i) color.color.float32[i] = static_cast<float>(kClear[i]) / 255;
  std::vector<VkClearValue> values(colors_.size() + resolved_.size(), color);
  if (depth_) values.push_back({.depthStencil = {1, 0}});
  VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  info.renderPass = pass_;
  info.framebuffer = framebuffer_;
  info.renderArea.extent = info_.extent;
  info.clearValueCount = static_cast<uint32_t>(values.size());
  info.pClearValues = values.data();
  vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
}

void RenderTarget::scrub() {
  const VkClearColorValue magenta{{1, 0, 1, 0}};
  Commands commands(host_);
  for (const auto& picture : pictures()) {
    changeLayout(commands.handle(), *picture, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    const VkImageSubresourceRange range = picture->range();
    vkCmdClearColorImage(commands.handle(), picture->handle(), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &magenta, 1,
                         &range);
  }
  commands.finish();
  host_.submitAndWait(commands.handle());
}

std::span<const uint8_t> RenderTarget::pixels(uint32_t color) {
  const VkDeviceSize bytes = VkDeviceSize{4} * info_.extent.width * info_.extent.height;
  if (!readback_) readback_ = std::make_unique<Buffer>(host_, bytes);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {info_.extent.width, info_.extent.height, 1};
  Commands commands(host_);
  vkCmdCopyImageToBuffer(commands.handle(), pictures()[color]->handle(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                         readback_->handle(), 1, &region);
  commands.finish();
  host_.submitAndWait(commands.handle());
  return readback_->as<const uint8_t>();
}

// -- checks

std::string comparePicture(std::span<const uint8_t> pixels,
                           const std::function<std::optional<Color>(uint32_t, uint32_t)>& expected, double tolerance,
                           uint32_t stride) {
  uint32_t checked = 0;
  for (uint32_t pixel = 0; pixel < kPicture.width * kPicture.height; pixel += stride) {
    const uint32_t x = pixel % kPicture.width, y = pixel / kPicture.width;
    const std::optional<Color> want = expected(x, y);
    if (!want) continue;
    ++checked;
    for (uint32_t c = 0; c < 4; ++c) {
      const double got = pixels[4 * size_t{pixel} + c];
      // Written so that NaN fails.
      if (!(std::abs(got - (*want)[c]) <= tolerance))
        return fmt::format("pixel {},{} channel {}: got {}, expected {:.2f}", x, y, c, got, (*want)[c]);
    }
  }
  return checked ? std::string{} : "no pixel could be checked";
}

}  // namespace pumice::bench
