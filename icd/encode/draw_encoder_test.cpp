#include "icd/encode/draw_encoder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>

namespace pumice::icd {
namespace {

ChunkMemory heap() {
  return {[](void*, size_t size_B, size_t align_B) {
            return std::aligned_alloc(align_B, (size_B + align_B - 1) / align_B * align_B);
          },
          [](void*, void* memory) { std::free(memory); }, nullptr};
}

class DrawEncoderTest : public testing::Test {
 protected:
  DrawEncoderTest() {
    EXPECT_TRUE(pool_.initialize());
    stream_.emplace(pool_);
    values_.vertexInput.attributeCount = 1;
    values_.vertexInput.attributes[0] = {0, 2, 0, VK_FORMAT_R32G32_SFLOAT, 4};
    values_.vertexStride_B[2] = 24;
    values_.viewports.count = values_.scissorCount = 1;
    values_.viewports.viewports[0] = {0, 0, 64, 64, 0.25f, 0.5f};
    values_.fragment.depthFlags = abi::kDepthTest | abi::kDepthWrite | abi::kStencilTest;
    vertex_.inputSlotCount = 1;
    programs_.vertex = &vertex_;
    vertexInput_ = vertexInputState(values_.vertexInput, vertex_);
    targets_.depth = 1;
    targets_.stencil = 1;
  }

  void bind(DynamicSet dynamic = {}) { encoder_.bindPrograms({&programs_, &values_, dynamic, &vertexInput_}); }
  const abi::DrawState* flush() { return encoder_.flush(*stream_, &bindings_); }

