#include "cts-subset/support/draw_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "shaders/push_color_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {

PipelineState::PipelineState(VkExtent2D extent, uint32_t colorCount) : blend(colorCount) {
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  viewport = {0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height), 0, 1};
  scissor = {{0, 0}, extent};
  viewports.viewportCount = viewports.scissorCount = 1;
  raster.lineWidth = 1;
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  for (auto& b : blend) b.colorWriteMask = 0xf;
}

void PipelineState::addFloats(std::initializer_list<uint32_t> components, VkVertexInputRate rate) {
  static constexpr VkFormat kFormats[] = {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32_SFLOAT,
                                          VK_FORMAT_R32G32B32A32_SFLOAT};
  const auto binding = static_cast<uint32_t>(bindings.size());
  uint32_t offset = 0;
  for (uint32_t count : components) {
    attributes.push_back({static_cast<uint32_t>(attributes.size()), binding, kFormats[count - 1], offset});
    offset += 4 * count;
  }
  bindings.push_back({binding, offset, rate});
}

VkImageAspectFlags DrawTest::aspectsOf(VkFormat format) {
  switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_X8_D24_UNORM_PACK32:
      return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_S8_UINT:
      return VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_FORMAT_D16_UNORM_S8_UINT:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
      return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    default:
      return VK_IMAGE_ASPECT_COLOR_BIT;
  }
}

Target DrawTest::makeTarget(VkFormat format, VkExtent2D extent, VkSampleCountFlagBits samples, VkImageUsageFlags more,
                            uint32_t layers) {
  const bool color = aspectsOf(format) == VK_IMAGE_ASPECT_COLOR_BIT;
  const VkImageUsageFlags usage =
      (color ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) | more;
  Target out;
  out.image = makeShaderImage(format, usage, {extent.width, extent.height, 1}, 1, layers,
                              [&](VkImageCreateInfo& info) { info.samples = samples; });
  out.view = makeView(out.image, layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
                      [&](VkImageViewCreateInfo& info) { info.subresourceRange.aspectMask = aspectsOf(format); });
  return out;
}

VkShaderModule DrawTest::makeModule(std::span<const uint32_t> spirv) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = spirv.size_bytes();
  info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateShaderModule(device(), &info, nullptr, &module), VK_SUCCESS);
  defer([this, module] { vkDestroyShaderModule(device(), module, nullptr); });
  return module;
}

VkPipelineLayout DrawTest::makeLayout(std::span<const VkDescriptorSetLayout> sets,
                                      std::span<const VkPushConstantRange> ranges) {
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = static_cast<uint32_t>(sets.size());
  info.pSetLayouts = sets.data();
  info.pushConstantRangeCount = static_cast<uint32_t>(ranges.size());
  info.pPushConstantRanges = ranges.data();
  VkPipelineLayout layout = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreatePipelineLayout(device(), &info, nullptr, &layout), VK_SUCCESS);
  defer([this, layout] { vkDestroyPipelineLayout(device(), layout, nullptr); });
  return layout;
}

VkGraphicsPipelineCreateInfo DrawTest::pipelineInfo(PipelineState& s, VkPipelineShaderStageCreateInfo* stages,
                                                    std::span<const uint32_t> vertex,
                                                    std::span<const uint32_t> fragment) {
  if (s.layout == VK_NULL_HANDLE) s.layout = makeLayout();
  s.vertexInput.vertexBindingDescriptionCount = static_cast<uint32_t>(s.bindings.size());
  s.vertexInput.pVertexBindingDescriptions = s.bindings.data();
  s.vertexInput.vertexAttributeDescriptionCount = static_cast<uint32_t>(s.attributes.size());
  s.vertexInput.pVertexAttributeDescriptions = s.attributes.data();
  s.viewports.pViewports = &s.viewport;
  s.viewports.pScissors = &s.scissor;
  s.colors.attachmentCount = static_cast<uint32_t>(s.blend.size());
  s.colors.pAttachments = s.blend.data();
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, s.next, s.flags};
  for (const auto& [stage, spirv] :
       {std::pair(VK_SHADER_STAGE_VERTEX_BIT, vertex), std::pair(VK_SHADER_STAGE_FRAGMENT_BIT, fragment)}) {
    if (spirv.empty()) continue;
    VkPipelineShaderStageCreateInfo& made = stages[info.stageCount++];
    made = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    made.stage = stage;
    made.module = makeModule(spirv);
    made.pName = "main";
    if (stage == VK_SHADER_STAGE_FRAGMENT_BIT) made.pSpecializationInfo = s.fragmentConstants;
  }
  info.pStages = stages;
  info.pVertexInputState = &s.vertexInput;
  info.pInputAssemblyState = &s.assembly;
  info.pViewportState = &s.viewports;
  info.pRasterizationState = &s.raster;
  info.pMultisampleState = &s.samples;
  info.pDepthStencilState = &s.depth;
  info.pColorBlendState = &s.colors;
  info.layout = s.layout;
  info.renderPass = s.renderPass;
  info.subpass = s.subpass;
  return info;
}

