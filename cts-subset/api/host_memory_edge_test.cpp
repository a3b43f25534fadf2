// Resources that end where the application's memory does: behind the last byte is a page that nobody may touch. What
// the device reads and writes there is what it does in memory of its own.
//
// covers: VK_EXT_external_memory_host
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/sample_2d.spv.h"

namespace pumice::cts {
namespace {

constexpr auto kHost = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
constexpr VkDeviceSize kPage = 4096;

// One aspect of a format, in blocks.
struct Kind {
  VkFormat format;
  uint32_t bytes;
  uint32_t blockEdge = 1;
  VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT;
};
constexpr Kind kKinds[] = {{VK_FORMAT_R8_UNORM, 1},
                           {VK_FORMAT_R8G8_UNORM, 2},
                           {VK_FORMAT_R5G6B5_UNORM_PACK16, 2},
                           {VK_FORMAT_R16_SFLOAT, 2},
                           {VK_FORMAT_R8G8B8A8_UNORM, 4},
                           {VK_FORMAT_B8G8R8A8_SRGB, 4},
                           {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4},
                           {VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, 4},
                           {VK_FORMAT_R32_SFLOAT, 4},
                           {VK_FORMAT_R16G16B16A16_SFLOAT, 8},
                           {VK_FORMAT_R32G32_SFLOAT, 8},
                           {VK_FORMAT_R32G32B32A32_SFLOAT, 16},
                           {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 8, 4},
                           {VK_FORMAT_BC7_UNORM_BLOCK, 16, 4},
                           {VK_FORMAT_D16_UNORM, 2, 1, VK_IMAGE_ASPECT_DEPTH_BIT},
                           {VK_FORMAT_D32_SFLOAT, 4, 1, VK_IMAGE_ASPECT_DEPTH_BIT}};

class HostMemoryEdgeTest : public DrawTest {
 protected:
  // `size` bytes, the last of a page.
  std::byte* makePages(VkDeviceSize size) {
    const VkDeviceSize whole = (size + kPage - 1) / kPage * kPage;
    void* range = mmap(nullptr, whole + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(range, MAP_FAILED);
    defer([=] { munmap(range, whole + 2 * kPage); });
    std::byte* first = static_cast<std::byte*>(range) + kPage;
    EXPECT_EQ(mprotect(first, whole, PROT_READ | PROT_WRITE), 0);
    return first + (whole - size);
  }

  VkDeviceMemory import(VkDeviceSize size, std::byte** bytes) {
    *bytes = makePages(size);
    const VkImportMemoryHostPointerInfoEXT host{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, nullptr, kHost,
                                                *bytes};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &host, size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(device(), &info, nullptr, &memory), VK_SUCCESS);
    defer([this, memory] { vkFreeMemory(device(), memory, nullptr); });
    return memory;
  }

  // Behind the buffer are less than 64 bytes, if it is not a multiple of that.
  TestBuffer hostBuffer(VkDeviceSize size, VkBufferUsageFlags usage = kVertexUsages) {
    const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                                    kHost};
    const VkBufferCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &external, .size = size, .usage = usage};
    TestBuffer out;
    out.size = size;
    EXPECT_EQ(vkCreateBuffer(device(), &info, nullptr, &out.buffer), VK_SUCCESS);
    VkMemoryRequirements need{};
    vkGetBufferMemoryRequirements(device(), out.buffer, &need);
    out.memory = import(need.size, &out.bytes);
    defer([this, buffer = out.buffer] { vkDestroyBuffer(device(), buffer, nullptr); });
    EXPECT_EQ(vkBindBufferMemory(device(), out.buffer, out.memory, 0), VK_SUCCESS);
    return out;
  }

