#include "backend/texture/ycbcr.h"

#include <vulkan/vulkan_core.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace pumice::texture {
namespace {

constexpr uint32_t kLanes = abi::kImageCallLanes;

using Numbers = float[kLanes];

/// Sixteen texels as R, G, B, A: C_R, Y', C_B and alpha.
struct Color {
  alignas(64) Numbers c[4];
};

struct Planes {
  const View* luma;
  View chroma[2];
  uint32_t chromaCount;  // 0: all is in `luma`
};

Planes findPlanes(const View& view) {
  Planes p{&view, {}, 0};
  if (view.chroma == 0) return p;
  for (uint32_t i = 0; i < 2; ++i) {
    p.chroma[i] = loadView(view.chroma + i * sizeof(abi::ImageDescriptor));
    if (!p.chroma[i]) break;
    ++p.chromaCount;
  }
  return p;
}

void load(Numbers& to, const uint32_t (&from)[kLanes]) {
  std::memcpy(to, from, sizeof to);
}

/// Where a plane is sampled: coordinates in the sampler's kind, and the layer.
struct Places {
  alignas(64) Numbers x;
  alignas(64) Numbers y;
  const uint32_t* layer;
};

/// One plane. `out` is a call of the caller's that nothing else uses.
void samplePlane(const Places& at, uint32_t lanes, const View& plane, const Sampler& sampler, const Kernels& kernels,
                 abi::ImageCall* out) {
  out->op = abi::ImageOp::kSample;
  out->flags = 0;
  out->activeLanes = static_cast<uint16_t>(lanes);
  std::memcpy(out->coordinate[0], at.x, sizeof at.x);
  std::memcpy(out->coordinate[1], at.y, sizeof at.y);
  std::memcpy(out->coordinate[2], at.layer, sizeof out->coordinate[2]);
  std::memset(out->texel, 0, sizeof out->texel);  // lanes that do not take part are computed with, too
  kernels.sample(out, lanes, plane, sampler);
}

/// Chroma into `out`, from places that are chroma's already.
void sampleChroma(const Planes& planes, const Places& at, uint32_t lanes, const Sampler& sampler,
                  const Kernels& kernels, Color* out) {
  abi::ImageCall call;
  samplePlane(at, lanes, planes.chroma[0], sampler, kernels, &call);
  load(out->c[2], call.texel[0]);
  load(out->c[0], call.texel[1]);
  if (planes.chromaCount == 1) return;
  samplePlane(at, lanes, planes.chroma[1], sampler, kernels, &call);
  load(out->c[0], call.texel[0]);
}

void fill(Numbers& to, float value) {
  for (float& v : to) v = value;
}

Sampler chromaSampler(const Sampler& sampler, const abi::ChromaConversion& conversion) {
  Sampler s = sampler;
  s.magFilter = s.minFilter = conversion.linear ? Filter::kLinear : Filter::kNearest;
  return s;
}

/// How far a chroma sample's position moves for being cosited, in luma texels. The nearest filter ignores it, which
/// explicit reconstruction demands and implicit allows.
float cositedShift(const abi::ChromaConversion& conversion, uint32_t axis) {
  return conversion.linear && conversion.subsampled[axis] && conversion.cosited[axis] ? 0.5f : 0.0f;
}

/// Chroma is interpolated at the place itself, beside luma.
void sampleImplicitly(abi::ImageCall* call, uint32_t lanes, const Planes& planes, const Sampler& sampler,
                      const abi::ChromaConversion& conversion, const Kernels& kernels, Color* out) {
  kernels.sample(call, lanes, *planes.luma, sampler);
  const Sampler ofChroma = chromaSampler(sampler, conversion);
  if (planes.chromaCount == 0) {
    for (uint32_t c = 0; c < 4; ++c) load(out->c[c], call->texel[c]);
    if (sampler.magFilter == ofChroma.magFilter && sampler.minFilter == ofChroma.minFilter) return;
    kernels.sample(call, lanes, *planes.luma, ofChroma);
    for (const uint32_t c : {0, 2}) load(out->c[c], call->texel[c]);
    return;
  }
  load(out->c[1], call->texel[0]);
  fill(out->c[3], 1.0f);
  // Normalized coordinates are the same in all planes, but for the shift.
  Places at;
  load(at.x, call->coordinate[0]);
  load(at.y, call->coordinate[1]);
  at.layer = call->coordinate[2];
  const float shift[2] = {cositedShift(conversion, 0) / static_cast<float>(planes.luma->width),
                          cositedShift(conversion, 1) / static_cast<float>(planes.luma->height)};
  for (uint32_t l = 0; l < kLanes; ++l) {
    at.x[l] += shift[0];
    at.y[l] += shift[1];
  }
  sampleChroma(planes, at, lanes, ofChroma, kernels, out);
}

/// Whole texels of luma and the chroma reconstructed at them. x, y: their numbers.
void sampleTexels(const Numbers& x, const Numbers& y, const abi::ImageCall& call, uint32_t lanes, const Planes& planes,
                  const Sampler& sampler, const abi::ChromaConversion& conversion, const Kernels& kernels, Color* out) {
  Sampler nearest = sampler;
  nearest.magFilter = nearest.minFilter = Filter::kNearest;
  nearest.flags |= abi::kSamplerUnnormalized;
  Places at;
  at.layer = call.coordinate[2];
  for (uint32_t l = 0; l < kLanes; ++l) {
    at.x[l] = x[l] + 0.5f;
    at.y[l] = y[l] + 0.5f;
  }
  abi::ImageCall luma;
  samplePlane(at, lanes, *planes.luma, nearest, kernels, &luma);
  if (planes.chromaCount == 0) {
    for (uint32_t c = 0; c < 4; ++c) load(out->c[c], luma.texel[c]);
    return;
  }
  load(out->c[1], luma.texel[0]);
  fill(out->c[3], 1.0f);
  const float scale[2] = {conversion.subsampled[0] ? 0.5f : 1.0f, conversion.subsampled[1] ? 0.5f : 1.0f};
  const float shift[2] = {cositedShift(conversion, 0), cositedShift(conversion, 1)};
  for (uint32_t l = 0; l < kLanes; ++l) {
    at.x[l] = (at.x[l] + shift[0]) * scale[0];
    at.y[l] = (at.y[l] + shift[1]) * scale[1];
  }
  sampleChroma(planes, at, lanes, chromaSampler(nearest, conversion), kernels, out);
}

/// NaN becomes the low end.
float clampTo(float value, float low, float high) {
  const float above = value > low ? value : low;
  return above < high ? above : high;
}

/// Chroma is reconstructed at texels of luma, and both are filtered together after that.
void sampleExplicitly(const abi::ImageCall& call, uint32_t lanes, const Planes& planes, const Sampler& sampler,
                      const abi::ChromaConversion& conversion, Filter filter, const Kernels& kernels, Color* out) {
  const View& luma = *planes.luma;
  const uint32_t sizes[2] = {luma.width, luma.height};
  Numbers index[2][2];
  Numbers weight[2];
  for (uint32_t d = 0; d < 2; ++d) {
    const auto size = static_cast<float>(sizes[d]);
    const float last = size - 1;
    for (uint32_t l = 0; l < kLanes; ++l) {
      const float position = clampTo(std::bit_cast<float>(call.coordinate[d][l]) * size, -1.0f, size + 1);
      const float first = std::floor(filter == Filter::kNearest ? position : position - 0.5f);
      weight[d][l] = position - 0.5f - first;
      index[d][0][l] = clampTo(first, 0, last);
      index[d][1][l] = clampTo(first + 1, 0, last);
    }
  }
  if (filter == Filter::kNearest) {
    return sampleTexels(index[0][0], index[1][0], call, lanes, planes, sampler, conversion, kernels, out);
  }
  Color corner[4];
  for (uint32_t k = 0; k < 4; ++k) {
    sampleTexels(index[0][k & 1], index[1][k >> 1], call, lanes, planes, sampler, conversion, kernels, &corner[k]);
  }
  for (uint32_t c = 0; c < 4; ++c) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      const auto mix = [&](float a, float b, uint32_t d) { return a + weight[d][l] * (b - a); };
      const float upper = mix(corner[0].c[c][l], corner[1].c[c][l], 0);
      const float lower = mix(corner[2].c[c][l], corner[3].c[c][l], 0);
      out->c[c][l] = mix(upper, lower, 1);
    }
  }
}