VkPipeline DrawTest::makePipeline(PipelineState& state, std::span<const uint32_t> vertex,
                                  std::span<const uint32_t> fragment) {
  VkPipelineShaderStageCreateInfo stages[2];
  VkGraphicsPipelineCreateInfo info = pipelineInfo(state, stages, vertex, fragment);
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = static_cast<uint32_t>(state.dynamic.size());
  dynamic.pDynamicStates = state.dynamic.data();
  info.pDynamicState = &dynamic;
  VkPipeline pipeline = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateGraphicsPipelines(device(), state.cache, 1, &info, nullptr, &pipeline), VK_SUCCESS);
  defer([this, pipeline] { vkDestroyPipeline(device(), pipeline, nullptr); });
  return pipeline;
}

VkRenderPass DrawTest::makeRenderPass(const VkRenderPassCreateInfo& info) {
  VkRenderPass pass = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateRenderPass(device(), &info, nullptr, &pass), VK_SUCCESS);
  defer([this, pass] { vkDestroyRenderPass(device(), pass, nullptr); });
  return pass;
}

VkRenderPass DrawTest::makeRenderPass(std::span<const Target> targets, VkAttachmentLoadOp load) {
  std::vector<VkAttachmentDescription> attachments;
  std::vector<VkAttachmentReference> colors;
  VkAttachmentReference depth{VK_ATTACHMENT_UNUSED, VK_IMAGE_LAYOUT_GENERAL};
  for (const Target& t : targets) {
    const auto index = static_cast<uint32_t>(attachments.size());
    attachments.push_back(attachment(t.format(), load, VK_ATTACHMENT_STORE_OP_STORE, t.image.info.samples));
    if (aspectsOf(t.format()) == VK_IMAGE_ASPECT_COLOR_BIT) {
      colors.push_back({index, VK_IMAGE_LAYOUT_GENERAL});
    } else {
      depth.attachment = index;
    }
  }
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = static_cast<uint32_t>(colors.size());
  subpass.pColorAttachments = colors.data();
  subpass.pDepthStencilAttachment = &depth;
  const VkSubpassDependency dependency = toCopy();
  return makeRenderPass(attachments, {&subpass, 1}, {&dependency, 1});
}

VkRenderPass DrawTest::makeRenderPass(std::span<const VkAttachmentDescription> attachments,
                                      std::span<const VkSubpassDescription> subpasses,
                                      std::span<const VkSubpassDependency> dependencies, const void* next) {
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, next};
  info.attachmentCount = static_cast<uint32_t>(attachments.size());
  info.pAttachments = attachments.data();
  info.subpassCount = static_cast<uint32_t>(subpasses.size());
  info.pSubpasses = subpasses.data();
  info.dependencyCount = static_cast<uint32_t>(dependencies.size());
  info.pDependencies = dependencies.data();
  return makeRenderPass(info);
}

VkAttachmentDescription DrawTest::attachment(VkFormat format, VkAttachmentLoadOp load, VkAttachmentStoreOp store,
                                             VkSampleCountFlagBits samples) {
  return {0, format, samples, load, store, load, store, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL};
}

VkSubpassDependency DrawTest::toCopy(uint32_t subpass) {
  return {subpass,
          VK_SUBPASS_EXTERNAL,
          VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
          VK_ACCESS_MEMORY_WRITE_BIT,
          VK_ACCESS_MEMORY_READ_BIT,
          0};
}

VkFramebuffer DrawTest::makeFramebuffer(VkRenderPass pass, std::span<const Target> targets, uint32_t layers) {
  std::vector<VkImageView> views;
  for (const Target& t : targets) views.push_back(t.view);
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  info.renderPass = pass;
  info.attachmentCount = static_cast<uint32_t>(views.size());
  info.pAttachments = views.data();
  info.width = targets[0].extent().width;
  info.height = targets[0].extent().height;
  info.layers = layers;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateFramebuffer(device(), &info, nullptr, &framebuffer), VK_SUCCESS);
  defer([this, framebuffer] { vkDestroyFramebuffer(device(), framebuffer, nullptr); });
  return framebuffer;
}

void DrawTest::beginPass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer, VkExtent2D extent,
                         std::span<const VkClearValue> clears, VkSubpassContents contents) {
  VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  info.renderPass = pass;
  info.framebuffer = framebuffer;
  info.renderArea = {{0, 0}, extent};
  info.clearValueCount = static_cast<uint32_t>(clears.size());
  info.pClearValues = clears.data();
  vkCmdBeginRenderPass(commands, &info, contents);
}

