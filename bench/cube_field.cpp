#include "bench/cube_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "bench/shaders/color_frag.h"
#include "bench/shaders/cubes_vert.h"

namespace pumice::bench {

namespace {

struct Corner {
  float position[3], normal[3];
};

constexpr uint32_t kCorners = 24, kIndices = 36;  // of a cube
constexpr double kNear = 10, kFar = 120;
constexpr double kFocal = 1.5;
constexpr double kAspect = double(kPicture.width) / kPicture.height;
constexpr double kLight[3] = {0.2, 0.5, 0.3};  // cubes.vert's
constexpr uint32_t kBucketEdge = 40;           // pixels; divides the picture
constexpr uint32_t kBucketColumns = kPicture.width / kBucketEdge, kBucketRows = kPicture.height / kBucketEdge;

using Vector = std::array<double, 3>;

// The view's rotation, orthonormal: rows are the camera's right, down and forward in the world.
const std::array<Vector, 3>& camera() {
  static const std::array<Vector, 3> axes = [] {
    const double a = 0.6, b = 0.4, ca = std::cos(a), sa = std::sin(a), cb = std::cos(b), sb = std::sin(b);
    return std::array<Vector, 3>{Vector{ca, 0, -sa}, Vector{-sa * sb, cb, -ca * sb}, Vector{sa * cb, sb, ca * cb}};
  }();
  return axes;
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Camera space to world space, whose origin they share.
Vector toWorld(const Vector& p) {
  Vector result{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t axis = 0; axis < 3; ++axis) result[i] += p[axis] * camera()[axis][i];
  return result;
}

// Column-major, for the shader.
std::array<float, 16> viewProjection() {
  const double depth = kFar / (kFar - kNear);
  std::array<float, 16> m{};
  for (size_t column = 0; column < 3; ++column) {
    m[4 * column] = static_cast<float>(kFocal / kAspect * camera()[0][column]);
    m[4 * column + 1] = static_cast<float>(kFocal * camera()[1][column]);
    m[4 * column + 2] = static_cast<float>(depth * camera()[2][column]);
    m[4 * column + 3] = static_cast<float>(camera()[2][column]);
  }
  m[14] = static_cast<float>(-depth * kNear);
  return m;
}

// Each face's corners go around clockwise when it is seen from outside by a camera whose y points down.
void fillCube(std::span<Corner> corners, std::span<uint16_t> indices) {
  size_t c = 0, i = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    for (const float sign : {-1.0f, 1.0f}) {
      const auto first = static_cast<uint16_t>(c);
      for (const uint32_t k : {0, 1, 2, 3}) {
        const float s = k & 1 ? 1 : -1, t = k & 2 ? 1 : -1;
        Corner& corner = corners[c++];
        corner = {};
        corner.position[axis] = corner.normal[axis] = sign;
        corner.position[(axis + 1) % 3] = s;
        corner.position[(axis + 2) % 3] = t;
      }
      const std::array<uint16_t, 6> order =
          sign < 0 ? std::array<uint16_t, 6>{0, 1, 2, 1, 3, 2} : std::array<uint16_t, 6>{0, 2, 1, 1, 2, 3};
      for (const uint16_t k : order) indices[i++] = static_cast<uint16_t>(first + k);
    }
  }
}

}  // namespace

CubeField::CubeField(Host& host)
    : corners_(host, kCorners * sizeof(Corner)),
      indices_(host, kIndices * sizeof(uint16_t)),
      instances_(host, kCubes * sizeof(Instance)) {
  fillCube(corners_.as<Corner>(), indices_.as<uint16_t>());
  Random random(13);
  for (Instance& instance : instances_.as<Instance>()) {
    // Within the picture, as many at every distance.
    const double z = random.uniform(20, 100);
    const double x = random.uniform(-1, 1) * z * kAspect / kFocal, y = random.uniform(-1, 1) * z / kFocal;
    const Vector center = toWorld({x, y, z});
    std::ranges::transform(center, instance.center, [](double v) { return static_cast<float>(v); });
    instance.half = random.uniform(0.15f, 0.3f);
    instance.color = static_cast<uint32_t>(random.next()) | 0xff404040;
  }
  sortIntoBuckets();
}

DrawState CubeField::state() {
  return {.vertex = shaders::cubes_vert,
          .fragment = shaders::color_frag,
          .bindings = {{0, sizeof(Corner), VK_VERTEX_INPUT_RATE_VERTEX},
                       {1, sizeof(Instance), VK_VERTEX_INPUT_RATE_INSTANCE}},
          .attributes = {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Corner, position)},
                         {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Corner, normal)},
                         {2, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(Instance, center)},
                         {3, 1, VK_FORMAT_R8G8B8A8_UNORM, offsetof(Instance, color)}},
          .pushBytes = 16 * sizeof(float),
          .depth = true,
          .cull = VK_CULL_MODE_BACK_BIT};
}

