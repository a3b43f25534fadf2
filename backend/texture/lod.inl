// Which level. Vulkan specification: "Scale Factor, Level-of-Detail and Image Level Selection".

/// Of positive numbers and infinity (128). Error below 1e-6.
PUMICE_INLINE F logarithm2(F value) {
  const I bits = asInt(asBits(value));
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const I exponent = (bits - 0x3F3504F3) >> 23;
  const F mantissa = asFloat(asUint(bits - (exponent << 23)));
  const F s = (mantissa - 1.0f) / (mantissa + 1.0f);
  const F s2 = s * s;
  const F series = 1.0f + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 * (1.0f / 9))));
  const F result = toFloat(exponent) + s * series * 2.885390081777927f;
  return select(value > 0.0f, result, splat(-std::numeric_limits<float>::infinity()));
}

PUMICE_INLINE F squareRoot(F value) {
  alignas(64) float lane[kLanes];
  store(lane, value);
  for (float& number : lane) number = __builtin_sqrtf(number);
  return loadF(lane);
}

struct LevelOfDetail {
  F lambda;   // with the bias, before any clamp
  F probes;   // of an anisotropic filter, at least 1
  F step[3];  // of the coordinates along the footprint's longer axis
  bool anisotropic;
};

PUMICE_INLINE LevelOfDetail levelOfDetail(const abi::ImageCall& call, const Site& site) {
  const View& view = *site.view;
  const Sampler& sampler = *site.sampler;
  LevelOfDetail out{};
  out.probes = splat(1.0f);
  F bias = splat(sampler.lodBias);
  if ((call.flags & abi::kImageGrad) == 0) {
    if ((call.flags & abi::kImageLod) != 0) out.lambda = loadF(call.lod);
  } else {
    if ((call.flags & abi::kImageLod) != 0) bias += loadF(call.lod);
    const bool cube = view.shape == abi::ViewShape::kCube;
    F along[2][3] = {};
    F square[2];
    FaceVector at;
    if (cube)
      at = alongFace(site.face, loadF(call.coordinate[0]), loadF(call.coordinate[1]), loadF(call.coordinate[2]));
    for (uint32_t axis = 0; axis < 2; ++axis) {
      const auto& gradient = axis == 0 ? call.ddx : call.ddy;
      for (uint32_t d = 0; d < (cube ? 3 : site.dimensions); ++d) along[axis][d] = loadF(gradient[d]);
      F move[3] = {along[axis][0], along[axis][1], along[axis][2]};
      if (cube) {
        const FaceVector v = alongFace(site.face, move[0], move[1], move[2]);
        move[0] = derivativeOnFace(at.s, at.major, v.s, v.major);
        move[1] = derivativeOnFace(at.t, at.major, v.t, v.major);
        move[2] = F{};
      }
      const F x = move[0] * static_cast<float>(view.width);
      const F y = move[1] * static_cast<float>(view.height);
      const F z = move[2] * static_cast<float>(view.depth);
      square[axis] = x * x + y * y + z * z;
    }
    const I yLonger = square[1] > square[0];
    F longer = select(yLonger, square[1], square[0]);
    out.anisotropic =
        (sampler.flags & abi::kSamplerAnisotropic) != 0 && sampler.maxAnisotropy > 1 && site.dimensions == 2;
    if (out.anisotropic) {
      const F shorter = select(yLonger, square[0], square[1]);
      const float most = sampler.maxAnisotropy < kMaxAnisotropy ? sampler.maxAnisotropy : kMaxAnisotropy;
      // A footprint without a shorter axis has the largest ratio, one without any axis is isotropic.
      const F flat = select(longer > 0.0f, splat(most), splat(1.0f));
      const F ratio = select(shorter > 0.0f, squareRoot(longer / shorter), flat);
      const F eta = clampFloat(ratio, splat(1.0f), splat(most));
      out.probes = -toFloat(floorToInt(-eta));
      longer = longer / (eta * eta);
      for (uint32_t d = 0; d < 3; ++d) out.step[d] = select(yLonger, along[1][d], along[0][d]);
    }
    out.lambda = 0.5f * logarithm2(longer);
  }
  out.lambda += clampFloat(bias, splat(-kMaxSamplerLodBias), splat(kMaxSamplerLodBias));
  return out;
}

struct LevelChoice {
  I magnified;
  F level;   // clamped to those that the view has
  I nearer;  // the level to use, or the first of two
  F weight;  // of the second
};

/// What levels a view has and a sampler wants.
struct LevelRange {
  uint32_t count;
  float viewMinLod;
  float minLod, maxLod;  // the sampler's
  bool linear;           // between levels
  bool normalized;
};

PUMICE_INLINE LevelChoice chooseLevel(const abi::ImageCall& call, const LevelRange& range, F lambda) {
  const auto last = static_cast<float>(range.count - 1);
  F least = splat(range.minLod);
  if ((call.flags & abi::kImageMinLod) != 0) {
    const F own = loadF(call.minLod);
    least = select(own > least, own, least);
  }
  F clamped = clampFloat(lambda, least, splat(range.maxLod));
  if (!range.normalized) clamped = F{};
  LevelChoice out;
  out.magnified = clamped <= 0.0f;
  out.level = clampFloat(clamped, splat(range.viewMinLod < last ? range.viewMinLod : last), splat(last));
  if (range.linear) {
    out.nearer = floorToInt(out.level);
    out.weight = out.level - toFloat(out.nearer);
  } else {
    out.nearer = -floorToInt(-(out.level + 0.5f)) - 1;
    out.weight = F{};
  }
  // Whatever the descriptors' numbers are, even NaN.
  out.nearer = clampInt(out.nearer, splat(0), splat(static_cast<int32_t>(range.count - 1)));
  return out;
}

PUMICE_INLINE LevelChoice chooseLevel(const abi::ImageCall& call, const Site& site, F lambda) {
  const View& view = *site.view;
  const Sampler& sampler = *site.sampler;
  return chooseLevel(
      call, {view.levelCount, view.minLod, sampler.minLod, sampler.maxLod, sampler.linearMips, site.normalized},
      lambda);
}

/// What a shader asks with OpImageQueryLod.
inline void queryLod(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler) {
  const Site site = makeSite(*call, lanes, view, sampler);
  const LevelOfDetail lod = levelOfDetail(*call, site);
  const LevelChoice choice = chooseLevel(*call, site, lod.lambda);
  storeLanes(call->texel[0], asBits(sampler.linearMips ? choice.level : toFloat(choice.nearer)), lanes);
  storeLanes(call->texel[1], asBits(lod.lambda), lanes);
}
