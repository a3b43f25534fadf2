#include "bench/phong_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "bench/shaders/phong_frag.h"
#include "bench/shaders/phong_vert.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kCell = 30;  // pixels
constexpr uint32_t kColumns = kPicture.width / kCell, kRows = kPicture.height / kCell;
constexpr uint32_t kEdge = 512;  // texels
constexpr float kLight[4] = {0.4f, -0.6f, -1.5f, 0}, kEye[4] = {0, 0, -2, 0};

struct Vertex {
  float clip[4], position[3], normal[3], tangent[3], uv[2];
};

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector combine(const Vector& a, double factor, const Vector& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

Vector normalize(const Vector& a) {
  return combine({}, 1 / std::sqrt(dot(a, a)), a);
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector vectorOf(const float* v) {
  return {v[0], v[1], v[2]};
}

// Corner of the grid: a curtain with folds, nearer and farther.
Vertex vertexAt(uint32_t column, uint32_t row) {
  const double s = double(column) / kColumns, t = double(row) / kRows;
  const double x = 2 * s - 1, y = 2 * t - 1, phase = 4 * std::numbers::pi * s;
  const double w = 2 + 0.5 * std::cos(phase) + 0.5 * t, z = w - 2;
  const double slope = -2 * std::numbers::pi * std::sin(phase);  // of z along x, before perspective
  const Vector normal = normalize({0.2 * slope, -0.2, -1}), tangent = normalize({1, 0, 0.2 * slope});
  const auto f = [](double value) { return static_cast<float>(value); };
  return {{f(x * w), f(y * w), f(0.5 * w), f(w)},
          {f(x), f(y), f(0.2 * z)},
          {f(normal[0]), f(normal[1]), f(normal[2])},
          {f(tangent[0]), f(tangent[1]), f(tangent[2])},
          {f(2 * s), f(1.2 * t)}};
}

// Smooth textures, so that a filter's weights of eight bits do no harm.
uint32_t packed(const std::array<double, 3>& unit) {
  const auto byte = [](double v) { return static_cast<uint32_t>(std::lround(v * 255)); };
  return byte(unit[0]) | byte(unit[1]) << 8 | byte(unit[2]) << 16 | 0xff000000;
}

template <typename Function>
Texels makeTexels(Function&& at) {
  Texels texels(kEdge * kEdge);
  for (uint32_t i = 0; i < texels.size(); ++i) {
    const double u = 2 * std::numbers::pi * (i % kEdge) / kEdge, v = 2 * std::numbers::pi * (i / kEdge) / kEdge;
    texels[i] = packed(at(u, v));
  }
  return texels;
}

Texels makeAlbedo() {
  return makeTexels([](double u, double v) {
    return Vector{0.6 + 0.3 * std::sin(5 * u), 0.5 + 0.3 * std::sin(7 * v), 0.5 + 0.2 * std::sin(3 * (u + v))};
  });
}

Texels makeNormals() {
  return makeTexels([](double u, double v) {
    return combine({0.5, 0.5, 0.5}, 0.5, normalize({0.5 * std::sin(12 * u), 0.5 * std::sin(10 * v), 1}));
  });
}

// Linear filter, repeating; channels in [0, 1].
Vector sample(const Texels& texels, double u, double v) {
  const double x = u * kEdge - 0.5, y = v * kEdge - 0.5;
  const double i = std::floor(x), j = std::floor(y), a = x - i, b = y - j;
  const auto wrap = [](double n) { return static_cast<uint32_t>(static_cast<int64_t>(n) & (kEdge - 1)); };
  Vector result{};
  for (uint32_t corner = 0; corner < 4; ++corner) {
    const bool right = corner & 1, down = corner & 2;
    const uint32_t texel = texels[wrap(j + down) * kEdge + wrap(i + right)];
    const double weight = (right ? a : 1 - a) * (down ? b : 1 - b) / 255;
    for (uint32_t c = 0; c < 3; ++c) result[c] += weight * (texel >> 8 * c & 255);
  }
  return result;
}

Sampler::Info linear() {
  return {VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST};
}

}  // namespace

PhongScene::PhongScene(Host& host)
    : albedo_(makeAlbedo()),
      normals_(makeNormals()),
      vertices_(host, (kColumns + 1) * (kRows + 1) * sizeof(Vertex)),
      indices_(host, 6 * kColumns * kRows * sizeof(uint16_t)),
      uniforms_(host, 256),
      albedoTexture_(host, kEdge, {&albedo_, 1}, linear()),
      normalTexture_(host, kEdge, {&normals_, 1}, linear()) {
  size_t v = 0, i = 0;
  for (uint32_t row = 0; row <= kRows; ++row) {
    for (uint32_t column = 0; column <= kColumns; ++column) {
      const uint32_t corner = static_cast<uint32_t>(v), below = corner + kColumns + 1;
      vertices_.as<Vertex>()[v++] = vertexAt(column, row);
      if (row == kRows || column == kColumns) continue;
      for (const uint32_t index : {corner, corner + 1, below, corner + 1, below + 1, below})
        indices_.as<uint16_t>()[i++] = static_cast<uint16_t>(index);
    }
  }
  std::ranges::copy(kLight, uniforms_.as<float>().begin());
  std::ranges::copy(kEye, uniforms_.as<float>().begin() + 4);
}

DrawState PhongScene::state(std::optional<uint32_t> salt) {
  return {.vertex = shaders::phong_vert,
          .fragment = shaders::phong_frag,
          .bindings = {{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX}},
          .attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(Vertex, clip)},
                         {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Vertex, position)},
                         {2, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Vertex, normal)},
                         {3, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Vertex, tangent)},
                         {4, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(Vertex, uv)}},
          .descriptors = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                          VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER},
          .depth = true,
          .salt = salt};
}

