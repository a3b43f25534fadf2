// Lines that fill pixels: clears, opaque and blended layers, overdraw, several targets, several samples.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "bench/drawing.h"
#include "bench/shaders/color_frag.h"
#include "bench/shaders/layers_vert.h"
#include "bench/shaders/targets_frag.h"

namespace pumice::bench {

namespace {

// -- clears

void buildClear(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  recordPass(job, target, [](VkCommandBuffer) {});
  job.verify = [&target] {
    return comparePicture(
        target.pixels(), [](uint32_t, uint32_t) { return clearColor(); }, 0, 1);
  };
  job.work = kMegapixels;
}

// -- layers

struct Push {
  float count, firstDepth, depthStep, alpha;
};

// The color of layers.vert at a pixel.
Color layerColor(uint32_t x, uint32_t y, uint32_t layer, const Push& push) {
  return {(x + 0.5) / kPicture.width * 255, (y + 0.5) / kPicture.height * 255, (layer + 0.5) / push.count * 255,
          255.0 * push.alpha};
}

struct Layers {
  uint32_t count = 1;
  bool depth = false;
  bool frontToBack = false;
  bool blend = false;
};

Push pushFor(const Layers& layers) {
  const float slice = 1.0f / static_cast<float>(layers.count);
  Push push{static_cast<float>(layers.count), 0.5f * slice, slice, layers.blend ? 0.375f : 1.0f};
  if (!layers.frontToBack) push = {push.count, 1 - 0.5f * slice, -slice, push.alpha};
  return push;
}

Color blendedColor(uint32_t x, uint32_t y, uint32_t count, const Push& push) {
  Color result = clearColor();
  for (uint32_t layer = 0; layer < count; ++layer) {
    const Color source = layerColor(x, y, layer, push);
    for (size_t c = 0; c < 4; ++c) result[c] = source[c] * push.alpha + result[c] * (1 - push.alpha);
  }
  return result;
}

void buildLayers(Job& job, const Layers& layers) {
  RenderTarget::Info info;
  if (layers.depth) info.depth = kDepthFormat;
  info.clear = layers.depth || layers.blend;
  RenderTarget& target = job.make<RenderTarget>(job.host, info);
  DrawPipeline& pipeline = job.pipeline(target, {.vertex = shaders::layers_vert,
                                                 .fragment = shaders::color_frag,
                                                 .pushBytes = sizeof(Push),
                                                 .depth = layers.depth,
                                                 .blend = layers.blend});
  const Push push = pushFor(layers);
  recordPass(job, target, [&](VkCommandBuffer commands) {
    pipeline.bind(commands);
    pipeline.push(commands, push);
    vkCmdDraw(commands, 6, layers.count, 0, 0);
  });
  job.verify = [&target, layers, push] {
    if (layers.blend) {
      // Each layer may be off by one in eight bits, of which 1 - alpha is left after the next one.
      const double tolerance = 1 / push.alpha;
      return comparePicture(
          target.pixels(), [&](uint32_t x, uint32_t y) { return blendedColor(x, y, layers.count, push); }, tolerance);
    }
    const uint32_t seen = layers.frontToBack ? 0 : layers.count - 1;
    return comparePicture(
        target.pixels(), [&](uint32_t x, uint32_t y) { return layerColor(x, y, seen, push); }, kRounding);
  };
  job.work = layers.count * kMegapixels;
}

// -- four targets

void buildTargets(Job& job) {
  constexpr uint32_t kTargets = 4;
  constexpr std::array<std::array<uint8_t, 4>, kTargets> kOrder{
      {{0, 1, 2, 3}, {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}}};
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.colors = kTargets, .clear = false});
  DrawPipeline& pipeline = job.pipeline(
      target, {.vertex = shaders::layers_vert, .fragment = shaders::targets_frag, .pushBytes = sizeof(Push)});
  const Push push{1, 0.5f, 0, 0.25f};
  recordPass(job, target, [&](VkCommandBuffer commands) {
    pipeline.bind(commands);
    pipeline.push(commands, push);
    vkCmdDraw(commands, 6, 1, 0, 0);
  });
  job.verify = [&target, push, kOrder]() -> std::string {
    for (uint32_t i = 0; i < kTargets; ++i) {
      const auto expected = [&](uint32_t x, uint32_t y) {
        const Color color = layerColor(x, y, 0, push);
        Color ordered{};
        for (size_t c = 0; c < 4; ++c) ordered[c] = color[kOrder[i][c]];
        return ordered;
      };
      if (std::string problem = comparePicture(target.pixels(i), expected, kRounding); !problem.empty())
        return fmt::format("target {}: {}", i, problem);
    }
    return {};
  };
  job.work = kMegapixels;
}

