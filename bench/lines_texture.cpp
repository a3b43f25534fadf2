// Textured quads: nearest, bilinear, trilinear, anisotropic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bench/drawing.h"
#include "bench/shaders/texture_frag.h"
#include "bench/shaders/texture_vert.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kEdge = 1024;
constexpr uint32_t kLevels = 11;
constexpr double kPi = std::numbers::pi;

struct Push {
  float rowU[4], rowV[4];  // of (x, y, w) in clip space; the fourth is padding
  float wTop = 1, wBottom = 1;
};

// Texture coordinates and what they depend on, of a pixel's center.
struct Place {
  double u, v;
  double dudx, dvdx, dudy, dvdy;  // per pixel, in texels of level 0
};

Place placeOf(uint32_t pixelX, uint32_t pixelY, const Push& push) {
  // 1 / w is linear on the screen; so are x/w, y/w and 1 by their definition.
  const auto at = [&](double px, double py) {
    const double x = px / kPicture.width * 2 - 1, y = py / kPicture.height * 2 - 1;
    const double top = 1.0 / push.wTop, bottom = 1.0 / push.wBottom;
    const double w = 1 / (top + (bottom - top) * (y + 1) / 2);
    const auto row = [&](const float* r) { return (r[0] * x + r[1] * y + r[2]) * w; };
    return std::pair{row(push.rowU), row(push.rowV)};
  };
  const double x = pixelX + 0.5, y = pixelY + 0.5;
  const auto [u, v] = at(x, y);
  const auto [left, leftV] = at(x - 0.5, y);
  const auto [right, rightV] = at(x + 0.5, y);
  const auto [up, upV] = at(x, y - 0.5);
  const auto [down, downV] = at(x, y + 0.5);
  return {u, v, (right - left) * kEdge, (rightV - leftV) * kEdge, (down - up) * kEdge, (downV - upV) * kEdge};
}

void recordTextured(Job& job, const Push& push, std::span<const Texels> levels, const Sampler::Info& sampler,
                    std::function<std::string(std::span<const uint8_t>)> verify) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.clear = false});
  Texture& texture = job.make<Texture>(job.host, kEdge, levels, sampler);
  DrawPipeline& pipeline = job.pipeline(target, {.vertex = shaders::texture_vert,
                                                 .fragment = shaders::texture_frag,
                                                 .descriptors = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER},
                                                 .pushBytes = sizeof(Push)});
  const VkDescriptorSet set = pipeline.makeSet({texture});
  recordPass(job, target, [&](VkCommandBuffer commands) {
    pipeline.bind(commands);
    pipeline.bindSet(commands, set);
    pipeline.push(commands, push);
    vkCmdDraw(commands, 6, 1, 0, 0);
  });
  job.verify = [&target, verify = std::move(verify)] { return verify(target.pixels()); };
  job.work = kMegapixels;
}

// -- one level, parallel to the screen

// Turned by 30 degrees, 0.7 texels a pixel.
Push turned() {
  const double x = 0.7 * kPicture.width / 2 / kEdge, y = 0.7 * kPicture.height / 2 / kEdge;
  const double sine = std::sin(kPi / 6), cosine = std::cos(kPi / 6);
  const auto f = [](double value) { return static_cast<float>(value); };
  return {{f(x * cosine), f(-y * sine), 0.123f, 0}, {f(x * sine), f(y * cosine), 0.456f, 0}, 1, 1};
}

double texelAt(const Texels& texels, double i, double j, size_t channel) {
  const auto wrap = [](double n) { return static_cast<size_t>(n - std::floor(n / kEdge) * kEdge); };
  return texels[wrap(j) * kEdge + wrap(i)] >> 8 * channel & 255;
}

std::string verifyNearest(std::span<const uint8_t> pixels, const Texels& texels, const Push& push) {
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const Place place = placeOf(x, y, push);
    const double u = place.u * kEdge, v = place.v * kEdge;
    // Near a texel's edge either side may be taken.
    if (std::abs(u - std::round(u)) < 0.02 || std::abs(v - std::round(v)) < 0.02) return std::nullopt;
    Color color{};
    for (size_t c = 0; c < 4; ++c) color[c] = texelAt(texels, std::floor(u), std::floor(v), c);
    return color;
  };
  return comparePicture(pixels, expected, 0);
}

std::string verifyBilinear(std::span<const uint8_t> pixels, const Texels& texels, const Push& push) {
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const Place place = placeOf(x, y, push);
    const double u = place.u * kEdge - 0.5, v = place.v * kEdge - 0.5;
    const double i = std::floor(u), j = std::floor(v), a = u - i, b = v - j;
    Color color{};
    for (size_t c = 0; c < 4; ++c)
      color[c] = (texelAt(texels, i, j, c) * (1 - a) + texelAt(texels, i + 1, j, c) * a) * (1 - b) +
                 (texelAt(texels, i, j + 1, c) * (1 - a) + texelAt(texels, i + 1, j + 1, c) * a) * b;
    return color;
  };
  // Two weights of which eight bits count, and coordinates that are off by less than 1/256 texel.
  return comparePicture(pixels, expected, 4 * 255.0 / 512 + kRounding);
}