void CubeField::draw(VkCommandBuffer commands, const DrawPipeline& pipeline) const {
  pipeline.bind(commands);
  pipeline.push(commands, viewProjection());
  bindVertices(commands, corners_, 0);
  bindVertices(commands, instances_, 1);
  vkCmdBindIndexBuffer(commands, indices_.handle(), 0, VK_INDEX_TYPE_UINT16);
  vkCmdDrawIndexed(commands, kIndices, kCubes, 0, 0, 0);
}

void CubeField::sortIntoBuckets() {
  buckets_.resize(kBucketColumns * kBucketRows);
  const auto instances = instances_.as<Instance>();
  for (uint32_t cube = 0; cube < kCubes; ++cube) {
    const Vector center{instances[cube].center[0], instances[cube].center[1], instances[cube].center[2]};
    const double z = dot(center, camera()[2]);
    const double scale = kFocal * kPicture.height / 2 / z;  // pixels a unit, here and, with some margin, for the radius
    const double x = kPicture.width / 2.0 + dot(center, camera()[0]) * scale;
    const double y = kPicture.height / 2.0 + dot(center, camera()[1]) * scale;
    const double radius = 4 * instances[cube].half * scale + 2;
    const auto range = [radius](double at, uint32_t count) {
      const auto clamped = [count](double b) { return static_cast<uint32_t>(std::clamp(b, 0.0, count - 1.0)); };
      return std::pair{clamped((at - radius) / kBucketEdge), clamped((at + radius) / kBucketEdge)};
    };
    const auto [left, right] = range(x, kBucketColumns);
    const auto [top, bottom] = range(y, kBucketRows);
    for (uint32_t row = top; row <= bottom; ++row)
      for (uint32_t column = left; column <= right; ++column) buckets_[row * kBucketColumns + column].push_back(cube);
  }
}

Color CubeField::colorOfRay(double x, double y, const Bucket& bucket) const {
  const Vector ray =
      toWorld({(x / kPicture.width * 2 - 1) * kAspect / kFocal, (y / kPicture.height * 2 - 1) / kFocal, 1});
  const auto instances = instances_.as<Instance>();
  double nearest = std::numeric_limits<double>::infinity();
  Color color = clearColor();
  for (const uint32_t cube : bucket) {
    const Instance& instance = instances[cube];
    double enter = 0, leave = std::numeric_limits<double>::infinity();
    size_t enterAxis = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const double side = ray[axis] < 0 ? -1 : 1;
      const double in = (instance.center[axis] - side * instance.half) / ray[axis];
      const double out = (instance.center[axis] + side * instance.half) / ray[axis];
      if (in > enter) {
        enter = in;
        enterAxis = axis;
      }
      leave = std::min(leave, out);
    }
    if (enter >= leave || enter >= nearest) continue;
    nearest = enter;
    const double light = 0.5 + 0.5 * (ray[enterAxis] < 0 ? 1 : -1) * kLight[enterAxis];
    for (size_t c = 0; c < 3; ++c) color[c] = (instance.color >> 8 * c & 255) * light;
    color[3] = 255;
  }
  return color;
}

std::string CubeField::verify(std::span<const uint8_t> pixels) const {
  const auto expected = [&](uint32_t x, uint32_t y) -> std::optional<Color> {
    const Bucket& bucket = buckets_[y / kBucketEdge * kBucketColumns + x / kBucketEdge];
    // Nothing is expected where an edge or two cubes through each other are near.
    const Color color = colorOfRay(x + 0.5, y + 0.5, bucket);
    constexpr double kNearby = 0.05;  // pixels: corners are snapped to 1/16 at worst
    for (const double dx : {-kNearby, kNearby})
      for (const double dy : {-kNearby, kNearby})
        if (colorOfRay(x + 0.5 + dx, y + 0.5 + dy, bucket) != color) return std::nullopt;
    return color;
  };
  return comparePicture(pixels, expected, kRounding, 397);
}

}  // namespace pumice::bench
