// Passes in the command stream. The driver is linked into this program, which records with its encoder and reads the
// packets.
#include "icd/encode/pass_encoder.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "icd/encode/tile_size.h"
#include "icd/objects/image.h"
#include "icd/objects/image_view.h"
#include "icd/objects/linked_device.h"

namespace pumice::icd {
namespace {

ChunkMemory heap() {
  return {[](void*, size_t size_B, size_t align_B) {
            return std::aligned_alloc(align_B, (size_B + align_B - 1) / align_B * align_B);
          },
          [](void*, void* memory) { std::free(memory); }, nullptr};
}

struct Pass {
  abi::BeginPassPacket begin;
  std::vector<abi::PassAttachment> attachments;
};

struct Event {
  abi::PacketOp op;
  Pass pass;                            // kBeginPass
  abi::BarrierPacket barrier{};         // kBarrier
  abi::ClearAttachmentPacket clear{};   // kClearAttachment
  std::vector<abi::ClearRect> rects{};  // kClearAttachment
};

class PassEncoderTest : public LinkedDeviceTest {
 protected:
  PassEncoderTest() {
    EXPECT_TRUE(pool_.initialize());
    stream_.emplace(pool_);
  }
  ~PassEncoderTest() override {
    for (VkRenderPass pass : renderPasses_) icd::vkDestroyRenderPass(device_, pass, nullptr);
    for (VkImageView view : views_) icd::vkDestroyImageView(device_, view, nullptr);
    for (VkImage image : images_) icd::vkDestroyImage(device_, image, nullptr);
    for (VkDeviceMemory memory : memory_) icd::vkFreeMemory(device_, memory, nullptr);
  }

  // A view of all layers but the first of an image of 64x32 texels.
  VkImageView makeView(VkFormat format, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT, uint32_t layers = 1) {
    const bool isDepth = format >= VK_FORMAT_D16_UNORM && format <= VK_FORMAT_D32_SFLOAT_S8_UINT;
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {64, 32, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1 + layers;
    info.samples = samples;
    info.usage = isDepth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    EXPECT_EQ(icd::vkCreateImage(device_, &info, nullptr, &images_.emplace_back()), VK_SUCCESS);
    VkMemoryRequirements needs;
    icd::vkGetImageMemoryRequirements(device_, images_.back(), &needs);
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    EXPECT_EQ(icd::vkAllocateMemory(device_, &allocate, nullptr, &memory_.emplace_back()), VK_SUCCESS);
    EXPECT_EQ(icd::vkBindImageMemory(device_, images_.back(), memory_.back(), 0), VK_SUCCESS);
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = images_.back();
    view.viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
    view.format = format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1, layers};
    if (isDepth) view.subresourceRange.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    EXPECT_EQ(icd::vkCreateImageView(device_, &view, nullptr, &views_.emplace_back()), VK_SUCCESS);
    return views_.back();
  }
  static uint64_t addressOf(VkImageView view, uint32_t plane = 0) {
    return ImageView::from(view)->image().surface(plane, 0, 1).address;
  }
  const RenderPass& make(const VkRenderPassCreateInfo& info) {
    EXPECT_EQ(icd::vkCreateRenderPass(device_, &info, nullptr, &renderPasses_.emplace_back()), VK_SUCCESS);
    return *RenderPass::from(renderPasses_.back());
  }
  void begin(const RenderPass& pass, const std::vector<VkImageView>& views, const std::vector<VkClearValue>& clears) {
    std::vector<const ImageView*> all;
    for (VkImageView v : views) all.push_back(ImageView::from(v));
    encoder_.begin(*stream_, pass, all, 1, {{4, 8}, {32, 16}}, clears);
  }

  // All that was recorded.
  std::vector<Event> read() {
    stream_->finish();
    std::vector<Event> events;
    for (const std::byte* at = stream_->first();;) {
      const auto& header = *reinterpret_cast<const abi::PacketHeader*>(at);
      if (header.op == abi::PacketOp::kReturn) return events;
      if (header.op == abi::PacketOp::kJump) {
        at = reinterpret_cast<const abi::JumpPacket*>(at)->target;
        continue;
      }
      Event event{header.op, {}};
      if (header.op == abi::PacketOp::kBeginPass) {
        event.pass.begin = *reinterpret_cast<const abi::BeginPassPacket*>(at);
        const auto* first = reinterpret_cast<const abi::PassAttachment*>(at + sizeof(abi::BeginPassPacket));
        event.pass.attachments.assign(first, first + event.pass.begin.attachmentCount);
      } else if (header.op == abi::PacketOp::kBarrier) {
        event.barrier = *reinterpret_cast<const abi::BarrierPacket*>(at);
      } else if (header.op == abi::PacketOp::kClearAttachment) {
        event.clear = *reinterpret_cast<const abi::ClearAttachmentPacket*>(at);
        const auto* first = reinterpret_cast<const abi::ClearRect*>(at + sizeof(abi::ClearAttachmentPacket));
        event.rects.assign(first, first + event.clear.rectCount);
      }
      events.push_back(event);
      at += header.sizeBytes;
    }
  }