VkDescriptorSet PhongScene::makeSet(DrawPipeline& pipeline) const {
  return pipeline.makeSet({albedoTexture_, normalTexture_, {uniforms_, 0, 8 * sizeof(float)}});
}

void PhongScene::draw(VkCommandBuffer commands, const DrawPipeline& pipeline, VkDescriptorSet set) const {
  pipeline.bind(commands);
  pipeline.bindSet(commands, set);
  bindVertices(commands, vertices_);
  vkCmdBindIndexBuffer(commands, indices_.handle(), 0, VK_INDEX_TYPE_UINT16);
  vkCmdDrawIndexed(commands, 6 * kColumns * kRows, 1, 0, 0, 0);
}

Color PhongScene::colorAt(uint32_t x, uint32_t y) const {
  // The triangle of the cell, and the weights of its vertices in perspective.
  const uint32_t corner = y / kCell * (kColumns + 1) + x / kCell, below = corner + kColumns + 1;
  const double s = (x % kCell + 0.5) / kCell, t = (y % kCell + 0.5) / kCell;
  const bool second = s + t > 1;
  const std::array<uint32_t, 3> index =
      second ? std::array{corner + 1, below + 1, below} : std::array{corner, corner + 1, below};
  std::array<double, 3> weight = second ? std::array{1 - t, s + t - 1, 1 - s} : std::array{1 - s - t, s, t};
  const auto vertices = vertices_.as<Vertex>();
  double sum = 0;
  for (uint32_t k = 0; k < 3; ++k) sum += weight[k] /= vertices[index[k]].clip[3];
  Vector position{}, normal{}, tangent{};
  double u = 0, v = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    const Vertex& vertex = vertices[index[k]];
    const double part = weight[k] / sum;
    position = combine(position, part, vectorOf(vertex.position));
    normal = combine(normal, part, vectorOf(vertex.normal));
    tangent = combine(tangent, part, vectorOf(vertex.tangent));
    u += part * vertex.uv[0];
    v += part * vertex.uv[1];
  }

  // phong.frag
  const Vector n = normalize(normal), tan = normalize(combine(tangent, -dot(n, tangent), n)), bitangent = cross(n, tan);
  const Vector bump = combine({-1, -1, -1}, 2, sample(normals_, u, v));
  const Vector shading = normalize(combine(combine(combine({}, bump[0], tan), bump[1], bitangent), bump[2], n));
  const Vector toLight = normalize(combine(vectorOf(kLight), -1, position));
  const Vector toEye = normalize(combine(vectorOf(kEye), -1, position));
  const double diffuse = std::max(dot(shading, toLight), 0.0);
  const double specular = std::pow(std::max(dot(shading, normalize(combine(toLight, 1, toEye))), 0.0), 16);
  const Vector albedo = sample(albedo_, u, v);
  Color color{0, 0, 0, 255};
  for (uint32_t c = 0; c < 3; ++c)
    color[c] = 255 * std::clamp(albedo[c] * (0.15 + 0.65 * diffuse) + 0.3 * specular, 0.0, 1.0);
  return color;
}

}  // namespace pumice::bench
