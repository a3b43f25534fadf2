#include "bench/drawing.h"

#include <algorithm>
#include <cstddef>

#include "bench/shaders/color_frag.h"
#include "bench/shaders/mesh_vert.h"

namespace pumice::bench {

void recordPass(Job& job, RenderTarget& target, const std::function<void(VkCommandBuffer)>& draw) {
  Commands& commands = job.record();
  target.begin(commands.handle());
  draw(commands.handle());
  vkCmdEndRenderPass(commands.handle());
  commands.finish();
  job.reset = [&target] { target.scrub(); };
}

DrawState meshState() {
  return {.vertex = shaders::mesh_vert,
          .fragment = shaders::color_frag,
          .bindings = {{0, sizeof(MeshVertex), VK_VERTEX_INPUT_RATE_VERTEX}},
          .attributes = {{0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(MeshVertex, x)},
                         {1, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(MeshVertex, color)}},
          .pushBytes = sizeof(MeshPush),
          .depth = true};
}

void bindVertices(VkCommandBuffer commands, const Buffer& vertices, uint32_t binding) {
  const VkBuffer buffer = vertices.handle();
  const VkDeviceSize offset = 0;
  vkCmdBindVertexBuffers(commands, binding, 1, &buffer, &offset);
}

Color clearColor() {
  Color color{};
  std::ranges::copy(RenderTarget::kClear, color.begin());
  return color;
}

}  // namespace pumice::bench
