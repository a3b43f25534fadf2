// Filters of sites whose planes have hot formats: cubes, arrays, anisotropic probes, offsets. Plain calls take the road
// of hot_sample.inl before.

PUMICE_INLINE bool hasBorder(const Site& site) {
  return site.address[0] == AddressMode::kClampToBorder || site.address[1] == AddressMode::kClampToBorder;
}

using HotFunction = void(const HotRules& rules, const HotSlice& slice, const I& lanes, const HotFootprint& f,
                         Texels& out);

template <TexelKind kKind>
[[gnu::noinline]] inline void hotNearest(const HotRules& rules, const HotSlice& slice, const I& lanes,
                                         const HotFootprint& f, Texels& out) {
  filterHotNearest<HotTexel<kKind>>(rules, slice, lanes, f, out);
}
template <TexelKind kKind, HotFilter kFilter>
[[gnu::noinline]] inline void hotLinear(const HotRules& rules, const HotSlice& slice, const I& lanes,
                                        const HotFootprint& f, Texels& out) {
  filterHotLinear<HotTexel<kKind>, kFilter>(rules, slice, lanes, f, out);
}

struct HotFunctions {
  HotFunction *nearest, *plain, *scaled, *compare;
};
template <TexelKind kKind>
constexpr HotFunctions hotFunctions() {
  HotFunctions f{&hotNearest<kKind>, &hotLinear<kKind, HotFilter::kPlain>, &hotLinear<kKind, HotFilter::kScaled>,
                 nullptr};
  if constexpr (HotTexel<kKind>::kChannels == 1) f.compare = &hotLinear<kKind, HotFilter::kCompare>;
  return f;
}

/// By TexelKind, from the first one that has texels to the last one that is here.
constexpr HotFunctions kHotFunctions[] = {
    hotFunctions<TexelKind::kRgba8Unorm>(),  hotFunctions<TexelKind::kBgra8Unorm>(),
    hotFunctions<TexelKind::kRgba8Srgb>(),   hotFunctions<TexelKind::kBgra8Srgb>(),
    hotFunctions<TexelKind::kR8Unorm>(),     hotFunctions<TexelKind::kRg8Unorm>(),
    hotFunctions<TexelKind::kR16Unorm>(),    hotFunctions<TexelKind::kD24Unorm>(),
    hotFunctions<TexelKind::kR16Float>(),    hotFunctions<TexelKind::kRg16Float>(),
    hotFunctions<TexelKind::kRgba16Float>(), hotFunctions<TexelKind::kR32>(),
    hotFunctions<TexelKind::kRg32>(),        hotFunctions<TexelKind::kRgba32>()};
static_assert(static_cast<size_t>(TexelKind::kRgba8Unorm) == 1 &&
              static_cast<size_t>(TexelKind::kRgba32) == std::size(kHotFunctions));

/// nullptr: another road.
PUMICE_INLINE HotFunction* hotFunction(const Site& site, const Level& level, bool linear) {
  const View& view = *site.view;
  const auto kind = static_cast<size_t>(view.format->kind);
  const bool reduces = (site.sampler->flags & (abi::kSamplerReduceMin | abi::kSamplerReduceMax)) != 0;
  const uint32_t rows = view.quadMajor ? (level.height + 3) / 4 : level.height;
  if (kind == 0 || kind > std::size(kHotFunctions) || site.dimensions != 2 || view.samples != 1) return nullptr;
  if ((linear && reduces) || uint64_t{rows} * level.rowPitch_B > 0xFFFFFFFFu) return nullptr;
  const HotFunctions& f = kHotFunctions[kind - 1];
  if (!linear) return f.nearest;
  if (site.compare) return f.compare;
  return hasBorder(site) || site.seamless ? f.scaled : f.plain;
}

PUMICE_INLINE HotRules hotRules(const Site& site) {
  HotRules rules{};
  rules.border = hasBorder(site);
  for (uint32_t c = 0; c < 4; ++c) rules.borderColor[c] = site.border[c];
  rules.compares = site.compare;
  rules.compareOp = site.sampler->compareOp;
  if (site.compare) rules.reference = site.reference;
  rules.one = site.view->format->one;
  return rules;
}

/// Lanes of one slice.
PUMICE_INLINE void filterHotSlice(const Site& site, const Level& level, uint32_t number, bool linear,
                                  HotFunction* function, Texels& out) {
  HotFootprint footprint;
  uint32_t outside = 0;
  for (uint32_t d = 0; d < 2; ++d) {
    outside |= findHotTexels(site.address[d], site.position[d], sizeOf(level, d), site.normalized,
                             site.hasOffset ? &site.offset[d] : nullptr, linear, site.lanes,
                             d == 0 ? footprint.x : footprint.y);
  }
  if (linear && site.seamless && outside != 0) return filterPlane(site, level, site.slice, out);
  const HotSlice slice{level.base + number * level.slicePitch_B, static_cast<int32_t>(level.width),
                       static_cast<int32_t>(level.height), level.rowPitch_B, site.view->quadMajor};
  function(hotRules(site), slice, site.lanes, footprint, out);
}

/// Lanes of equal slices together.
[[gnu::noinline]] inline void filterHotSlices(const Site& site, const Level& level, bool linear, HotFunction* function,
                                              Texels& out) {
  alignas(64) int32_t slice[kLanes];
  store(slice, site.slice);
  uint32_t left = bitsOf(site.lanes);
  const auto takeGroup = [&](int32_t& number) PUMICE_LAMBDA {
    number = slice[std::countr_zero(left)];
    const uint32_t group = bitsOf(loadI(slice) == number) & left;
    left &= ~group;
    return group;
  };
  int32_t number;
  uint32_t group = takeGroup(number);
  if (left == 0) return filterHotSlice(site, level, static_cast<uint32_t>(number), linear, function, out);
  Site part = site;
  for (;; group = takeGroup(number)) {
    part.lanes = maskOf(group);
    Texels texels;
    filterHotSlice(part, level, static_cast<uint32_t>(number), linear, function, texels);
    for (uint32_t c = 0; c < 4; ++c) out.c[c] = select(part.lanes, texels.c[c], out.c[c]);
    if (left == 0) return;
  }
}

/// Whether it has been done.
PUMICE_INLINE bool tryHotPlane(const Site& site, const Level& level, bool linear, Texels& out) {
  HotFunction* function = hotFunction(site, level, linear);
  if (function == nullptr) return false;
  if (level.sliceCount > 1) {
    filterHotSlices(site, level, linear, function, out);
  } else {
    filterHotSlice(site, level, 0, linear, function, out);
  }
  return true;
}