/// The lanes that magnify. Views of Y'CbCr images have one level.
uint32_t magnifiedLanes(const abi::ImageCall& call, uint32_t lanes, const View& view, const Sampler& sampler,
                        const Kernels& kernels) {
  abi::ImageCall query = call;
  kernels.queryLod(&query, lanes, view, sampler);
  uint32_t magnified = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    float least = sampler.minLod;
    if ((call.flags & abi::kImageMinLod) != 0) least = std::fmax(least, std::bit_cast<float>(call.minLod[l]));
    const float level = clampTo(std::bit_cast<float>(query.texel[1][l]), least, sampler.maxLod);
    magnified |= (level <= 0 ? 1u : 0u) << l;
  }
  return magnified & lanes;
}

void swizzle(uint16_t map, Color* color) {
  if (map == abi::kIdentitySwizzle) return;
  const Color from = *color;
  for (uint32_t c = 0; c < 4; ++c) {
    const auto source = static_cast<abi::Swizzle>(map >> (3 * c) & 7);
    if (source == abi::Swizzle::kZero || source == abi::Swizzle::kOne) {
      fill(color->c[c], source == abi::Swizzle::kOne ? 1.0f : 0.0f);
    } else {
      std::memcpy(color->c[c], from.c[static_cast<uint32_t>(source) & 3], sizeof(Numbers));
    }
  }
}

