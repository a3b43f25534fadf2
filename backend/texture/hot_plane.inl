// Filters of planes of the formats that images mostly have (hot_texel.inl): texels never leave registers. Whether this
// road is taken depends on view, sampler and operation alone, and so do the bits; only how texels are loaded depends on
// where all lanes are.

/// How channels of a footprint become one number.
enum class HotFilter : uint8_t {
  kPlain,   // scaled once they are filtered
  kScaled,  // scaled before: where borders, or what has been folded over a cube's edges, come in
  kCompare
};

/// Along one axis: the texels, wrapped, of a nearest filter only the first one. Lanes that do not take part have 0.
struct HotAxis {
  I index[2];
  F weight;     // of the second one
  I inside[2];  // no border
};
struct HotFootprint {
  HotAxis x, y;
};

/// Any coordinates. offset: nullptr or one for each lane. Returns the lanes that take part and see beyond the edges.
[[gnu::noinline]] inline uint32_t findHotTexels(AddressMode mode, const F& coordinate, int32_t size, bool normalized,
                                                const I* offset, bool linear, const I& lanes, HotAxis& out) {
  F position = texelPosition(mode, coordinate, size, normalized);
  if (linear) position -= 0.5f;
  I first = floorToInt(position);
  out.weight = position - toFloat(first);
  if (offset != nullptr) first += *offset;
  for (int32_t k = 0; k < (linear ? 2 : 1); ++k) {
    I inside = I(-1);
    I index = wrapIndex(mode, first + k, size, normalized && offset == nullptr, inside);
    if (mode == AddressMode::kClampToBorder) index &= inside;
    out.index[k] = index & lanes;
    out.inside[k] = inside;
  }
  return bitsOf(((first < 0) | (first >= size - (linear ? 1 : 0))) & lanes);
}

/// Coordinates in [0, 1), where all address modes but repeat and border are the same, and nothing has to be reduced.
/// The results are those of findHotTexels().
PUMICE_INLINE void findInnerTexels(AddressMode mode, const F& coordinate, int32_t size, bool linear, const I& lanes,
                                   HotAxis& out) {
  const auto extent = static_cast<float>(size);
  const bool repeats = mode == AddressMode::kRepeat;
  const bool border = mode == AddressMode::kClampToBorder;
  F position = coordinate * extent;
  // The product may have been rounded up to the size.
  const auto below = std::bit_cast<float>(std::bit_cast<uint32_t>(extent) - 1);
  const F most = splat(repeats ? below : 2 * extent);
  position = select(position < most, position, most);
  if (!linear) {
    const I texel = truncate(position);
    out.inside[0] = border ? texel < size : I(-1);
    out.index[0] = select(texel < size, texel, splat(border ? 0 : size - 1)) & lanes;
    return;
  }
  position -= 0.5f;
  const F whole = floorOf(position);
  const I first = truncate(whole);
  out.weight = position - whole;
  const I second = first + 1;
  if (border) {
    // Rounding can have led beyond the last texel.
    out.inside[0] = (first >= 0) & (first < size);
    out.inside[1] = second < size;
    out.index[0] = first & out.inside[0] & lanes;
    out.index[1] = second & out.inside[1] & lanes;
    return;
  }
  out.inside[0] = out.inside[1] = I(-1);
  out.index[0] = select(first < 0, splat(repeats ? size - 1 : 0), first) & lanes;
  out.index[1] = select(second < size, second, splat(repeats ? 0 : size - 1)) & lanes;
}

