// For tests: sampling by the letter of the specification's chapter "Image Operations", one lane at a time and in double
// precision. It shares nothing with the texture unit but the descriptors' layout.
//
// Positions and levels may be moved a little, because implementations compute them in less precision: a result is right
// when it lies between the results of such moves.
#pragma once

#include <optional>

#include "backend/texture/test_image.h"

namespace pumice::texture::test {

struct SamplerState {
  uint32_t magFilter = 0, minFilter = 0;  // VkFilter
  uint32_t mipmapMode = 0;
  uint32_t address[3] = {0, 0, 0};  // VkSamplerAddressMode
  uint32_t flags = 0;               // abi::SamplerFlags
  float lodBias = 0, minLod = 0, maxLod = 100, maxAnisotropy = 1;
  uint32_t compareOp = 0;
  double border[4] = {0, 0, 0, 0};

  abi::SamplerDescriptor descriptor(formats::TexelType type) const {
    abi::SamplerDescriptor d{};
    d.samplerClass = abi::makeSamplerClass(magFilter, minFilter, mipmapMode, address[0], address[1], address[2]);
    d.flags = static_cast<uint16_t>(flags);
    d.lodBias = lodBias;
    d.minLod = minLod;
    d.maxLod = maxLod;
    d.maxAnisotropy = maxAnisotropy;
    d.compareOp = compareOp;
    for (uint32_t c = 0; c < 4; ++c) d.borderColor[c] = bitsOfNumber(border[c], type);
    return d;
  }
};

/// What one lane asks.
struct Query {
  float coordinate[4] = {0, 0, 0, 0};  // then the layer or cube
  std::optional<float> lod;            // with gradients: the bias
  std::optional<float> minLod;
  std::optional<float> reference;
  bool gradients = false;
  float ddx[3] = {0, 0, 0}, ddy[3] = {0, 0, 0};
  int offset[3] = {0, 0, 0};
};

/// A small move: of the position in texels, of the level, of the ratio of axes.
struct Move {
  double texels[3] = {0, 0, 0};
  double level = 0;
  double ratio = 0;
};

struct Face {
  int sAxis, sSign, tAxis, tSign, majorAxis, majorSign;
};
/// The specification's table of faces.
inline constexpr Face kFaces[6] = {{2, -1, 1, -1, 0, 1}, {2, 1, 1, -1, 0, -1}, {0, 1, 2, 1, 1, 1},
                                   {0, 1, 2, -1, 1, -1}, {0, 1, 1, -1, 2, 1},  {0, -1, 1, -1, 2, -1}};

inline int faceOfDirection(const double (&r)[3]) {
  int axis = 0;
  if (std::fabs(r[1]) >= std::fabs(r[0])) axis = 1;
  if (std::fabs(r[2]) >= std::fabs(r[0]) && std::fabs(r[2]) >= std::fabs(r[1])) axis = 2;
  return 2 * axis + (r[axis] < 0 ? 1 : 0);
}

class SampleReference {
 public:
  SampleReference(TestImage& image, const SamplerState& sampler) : image_(image), sampler_(sampler) {
    const ImageShape& s = image.shape();
    dimensions_ = s.shape == abi::ViewShape::k1D ? 1 : s.shape == abi::ViewShape::k3D ? 3 : 2;
    cube_ = s.shape == abi::ViewShape::kCube;
    seamless_ = cube_ && (sampler.flags & abi::kSamplerSeamlessOff) == 0;
    levels_.resize(s.levels);
    for (uint32_t l = 0; l < s.levels; ++l) {
      for (uint32_t z = 0; z < image.slices(l); ++z) {
        for (uint32_t y = 0; y < image.height(l); ++y) {
          for (uint32_t x = 0; x < image.width(l); ++x) levels_[l].push_back(image.texel(l, x, y, z));
        }
      }
    }
  }

  /// Of tests' own making: how far a move may go.
  static constexpr double kExact = 0;