  std::vector<VkImage> images_;
  std::vector<VkDeviceMemory> memory_;
  std::vector<VkImageView> views_;
  std::vector<VkRenderPass> renderPasses_;
  ChunkPool pool_{heap()};
  std::optional<CommandStream> stream_;
  PassEncoder encoder_;
};

VkAttachmentDescription attachment(VkFormat format, VkAttachmentLoadOp load, VkAttachmentStoreOp store,
                                   VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
  return {0, format, samples, load, store, VK_ATTACHMENT_LOAD_OP_DONT_CARE, store, {}, VK_IMAGE_LAYOUT_GENERAL};
}

uint32_t word(const abi::PassAttachment& a) {
  uint32_t w;
  std::memcpy(&w, a.clearElement, sizeof w);
  return w;
}

// Two subpasses by region, in one tile pass: color, depth and stencil, then the color as an input.
TEST_F(PassEncoderTest, OneTilePass) {
  const VkAttachmentDescription attachments[] = {
      attachment(VK_FORMAT_R8G8B8A8_UNORM, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE),
      attachment(VK_FORMAT_D32_SFLOAT_S8_UINT, VK_ATTACHMENT_LOAD_OP_LOAD, VK_ATTACHMENT_STORE_OP_STORE),
      attachment(VK_FORMAT_R32_UINT, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE)};
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, depth{1, VK_IMAGE_LAYOUT_GENERAL};
  const VkAttachmentReference second[] = {{VK_ATTACHMENT_UNUSED, {}}, {2, VK_IMAGE_LAYOUT_GENERAL}};
  VkSubpassDescription subpasses[2]{};
  subpasses[0].colorAttachmentCount = 1;
  subpasses[0].pColorAttachments = &color;
  subpasses[0].pDepthStencilAttachment = &depth;
  subpasses[1].inputAttachmentCount = 1;
  subpasses[1].pInputAttachments = &color;
  subpasses[1].colorAttachmentCount = 2;
  subpasses[1].pColorAttachments = second;
  const VkPipelineStageFlags output = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  const VkSubpassDependency dependencies[] = {
      {VK_SUBPASS_EXTERNAL, 0, VK_PIPELINE_STAGE_TRANSFER_BIT, output, 0, 0, 0},
      {0, 1, output, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0, VK_DEPENDENCY_BY_REGION_BIT},
      {1, VK_SUBPASS_EXTERNAL, output, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, 0}};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 3;
  info.pAttachments = attachments;
  info.subpassCount = 2;
  info.pSubpasses = subpasses;
  info.dependencyCount = 3;
  info.pDependencies = dependencies;
  const RenderPass& pass = make(info);
  const std::vector<VkImageView> views = {makeView(VK_FORMAT_R8G8B8A8_UNORM), makeView(VK_FORMAT_D32_SFLOAT_S8_UINT),
                                          makeView(VK_FORMAT_R32_UINT)};
  VkClearValue clear{};
  clear.color = {{1.0f, 0.0f, 1.0f, 0.0f}};
  begin(pass, views, {clear});
  const abi::TargetState first = encoder_.targets();
  encoder_.nextSubpass(*stream_);
  const abi::TargetState later = encoder_.targets();
  encoder_.end(*stream_);

  EXPECT_EQ(first.color[0], 0);
  EXPECT_EQ(first.color[1], abi::kNoAttachment);
  EXPECT_EQ(first.depth, 1);
  EXPECT_EQ(first.stencil, 2);
  EXPECT_EQ(later.color[0], abi::kNoAttachment);
  EXPECT_EQ(later.color[1], 3);
  EXPECT_EQ(later.depth, abi::kNoAttachment);
  // What a secondary command buffer finds by itself.
  EXPECT_EQ(std::memcmp(&later, &(const abi::TargetState&)targetsOf(pass, 1), sizeof later), 0);

  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].op, abi::PacketOp::kBarrier);
  EXPECT_EQ(events[0].barrier.src, abi::stageBit(abi::Stage::kTransfer));
  EXPECT_EQ(events[0].barrier.dst, abi::stageBit(abi::Stage::kFragment));
  ASSERT_EQ(events[1].op, abi::PacketOp::kBeginPass);
  const Pass& p = events[1].pass;
  EXPECT_EQ(p.begin.area.x, 4u);
  EXPECT_EQ(p.begin.area.y, 8u);
  EXPECT_EQ(p.begin.area.width, 32u);
  EXPECT_EQ(p.begin.area.height, 16u);
  EXPECT_EQ(p.begin.layerCount, 1u);
  ASSERT_EQ(p.attachments.size(), 4u);
  EXPECT_EQ(p.attachments[0].surface.address, addressOf(views[0]));
  EXPECT_EQ(p.attachments[0].loadOp, abi::LoadOp::kClear);
  EXPECT_EQ(p.attachments[0].storeOp, abi::StoreOp::kDontCare);
  EXPECT_EQ(word(p.attachments[0]), 0x00ff00ffu);
  EXPECT_EQ(p.attachments[1].surface.address, addressOf(views[1], 0));
  EXPECT_EQ(p.attachments[1].format, static_cast<uint32_t>(VK_FORMAT_D32_SFLOAT));
  EXPECT_EQ(p.attachments[1].loadOp, abi::LoadOp::kLoad);
  EXPECT_EQ(p.attachments[2].surface.address, addressOf(views[1], 1));
  EXPECT_EQ(p.attachments[2].format, static_cast<uint32_t>(VK_FORMAT_S8_UINT));
  EXPECT_EQ(p.attachments[2].loadOp, abi::LoadOp::kDontCare);  // the stencil's own operation
  EXPECT_EQ(p.attachments[3].surface.address, addressOf(views[2]));
  EXPECT_EQ(events[2].op, abi::PacketOp::kEndPass);
  EXPECT_EQ(events[3].barrier.dst, abi::stageBit(abi::Stage::kCompute));
}

