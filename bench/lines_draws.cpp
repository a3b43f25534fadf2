// Lines that measure fixed costs of drawing: draws with changes between, queries, pipelines. Where an application
// records every frame anew, recording is measured too.
#include <fmt/format.h>

#include <array>
#include <random>
#include <vector>

#include "bench/drawing.h"
#include "bench/phong_scene.h"
#include "bench/shaders/color_frag.h"
#include "bench/shaders/material_frag.h"
#include "bench/shaders/material_vert.h"
#include "bench/shaders/rectangle_vert.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kColumns = 120, kRows = 90;  // cells of 16 x 12 pixels
constexpr uint32_t kDraws = 10'000;             // the cells behind them stay clear
constexpr uint32_t kCellWidth = kPicture.width / kColumns, kCellHeight = kPicture.height / kRows;
constexpr uint32_t kMarginX = kCellWidth / 4, kMarginY = kCellHeight / 4;

// The color of a draw's cell by `colorOf`, without its margin; clear elsewhere.
template <typename Function>
std::string verifyCells(std::span<const uint8_t> pixels, double tolerance, Function&& colorOf) {
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const uint32_t draw = y / kCellHeight * kColumns + x / kCellWidth;
    const uint32_t inX = x % kCellWidth, inY = y % kCellHeight;
    const bool inside =
        inX >= kMarginX && inX < kCellWidth - kMarginX && inY >= kMarginY && inY < kCellHeight - kMarginY;
    return inside && draw < kDraws ? colorOf(draw) : clearColor();
  };
  return comparePicture(pixels, expected, tolerance, 1);
}

// A pass over `target` that is recorded, submitted and waited for each time.
void recordEachTime(Job& job, RenderTarget& target, std::function<void(VkCommandBuffer)> draw) {
  Commands& commands = job.record();
  commands.finish();
  job.frame = [&job, &target, &commands, draw = std::move(draw)] {
    commands.restart();
    target.begin(commands.handle());
    draw(commands.handle());
    vkCmdEndRenderPass(commands.handle());
    commands.finish();
    job.host.submitAndWait(commands.handle());
  };
  job.reset = [&target] { target.scrub(); };
}

// -- push constants

struct RectanglePush {
  float area[4];  // left, top, width, height in clip space
  float fill[4];
  float depth;
};

// Pixels to clip space.
RectanglePush rectangle(double x, double y, double width, double height, float depth,
                        const std::array<float, 4>& fill) {
  const auto f = [](double value) { return static_cast<float>(value); };
  return {{f(x / kPicture.width * 2 - 1), f(y / kPicture.height * 2 - 1), f(width / kPicture.width * 2),
           f(height / kPicture.height * 2)},
          {fill[0], fill[1], fill[2], fill[3]},
          depth};
}

std::array<uint32_t, 3> pushColor(uint32_t draw) {
  return {draw & 255, draw >> 8, draw * 37 & 255};
}

void buildPush(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  DrawPipeline& pipeline = job.pipeline(target, {.vertex = shaders::rectangle_vert,
                                                 .fragment = shaders::color_frag,
                                                 .pushBytes = sizeof(RectanglePush),
                                                 .depth = true});
  std::vector<RectanglePush> pushes;
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    const auto color = pushColor(draw);
    const auto unit = [&](size_t c) { return static_cast<float>(color[c]) / 255; };
    pushes.push_back(rectangle(draw % kColumns * kCellWidth + kMarginX, draw / kColumns * kCellHeight + kMarginY,
                               kCellWidth - 2 * kMarginX, kCellHeight - 2 * kMarginY, 0.5f,
                               {unit(0), unit(1), unit(2), 1}));
  }
  recordEachTime(job, target, [&pipeline, pushes = std::move(pushes)](VkCommandBuffer commands) {
    pipeline.bind(commands);
    for (const RectanglePush& push : pushes) {
      pipeline.push(commands, push);
      vkCmdDraw(commands, 6, 1, 0, 0);
    }
  });
  job.verify = [&target] {
    return verifyCells(target.pixels(), kRounding, [](uint32_t draw) {
      const auto color = pushColor(draw);
      return Color{double(color[0]), double(color[1]), double(color[2]), 255};
    });
  };
  job.work = kDraws / 1e3;
}

// -- descriptor sets