  Rgba sample(const Query& q, const Move& move) const {
    double ratioMax = 1;
    double direction[3] = {0, 0, 0};  // of the probes
    const double lambda = std::fmin(std::fmax(unclampedLevel(q, move, ratioMax, direction), lowestLevel(q)),
                                    static_cast<double>(sampler_.maxLod));
    const bool unnormalized = (sampler_.flags & abi::kSamplerUnnormalized) != 0;
    const double used = unnormalized ? 0 : lambda;
    const uint32_t filter = used <= 0 ? sampler_.magFilter : sampler_.minFilter;
    const double last = image_.shape().levels - 1;
    const double level = std::fmin(std::fmax(used, viewMinLod_), last);
    const auto probes = static_cast<int>(std::ceil(ratioMax));
    Rgba sum{};
    for (int n = 1; n <= probes; ++n) {
      Query at = q;
      double exact[3];
      for (int d = 0; d < 3; ++d) {
        exact[d] = static_cast<double>(at.coordinate[d]) + (static_cast<double>(n) / (probes + 1) - 0.5) * direction[d];
      }
      Rgba one;
      if (sampler_.mipmapMode == 0) {
        one = filterLevel(at, exact, static_cast<uint32_t>(std::ceil(level + 0.5) - 1), filter, move);
      } else {
        const double fine = std::floor(level);
        const double weight = level - fine;
        one = filterLevel(at, exact, static_cast<uint32_t>(fine), filter, move);
        if (weight > 0) {
          const Rgba coarse = filterLevel(at, exact, static_cast<uint32_t>(std::fmin(fine + 1, last)), filter, move);
          one = weighted({one, coarse}, {1 - weight, weight});
        }
      }
      if (n == 1) {
        sum = one;
      } else {
        for (int c = 0; c < 4; ++c) sum.c[c] = combine(sum.c[c], one.c[c]);
      }
    }
    if (!reduces()) {
      for (double& c : sum.c) c /= probes;
    }
    return sum;
  }

  /// (level used, level before clamping)
  std::pair<double, double> queryLod(const Query& q, const Move& move) const {
    double ratio = 1;
    double direction[3];
    const double lambda = unclampedLevel(q, move, ratio, direction);
    double level = std::fmin(std::fmax(lambda, lowestLevel(q)), static_cast<double>(sampler_.maxLod));
    level = std::fmin(std::fmax(level, viewMinLod_), image_.shape().levels - 1.0);
    return {sampler_.mipmapMode == 0 ? std::ceil(level + 0.5) - 1 : level, lambda};
  }