struct Range {
  float scale, offset;
};

void expand(const Range& range, Numbers& numbers) {
  for (float& v : numbers) v = v * range.scale + range.offset;
}

/// Nothing is clamped; the specification leaves that open.
void expandRange(const abi::ChromaConversion& conversion, Color* color) {
  const double most = std::exp2(conversion.bits) - 1;
  const double step = std::exp2(static_cast<double>(conversion.bits) - 8);
  const auto range = [](double scale, double offset) {
    return Range{static_cast<float>(scale), static_cast<float>(offset)};
  };
  if (conversion.narrow) expand(range(most / (219 * step), -16.0 / 219), color->c[1]);
  const Range chroma = conversion.narrow ? range(most / (224 * step), -128.0 / 224) : range(1, -128 * step / most);
  expand(chroma, color->c[0]);
  expand(chroma, color->c[2]);
}

/// R' = Y' + red C_R, G' = Y' - greenB C_B - greenR C_R, B' = Y' + blue C_B.
struct Model {
  float red, greenB, greenR, blue;
};

/// From the weights of red, green and blue in luma, which are what the ITU's recommendations differ in.
constexpr Model modelOf(double r, double g, double b) {
  return {static_cast<float>(2 * (1 - r)), static_cast<float>(2 * b * (1 - b) / g),
          static_cast<float>(2 * r * (1 - r) / g), static_cast<float>(2 * (1 - b))};
}

void convertModel(const Model& model, Color* color) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    const float red = color->c[0][l];
    const float luma = color->c[1][l];
    const float blue = color->c[2][l];
    color->c[0][l] = luma + model.red * red;
    color->c[1][l] = luma - model.greenB * blue - model.greenR * red;
    color->c[2][l] = luma + model.blue * blue;
  }
}

void convert(const abi::ChromaConversion& conversion, Color* color) {
  swizzle(conversion.swizzle, color);
  if (conversion.model == VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY) return;
  expandRange(conversion, color);
  static constexpr Model k709 = modelOf(0.2126, 0.7152, 0.0722);
  static constexpr Model k601 = modelOf(0.299, 0.587, 0.114);
  static constexpr Model k2020 = modelOf(0.2627, 0.6780, 0.0593);
  switch (conversion.model) {
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709:
      return convertModel(k709, color);
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601:
      return convertModel(k601, color);
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020:
      return convertModel(k2020, color);
    default:
      return;
  }
}

void storeColor(const Color& color, uint32_t lanes, abi::ImageCall* call) {
  for (uint32_t c = 0; c < 4; ++c) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((lanes >> l & 1) != 0) call->texel[c][l] = std::bit_cast<uint32_t>(color.c[c][l]);
    }
  }
}

}  // namespace

void sampleConverted(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler,
                     const Kernels& kernels) {
  const abi::ChromaConversion conversion = abi::unpackConversion(sampler.conversion);
  const Planes planes = findPlanes(view);
  Color color;
  if (!conversion.explicitly) {
    sampleImplicitly(call, lanes, planes, sampler, conversion, kernels, &color);
    convert(conversion, &color);
    return storeColor(color, lanes, call);
  }
  const uint32_t magnified =
      sampler.magFilter == sampler.minFilter ? lanes : magnifiedLanes(*call, lanes, view, sampler, kernels);
  const uint32_t groups[2] = {magnified, lanes & ~magnified};
  for (uint32_t i = 0; i < 2; ++i) {
    if (groups[i] == 0) continue;
    const Filter filter = i == 0 ? sampler.magFilter : sampler.minFilter;
    sampleExplicitly(*call, groups[i], planes, sampler, conversion, filter, kernels, &color);
    convert(conversion, &color);
    storeColor(color, groups[i], call);
  }
}

}  // namespace pumice::texture
