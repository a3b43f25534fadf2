// kGather. Vulkan specification: "Texel Gathering": one component of the four texels of a linear filter in the base
// level, counter-clockwise from the lower left.

PUMICE_INLINE U gatheredComponent(const View& view, uint32_t component, const Texels& texels) {
  uint32_t source = component;
  if (view.swizzle != abi::kIdentitySwizzle) source = (view.swizzle >> (3 * component)) & 7u;
  return source < 4 ? texels.c[source] : splat(source == 5 ? view.format->one : 0u);
}

inline void gather(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler) {
  if (view.leastLevel() > 0) return readZero(call, lanes);
  constexpr uint32_t kOrder[4] = {2, 3, 1, 0};  // (i0, j1), (i1, j1), (i1, j0), (i0, j0)
  Site site = makeSite(*call, lanes, view, sampler);
  const Level level = view.level(0);
  const uint32_t component = site.compare ? 0 : call->gatherComponent & 3u;
  Texels texels[4];
  if ((call->flags & abi::kImageGatherOffsets) == 0) {
    F weight[2];
    footprint(site, level, site.slice, texels, weight);
  } else {
    const Span x = linearSpan(site, level, 0);
    const Span y = linearSpan(site, level, 1);
    for (uint32_t n = 0; n < 4; ++n) {
      I inside = I(-1);
      // As in makeSite().
      const int32_t dx = call->gatherOffset[n][0] & 0x1FF;
      const int32_t dy = call->gatherOffset[n][1] & 0x1FF;
      const I i = wrapIndex(site.address[0], x.first + ((dx ^ 0x100) - 0x100), sizeOf(level, 0), false, inside);
      const I j = wrapIndex(site.address[1], y.first + ((dy ^ 0x100) - 0x100), sizeOf(level, 1), false, inside);
      siteTexels(site, level, i, j, site.slice, inside, texels[kOrder[n]]);
    }
  }
  for (uint32_t n = 0; n < 4; ++n) {
    storeLanes(call->texel[n], gatheredComponent(view, component, texels[kOrder[n]]), lanes);
  }
}
