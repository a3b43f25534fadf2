// The fixture of drawing tests: targets, render passes, graphics pipelines with the state that a test cares about, and
// what is drawn as numbers.
//
// PUMICE_TEST_PICTURES=DIRECTORY: what readColor() reads is also written there, as PPM, for looking at.
#pragma once

#include "cts-subset/support/shader_image_test.h"

namespace pumice::cts {

/// An image that is drawn to, in the layout GENERAL, and a view of all of it.
struct Target {
  TestImage image;
  VkImageView view = VK_NULL_HANDLE;

  VkFormat format() const { return image.info.format; }
  VkExtent2D extent() const { return {image.info.extent.width, image.info.extent.height}; }
};

struct Rgba {
  float r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Rgba&) const = default;
};

/// What is drawn, by pixels; rows without padding.
struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<Rgba> pixels;
  const Rgba& at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x]; }
};

/// All state of a graphics pipeline, at first that of a triangle list without tests and blending that fills the target.
/// A test changes what it wants; arrays are the test's own.
struct PipelineState {
  explicit PipelineState(VkExtent2D extent, uint32_t colorCount = 1);
  PipelineState(const PipelineState&) = delete;
  PipelineState& operator=(const PipelineState&) = delete;

  std::vector<VkVertexInputBindingDescription> bindings;
  std::vector<VkVertexInputAttributeDescription> attributes;
  VkPipelineVertexInputStateCreateInfo vertexInput{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkViewport viewport{};
  VkRect2D scissor{};
  VkPipelineViewportStateCreateInfo viewports{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  std::vector<VkPipelineColorBlendAttachmentState> blend;
  VkPipelineColorBlendStateCreateInfo colors{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  std::vector<VkDynamicState> dynamic;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkRenderPass renderPass = VK_NULL_HANDLE;
  uint32_t subpass = 0;
  const void* next = nullptr;
  VkPipelineCreateFlags flags = 0;
  VkPipelineCache cache = VK_NULL_HANDLE;
  const VkSpecializationInfo* fragmentConstants = nullptr;

  /// A binding of floats, one attribute of `components` after the other, from location 0 on.
  void addFloats(std::initializer_list<uint32_t> components, VkVertexInputRate rate = VK_VERTEX_INPUT_RATE_VERTEX);
};

/// Which pixels a triangle covers (center inside, or on a top or left edge), and its weights there. In exact integers:
/// corners are in pixels, multiples of 1/256.
class TriangleModel {
 public:
  struct Corner {
    double x, y;
  };
  TriangleModel(Corner a, Corner b, Corner c);
  bool covers(uint32_t x, uint32_t y) const;
  /// At the pixel's center; of a, b and c.
  std::array<double, 3> weights(uint32_t x, uint32_t y) const;

 private:
  struct Edge {
    int64_t x0, y0, dx, dy;
    int64_t at(int64_t x, int64_t y) const { return dx * (y - y0) - dy * (x - x0); }
    bool isTopLeft() const { return dy < 0 || (dy == 0 && dx > 0); }
  };
  Edge edges_[3];  // opposite of corner i; positive inside
};

class DrawTest : public ShaderImageTest {
 protected:
  static constexpr VkBufferUsageFlags kVertexUsages =
      kAllUsages | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT;

  Target makeTarget(VkFormat format, VkExtent2D extent, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT,
                    VkImageUsageFlags more = 0, uint32_t layers = 1);
  static VkImageAspectFlags aspectsOf(VkFormat format);

  template <typename T>
  TestBuffer makeVertices(const std::vector<T>& values) {
    const TestBuffer out = makeBuffer(values.size() * sizeof(T), kVertexUsages);
    std::copy(values.begin(), values.end(), out.as<T>().begin());
    return out;
  }
  VkShaderModule makeModule(std::span<const uint32_t> spirv);
  VkPipelineLayout makeLayout(std::span<const VkDescriptorSetLayout> sets = {},
                              std::span<const VkPushConstantRange> ranges = {});
  /// `fragment` may be empty: no fragment shader.
  VkPipeline makePipeline(PipelineState& state, std::span<const uint32_t> vertex, std::span<const uint32_t> fragment);
  /// The create info of the above; valid until the state changes. `stages` has room for two.
  VkGraphicsPipelineCreateInfo pipelineInfo(PipelineState& state, VkPipelineShaderStageCreateInfo* stages,
                                            std::span<const uint32_t> vertex, std::span<const uint32_t> fragment);

  /// One subpass with these targets; depth and stencil last. Cleared and stored, in the layout GENERAL.
  VkRenderPass makeRenderPass(std::span<const Target> targets, VkAttachmentLoadOp load = VK_ATTACHMENT_LOAD_OP_CLEAR);
  VkRenderPass makeRenderPass(const VkRenderPassCreateInfo& info);
  VkRenderPass makeRenderPass(std::span<const VkAttachmentDescription> attachments,
                              std::span<const VkSubpassDescription> subpasses,
                              std::span<const VkSubpassDependency> dependencies, const void* next = nullptr);
  /// An attachment in the layout GENERAL; its stencil as its depth.
  static VkAttachmentDescription attachment(VkFormat format, VkAttachmentLoadOp load,
                                            VkAttachmentStoreOp store = VK_ATTACHMENT_STORE_OP_STORE,
                                            VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT);
  /// What is drawn in the subpass is copied out.
  static VkSubpassDependency toCopy(uint32_t subpass = 0);
  VkFramebuffer makeFramebuffer(VkRenderPass pass, std::span<const Target> targets, uint32_t layers = 1);
  /// Of the whole framebuffer.
  void beginPass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer, VkExtent2D extent,
                 std::span<const VkClearValue> clears, VkSubpassContents contents = VK_SUBPASS_CONTENTS_INLINE);
  void bindVertices(VkCommandBuffer commands, const TestBuffer& buffer, uint32_t binding = 0) {
    const VkDeviceSize zero = 0;
    vkCmdBindVertexBuffers(commands, binding, 1, &buffer.buffer, &zero);
  }

  /// A set with a combined image sampler or input attachment each, for the fragment stage.
  struct Set {
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
  };
  Set makeSet(VkDescriptorType type, std::span<const VkDescriptorImageInfo> images);

  /// The bytes of a layer of level 0, rows without padding. A layer of what has one sample.
  std::vector<std::byte> readBytes(const Target& target, VkImageAspectFlagBits aspect, uint32_t bytesOfTexel,
                                   uint32_t layer = 0);
  /// Of R8G8B8A8_UNORM, B8G8R8A8_UNORM, R32G32B32A32_SFLOAT.
  Picture readColor(const Target& target, uint32_t layer = 0);
  /// Of D32_SFLOAT, D16_UNORM.
  std::vector<float> readDepth(const Target& target);

  /// Every pixel is `expected(x, y)`, up to `tolerance` in each component.
  void expectPicture(const Picture& picture, const std::function<Rgba(uint32_t x, uint32_t y)>& expected,
                     float tolerance = 1.001f / 255);

  static constexpr VkFormat kRgba8 = VK_FORMAT_R8G8B8A8_UNORM;
  static VkClearValue clearColor(float r, float g, float b, float a = 1) {
    VkClearValue value{};
    value.color = {{r, g, b, a}};
    return value;
  }
  static VkClearValue clearDepth(float depth, uint32_t stencil = 0) {
    VkClearValue value{};
    value.depthStencil = {depth, stencil};
    return value;
  }

 private:
  uint32_t pictureCount_ = 0;
};

/// The samples of a pixel at their standard places (Vulkan 1.3, 27.3): models whose pixel centers are those samples.
std::vector<TriangleModel> samplesOf(const TriangleModel::Corner (&corners)[3], VkSampleCountFlagBits count);

inline constexpr Rgba kBlack{0, 0, 0, 1}, kWhite{1, 1, 1, 1};

/// A vertex of color.vert.
struct ColorVertex {
  float x, y, z, w;
  float r, g, b, a;
};

/// Where a triangle lies in a target of 64 by 64 pixels; clockwise on the screen.
inline constexpr TriangleModel::Corner kTriangle[3] = {{5.25, 3.5}, {60.125, 20.75}, {17, 58.0625}};

/// A target of 64 by 64 pixels with depth and stencil, a render pass that clears it, and pipelines that fill it with a
/// color that is pushed, at a depth that is pushed (whole.vert, push_color.frag).
class FilledTargetTest : public DrawTest {
 protected:
  static constexpr VkExtent2D kExtent{64, 64};
  static constexpr VkShaderStageFlags kStages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  struct Push {
    float color[4];
    float depth;
  };

  /// Creates the device too.
  void prepare(const DeviceOptions& options = {});
  /// The same with all features of the device.
  void prepareFull();
  /// On a device that is there.
  void prepareTargets();
  VkPipeline makeWhole(const std::function<void(PipelineState&)>& change);
  /// The pass, cleared to black.
  void draw(const std::function<void(VkCommandBuffer)>& record, float depth = 1, uint32_t stencil = 0);
  void drawWhole(VkCommandBuffer commands, const Rgba& color, float depth = 0);
  /// kTriangle, for color.vert.
  TestBuffer makeTriangle(const Rgba& color, float depth = 0);
  Picture picture() { return readColor(targets_[0]); }
  std::vector<int> stencil();

  Target targets_[2];
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

}  // namespace pumice::cts
