// The calls that there are most of: 2D views of hot formats (hot_texel.inl) and the filters nearest and linear, within
// and between levels, with every address mode, borders and depth comparison. Descriptors are read where they lie. What
// comes out are the bits of sample().

PUMICE_INLINE AddressMode addressModeOf(uint32_t samplerClass, uint32_t dimension) {
  const uint32_t mode = samplerClass >> (5 + 3 * dimension) & 7u;
  return mode > 4 ? AddressMode::kClampToEdge : static_cast<AddressMode>(mode);
}

/// levelOfDetail() of planes without anisotropy.
PUMICE_INLINE F hotLambda(const abi::ImageCall& call, const abi::ImageDescriptor& image,
                          const abi::SamplerDescriptor& sampler) {
  F bias = splat(sampler.lodBias);
  F lambda{};
  if ((call.flags & abi::kImageGrad) == 0) {
    if ((call.flags & abi::kImageLod) != 0) lambda = loadF(call.lod);
  } else {
    if ((call.flags & abi::kImageLod) != 0) bias += loadF(call.lod);
    F square[2];
    for (uint32_t axis = 0; axis < 2; ++axis) {
      const auto& gradient = axis == 0 ? call.ddx : call.ddy;
      const F x = loadF(gradient[0]) * static_cast<float>(image.width);
      const F y = loadF(gradient[1]) * static_cast<float>(image.height);
      square[axis] = x * x + y * y;
    }
    lambda = 0.5f * logarithm2(select(square[1] > square[0], square[1], square[0]));
  }
  return lambda + clampFloat(bias, splat(-kMaxSamplerLodBias), splat(kMaxSamplerLodBias));
}

/// The lanes of `left` whose number is that of the first of them.
PUMICE_INLINE uint32_t groupOf(const I& number, uint32_t left, int32_t& value) {
  alignas(64) int32_t lane[kLanes];
  store(lane, number);
  value = lane[std::countr_zero(left)];
  return bitsOf(number == value) & left;
}

template <TexelKind kKind>
[[gnu::noinline]] inline void sampleHot(abi::ImageCall* call, const abi::ImageDescriptor& image,
                                        const abi::SamplerDescriptor& sampler, const TexelFormat& format) {
  using Hot = HotTexel<kKind>;
  const bool isFloat = format.type == formats::TexelType::kFloat;
  const uint32_t samplerClass = sampler.samplerClass;
  const bool linearFilter[2] = {isFloat && (samplerClass >> 2 & 3u) == 1, isFloat && (samplerClass & 3u) == 1};
  const bool oneFilter = (samplerClass & 3u) == (samplerClass >> 2 & 3u);
  const AddressMode mode[2] = {addressModeOf(samplerClass, 0), addressModeOf(samplerClass, 1)};
  const F x = loadF(call->coordinate[0]);
  const F y = loadF(call->coordinate[1]);
  HotRules rules;
  rules.border = mode[0] == AddressMode::kClampToBorder || mode[1] == AddressMode::kClampToBorder;
  if (rules.border) {
    for (uint32_t c = 0; c < 4; ++c)
      rules.borderColor[c] = format.present[c] ? sampler.borderColor[c] : format.outside[c];
  }
  rules.compares = (call->flags & abi::kImageReference) != 0;
  if (rules.compares) {
    rules.compareOp = static_cast<CompareOp>(sampler.compareOp & 7u);
    rules.reference = loadF(call->reference);
    if (format.normalized) rules.reference = clampFloat(rules.reference, F{}, splat(1.0f));
  }
  rules.one = format.one;

  LevelChoice choice{};
  const bool byLevel = image.levelCount > 1 || !oneFilter;
  if (byLevel) {
    const LevelRange range{image.levelCount,
                           static_cast<float>(image.minLod_8) * (1.0f / 256.0f),
                           sampler.minLod,
                           sampler.maxLod,
                           (samplerClass & 16u) != 0,
                           true};
    choice = chooseLevel(*call, range, hotLambda(*call, image, sampler));
  }
  const I key = choice.nearer * 2 + (oneFilter ? I{} : choice.magnified & 1);
  const bool layers = image.depthOrLayers > 1;
  const I layer = layers ? nearestLayer(loadF(call->coordinate[2]), image.depthOrLayers) : I{};
  const auto* levelTable = reinterpret_cast<const abi::ImageLevel*>(image.levelTable);
  const uint32_t inner = bitsOf((x >= 0.0f) & (x < 1.0f) & (y >= 0.0f) & (y < 1.0f));

  // Lanes of one level, filter and layer together.
  for (uint32_t left = call->activeLanes; left != 0;) {
    uint32_t group = left;
    int32_t keyOfGroup = 0;
    int32_t layerOfGroup = 0;
    if (byLevel) group = groupOf(key, group, keyOfGroup);
    if (layers) group = groupOf(layer, group, layerOfGroup);
    left &= ~group;
    const I lanes = maskOf(group);
    // Of integers and of nearest filters between levels the second level does not matter.
    const auto nearer = static_cast<uint32_t>(keyOfGroup >> 1);
    const bool two = isFloat && nearer + 1 < image.levelCount && any((choice.weight > 0.0f) & lanes);
    const bool linear = linearFilter[oneFilter ? 0 : keyOfGroup & 1];
    Texels out;
    for (uint32_t n = 0; n < (two ? 2u : 1u); ++n) {
      const uint32_t index = nearer + n;
      const abi::ImageLevel& entry = levelTable[index];
      const uint32_t width = image.width >> index;
      const uint32_t height = image.height >> index;
      const HotSlice slice{reinterpret_cast<const std::byte*>(image.address) + entry.offset_B +
                               static_cast<uint32_t>(layerOfGroup) * image.layerPitch_B,
                           static_cast<int32_t>(width != 0 ? width : 1), static_cast<int32_t>(height != 0 ? height : 1),
                           entry.rowPitch_B, abi::isQuadMajor(image.viewClass)};
      HotFootprint footprint;
      if ((group & ~inner) == 0) {
        findInnerTexels(mode[0], x, slice.width, linear, lanes, footprint.x);
        findInnerTexels(mode[1], y, slice.height, linear, lanes, footprint.y);
      } else {
        findHotTexels(mode[0], x, slice.width, true, nullptr, linear, lanes, footprint.x);
        findHotTexels(mode[1], y, slice.height, true, nullptr, linear, lanes, footprint.y);
      }
      Texels texels;
      if (!linear) {
        filterHotNearest<Hot>(rules, slice, lanes, footprint, texels);
      } else if (Hot::kChannels == 1 && rules.compares) {
        filterHotLinear<Hot, HotFilter::kCompare>(rules, slice, lanes, footprint, texels);
      } else if (rules.border) {
        filterHotLinear<Hot, HotFilter::kScaled>(rules, slice, lanes, footprint, texels);
      } else {
        filterHotLinear<Hot, HotFilter::kPlain>(rules, slice, lanes, footprint, texels);
      }
      for (uint32_t c = 0; c < 4; ++c) {
        out.c[c] = n == 0 ? texels.c[c] : asBits(lerp(asFloat(out.c[c]), asFloat(texels.c[c]), choice.weight));
      }
    }
    returnTexels(call, group, format, image.swizzle, out);
  }
}