  // In the layout UNDEFINED.
  TestImage imageIn(const VkImageCreateInfo& info, bool inHostMemory) {
    if (!inHostMemory) return makeImage(info);
    const VkExternalMemoryImageCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, nullptr, kHost};
    TestImage out;
    out.info = info;
    out.info.pNext = &external;
    EXPECT_EQ(vkCreateImage(device(), &out.info, nullptr, &out.image), VK_SUCCESS);
    out.info.pNext = nullptr;
    VkMemoryRequirements need{};
    vkGetImageMemoryRequirements(device(), out.image, &need);
    std::byte* bytes = nullptr;
    out.memory = import(need.size, &bytes);
    defer([this, image = out.image] { vkDestroyImage(device(), image, nullptr); });
    EXPECT_EQ(vkBindImageMemory(device(), out.image, out.memory, 0), VK_SUCCESS);
    return out;
  }

  // What all operations of sample_2d.comp see of an image with `texels` in it, and what is copied out of it.
  std::vector<std::byte> seenOf(const Kind& kind, const VkImageCreateInfo& info, const std::vector<std::byte>& texels,
                                VkFilter filter, bool inHostMemory) {
    const TestImage image = imageIn(info, inHostMemory);
    const auto buffer = [&](VkDeviceSize size) { return inHostMemory ? hostBuffer(size) : makeBuffer(size); };
    const TestBuffer staging = buffer(texels.size()), back = buffer(texels.size());
    std::copy(texels.begin(), texels.end(), staging.bytes);
    std::vector<VkBufferImageCopy> regions;
    VkDeviceSize at = 0;
    for (uint32_t l = 0; l < info.mipLevels; ++l) {
      const VkExtent3D extent{std::max(info.extent.width >> l, 1u), std::max(info.extent.height >> l, 1u), 1};
      regions.push_back({at, 0, 0, {kind.aspect, l, 0, 1}, {}, extent});
      at += levelBytes(kind, info, l);
    }
    const auto count = static_cast<uint32_t>(regions.size());
    run([&](VkCommandBuffer c) {
      VkImageMemoryBarrier toGeneral{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
      toGeneral.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
      toGeneral.newLayout = VK_IMAGE_LAYOUT_GENERAL;
      toGeneral.srcQueueFamilyIndex = toGeneral.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
      toGeneral.image = image.image;
      toGeneral.subresourceRange = {kind.aspect, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
      vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                           nullptr, 1, &toGeneral);
      vkCmdCopyBufferToImage(c, staging.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, count, regions.data());
    });
    run([&](VkCommandBuffer c) {
      vkCmdCopyImageToBuffer(c, image.image, VK_IMAGE_LAYOUT_GENERAL, back.buffer, count, regions.data());
    });
    std::vector<std::byte> seen(back.bytes, back.bytes + back.size);

    const VkImageView view = makeView(image, VK_IMAGE_VIEW_TYPE_2D,
                                      [&](VkImageViewCreateInfo& v) { v.subresourceRange.aspectMask = kind.aspect; });
    const VkSampler sampler =
        makeSampler(filter, [](VkSamplerCreateInfo& s) { s.addressModeU = s.addressModeV = kClamp; });
    constexpr uint32_t kQuestions = 512;
    const TestBuffer questions = buffer(kQuestions * 32);
    ask(info, questions);
    for (int32_t operation = 0; operation < 5; ++operation) {
      if (operation == 2) continue;  // minimum levels are tested elsewhere
      const TestBuffer out = buffer(kQuestions * 16);
      const Binding bindings[] = {
          bufferBinding(out), bufferBinding(questions), {.type = kCombined, .images = {imageOf(view, sampler)}}};
      Compute& program = programs_[operation];
      if (program.pipeline == VK_NULL_HANDLE) {
        const VkSpecializationMapEntry entry{0, 0, sizeof operation};
        const VkSpecializationInfo constants{1, &entry, sizeof operation, &operation};
        program = makeProgram(k_sample_2d, bindings, 0, &constants);
      }
      writeAll(program, bindings);
      run([&](VkCommandBuffer c) {
        bindAll(c, program);
        vkCmdDispatch(c, kQuestions / 32, 1, 1);
      });
      seen.insert(seen.end(), out.bytes, out.bytes + out.size);
    }
    return seen;
  }

  static VkDeviceSize levelBytes(const Kind& kind, const VkImageCreateInfo& info, uint32_t level) {
    const auto blocks = [&](uint32_t extent) {
      return (std::max(extent >> level, 1u) + kind.blockEdge - 1) / kind.blockEdge;
    };
    return VkDeviceSize{blocks(info.extent.width)} * blocks(info.extent.height) * kind.bytes;
  }

  // Half of them along the last rows, the others anywhere, and also beyond the edges. Fetches see the first few.
  static void ask(const VkImageCreateInfo& info, const TestBuffer& questions) {
    std::mt19937 random(5);
    const auto width = static_cast<float>(info.extent.width), height = static_cast<float>(info.extent.height);
    const auto q = questions.as<float>();
    for (uint32_t i = 0; i < q.size() / 8; ++i) {
      const bool inRow = i / 32 % 2 == 0;
      const auto part = [&] { return static_cast<float>(random() % 1400) / 1000 - 0.2f; };
      const float place[8] = {inRow ? (width - 32 + static_cast<float>(i % 32) + 0.3f) / width : part(),
                              inRow ? (height - static_cast<float>(i / 64 % 8) / 4 - 0.25f) / height : part(),
                              i / 128 % 2 == 0 ? 0 : static_cast<float>(random() % 256) / 64,
                              0,
                              1 / width,
                              0,
                              0,
                              (i / 128 % 2 == 0 ? 1.0f : 3.0f) / height};
      std::copy_n(place, 8, q.begin() + 8 * i);
    }
  }

  Compute programs_[5];
  static constexpr VkSamplerAddressMode kClamp = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
};