// A dependency on the whole: two tile passes. The first stores what the second loads, whatever the attachment says.
TEST_F(PassEncoderTest, TwoTilePassesAndResolves) {
  const VkAttachmentDescription attachments[] = {
      attachment(VK_FORMAT_R8G8B8A8_UNORM, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE,
                 VK_SAMPLE_COUNT_4_BIT),
      attachment(VK_FORMAT_R8G8B8A8_UNORM, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE),
      attachment(VK_FORMAT_R16_UINT, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE)};
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, resolve{1, VK_IMAGE_LAYOUT_GENERAL};
  const VkAttachmentReference input{2, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpasses[2]{};
  for (auto& s : subpasses) {
    s.colorAttachmentCount = 1;
    s.pColorAttachments = &color;
  }
  subpasses[1].pResolveAttachments = &resolve;
  subpasses[1].inputAttachmentCount = 1;
  subpasses[1].pInputAttachments = &input;
  const VkSubpassDependency dependency{
      0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, 0, 0, 0};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 3;
  info.pAttachments = attachments;
  info.subpassCount = 2;
  info.pSubpasses = subpasses;
  info.dependencyCount = 1;
  info.pDependencies = &dependency;
  const std::vector<VkImageView> views = {makeView(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_4_BIT),
                                          makeView(VK_FORMAT_R8G8B8A8_UNORM), makeView(VK_FORMAT_R16_UINT)};
  VkClearValue seven{};
  seven.color.uint32[0] = 7;
  begin(make(info), views, {{}, {}, seven});
  encoder_.nextSubpass(*stream_);
  encoder_.end(*stream_);
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 5u);
  const Pass& first = events[0].pass;
  ASSERT_EQ(first.attachments.size(), 1u);
  EXPECT_EQ(first.begin.samples_log2, 2);
  EXPECT_EQ(first.attachments[0].loadOp, abi::LoadOp::kClear);
  EXPECT_EQ(first.attachments[0].storeOp, abi::StoreOp::kStore);
  EXPECT_EQ(first.attachments[0].resolveMode, abi::ResolveMode::kNone);
  EXPECT_EQ(events[1].op, abi::PacketOp::kEndPass);
  EXPECT_EQ(events[2].op, abi::PacketOp::kBarrier);
  const Pass& second = events[3].pass;
  ASSERT_EQ(second.attachments.size(), 2u);
  EXPECT_EQ(second.attachments[0].loadOp, abi::LoadOp::kLoad);
  EXPECT_EQ(second.attachments[0].storeOp, abi::StoreOp::kDontCare);
  EXPECT_EQ(second.attachments[0].resolveMode, abi::ResolveMode::kAverage);
  EXPECT_EQ(second.attachments[0].resolve.address, addressOf(views[1]));
  // The input that nobody draws to is there to be cleared.
  EXPECT_EQ(second.attachments[1].surface.address, addressOf(views[2]));
  EXPECT_EQ(second.attachments[1].loadOp, abi::LoadOp::kClear);
  EXPECT_EQ(word(second.attachments[1]) & 0xffff, 7u);
}