/// The four texels, of a nearest filter the first one.
template <typename Hot>
PUMICE_INLINE void loadHotTexels(const HotSlice& slice, const I& lanes, const HotFootprint& f, bool linear,
                                 U (&word)[4][Hot::kWords]) {
  constexpr uint32_t kBytes = Hot::kBytes;
  const U left = columnOffset<kBytes>(slice, f.x.index[0]);
  const U upper = rowOffset<kBytes>(slice, f.y.index[0]);
  if (!linear) return loadTexels<kBytes>(slice.base, left + upper, word[0]);
  const U right = columnOffset<kBytes>(slice, f.x.index[1]);
  const U lower = rowOffset<kBytes>(slice, f.y.index[1]);
  if constexpr (kBytes == 4 || kBytes == 8) {
    if (!any((asInt(right - left) != static_cast<int32_t>(kBytes)) & lanes)) {
      // Lanes that do not take part load from the first texel, beside which there is another.
      loadNeighbours(slice.base, left + upper, word[0], word[1]);
      loadNeighbours(slice.base, left + lower, word[2], word[3]);
      return;
    }
  }
#if PUMICE_WIDTH == 16
  if constexpr (kBytes <= 4) {
    HotWindow<kBytes> window;
    if (window.open(slice, lanes, f.x.index, f.y.index)) {
      const U column[2] = {window.columnPart(f.x.index[0]), window.columnPart(f.x.index[1])};
      for (uint32_t j = 0; j < 2; ++j) {
        const U row = window.rowPart(f.y.index[j]);
        for (uint32_t i = 0; i < 2; ++i) word[2 * j + i][0] = window.texel(column[i] + row);
      }
      return;
    }
  }
#endif
  loadTexels<kBytes>(slice.base, left + upper, word[0]);
  loadTexels<kBytes>(slice.base, right + upper, word[1]);
  loadTexels<kBytes>(slice.base, left + lower, word[2]);
  loadTexels<kBytes>(slice.base, right + lower, word[3]);
}

/// What comes after texels have been loaded.
struct HotRules {
  bool border;              // the address modes have one
  uint32_t borderColor[4];  // in the format's components
  bool compares;
  CompareOp compareOp;
  F reference;
  uint32_t one;  // what alpha is in formats without it
};

template <typename Hot>
PUMICE_INLINE void absentChannels(const HotRules& rules, Texels& out) {
  for (uint32_t c = Hot::kChannels; c < 4; ++c) out.c[c] = splat(c == 3 ? rules.one : 0u);
}

template <typename Hot>
PUMICE_INLINE void filterHotNearest(const HotRules& rules, const HotSlice& slice, const I& lanes, const HotFootprint& f,
                                    Texels& out) {
  U word[4][Hot::kWords];
  loadHotTexels<Hot>(slice, lanes, f, false, word);
  for (uint32_t c = 0; c < Hot::kChannels; ++c) out.c[c] = asBits(Hot::finish(Hot::channel(word[0], c), c));
  absentChannels<Hot>(rules, out);
  if (rules.border) {
    const I inside = f.x.inside[0] & f.y.inside[0];
    for (uint32_t c = 0; c < 4; ++c) out.c[c] = select(inside, out.c[c], splat(rules.borderColor[c]));
  }
  if (!rules.compares) return;
  out.c[0] = asBits(comparedTexel(rules.compareOp, rules.reference, asFloat(out.c[0])));
  out.c[1] = out.c[2] = U{};
  out.c[3] = asBits(splat(1.0f));
}

template <typename Hot, HotFilter kFilter>
PUMICE_INLINE void filterHotLinear(const HotRules& rules, const HotSlice& slice, const I& lanes, const HotFootprint& f,
                                   Texels& out) {
  U word[4][Hot::kWords];
  loadHotTexels<Hot>(slice, lanes, f, true, word);
  for (uint32_t c = 0; c < Hot::kChannels; ++c) {
    F texel[4];
    for (uint32_t k = 0; k < 4; ++k) {
      texel[k] = Hot::channel(word[k], c);
      if constexpr (kFilter == HotFilter::kPlain) continue;
      texel[k] = Hot::finish(texel[k], c);
      if (rules.border) {
        const I inside = f.x.inside[k & 1] & f.y.inside[k >> 1];
        texel[k] = asFloat(select(inside, asBits(texel[k]), splat(rules.borderColor[c])));
      }
      if constexpr (kFilter == HotFilter::kCompare)
        texel[k] = comparedTexel(rules.compareOp, rules.reference, texel[k]);
    }
    const F upper = lerp(texel[0], texel[1], f.x.weight);
    const F lower = lerp(texel[2], texel[3], f.x.weight);
    F filtered = lerp(upper, lower, f.y.weight);
    if constexpr (kFilter == HotFilter::kPlain) filtered = Hot::finish(filtered, c);
    out.c[c] = asBits(filtered);
  }
  absentChannels<Hot>(rules, out);
}
