// kRead. Vulkan specification: "Texel Input Validation Operations" and the steps after it that a fetch has.

PUMICE_INLINE void readLevel(abi::ImageCall* call, uint32_t lanes, const View& view, const Level& level) {
  const I x = loadI(call->coordinate[0]);
  I inside = maskOf(lanes) & (asUint(x) < level.width);
  I y{};
  I slice{};
  const uint32_t sliceComponent = view.sliceComponent();
  if (sliceComponent == 2) {
    y = loadI(call->coordinate[1]);
    inside &= asUint(y) < level.height;
  }
  if (sliceComponent < 3) {
    slice = loadI(call->coordinate[sliceComponent]);
    inside &= asUint(slice) < level.sliceCount;
  }
  Texels texels;
  fetchTexels(view, level, x, y, slice, inside, view.format->outside, texels);
  returnTexels(call, lanes, view, texels);
}

[[gnu::noinline]] inline void readOutside(abi::ImageCall* call, uint32_t lanes, const View& view) {
  Texels texels;
  for (uint32_t c = 0; c < 4; ++c) texels.c[c] = splat(view.format->outside[c]);
  returnTexels(call, lanes, view, texels);
}

/// Lanes of equal level or sample together.
[[gnu::noinline]] inline void readGroups(abi::ImageCall* call, uint32_t lanes, const View& view) {
  const bool bySample = (call->flags & abi::kImageSampleIndex) != 0;
  const I number = loadI(call->lod);
  for (uint32_t left = lanes; left != 0;) {
    const uint32_t value = call->lod[std::countr_zero(left)];
    const uint32_t group = bitsOf(asUint(number) == value) & left;
    left &= ~group;
    if (bySample ? value >= view.samples : value < view.leastLevel() || value >= view.levelCount) {
      readOutside(call, group, view);
      continue;
    }
    Level level = view.level(bySample ? 0 : value);
    if (bySample) level.base += uint64_t{value} * view.samplePitch_B;
    readLevel(call, group, view, level);
  }
}

inline void read(abi::ImageCall* call, uint32_t lanes, const View& view) {
  const bool byLod = (call->flags & (abi::kImageLod | abi::kImageSampleIndex)) != 0;
  if (byLod && view.shape != abi::ViewShape::kBuffer) return readGroups(call, lanes, view);
  readLevel(call, lanes, view, view.level(0));
}