DrawTest::Set DrawTest::makeSet(VkDescriptorType type, std::span<const VkDescriptorImageInfo> images) {
  Set out;
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  const auto count = static_cast<uint32_t>(images.size());
  for (uint32_t i = 0; i < count; ++i) bindings.push_back({i, type, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = count;
  info.pBindings = bindings.data();
  EXPECT_EQ(vkCreateDescriptorSetLayout(device(), &info, nullptr, &out.layout), VK_SUCCESS);
  const VkDescriptorPoolSize size{type, count};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool), VK_SUCCESS);
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &out.layout;
  EXPECT_EQ(vkAllocateDescriptorSets(device(), &allocate, &out.set), VK_SUCCESS);
  for (uint32_t i = 0; i < count; ++i) {
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = out.set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = type;
    write.pImageInfo = &images[i];
    vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  }
  defer([this, out, pool] {
    vkDestroyDescriptorPool(device(), pool, nullptr);
    vkDestroyDescriptorSetLayout(device(), out.layout, nullptr);
  });
  return out;
}

std::vector<std::byte> DrawTest::readBytes(const Target& target, VkImageAspectFlagBits aspect, uint32_t bytesOfTexel,
                                           uint32_t layer) {
  const VkExtent2D extent = target.extent();
  const TestBuffer staging = makeBuffer(uint64_t{extent.width} * extent.height * bytesOfTexel);
  VkBufferImageCopy region{};
  region.imageSubresource = {static_cast<VkImageAspectFlags>(aspect), 0, layer, 1};
  region.imageExtent = {extent.width, extent.height, 1};
  run([&](VkCommandBuffer c) {
    vkCmdCopyImageToBuffer(c, target.image.image, VK_IMAGE_LAYOUT_GENERAL, staging.buffer, 1, &region);
  });
  return {staging.bytes, staging.bytes + staging.size};
}

Picture DrawTest::readColor(const Target& target, uint32_t layer) {
  Picture out{target.extent().width, target.extent().height, {}};
  const bool floats = target.format() == VK_FORMAT_R32G32B32A32_SFLOAT;
  const std::vector<std::byte> bytes = readBytes(target, VK_IMAGE_ASPECT_COLOR_BIT, floats ? 16 : 4, layer);
  out.pixels.resize(size_t{out.width} * out.height);
  if (floats) {
    std::memcpy(out.pixels.data(), bytes.data(), bytes.size());
  } else {
    const bool swapped = target.format() == VK_FORMAT_B8G8R8A8_UNORM;
    for (size_t i = 0; i < out.pixels.size(); ++i) {
      const auto channel = [&](size_t c) { return static_cast<float>(bytes[4 * i + c]) / 255; };
      out.pixels[i] = {channel(swapped ? 2 : 0), channel(1), channel(swapped ? 0 : 2), channel(3)};
    }
  }
  if (const char* directory = std::getenv("PUMICE_TEST_PICTURES")) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::ofstream file(std::string(directory) + "/" + info->test_suite_name() + "." + info->name() + "." +
                           std::to_string(pictureCount_++) + ".ppm",
                       std::ios::binary);
    file << "P6 " << out.width << " " << out.height << " 255\n";
    for (const Rgba& p : out.pixels) {
      for (float c : {p.r, p.g, p.b}) file.put(static_cast<char>(std::lround(std::clamp(c, 0.0f, 1.0f) * 255)));
    }
  }
  return out;
}

std::vector<float> DrawTest::readDepth(const Target& target) {
  const bool half = target.format() == VK_FORMAT_D16_UNORM;
  const std::vector<std::byte> bytes = readBytes(target, VK_IMAGE_ASPECT_DEPTH_BIT, half ? 2 : 4);
  std::vector<float> out(bytes.size() / (half ? 2 : 4));
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t word = 0;
    if (half) {
      std::memcpy(&word, bytes.data() + 2 * i, 2);
      out[i] = static_cast<float>(word) / 65535;
    } else {
      std::memcpy(&out[i], bytes.data() + 4 * i, 4);
    }
  }
  return out;
}

void DrawTest::expectPicture(const Picture& picture, const std::function<Rgba(uint32_t, uint32_t)>& expected,
                             float tolerance) {
  uint32_t wrong = 0;
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x) {
      const Rgba want = expected(x, y), got = picture.at(x, y);
      const float off = std::max(std::max(std::abs(want.r - got.r), std::abs(want.g - got.g)),
                                 std::max(std::abs(want.b - got.b), std::abs(want.a - got.a)));
      if (off <= tolerance || ++wrong > 5) continue;
      ADD_FAILURE() << "pixel (" << x << ", " << y << "): " << got.r << " " << got.g << " " << got.b << " " << got.a
                    << " instead of " << want.r << " " << want.g << " " << want.b << " " << want.a;
    }
  }
  EXPECT_EQ(wrong, 0u) << "of " << picture.pixels.size() << " pixels";
}