  ChunkPool pool_{heap()};
  std::optional<CommandStream> stream_;
  abi::VertexProgram vertex_{};
  abi::GraphicsPrograms programs_{};
  abi::BindingState bindings_{};
  abi::VertexInputState vertexInput_{};
  abi::TargetState targets_{};
  DrawValues values_;
  DrawEncoder encoder_;
};

TEST_F(DrawEncoderTest, TheFirstDrawWritesEverything) {
  EXPECT_FALSE(encoder_.ready());
  bind();
  ASSERT_TRUE(encoder_.ready());
  encoder_.setTargets(targets_);
  encoder_.bindVertexBuffer(2, 0x1000, 96);
  encoder_.bindIndexBuffer(0x2000, 12, abi::IndexType::kUint32);
  const abi::DrawState* state = flush();
  EXPECT_EQ(state->programs, &programs_);
  EXPECT_EQ(state->bindings, &bindings_);
  EXPECT_EQ(state->vertexInput, &vertexInput_);  // the pipeline's own
  EXPECT_EQ(state->vertexBuffers->buffers[2].address, 0x1000u);
  EXPECT_EQ(state->vertexBuffers->buffers[2].size_B, 96u);
  EXPECT_EQ(state->vertexBuffers->buffers[2].stride_B, 24u);
  EXPECT_EQ(state->vertexBuffers->buffers[0].address, 0u);
  EXPECT_EQ(state->indexBuffer->address, 0x2000u);
  EXPECT_EQ(state->indexBuffer->type, abi::IndexType::kUint32);
  EXPECT_EQ(state->viewports->viewports[0].width, 64.f);
  EXPECT_EQ(state->fragment->viewportDepth[0][0], 0.25f);
  EXPECT_EQ(state->fragment->viewportDepth[0][1], 0.5f);
  EXPECT_EQ(state->fragment->depthFlags, abi::kDepthTest | abi::kDepthWrite | abi::kStencilTest);
  EXPECT_EQ(state->targets->depth, 1);
}

TEST_F(DrawEncoderTest, NothingNewIsNothingWritten) {
  bind();
  encoder_.setTargets(targets_);
  const abi::DrawState* state = flush();
  const uint64_t bytes = stream_->bytes();
  EXPECT_EQ(flush(), state);
  bind();  // the same again
  encoder_.setTargets(targets_);
  encoder_.bindVertexBuffer(2, 0, 0);
  EXPECT_EQ(flush(), state);
  EXPECT_EQ(stream_->bytes(), bytes);
}

// Each change makes its own group new and leaves the others where they are.
TEST_F(DrawEncoderTest, OneGroupAtATime) {
  bind();
  const abi::DrawState before = *flush();
  encoder_.change(kGroupFragment).fragment.blendConstant[0] = 0.5f;
  abi::DrawState after = *flush();
  EXPECT_NE(after.fragment, before.fragment);
  EXPECT_EQ(after.fragment->blendConstant[0], 0.5f);
  EXPECT_EQ(before.fragment->blendConstant[0], 0.f);  // what is in the stream stays
  after.fragment = before.fragment;
  EXPECT_EQ(std::memcmp(&after, &before, sizeof after), 0);

  encoder_.change(kGroupRaster).raster.lineWidth = 3;
  abi::DrawState third = *flush();
  EXPECT_NE(third.raster, before.raster);
  EXPECT_EQ(third.viewports, before.viewports);
  EXPECT_EQ(third.vertexBuffers, before.vertexBuffers);

  abi::BindingState other{};
  const abi::DrawState* fourth = encoder_.flush(*stream_, &other);
  EXPECT_EQ(fourth->bindings, &other);
  EXPECT_EQ(fourth->raster, third.raster);
}

TEST_F(DrawEncoderTest, DepthRangesReachTheFragmentState) {
  bind();
  const abi::DrawState before = *flush();
  encoder_.change(kGroupViewports).viewports.viewports[0].x = 1;
  const abi::DrawState moved = *flush();
  EXPECT_NE(moved.viewports, before.viewports);
  EXPECT_EQ(moved.fragment, before.fragment);
  encoder_.change(kGroupViewports).viewports.viewports[0].maxDepth = 1;
  EXPECT_EQ(flush()->fragment->viewportDepth[0][1], 1.f);
}

TEST_F(DrawEncoderTest, TestsOfWhatIsNotThereAreOff) {
  bind();
  EXPECT_EQ(flush()->fragment->depthFlags, 0);
  targets_.depth = abi::kNoAttachment;
  encoder_.setTargets(targets_);
  EXPECT_EQ(flush()->fragment->depthFlags, abi::kStencilTest);
  targets_.depth = 0;
  encoder_.setTargets(targets_);
  encoder_.change(kGroupFragment).fragment.depthFlags = abi::kDepthWrite;  // no test, no write
  EXPECT_EQ(flush()->fragment->depthFlags, 0);
}

TEST_F(DrawEncoderTest, DynamicVertexInput) {
  DynamicSet dynamic;
  dynamic.add(Dynamic::kVertexInput);
  dynamic.add(Dynamic::kVertexStride);
  encoder_.bindPrograms({&programs_, &values_, dynamic, nullptr});
  DrawValues& v = encoder_.change(kGroupVertexInput | kGroupVertexBuffers);
  v.vertexInput.attributeCount = 1;
  v.vertexInput.attributes[0] = {0, 31, 0, VK_FORMAT_R8_UINT, 1};
  v.vertexStride_B[31] = 7;
  encoder_.bindVertexBuffer(31, 0x500, 70);
  const abi::DrawState* state = flush();
  ASSERT_EQ(state->vertexInput->attributeCount, 1u);
  EXPECT_EQ(state->vertexInput->attributes[0].format, static_cast<uint32_t>(VK_FORMAT_R8_UINT));
  EXPECT_EQ(state->vertexBuffers->buffers[31].address, 0x500u);
  EXPECT_EQ(state->vertexBuffers->buffers[31].stride_B, 7u);
}

// Out of memory, all blocks lie on top of each other: nothing may be read back.
TEST_F(DrawEncoderTest, OutOfMemory) {
  DynamicSet dynamic;
  dynamic.add(Dynamic::kVertexInput);
  stream_->fail();
  for (uint32_t i = 0; i < 100; ++i) {
    encoder_.bindPrograms({&programs_, &values_, dynamic, nullptr});
    encoder_.change(~0u).raster.lineWidth = static_cast<float>(i);
    flush();
  }
  EXPECT_TRUE(stream_->outOfMemory());
}

TEST_F(DrawEncoderTest, ForgettingWritesAllAgain) {
  bind();
  const abi::DrawState before = *flush();
  encoder_.forget();
  EXPECT_FALSE(encoder_.ready());
  bind();
  const abi::DrawState after = *flush();
  EXPECT_NE(after.raster, before.raster);
  EXPECT_NE(after.fragment, before.fragment);
}

}  // namespace
}  // namespace pumice::icd