using HotSampleFunction = void(abi::ImageCall* call, const abi::ImageDescriptor& image,
                               const abi::SamplerDescriptor& sampler, const TexelFormat& format);

/// By TexelKind, as kHotFunctions.
constexpr HotSampleFunction* kHotSampleFunctions[] = {
    &sampleHot<TexelKind::kRgba8Unorm>, &sampleHot<TexelKind::kBgra8Unorm>,  &sampleHot<TexelKind::kRgba8Srgb>,
    &sampleHot<TexelKind::kBgra8Srgb>,  &sampleHot<TexelKind::kR8Unorm>,     &sampleHot<TexelKind::kRg8Unorm>,
    &sampleHot<TexelKind::kR16Unorm>,   &sampleHot<TexelKind::kD24Unorm>,    &sampleHot<TexelKind::kR16Float>,
    &sampleHot<TexelKind::kRg16Float>,  &sampleHot<TexelKind::kRgba16Float>, &sampleHot<TexelKind::kR32>,
    &sampleHot<TexelKind::kRg32>,       &sampleHot<TexelKind::kRgba32>};
static_assert(std::size(kHotSampleFunctions) == std::size(kHotFunctions));

/// A call of kSample with uniform descriptors. False: it is for another road; nothing has been done.
inline bool trySampleHot(abi::ImageCall* call) {
  if (call->image[0] == 0 || call->sampler[0] == 0) return false;
  constexpr uint32_t kFlags =
      abi::kImageUniformDescriptor | abi::kImageLod | abi::kImageGrad | abi::kImageReference | abi::kImageMinLod;
  // Of a texel buffer's descriptor the class that is read here is zero.
  const auto& image = *reinterpret_cast<const abi::ImageDescriptor*>(call->image[0]);
  const auto& sampler = *reinterpret_cast<const abi::SamplerDescriptor*>(call->sampler[0]);
  const uint16_t viewClass = image.viewClass;
  if ((call->flags & ~kFlags) != 0 || abi::viewShape(viewClass) != abi::ViewShape::k2D) return false;
  constexpr uint32_t kOther =
      abi::kSamplerUnnormalized | abi::kSamplerAnisotropic | abi::kSamplerReduceMin | abi::kSamplerReduceMax;
  const uint32_t samplerClass = sampler.samplerClass;
  // Filters are 0 and 1; class 0 is the null sampler.
  if (samplerClass == 0 || (samplerClass & 0xAu) != 0 || (sampler.flags & kOther) != 0 || sampler.conversion != 0)
    return false;
  if (image.address == 0 || image.levelTable == 0 || image.levelCount == 0 || (image.samples_log2 & 7u) != 0)
    return false;
  if (image.width == 0 || image.height == 0 || image.depthOrLayers == 0) return false;
  const TexelFormat& format = texelFormat(abi::formatIndex(viewClass));
  const auto kind = static_cast<size_t>(format.kind);
  if (kind == 0 || kind > std::size(kHotSampleFunctions)) return false;
  const bool compares = (call->flags & abi::kImageReference) != 0;
  if (compares && kHotFunctions[kind - 1].compare == nullptr) return false;
  const uint32_t pitch_B = reinterpret_cast<const abi::ImageLevel*>(image.levelTable)->rowPitch_B;
  const uint32_t rows = abi::isQuadMajor(viewClass) ? (image.height + 3) / 4 : image.height;
  if (uint64_t{rows} * pitch_B > 0xFFFFFFFFu) return false;
  kHotSampleFunctions[kind - 1](call, image, sampler, format);
  return true;
}