TEST_F(PassEncoderTest, DynamicRendering) {
  const VkImageView color = makeView(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, 3);
  const VkImageView depth = makeView(VK_FORMAT_D24_UNORM_S8_UINT, VK_SAMPLE_COUNT_1_BIT, 3);
  VkRenderingAttachmentInfo colors[2]{};
  for (auto& c : colors) c.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  colors[1].imageView = color;
  colors[1].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  colors[1].storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  VkRenderingAttachmentInfo stencil{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  stencil.imageView = depth;
  stencil.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  stencil.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  stencil.clearValue.depthStencil.stencil = 0x5a;
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = {{0, 0}, {64, 32}};
  info.layerCount = 1;
  info.viewMask = 6;
  info.colorAttachmentCount = 2;
  info.pColorAttachments = colors;
  info.pStencilAttachment = &stencil;
  info.flags = VK_RENDERING_SUSPENDING_BIT;
  encoder_.beginRendering(*stream_, info);
  const abi::TargetState targets = encoder_.targets();
  EXPECT_EQ(targets.color[0], abi::kNoAttachment);
  EXPECT_EQ(targets.color[1], 1);
  EXPECT_EQ(targets.depth, abi::kNoAttachment);
  EXPECT_EQ(targets.stencil, 3);
  encoder_.endRendering(*stream_);
  info.flags = VK_RENDERING_RESUMING_BIT;
  encoder_.beginRendering(*stream_, info);
  encoder_.endRendering(*stream_);
  info.renderArea = {{10, 20}, {0x7fffffff, 0x7fffffff}};  // not allowed
  encoder_.beginRendering(*stream_, info);
  encoder_.endRendering(*stream_);

  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 8u);  // the last two parts are resumed
  const abi::PassArea& area = events[6].pass.begin.area;
  EXPECT_EQ(area.x + area.width, 64u);
  EXPECT_EQ(area.y + area.height, 32u);
  const Pass& suspended = events[0].pass;
  EXPECT_EQ(suspended.begin.viewMask, 6u);
  ASSERT_EQ(suspended.attachments.size(), 4u);
  EXPECT_EQ(suspended.attachments[0].surface.address, 0u);
  EXPECT_EQ(suspended.attachments[1].loadOp, abi::LoadOp::kClear);
  EXPECT_EQ(suspended.attachments[1].storeOp, abi::StoreOp::kStore);  // goes on
  EXPECT_EQ(suspended.attachments[2].surface.address, 0u);
  EXPECT_EQ(suspended.attachments[3].surface.address, addressOf(depth, 1));
  EXPECT_EQ(word(suspended.attachments[3]) & 0xff, 0x5au);
  // The application puts no barrier between the parts of a pass: they are in order by themselves.
  ASSERT_EQ(events[2].op, abi::PacketOp::kBarrier);
  EXPECT_EQ(events[2].barrier.src, abi::stageBit(abi::Stage::kFragment));
  EXPECT_EQ(events[2].barrier.dst, abi::stageBit(abi::Stage::kFragment));
  const Pass& resumed = events[3].pass;
  EXPECT_EQ(resumed.attachments[1].loadOp, abi::LoadOp::kLoad);
  EXPECT_EQ(resumed.attachments[1].storeOp, abi::StoreOp::kDontCare);
}

// Layers and views that the attachments do not have are not allowed, and not drawn to.
TEST_F(PassEncoderTest, LayersBeyondTheAttachments) {
  VkRenderingAttachmentInfo colors[2]{};
  for (auto& c : colors) c.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  colors[0].imageView = makeView(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, 5);
  colors[1].imageView = makeView(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, 3);
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = {{0, 0}, {64, 32}};
  info.pColorAttachments = colors;
  const auto passOf = [&](uint32_t layers, uint32_t views, uint32_t count) {
    info.layerCount = layers;
    info.viewMask = views;
    info.colorAttachmentCount = count;
    stream_->reset();
    encoder_.beginRendering(*stream_, info);
    encoder_.endRendering(*stream_);
    return read()[0].pass.begin;
  };
  EXPECT_EQ(passOf(~0u, 0, 1).layerCount, 5u);
  EXPECT_EQ(passOf(4, 0, 1).layerCount, 4u);
  EXPECT_EQ(passOf(4, 0, 2).layerCount, 3u);
  EXPECT_EQ(passOf(~0u, 0, 0).layerCount, 2048u);  // the limit
  EXPECT_EQ(passOf(1, 0b11101, 2).viewMask, 0b101u);
  EXPECT_EQ(passOf(1, ~0u, 1).viewMask, 0b11111u);
  EXPECT_EQ(passOf(1, 0b11101, 2).area.width, 64u);
  EXPECT_EQ(passOf(1, 0b11000, 2).area.width, 0u);  // of these views nothing
  EXPECT_NE(passOf(1, 0b11000, 2).viewMask, 0u);
}

