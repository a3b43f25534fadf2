#include "icd/objects/tile_passes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pumice::icd {
namespace {

SubpassDependency between(uint32_t source, uint32_t destination, bool byRegion,
                          VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                          VkAccessFlags2 access = VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT) {
  return {source, destination, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, stages, access, byRegion};
}

std::vector<uint32_t> passesOf(std::vector<Subpass> subpasses, const std::vector<SubpassDependency>& dependencies) {
  assignTilePasses(subpasses, dependencies);
  std::vector<uint32_t> numbers;
  for (const Subpass& s : subpasses) numbers.push_back(s.tilePass);
  return numbers;
}

using Numbers = std::vector<uint32_t>;

TEST(TilePasses, IndependentSubpassesShareTiles) {
  EXPECT_EQ(passesOf(std::vector<Subpass>(3), {}), (Numbers{0, 0, 0}));
}

TEST(TilePasses, DependenciesByRegionShareTiles) {
  EXPECT_EQ(passesOf(std::vector<Subpass>(3), {between(0, 1, true), between(1, 2, true), between(0, 2, true)}),
            (Numbers{0, 0, 0}));
}

// Vertices and arguments lie in no region.
TEST(TilePasses, DependenciesOfGeometrySeparate) {
  const auto second = [](VkPipelineStageFlags2 stages, VkAccessFlags2 access) {
    return passesOf(std::vector<Subpass>(2), {between(0, 1, true, stages, access)})[1];
  };
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT), 1u);
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, 0), 1u);  // writes after reads
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT), 1u);
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, VK_ACCESS_2_MEMORY_READ_BIT), 1u);
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT), 0u);
  EXPECT_EQ(second(VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT), 0u);
}

TEST(TilePasses, OneDependencyOnTheWholeSeparates) {
  EXPECT_EQ(passesOf(std::vector<Subpass>(3), {between(0, 1, true), between(0, 1, false)}), (Numbers{0, 1, 1}));
  EXPECT_EQ(passesOf(std::vector<Subpass>(4), {between(0, 1, true), between(1, 2, true), between(0, 3, false)}),
            (Numbers{0, 0, 0, 1}));
}

// What is separated already does not separate again: subpass 2 waits for the tiles of 0 through 1.
TEST(TilePasses, EarlierPassesDoNotMatter) {
  EXPECT_EQ(passesOf(std::vector<Subpass>(3), {between(0, 1, false), between(0, 2, false)}), (Numbers{0, 1, 1}));
  EXPECT_EQ(passesOf(std::vector<Subpass>(3), {between(0, 1, false), between(1, 2, false)}), (Numbers{0, 1, 2}));
}

TEST(TilePasses, WhatLiesOutsideDoesNotSeparate) {
  EXPECT_EQ(passesOf(std::vector<Subpass>(2),
                     {between(VK_SUBPASS_EXTERNAL, 1, false), between(0, VK_SUBPASS_EXTERNAL, false)}),
            (Numbers{0, 0}));
}

TEST(TilePasses, AnotherViewMaskSeparates) {
  std::vector<Subpass> subpasses(4);
  subpasses[0].viewMask = subpasses[1].viewMask = 3;
  subpasses[2].viewMask = 1;
  subpasses[3].viewMask = 3;
  EXPECT_EQ(passesOf(subpasses, {}), (Numbers{0, 0, 1, 2}));
}