  /// Component c of the four texels; offsets: one pair each, or nullptr.
  Rgba gather(const Query& q, const Move& move, uint32_t component, const int (*offsets)[2]) const {
    double exact[3];
    for (int d = 0; d < 3; ++d) exact[d] = static_cast<double>(q.coordinate[d]);
    Place p = placeOf(q, exact, 0, move);
    static constexpr int kTexel[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const auto i = static_cast<int64_t>(std::floor(p.u[0] - 0.5));
    const auto j = static_cast<int64_t>(std::floor(p.u[1] - 0.5));
    Rgba out{};
    for (int n = 0; n < 4; ++n) {
      int64_t x = i + (offsets != nullptr ? offsets[n][0] : kTexel[n][0] + q.offset[0]);
      int64_t y = j + (offsets != nullptr ? offsets[n][1] : kTexel[n][1] + q.offset[1]);
      const int64_t corner[2] = {i, j};
      out.c[n] = planeTexel(q, 0, x, y, p, corner).c[component];
    }
    return out;
  }

  void setViewMinLod(double value) { viewMinLod_ = value; }

  /// All that a lane could ever see, for coordinates that mean nothing.
  std::pair<double, double> range(uint32_t component) const {
    std::pair<double, double> out{std::min(border(component), 0.0), std::max(border(component), 1.0)};
    for (const auto& level : levels_) {
      for (const Rgba& texel : level) {
        out.first = std::min(out.first, texel.c[component]);
        out.second = std::max(out.second, texel.c[component]);
      }
    }
    return out;
  }

 private:
  struct Place {
    double u[3];  // in texels
    int face = 0;
    uint32_t slice = 0;
  };

  bool reduces() const { return (sampler_.flags & (abi::kSamplerReduceMin | abi::kSamplerReduceMax)) != 0; }
  double combine(double a, double b) const {
    if ((sampler_.flags & abi::kSamplerReduceMin) != 0) return std::fmin(a, b);
    if ((sampler_.flags & abi::kSamplerReduceMax) != 0) return std::fmax(a, b);
    return a + b;
  }
  Rgba weighted(std::vector<Rgba> texels, std::vector<double> weights) const {
    Rgba out{};
    bool first = true;
    for (size_t i = 0; i < texels.size(); ++i) {
      if (reduces() && weights[i] == 0) continue;
      for (int c = 0; c < 4; ++c) {
        const double term = reduces() ? texels[i].c[c] : texels[i].c[c] * weights[i];
        out.c[c] = first ? term : combine(out.c[c], term);
      }
      first = false;
    }
    return out;
  }

  double border(uint32_t c) const { return image_.has(c) ? sampler_.border[c] : c == 3 ? 1 : 0; }

  double lowestLevel(const Query& q) const {
    return std::fmax(static_cast<double>(sampler_.minLod), static_cast<double>(q.minLod.value_or(sampler_.minLod)));
  }

  double unclampedLevel(const Query& q, const Move& move, double& ratioMax, double (&direction)[3]) const {
    double base = move.level;
    double bias = static_cast<double>(sampler_.lodBias);
    if (!q.gradients) {
      base += static_cast<double>(q.lod.value_or(0));
    } else {
      bias += static_cast<double>(q.lod.value_or(0));
      const ImageShape& s = image_.shape();
      const double size[3] = {static_cast<double>(s.width), static_cast<double>(image_.height(0)),
                              static_cast<double>(s.shape == abi::ViewShape::k3D ? s.depthOrLayers : 1)};
      double rho[2];
      for (int axis = 0; axis < 2; ++axis) {
        const float* g = axis == 0 ? q.ddx : q.ddy;
        double d[3] = {static_cast<double>(g[0]), dimensions_ > 1 ? static_cast<double>(g[1]) : 0,
                       dimensions_ > 2 ? static_cast<double>(g[2]) : 0};
        if (cube_) {
          // d/dx (sc / |rc| / 2 + 1/2) by the quotient's rule.
          const double r[3] = {static_cast<double>(q.coordinate[0]), static_cast<double>(q.coordinate[1]),
                               static_cast<double>(q.coordinate[2])};
          const double full[3] = {static_cast<double>(g[0]), static_cast<double>(g[1]), static_cast<double>(g[2])};
          const Face& f = kFaces[faceOfDirection(r)];
          const double major = r[f.majorAxis] * f.majorSign;
          const double dMajor = full[f.majorAxis] * f.majorSign;
          d[0] = 0.5 * (major * full[f.sAxis] * f.sSign - r[f.sAxis] * f.sSign * dMajor) / (major * major);
          d[1] = 0.5 * (major * full[f.tAxis] * f.tSign - r[f.tAxis] * f.tSign * dMajor) / (major * major);
          d[2] = 0;
        }
        rho[axis] = std::hypot(d[0] * size[0], d[1] * size[1], d[2] * size[2]);
      }
      const double longer = std::fmax(rho[0], rho[1]);
      const double shorter = std::fmin(rho[0], rho[1]);
      double eta = 1;
      if ((sampler_.flags & abi::kSamplerAnisotropic) != 0 && dimensions_ == 2 && sampler_.maxAnisotropy > 1) {
        const auto most = static_cast<double>(sampler_.maxAnisotropy);
        eta = longer == 0 ? 1 : shorter == 0 ? most : std::fmin(longer / shorter + move.ratio, most);
        eta = std::fmax(eta, 1);
        const float* g = rho[1] > rho[0] ? q.ddy : q.ddx;
        for (int d = 0; d < 3; ++d) direction[d] = static_cast<double>(g[d]);
      }
      ratioMax = eta;
      base += std::log2(longer / eta);
    }
    return base + std::fmin(std::fmax(bias, -15), 15);
  }

  Place placeOf(const Query& q, const double (&exact)[3], uint32_t level, const Move& move) const {
    Place p{};
    double st[3] = {exact[0], exact[1], exact[2]};
    const ImageShape& s = image_.shape();
    if (cube_) {
      const double r[3] = {exact[0], exact[1], exact[2]};
      p.face = faceOfDirection(r);
      const Face& f = kFaces[p.face];
      st[0] = 0.5 * r[f.sAxis] * f.sSign / std::fabs(r[f.majorAxis]) + 0.5;
      st[1] = 0.5 * r[f.tAxis] * f.tSign / std::fabs(r[f.majorAxis]) + 0.5;
    }
    const double size[3] = {static_cast<double>(image_.width(level)), static_cast<double>(image_.height(level)),
                            static_cast<double>(image_.depth(level))};
    const bool unnormalized = (sampler_.flags & abi::kSamplerUnnormalized) != 0;
    for (int d = 0; d < dimensions_; ++d) p.u[d] = st[d] * (unnormalized ? 1 : size[d]) + move.texels[d];
    if (s.shape != abi::ViewShape::k3D) {
      const uint32_t layers = cube_ ? s.depthOrLayers / 6 : s.depthOrLayers;
      const double a = std::nearbyint(static_cast<double>(q.coordinate[cube_ ? 3 : dimensions_]));
      const auto layer = static_cast<uint32_t>(std::fmin(std::fmax(layers > 1 ? a : 0, 0), layers - 1.0));
      p.slice = cube_ ? 6 * layer + static_cast<uint32_t>(p.face) : layer;
    }
    return p;
  }

  /// The specification's wrapping; -1: the border.
  static int64_t wrap(uint32_t mode, int64_t i, int64_t size) {
    const auto mod = [](int64_t a, int64_t b) { return (a % b + b) % b; };
    const auto mirror = [](int64_t n) { return n >= 0 ? n : -(1 + n); };
    switch (mode) {
      case 0:
        return mod(i, size);
      case 1:
        return size - 1 - mirror(mod(i, 2 * size) - size);
      case 2:
        return std::clamp<int64_t>(i, 0, size - 1);
      case 3:
        return i >= 0 && i < size ? i : -1;
      default:
        return std::clamp<int64_t>(mirror(i), 0, size - 1);
    }
  }

  Rgba fetch(const Query& q, uint32_t level, int64_t x, int64_t y, int64_t slice) const {
    Rgba texel;
    if (x < 0 || y < 0 || slice < 0) {
      for (uint32_t c = 0; c < 4; ++c) texel.c[c] = border(c);
    } else {
      const auto at =
          (static_cast<size_t>(slice) * image_.height(level) + static_cast<size_t>(y)) * image_.width(level);
      texel = levels_[level][at + static_cast<size_t>(x)];
    }
    if (!q.reference) return texel;
    double reference = static_cast<double>(*q.reference);
    if (image_.channels()[0].numeric == formats::reference::Numeric::kUnorm || image_.channels()[0].letter == 'X') {
      reference = std::fmin(std::fmax(reference, 0), 1);
    }
    const double d = texel.c[0];
    const bool passes[8] = {false, reference<d, reference == d, reference <= d, reference> d, reference != d,
                            reference >= d, true};
    return {{passes[sampler_.compareOp] ? 1.0 : 0.0, 0, 0, 1}};
  }

  /// A texel of the plane of u and v. corner: the lower left texel of the footprint, for cubes' corners.
  Rgba planeTexel(const Query& q, uint32_t level, int64_t x, int64_t y, const Place& p,
                  const int64_t (&corner)[2]) const {
    const int64_t w = image_.width(level);
    const int64_t h = image_.height(level);
    if (!seamless_) {
      const int64_t i = wrap(sampler_.address[0], x, w);
      const int64_t j = dimensions_ > 1 ? wrap(sampler_.address[1], y, h) : 0;
      return fetch(q, level, i, j, p.slice);
    }
    const bool outX = x < 0 || x >= w;
    const bool outY = y < 0 || y >= w;
    if (outX && outY) {  // no face has it: the mean of the footprint's other three
      Rgba mean{};
      for (int k = 0; k < 4; ++k) {
        const int64_t i = corner[0] + (k & 1);
        const int64_t j = corner[1] + (k >> 1);
        if (i == x && j == y) continue;
        const Rgba other = planeTexel(q, level, i, j, p, corner);
        for (int c = 0; c < 4; ++c) mean.c[c] += other.c[c] / 3;
      }
      return mean;
    }
    if (!outX && !outY) return fetch(q, level, x, y, p.slice);
    // The neighbouring face's texel at the same place of the common edge: go to the edge and a little over it.
    const Face& f = kFaces[p.face];
    const auto size = static_cast<double>(w);
    const double s = outX ? (x < 0 ? -1 : 1) : (2.0 * static_cast<double>(x) + 1) / size - 1;
    const double t = outY ? (y < 0 ? -1 : 1) : (2.0 * static_cast<double>(y) + 1) / size - 1;
    double r[3];
    r[f.sAxis] = s * f.sSign;
    r[f.tAxis] = t * f.tSign;
    r[f.majorAxis] = (1 - 1e-9) * f.majorSign;
    const int other = faceOfDirection(r);
    const Face& g = kFaces[other];
    const double major = std::fabs(r[g.majorAxis]);
    const auto index = [&](double along) {
      const double at = (along / major * 0.5 + 0.5) * size;
      return std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, w - 1);
    };
    return fetch(q, level, index(r[g.sAxis] * g.sSign), index(r[g.tAxis] * g.tSign),
                 p.slice / 6 * 6 + static_cast<uint32_t>(other));
  }