constexpr uint32_t kSets = 256, kTextures = 16, kTextureEdge = 8;
constexpr VkDeviceSize kUniformStride = 256;  // every device allows it

struct MaterialPush {
  float columns = kColumns, rows = kRows, margin = 0.25f;
};

// Textures of one color each, tints of one factor each.
double textureLevel(uint32_t texture) {
  return 15.0 + 16 * texture;
}

float tintFactor(uint32_t set, size_t channel) {
  return static_cast<float>((set * (channel + 1) * 7) % 256) / 255;
}

// Sets go by turns, but never the same twice.
uint32_t setOf(uint32_t draw) {
  return draw * 89 % kSets;
}

void buildSets(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  std::vector<const Texture*> textures;
  for (uint32_t i = 0; i < kTextures; ++i) {
    const Texels texels(kTextureEdge * kTextureEdge, static_cast<uint32_t>(textureLevel(i)) * 0x010101u | 0xff000000u);
    textures.push_back(
        &job.make<Texture>(job.host, kTextureEdge, std::span(&texels, 1), Sampler::Info{.filter = VK_FILTER_LINEAR}));
  }
  DrawPipeline& pipeline = job.pipeline(
      target, {.vertex = shaders::material_vert,
               .fragment = shaders::material_frag,
               .descriptors = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER},
               .sets = kSets,
               .pushBytes = sizeof(MaterialPush),
               .depth = true});
  Buffer& uniforms = job.buffer(kSets * kUniformStride);
  std::vector<VkDescriptorSet> sets;
  for (uint32_t set = 0; set < kSets; ++set) {
    const VkDeviceSize offset = set * kUniformStride;
    for (size_t c = 0; c < 4; ++c) uniforms.as<float>()[offset / sizeof(float) + c] = c == 3 ? 1 : tintFactor(set, c);
    sets.push_back(pipeline.makeSet({*textures[set % kTextures], {uniforms, offset, 4 * sizeof(float)}}));
  }
  recordEachTime(job, target, [&pipeline, sets = std::move(sets)](VkCommandBuffer commands) {
    pipeline.bind(commands);
    pipeline.push(commands, MaterialPush{});
    for (uint32_t draw = 0; draw < kDraws; ++draw) {
      pipeline.bindSet(commands, sets[setOf(draw)]);
      vkCmdDraw(commands, 6, 1, 0, draw);
    }
  });
  job.verify = [&target] {
    return verifyCells(target.pixels(), kRounding, [](uint32_t draw) {
      const uint32_t set = setOf(draw);
      Color color{0, 0, 0, 255};
      for (size_t c = 0; c < 3; ++c) color[c] = textureLevel(set % kTextures) * tintFactor(set, c);
      return color;
    });
  };
  job.work = kDraws / 1e3;
}

// -- occlusion queries

// More in one pass and lavapipe 22.3 gives wrong counts.
constexpr uint32_t kQueryColumns = 20, kQueryRows = 15;
constexpr uint32_t kQueries = kQueryColumns * kQueryRows;
constexpr uint32_t kBoxWidth = 64, kBoxHeight = 48;

class QueryPool {
 public:
  explicit QueryPool(Host& host) : device_(host.device()) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_OCCLUSION;
    info.queryCount = kQueries;
    check(vkCreateQueryPool(device_, &info, nullptr, &pool_), "vkCreateQueryPool");
  }
  ~QueryPool() { vkDestroyQueryPool(device_, pool_, nullptr); }
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;
  VkQueryPool handle() const { return pool_; }

 private:
  VkDevice device_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

// By columns of the grid, by turns: nothing, the left half and all of a box is hidden.
uint32_t hiddenColumns(uint32_t query) {
  return query % kQueryColumns % 3 * (kBoxWidth / 2);
}

void drawRectangle(VkCommandBuffer commands, const DrawPipeline& pipeline, uint32_t query, uint32_t width,
                   float depth) {
  const uint32_t x = query % kQueryColumns * (kPicture.width / kQueryColumns);
  const uint32_t y = query / kQueryColumns * (kPicture.height / kQueryRows);
  pipeline.push(commands, rectangle(x, y, width, kBoxHeight, depth, {1, depth, 0, 1}));
  vkCmdDraw(commands, 6, 1, 0, 0);
}