// Resolved at the end of the tile pass: what uses the result, or draws to what was resolved, comes after it.
TEST(TilePasses, UsesOfWhatIsResolvedSeparate) {
  const auto resolving = [] {
    Subpass s;
    s.colors = {{0}, {1}};
    s.resolves = {{VK_ATTACHMENT_UNUSED}, {2}};
    s.depthStencil = {3};
    s.depthStencilResolve = {4};
    return s;
  };
  const auto second = [&](auto&& use) {
    std::vector<Subpass> subpasses{resolving(), {}};
    use(subpasses[1]);
    return passesOf(subpasses, {between(0, 1, true)})[1];
  };
  EXPECT_EQ(second([](Subpass& s) { s.inputs = {{2, VK_IMAGE_ASPECT_COLOR_BIT}}; }), 1u);
  EXPECT_EQ(second([](Subpass& s) { s.colors = {{1}}; }), 1u);
  EXPECT_EQ(second([](Subpass& s) { s.depthStencil = {3}; }), 1u);
  EXPECT_EQ(second([](Subpass& s) { s.inputs = {{4, VK_IMAGE_ASPECT_DEPTH_BIT}}; }), 1u);
  EXPECT_EQ(second([](Subpass& s) { s.colors = {{0}}; }), 0u);  // was not resolved
  EXPECT_EQ(second([](Subpass& s) {
              s.inputs = {{1, VK_IMAGE_ASPECT_COLOR_BIT}};
            }),
            0u);  // the samples are as they were
}

TEST(TilePasses, AttachmentsHaveABound) {
  std::vector<Subpass> subpasses(40);
  for (uint32_t i = 0; i < 40; ++i) {
    for (uint32_t j = 0; j < 8; ++j) subpasses[i].colors.push_back({8 * i + j});
  }
  assignTilePasses(subpasses, {});
  EXPECT_EQ(subpasses[0].tilePass, 0u);
  for (uint32_t pass = 0; pass <= subpasses.back().tilePass; ++pass) {
    const std::vector<bool> drawn = drawnTo(subpasses, pass, 320);
    EXPECT_LE(std::count(drawn.begin(), drawn.end(), true), kMostDrawnTo);
    EXPECT_GT(std::count(drawn.begin(), drawn.end(), true), 8);
  }
}

// Each view of an attachment is loaded where it is used first.
TEST(TilePasses, ViewsThatWereUsedBefore) {
  std::vector<Subpass> subpasses(4);
  const uint32_t masks[] = {0b1000, 0b0001, 0b0001, 0b1010};
  for (uint32_t i = 0; i < 4; ++i) {
    subpasses[i].viewMask = masks[i];
    subpasses[i].colors = {{0}};
  }
  subpasses[2].inputs = {{1, VK_IMAGE_ASPECT_COLOR_BIT}};
  assignTilePasses(subpasses, {});
  ASSERT_EQ(subpasses[3].tilePass, 2u);
  const uint32_t expected[] = {0, 0b1000, 0b1001};
  for (uint32_t pass = 0; pass < 3; ++pass) EXPECT_EQ(viewsBefore(subpasses, pass, 0), expected[pass]);
  EXPECT_EQ(viewsBefore(subpasses, 1, 1), 0u);
  EXPECT_EQ(viewsBefore(subpasses, 2, 1), 0b0001u);
}

TEST(TilePasses, LifetimesSpanAllKindsOfUse) {
  std::vector<Subpass> subpasses(4);
  for (uint32_t i = 0; i < 4; ++i) subpasses[i].tilePass = i;
  subpasses[1].colors = {{VK_ATTACHMENT_UNUSED}, {0}};
  subpasses[1].resolves = {{VK_ATTACHMENT_UNUSED}, {1}};
  subpasses[0].depthStencil = {2};
  subpasses[2].inputs = {{0, VK_IMAGE_ASPECT_COLOR_BIT}};
  subpasses[3].depthStencilResolve = {3};
  subpasses[3].inputs = {{2, VK_IMAGE_ASPECT_DEPTH_BIT}};
  std::vector<PassAttachment> attachments(5);
  assignLifetimes(attachments, subpasses);
  const std::pair<uint32_t, uint32_t> expected[] = {{1, 2}, {1, 1}, {0, 3}, {3, 3}};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(attachments[i].firstTilePass, expected[i].first) << i;
    EXPECT_EQ(attachments[i].lastTilePass, expected[i].second) << i;
  }
  EXPECT_GT(attachments[4].firstTilePass, attachments[4].lastTilePass);  // nobody uses it
}

}  // namespace
}  // namespace pumice::icd