TriangleModel::TriangleModel(Corner a, Corner b, Corner c) {
  const auto snap = [](double v) { return static_cast<int64_t>(std::lround(v * 256)); };
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  // Inside is where the value of all three is positive, whichever way round the corners go.
  const int64_t sign = area >= 0 ? 1 : -1;
  const Corner corners[] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    const Corner &from = corners[(i + 1) % 3], &to = corners[(i + 2) % 3];
    edges_[i] = {snap(from.x), snap(from.y), sign * (snap(to.x) - snap(from.x)), sign * (snap(to.y) - snap(from.y))};
  }
}

bool TriangleModel::covers(uint32_t x, uint32_t y) const {
  return std::all_of(edges_, edges_ + 3, [&](const Edge& e) {
    const int64_t value = e.at(int64_t{x} * 256 + 128, int64_t{y} * 256 + 128);
    return value > 0 || (value == 0 && e.isTopLeft());
  });
}

std::array<double, 3> TriangleModel::weights(uint32_t x, uint32_t y) const {
  std::array<double, 3> w{};
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    w[i] = static_cast<double>(edges_[i].at(int64_t{x} * 256 + 128, int64_t{y} * 256 + 128));
    sum += w[i];
  }
  for (double& v : w) v /= sum;
  return w;
}

std::vector<TriangleModel> samplesOf(const TriangleModel::Corner (&corners)[3], VkSampleCountFlagBits count) {
  using Place = TriangleModel::Corner;
  static const std::vector<Place> kTwo{{0.75, 0.75}, {0.25, 0.25}},
      kFour{{0.375, 0.125}, {0.875, 0.375}, {0.125, 0.625}, {0.625, 0.875}},
      kEight{{0.5625, 0.3125}, {0.4375, 0.6875}, {0.8125, 0.5625}, {0.3125, 0.1875},
             {0.1875, 0.8125}, {0.0625, 0.4375}, {0.6875, 0.9375}, {0.9375, 0.0625}};
  std::vector<TriangleModel> out;
  for (const Place& place : count == VK_SAMPLE_COUNT_2_BIT ? kTwo : count == VK_SAMPLE_COUNT_4_BIT ? kFour : kEight) {
    // The corners are moved the other way.
    const auto moved = [&](const TriangleModel::Corner& c) {
      return TriangleModel::Corner{c.x + 0.5 - place.x, c.y + 0.5 - place.y};
    };
    out.emplace_back(moved(corners[0]), moved(corners[1]), moved(corners[2]));
  }
  return out;
}

void FilledTargetTest::prepare(const DeviceOptions& options) {
  createDevice(options);
  prepareTargets();
}

void FilledTargetTest::prepareFull() {
  createFullDevice();
  prepareTargets();
}

void FilledTargetTest::prepareTargets() {
  targets_[0] = makeTarget(kRgba8, kExtent);
  targets_[1] = makeTarget(VK_FORMAT_D32_SFLOAT_S8_UINT, kExtent);
  pass_ = makeRenderPass(targets_);
  framebuffer_ = makeFramebuffer(pass_, targets_);
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  layout_ = makeLayout({}, {&range, 1});
}

VkPipeline FilledTargetTest::makeWhole(const std::function<void(PipelineState&)>& change) {
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  change(state);
  return makePipeline(state, k_whole_vert, k_push_color_frag);
}

void FilledTargetTest::draw(const std::function<void(VkCommandBuffer)>& record, float depth, uint32_t stencil) {
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(depth, stencil)};
  run([&](VkCommandBuffer c) {
    beginPass(c, pass_, framebuffer_, kExtent, clears);
    record(c);
    vkCmdEndRenderPass(c);
  });
}

void FilledTargetTest::drawWhole(VkCommandBuffer commands, const Rgba& color, float depth) {
  const Push push{{color.r, color.g, color.b, color.a}, depth};
  vkCmdPushConstants(commands, layout_, kStages, 0, sizeof push, &push);
  vkCmdDraw(commands, 3, 1, 0, 0);
}

TestBuffer FilledTargetTest::makeTriangle(const Rgba& color, float depth) {
  std::vector<ColorVertex> vertices;
  for (const auto& k : kTriangle) {
    vertices.push_back({static_cast<float>(k.x / 32 - 1), static_cast<float>(k.y / 32 - 1), depth, 1, color.r, color.g,
                        color.b, color.a});
  }
  return makeVertices(vertices);
}

std::vector<int> FilledTargetTest::stencil() {
  std::vector<int> out;
  for (std::byte b : readBytes(targets_[1], VK_IMAGE_ASPECT_STENCIL_BIT, 1)) out.push_back(static_cast<int>(b));
  return out;
}

}  // namespace pumice::cts