TEST_F(PassEncoderTest, ClearsOfAttachments) {
  const VkFormat colors[] = {VK_FORMAT_UNDEFINED, VK_FORMAT_B8G8R8A8_UNORM};
  VkCommandBufferInheritanceRenderingInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  inherited.colorAttachmentCount = 2;
  inherited.pColorAttachmentFormats = colors;
  inherited.depthAttachmentFormat = inherited.stencilAttachmentFormat = VK_FORMAT_D32_SFLOAT_S8_UINT;
  inherited.viewMask = 3;
  encoder_.inherit(inherited);
  VkClearAttachment clears[5]{};
  clears[0].aspectMask = clears[1].aspectMask = clears[2].aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
  clears[0].colorAttachment = 1;
  clears[0].clearValue.color = {{1.0f, 0.0f, 0.0f, 1.0f}};
  clears[1].colorAttachment = 0;  // not there
  clears[2].colorAttachment = VK_ATTACHMENT_UNUSED;
  clears[3].aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  clears[3].clearValue.depthStencil = {0.5f, 9};
  clears[4].aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
  clears[4].colorAttachment = abi::kMaxColorAttachments;  // not allowed
  const VkClearRect rects[] = {{{{1, 2}, {3, 4}}, 0, 1}, {{{5, 6}, {7, 8}}, 2, 3}};
  encoder_.clear(*stream_, clears, rects);
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].clear.attachment, 1);
  EXPECT_EQ(events[0].clear.viewMask, 3u);
  const uint8_t red[] = {0, 0, 255, 255};
  EXPECT_EQ(std::memcmp(events[0].clear.element, red, 4), 0);
  ASSERT_EQ(events[0].rects.size(), 2u);
  EXPECT_EQ(events[0].rects[1].area.width, 7u);
  EXPECT_EQ(events[0].rects[1].firstLayer, 2u);
  EXPECT_EQ(events[0].rects[1].layerCount, 3u);
  EXPECT_EQ(events[1].clear.attachment, 2);
  const float half = 0.5f;
  EXPECT_EQ(std::memcmp(events[1].clear.element, &half, 4), 0);
  EXPECT_EQ(events[2].clear.attachment, 3);
  EXPECT_EQ(events[2].clear.element[0], std::byte{9});
}

TEST(TileSize, FitsTheCacheAndSharesOut) {
  EXPECT_EQ(tileEdge_log2(8, {{0, 0}, {1920, 1080}}, 1), 7);  // 135 tiles of 128 KiB
  EXPECT_EQ(tileEdge_log2(8 * 16 + 8, {{0, 0}, {1920, 1080}}, 1),
            5);  // 136 bytes a pixel: 32 x 32 are 136 KiB, 64 x 64 four times
  EXPECT_EQ(tileEdge_log2(8 * 16 * 4 + 32, {{0, 0}, {2048, 2048}}, 1), 4);
  EXPECT_EQ(tileEdge_log2(8 * 16 * 4 + 32, {{0, 0}, {4096, 4096}}, 1), 5);  // a layer has 16384 tiles at most
  EXPECT_EQ(tileEdge_log2(32, {{0, 0}, {16384, 16384}}, 1), 7);
  EXPECT_EQ(tileEdge_log2(4, {{16383, 16383}, {1, 1}}, 1), 7);  // those before the area count
  EXPECT_EQ(tileEdge_log2(8, {{0, 0}, {500, 500}}, 1), 6);      // 64 tiles
  EXPECT_EQ(tileEdge_log2(8, {{0, 0}, {64, 64}}, 1), 5);
  EXPECT_EQ(tileEdge_log2(8, {{0, 0}, {500, 500}}, 6), 7);  // 96 tiles
  EXPECT_EQ(tileEdge_log2(0, {{0, 0}, {16384, 16384}}, 1), 7);
}

}  // namespace
}  // namespace pumice::icd