  Rgba filterLevel(const Query& q, const double (&exact)[3], uint32_t level, uint32_t filter, const Move& move) const {
    Place p = placeOf(q, exact, level, move);
    const bool isFloat = formats::texelType(image_.info()) == formats::TexelType::kFloat;
    if (filter == 0 || !isFloat) {
      int64_t i[3] = {0, 0, 0};
      for (int d = 0; d < dimensions_; ++d) {
        i[d] = static_cast<int64_t>(std::floor(p.u[d])) + q.offset[d];
        if (seamless_) i[d] = std::clamp<int64_t>(i[d], 0, image_.width(level) - 1);
      }
      if (dimensions_ < 3) return planeTexel(q, level, i[0], i[1], p, {0, 0});
      const int64_t z = wrap(sampler_.address[2], i[2], image_.depth(level));
      return volumeTexel(q, level, i[0], i[1], z, p);
    }
    const bool cubic = filter == 2 && !cube_ && dimensions_ < 3;
    int64_t first[3] = {0, 0, 0};
    std::vector<double> weight[3];
    for (int d = 0; d < 3; ++d) {
      if (d >= dimensions_) {
        weight[d] = {1};
        continue;
      }
      const double at = p.u[d] - 0.5;
      const double a = at - std::floor(at);
      first[d] = static_cast<int64_t>(std::floor(at)) + q.offset[d];
      weight[d] = {1 - a, a};
      if (cubic) {
        // (1, a, a^2, a^3) times the specification's matrix, halved.
        static constexpr double kMatrix[4][4] = {{0, 2, 0, 0}, {-1, 0, 1, 0}, {2, -5, 4, -1}, {-1, 3, -3, 1}};
        weight[d] = {0, 0, 0, 0};
        for (int k = 0; k < 4; ++k) {
          for (int power = 0; power < 4; ++power) weight[d][k] += 0.5 * std::pow(a, power) * kMatrix[power][k];
        }
        --first[d];
      }
    }
    std::vector<Rgba> texels;
    std::vector<double> weights;
    for (size_t k = 0; k < weight[2].size(); ++k) {
      for (size_t j = 0; j < weight[1].size(); ++j) {
        for (size_t i = 0; i < weight[0].size(); ++i) {
          const int64_t x = first[0] + static_cast<int64_t>(i);
          const int64_t y = first[1] + static_cast<int64_t>(j);
          if (dimensions_ < 3) {
            const int64_t corner[2] = {first[0], first[1]};
            texels.push_back(planeTexel(q, level, x, y, p, corner));
          } else {
            const int64_t z = wrap(sampler_.address[2], first[2] + static_cast<int64_t>(k), image_.depth(level));
            texels.push_back(volumeTexel(q, level, x, y, z, p));
          }
          weights.push_back(weight[0][i] * weight[1][j] * weight[2][k]);
          if (cubic && reduces()) weights.back() = 1;
        }
      }
    }
    return weighted(texels, weights);
  }

  Rgba volumeTexel(const Query& q, uint32_t level, int64_t x, int64_t y, int64_t z, const Place&) const {
    return fetch(q, level, wrap(sampler_.address[0], x, image_.width(level)),
                 wrap(sampler_.address[1], y, image_.height(level)), z);
  }

  TestImage& image_;
  SamplerState sampler_;
  int dimensions_;
  bool cube_, seamless_;
  double viewMinLod_ = 0;
  std::vector<std::vector<Rgba>> levels_;
};

}  // namespace pumice::texture::test
