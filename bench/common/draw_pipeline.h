// Graphics pipelines for benchmark programs. Threads, lifetimes and failures as in vulkan_host.h.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "bench/common/graphics_host.h"
#include "bench/common/vulkan_host.h"

namespace pumice::bench {

// What a graphics pipeline is made of. Triangle lists, front faces clockwise on the screen, the target's whole area as
// viewport, depth test "less".
struct DrawState {
  std::span<const uint32_t> vertex;
  std::span<const uint32_t> fragment;  // may be empty
  std::vector<VkVertexInputBindingDescription> bindings;
  std::vector<VkVertexInputAttributeDescription> attributes;
  std::vector<VkDescriptorType> descriptors;  // of set 0, at bindings 0, 1, ...
  uint32_t sets = 1;                          // how many sets may be made
  uint32_t pushBytes = 0;                     // visible to both stages
  bool depth = false;                         // tested and written
  bool blend = false;                         // source alpha, one minus source alpha
  VkCullModeFlags cull = VK_CULL_MODE_NONE;
  std::optional<VkRect2D> scissor;  // the target's whole area without it
  std::optional<uint32_t> salt;     // value of specialisation constant 0 of the fragment shader
};

// An image with its sampler, or a uniform buffer.
struct DrawResource {
  DrawResource(const Texture& texture)
      : image{texture.sampler(), texture.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL} {}
  DrawResource(const Surface& depth, const Sampler& sampler)
      : image{sampler.handle(), depth.view(), VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL} {}
  DrawResource(const Buffer& uniforms, VkDeviceSize offset, VkDeviceSize bytes)
      : buffer{uniforms.handle(), offset, bytes} {}

  VkDescriptorImageInfo image{};
  VkDescriptorBufferInfo buffer{};
};

class DrawPipeline {
 public:
  DrawPipeline(Host& host, const RenderTarget& target, const DrawState& state);
  ~DrawPipeline();
  DrawPipeline(const DrawPipeline&) = delete;
  DrawPipeline& operator=(const DrawPipeline&) = delete;

  // A descriptor set of these resources, valid as long as the pipeline.
  VkDescriptorSet makeSet(std::initializer_list<DrawResource> resources);

  void bind(VkCommandBuffer commands) const { vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_); }
  void bindSet(VkCommandBuffer commands, VkDescriptorSet set) const {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set, 0, nullptr);
  }
  template <typename Push>
  void push(VkCommandBuffer commands, const Push& values) const {
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof values,
                       &values);
  }

 private:
  void createLayout(const DrawState& state);
  void createPipeline(Host& host, const RenderTarget& target, const DrawState& state);

  VkDevice device_;
  std::vector<VkDescriptorType> types_;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

}  // namespace pumice::bench
