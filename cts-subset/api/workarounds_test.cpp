// What the driver does for programs that break the rules: icd/objects/workarounds.h.
#include <array>
#include <cstdlib>
#include <utility>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

class WorkaroundsTest : public VulkanTest {
 protected:
  ~WorkaroundsTest() override { unsetenv("PUMICE_ORDER_DISPATCHES"); }
};

// Each dispatch needs the one before it, and nothing says so.
TEST_F(WorkaroundsTest, DispatchesInOrderWithoutBarriers) {
  setenv("PUMICE_ORDER_DISPATCHES", "1", 1);
  createDevice();
  constexpr uint32_t kCount = 1u << 19, kSteps = 30;
  const TestBuffer x = makeBuffer(4 * kCount), y = makeBuffer(4 * kCount);
  for (uint32_t i = 0; i < kCount; ++i) x.as<float>()[i] = y.as<float>()[i] = 1;
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  const std::array<Compute, 2> saxpy{makeCompute(k_saxpy, kTwo, 8), makeCompute(k_saxpy, kTwo, 8)};
  bindBuffers(saxpy[0], std::array<TestBuffer, 2>{x, y});
  bindBuffers(saxpy[1], std::array<TestBuffer, 2>{y, x});
  const struct {
    float a;
    uint32_t n;
  } push{1.0f, kCount};
  run([&](VkCommandBuffer c) {
    for (uint32_t i = 0; i < kSteps; ++i) {
      bindAll(c, saxpy[i % 2]);
      vkCmdPushConstants(c, saxpy[i % 2].layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &push);
      vkCmdDispatch(c, kCount / 64, 1, 1);
    }
  });
  // Fibonacci's numbers: exact up to 2^24.
  float before = 1, last = 1;
  for (uint32_t i = 0; i < kSteps; ++i) before = std::exchange(last, before + last);
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ((kSteps % 2 == 0 ? x : y).as<float>()[i], last) << i;
    ASSERT_EQ((kSteps % 2 == 0 ? y : x).as<float>()[i], before) << i;
  }
}

}  // namespace
}  // namespace pumice::cts