// -- four samples

// A fan of triangles around the middle of the picture, in two colours by turns, larger than the picture.
constexpr uint32_t kBlades = 256;
constexpr double kBladeAngle = 2 * std::numbers::pi / kBlades;
constexpr double kTurn = 0.003;  // so that no edge lies on pixel centers

void fillFan(std::span<MeshVertex> vertices) {
  const auto rim = [](uint32_t blade) {
    constexpr double kRadius = 1300;  // pixels
    const double angle = blade * kBladeAngle + kTurn;
    return std::array{static_cast<float>(kRadius * std::cos(angle) / (kPicture.width / 2.0)),
                      static_cast<float>(kRadius * std::sin(angle) / (kPicture.height / 2.0))};
  };
  for (uint32_t blade = 0; blade < kBlades; ++blade) {
    const uint32_t color = blade % 2 ? 0xff0000ff : 0xff00ff00;  // red, green
    const auto a = rim(blade), b = rim(blade + 1);
    vertices[3 * blade] = {0, 0, color};
    vertices[3 * blade + 1] = {a[0], a[1], color};
    vertices[3 * blade + 2] = {b[0], b[1], color};
  }
}

// Interiors are exact; pixels across an edge are between, and half of each color on average.
std::string verifyFan(std::span<const uint8_t> pixels) {
  double edgeSum = 0;
  uint32_t edgeCount = 0, between = 0;
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const double dx = x + 0.5 - kPicture.width / 2.0, dy = y + 0.5 - kPicture.height / 2.0;
    const double radius = std::hypot(dx, dy);
    double turns = (std::atan2(dy, dx) - kTurn) / kBladeAngle;
    if (turns < 0) turns += kBlades;
    const double edge = std::round(turns);
    const double distance = radius * std::sin(std::abs(turns - edge) * kBladeAngle);
    if (radius < 100) return std::nullopt;  // several edges in one pixel
    if (distance > 1) return static_cast<uint32_t>(turns) % 2 ? Color{255, 0, 0, 255} : Color{0, 255, 0, 255};
    if (distance < 0.5) {
      const uint8_t red = pixels[4 * (size_t{y} * kPicture.width + x)];
      edgeSum += red / 255.0;
      ++edgeCount;
      between += red > 0 && red < 255;
    }
    return std::nullopt;
  };
  if (std::string problem = comparePicture(pixels, expected, 0, 7); !problem.empty()) return problem;
  if (const double mean = edgeSum / edgeCount; !(std::abs(mean - 0.5) < 0.03))
    return fmt::format("edges have {:.3f} of their red on average, not a half", mean);
  if (between < edgeCount / 3) return fmt::format("only {} of {} pixels on edges are between", between, edgeCount);
  return {};
}

void buildSamples(Job& job) {
  RenderTarget& target =
      job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat, .samples = VK_SAMPLE_COUNT_4_BIT});
  DrawPipeline& pipeline = job.pipeline(target, meshState());
  Buffer& vertices = job.buffer(3 * kBlades * sizeof(MeshVertex));
  fillFan(vertices.as<MeshVertex>());
  recordPass(job, target, [&](VkCommandBuffer commands) {
    bindVertices(commands, vertices);
    pipeline.bind(commands);
    pipeline.push(commands, MeshPush{});
    vkCmdDraw(commands, 3 * kBlades, 1, 0, 0);
  });
  job.verify = [&target] { return verifyFan(target.pixels()); };
  job.work = kMegapixels;
}

}  // namespace

void addDrawFillLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("draw_clear", "Mpixel/s", "a pass that clears color and depth of 1920x1080", buildClear));
  const auto add = [&lines](const char* name, const char* description, const Layers& layers) {
    lines.push_back(steadyLine(name, "Mpixel/s", description, [layers](Job& job) { buildLayers(job, layers); }));
  };
  add("draw_fill", "one opaque layer of interpolated color", {});
  add("draw_blend", "8 translucent layers", {.count = 8, .blend = true});
  add("draw_front_to_back", "16 opaque layers with depth test, nearest first",
      {.count = 16, .depth = true, .frontToBack = true});
  add("draw_back_to_front", "the same, nearest last", {.count = 16, .depth = true});
  lines.push_back(
      steadyLine("draw_four_targets", "Mpixel/s", "one opaque layer, each pixel in four targets", buildTargets));
  lines.push_back(steadyLine("draw_samples_4", "Mpixel/s",
                             "a fan of 256 triangles with 4 samples, depth test and resolve", buildSamples));
}

}  // namespace pumice::bench