void buildOcclusion(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  DrawPipeline& pipeline = job.pipeline(target, {.vertex = shaders::rectangle_vert,
                                                 .fragment = shaders::color_frag,
                                                 .pushBytes = sizeof(RectanglePush),
                                                 .depth = true});
  const QueryPool& pool = job.make<QueryPool>(job.host);
  Buffer& results = job.buffer(kQueries * sizeof(uint32_t));
  const bool precise = job.host.enabledFeatures().occlusionQueryPrecise;
  Commands& recording = job.record();
  VkCommandBuffer commands = recording.handle();
  vkCmdResetQueryPool(commands, pool.handle(), 0, kQueries);
  target.begin(commands);
  pipeline.bind(commands);
  for (uint32_t query = 0; query < kQueries; ++query)
    if (const uint32_t hidden = hiddenColumns(query)) drawRectangle(commands, pipeline, query, hidden, 0.25f);
  for (uint32_t query = 0; query < kQueries; ++query) {
    vkCmdBeginQuery(commands, pool.handle(), query, precise ? VK_QUERY_CONTROL_PRECISE_BIT : 0);
    drawRectangle(commands, pipeline, query, kBoxWidth, 0.5f);
    vkCmdEndQuery(commands, pool.handle(), query);
  }
  vkCmdEndRenderPass(commands);
  vkCmdCopyQueryPoolResults(commands, pool.handle(), 0, kQueries, results.handle(), 0, sizeof(uint32_t),
                            VK_QUERY_RESULT_WAIT_BIT);
  recording.finish();
  job.reset = [&target, &results] {
    target.scrub();
    std::ranges::fill(results.as<uint32_t>(), 0xdeadu);
  };
  job.verify = [&results, precise]() -> std::string {
    for (uint32_t query = 0; query < kQueries; ++query) {
      const uint32_t want = (kBoxWidth - hiddenColumns(query)) * kBoxHeight, got = results.as<uint32_t>()[query];
      if (precise ? got != want : (got == 0) != (want == 0) || got == 0xdeadu)
        return fmt::format("query {}: got {}, expected {}", query, got, want);
    }
    return {};
  };
  job.work = kQueries / 1e3;
}

// -- pipelines

Measurement measurePipelineCreation(Context& context) {
  Host& host = context.host();
  RenderTarget target(host, {.depth = kDepthFormat});
  const PhongScene scene(host);
  constexpr VkRect2D kDrawn{{640, 360}, {64, 64}};  // so that drawing does not hide what creation costs
  std::random_device entropy;
  uint32_t salt = entropy();
  const std::vector<double> times = repeat(context.settings, [&] {
    DrawState state = PhongScene::state(++salt);
    state.scissor = kDrawn;
    DrawPipeline pipeline(host, target, state);
    const VkDescriptorSet set = scene.makeSet(pipeline);
    Commands commands(host);
    target.begin(commands.handle());
    scene.draw(commands.handle(), pipeline, set);
    vkCmdEndRenderPass(commands.handle());
    commands.finish();
    host.submitAndWait(commands.handle());
  });
  Measurement result;
  const auto expected = [&](uint32_t x, uint32_t y) {
    const bool drawn = x - kDrawn.offset.x < kDrawn.extent.width && y - kDrawn.offset.y < kDrawn.extent.height;
    if (!drawn) return clearColor();
    Color color = scene.colorAt(x, y);
    color[3] = salt & 255;
    return color;
  };
  result.problem = comparePicture(target.pixels(), expected, PhongScene::kTolerance);
  result.value = median(times) * 1e3;
  result.best = times.front() * 1e3;
  return result;
}

}  // namespace

void addDrawCallLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("draw_push_constants", "kdraw/s",
                             "10,000 draws of 48 pixels with push constants of their own, recording included",
                             buildPush));
  lines.push_back(steadyLine(
      "draw_descriptor_sets", "kdraw/s",
      "10,000 draws of 48 pixels with another texture and uniform buffer each, recording included", buildSets));
  lines.push_back(steadyLine("draw_occlusion", "kquery/s", "300 occlusion queries of one box each, results copied",
                             buildOcclusion));
  lines.push_back({"draw_pipeline_creation", "ms", Better::Lower,
                   "a never-seen pipeline (Phong with normal map) created and drawn with once, in a scissor of 64x64",
                   measurePipelineCreation});
}

}  // namespace pumice::bench