TEST_F(HostMemoryEdgeTest, Images) {
  createFullDevice(false);
  constexpr VkExtent2D kExtents[] = {{64, 64}, {37, 29}, {128, 5}};
  for (const Kind& kind : kKinds) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), kind.format, &properties);
    for (const VkImageTiling tiling : {VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_TILING_LINEAR}) {
      const VkFormatFeatureFlags features =
          tiling == VK_IMAGE_TILING_OPTIMAL ? properties.optimalTilingFeatures : properties.linearTilingFeatures;
      if ((features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) == 0) continue;
      for (const VkExtent2D& extent : kExtents) {
        SCOPED_TRACE("format " + std::to_string(kind.format) + ", tiling " + std::to_string(tiling) + ", width " +
                     std::to_string(extent.width));
        const uint32_t levels = tiling == VK_IMAGE_TILING_OPTIMAL && extent.height > 8 ? 3 : 1;
        VkImageCreateInfo info = imageInfo(kind.format, VK_IMAGE_TYPE_2D, {extent.width, extent.height, 1}, levels);
        info.tiling = tiling;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        VkDeviceSize size = 0;
        for (uint32_t l = 0; l < levels; ++l) size += levelBytes(kind, info, l);
        std::vector<std::byte> texels(size);
        // No number's exponent is all ones.
        for (std::byte& b : texels) b = static_cast<std::byte>(random_() & 0x3B);
        const bool linear = (features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) != 0;
        for (const VkFilter filter : {VK_FILTER_NEAREST, VK_FILTER_LINEAR}) {
          if (filter == VK_FILTER_LINEAR && !linear) continue;
          const std::vector<std::byte> theirs = seenOf(kind, info, texels, filter, true);
          if (HasFailure()) return;
          EXPECT_TRUE(std::equal(texels.begin(), texels.end(), theirs.begin()));
          EXPECT_EQ(theirs == seenOf(kind, info, texels, filter, false), true);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// A triangle with each format of attributes, indexed by each type of index: vertices, indices, indirect parameters and
// the target lie at the end of host memory.
TEST_F(HostMemoryEdgeTest, Draws) {
  createFullDevice(false);
  constexpr VkExtent2D kExtent{61, 33};
  VkImageCreateInfo info = imageInfo(kRgba8, VK_IMAGE_TYPE_2D, {kExtent.width, kExtent.height, 1});
  info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  Target target{imageIn(info, true)};
  target.view = makeView(target.image);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  struct Attribute {
    VkFormat format;
    uint32_t bytes;
    std::vector<uint8_t> one;  // red of 1
  };
  const Attribute kAttributes[] = {{VK_FORMAT_R8_UNORM, 1, {255}},
                                   {VK_FORMAT_R8G8_UNORM, 2, {255, 0}},
                                   {VK_FORMAT_R8G8B8_UNORM, 3, {255, 0, 0}},
                                   {VK_FORMAT_R8G8B8A8_UNORM, 4, {255, 0, 0, 255}},
                                   {VK_FORMAT_R16_SFLOAT, 2, {0, 0x3C}},
                                   {VK_FORMAT_R16G16B16_UNORM, 6, {255, 255, 0, 0, 0, 0}},
                                   {VK_FORMAT_R32_SFLOAT, 4, {0, 0, 0x80, 0x3F}},
                                   {VK_FORMAT_R32G32B32_SFLOAT, 12, {0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0}}};
  // 96 triangles, all but the last of which are outside; the last covers everything.
  constexpr uint32_t kVertices = 288;
  const TestBuffer positions = hostBuffer(kVertices * 8);
  for (uint32_t v = 0; v < kVertices; ++v) {
    const bool last = v >= kVertices - 3;
    positions.as<float>()[2 * v] = !last ? 5 : v % 3 == 1 ? 3 : -1;
    positions.as<float>()[2 * v + 1] = !last ? 5 : v % 3 == 2 ? 3 : -1;
  }
  const TestBuffer indirect = hostBuffer(64 * 5);  // the last command ends with the memory
  const VkDrawIndexedIndirectCommand command{kVertices, 1, 0, 0, 0};
  std::memcpy(indirect.bytes + indirect.size - sizeof command, &command, sizeof command);
  for (const Attribute& a : kAttributes) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), a.format, &properties);
    if ((properties.bufferFeatures & VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT) == 0) continue;
    PipelineState state(kExtent);
    state.bindings = {{0, 8, VK_VERTEX_INPUT_RATE_VERTEX}, {1, a.bytes, VK_VERTEX_INPUT_RATE_VERTEX}};
    state.attributes = {{0, 0, VK_FORMAT_R32G32_SFLOAT, 0}, {1, 1, a.format, 0}};
    state.renderPass = pass;
    state.layout = makeLayout();
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const TestBuffer colors = hostBuffer(kVertices * a.bytes);
    ASSERT_EQ(colors.size % 32, 0u);
    for (uint32_t v = 0; v < kVertices; ++v) std::memcpy(colors.bytes + v * a.bytes, a.one.data(), a.bytes);
    for (const VkIndexType type : {VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32}) {
      SCOPED_TRACE("format " + std::to_string(a.format) + ", index type " + std::to_string(type));
      const uint32_t indexBytes = type == VK_INDEX_TYPE_UINT16 ? 2 : 4;
      const TestBuffer indices = hostBuffer(kVertices * indexBytes);
      for (uint32_t v = 0; v < kVertices; ++v) std::memcpy(indices.bytes + v * indexBytes, &v, indexBytes);
      run([&](VkCommandBuffer c) {
        const VkClearValue clear = clearColor(0, 1, 0);
        beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        bindVertices(c, positions, 0);
        bindVertices(c, colors, 1);
        vkCmdBindIndexBuffer(c, indices.buffer, 0, type);
        vkCmdDrawIndexedIndirect(c, indirect.buffer, indirect.size - sizeof command, 1, sizeof command);
        vkCmdEndRenderPass(c);
      });
      expectPicture(readColor(target), [](uint32_t, uint32_t) -> Rgba { return {1, 0, 0, 1}; });
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
