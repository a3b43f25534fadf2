// kSample: levels, probes, then the filter of a level.

PUMICE_INLINE void filterLevels(const Site& site, uint32_t nearer, F weight, Filter filter, Texels& out) {
  const View& view = *site.view;
  filterLevel(site, view.level(nearer), filter, out);
  if (nearer + 1 >= view.levelCount || !any((weight > 0.0f) & site.lanes)) return;
  Texels farther;
  filterLevel(site, view.level(nearer + 1), filter, farther);
  const bool isFloat = view.format->type == formats::TexelType::kFloat;
  if (isFloat) joinTexels(site, out, farther, weight);
}

/// Several probes along the footprint's longer axis.
[[gnu::noinline]] inline void filterAnisotropic(const abi::ImageCall& call, const Site& site, const LevelOfDetail& lod,
                                                uint32_t nearer, F weight, Filter filter, Texels& out) {
  alignas(64) float probes[kLanes];
  store(probes, select(site.lanes, lod.probes, splat(1.0f)));
  float most = 1;
  for (const float n : probes) most = n > most ? n : most;
  const uint16_t reduction = site.sampler->flags & (abi::kSamplerReduceMin | abi::kSamplerReduceMax);
  Site probe = site;
  for (float n = 1; n <= most; ++n) {
    const F along = n / (lod.probes + 1.0f) - 0.5f;
    if (site.view->shape == abi::ViewShape::kCube) {
      aimAtFace(probe, loadF(call.coordinate[0]) + along * lod.step[0], loadF(call.coordinate[1]) + along * lod.step[1],
                loadF(call.coordinate[2]) + along * lod.step[2], loadF(call.coordinate[3]));
    } else {
      for (uint32_t d = 0; d < 2; ++d) probe.position[d] = site.position[d] + along * lod.step[d];
    }
    const I counts = lod.probes >= n;
    probe.lanes = site.lanes & counts;
    Texels texels;
    filterLevels(probe, nearer, weight, filter, texels);
    for (uint32_t c = 0; c < 4; ++c) {
      const F value = asFloat(texels.c[c]);
      F total = value;
      if (n > 1) {
        const F before = asFloat(out.c[c]);
        const F after = reduction != 0 ? join(site, before, value, splat(1.0f)) : before + value;
        total = select(counts, after, before);
      }
      out.c[c] = asBits(total);
    }
  }
  if (reduction != 0) return;
  for (uint32_t c = 0; c < 4; ++c) out.c[c] = asBits(asFloat(out.c[c]) / lod.probes);
}

inline void sample(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler) {
  Site site = makeSite(*call, lanes, view, sampler);
  const bool oneFilter = sampler.magFilter == sampler.minFilter && (sampler.flags & abi::kSamplerAnisotropic) == 0;
  if (view.levelCount == 1 && oneFilter) {  // the level of detail decides nothing
    Texels texels;
    filterLevel(site, view.level(0), sampler.magFilter, texels);
    return returnTexels(call, lanes, view, texels);
  }
  const LevelOfDetail lod = levelOfDetail(*call, site);
  const LevelChoice choice = chooseLevel(*call, site, lod.lambda);
  const bool anisotropic = lod.anisotropic && view.format->type == formats::TexelType::kFloat;
  // Lanes of one level and filter together.
  alignas(64) int32_t key[kLanes];
  store(key, choice.nearer * 2 + (choice.magnified & 1));
  for (uint32_t left = lanes; left != 0;) {
    const int32_t value = key[std::countr_zero(left)];
    const uint32_t group = bitsOf(loadI(key) == value) & left;
    left &= ~group;
    site.lanes = maskOf(group);
    const Filter filter = (value & 1) != 0 ? sampler.magFilter : sampler.minFilter;
    const auto nearer = static_cast<uint32_t>(value >> 1);
    Texels texels;
    if (anisotropic) {
      filterAnisotropic(*call, site, lod, nearer, choice.weight, filter, texels);
    } else {
      filterLevels(site, nearer, choice.weight, filter, texels);
    }
    returnTexels(call, group, view, texels);
  }
}