void buildTurned(Job& job, VkFilter filter) {
  Texels texels(kEdge * kEdge);
  Random random(12);
  for (uint32_t& texel : texels) texel = static_cast<uint32_t>(random.next());
  const Push push = turned();
  recordTextured(job, push, {&texels, 1}, {.filter = filter}, [texels, push, filter](std::span<const uint8_t> pixels) {
    return filter == VK_FILTER_NEAREST ? verifyNearest(pixels, texels, push) : verifyBilinear(pixels, texels, push);
  });
}

// -- all levels, in perspective

constexpr double kLevelStep = 24;  // blue of one level more

// One wave of red to the right and one of green downward, so smooth that all levels but the last agree; blue is the
// level.
std::vector<Texels> waves() {
  std::vector<Texels> levels;
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint32_t edge = kEdge >> level;
    const auto wave = [&](uint32_t i) {
      return static_cast<uint32_t>(std::lround(127.5 + 100 * std::sin(2 * kPi * (i + 0.5) / edge)));
    };
    Texels& texels = levels.emplace_back();
    const auto blue = static_cast<uint32_t>(level * kLevelStep);
    for (uint32_t texel = 0; texel < edge * edge; ++texel)
      texels.push_back(wave(texel % edge) | wave(texel / edge) << 8 | blue << 16 | 0xff000000);
  }
  return levels;
}

// A floor: from one texel a pixel at the lower edge of the picture to 8 by 64 at the upper one.
Push floorInPerspective() {
  return {{0.9375f, 0, 0, 0}, {0, 0, 1.2f, 0}, 8, 1};
}

// Red and green are the waves; the level is one that the specification allows.
std::string verifyFloor(std::span<const uint8_t> pixels, const Push& push, double maxAnisotropy) {
  uint32_t anisotropic = 0;
  const auto level = [&](uint32_t x, uint32_t y) {
    return pixels[4 * (size_t{y} * kPicture.width + x) + 2] / kLevelStep;
  };
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const Place p = placeOf(x, y, push);
    const double mx = std::hypot(p.dudx, p.dvdx), my = std::hypot(p.dudy, p.dvdy);
    // Scale factors may be computed as roughly as by the largest or the sum of the absolute derivatives.
    const double largest = std::max({std::abs(p.dudx), std::abs(p.dvdx), std::abs(p.dudy), std::abs(p.dvdy)});
    const double sum = std::max(std::abs(p.dudx) + std::abs(p.dvdx), std::abs(p.dudy) + std::abs(p.dvdy));
    const double ratio = std::min(std::max(mx, my) / std::min(mx, my), maxAnisotropy);
    constexpr double kSlack = 0.3;  // levels: rough logarithms, derivatives of the quad and not of the pixel
    const double low = std::max(std::log2(largest / maxAnisotropy), 0.0) - kSlack;  // more samples are allowed
    const double high = std::max(std::log2(sum), 0.0) + kSlack;
    const double got = level(x, y);
    if (ratio > 4 && got < std::log2(largest) - 1) ++anisotropic;
    const double blue = got < low ? low : got > high ? high : got;
    const auto wave = [](double t) { return 127.5 + 100 * std::sin(2 * kPi * t); };
    return Color{wave(p.u), wave(p.v), blue * kLevelStep, 255};
  };
  // A wave of 16 texels in the coarsest level that is used, filtered linearly, is lower by two percent.
  if (std::string problem = comparePicture(pixels, expected, 4); !problem.empty()) return problem;
  if (maxAnisotropy > 1 && anisotropic == 0) return "no pixel shows a finer level than isotropic filtering takes";
  return {};
}

void buildFloor(Job& job, float maxAnisotropy) {
  const Push push = floorInPerspective();
  const Sampler::Info sampler{VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR, maxAnisotropy};
  recordTextured(job, push, waves(), sampler, [push, maxAnisotropy](std::span<const uint8_t> pixels) {
    return verifyFloor(pixels, push, maxAnisotropy);
  });
}

}  // namespace

void addDrawTextureLines(std::vector<Line>& lines) {
  const auto add = [&lines](const char* name, const char* description, std::function<void(Job&)> build) {
    lines.push_back(steadyLine(name, "Mpixel/s", description, std::move(build)));
  };
  add("draw_nearest", "a turned texture of 1024x1024 texels, nearest filter",
      [](Job& job) { buildTurned(job, VK_FILTER_NEAREST); });
  add("draw_bilinear", "the same with linear filter", [](Job& job) { buildTurned(job, VK_FILTER_LINEAR); });
  add("draw_trilinear", "a textured floor in perspective, linear between levels too",
      [](Job& job) { buildFloor(job, 1); });
  add("draw_anisotropic", "the same with an anisotropy of up to 16", [](Job& job) { buildFloor(job, 16); });
}

}  // namespace pumice::bench
