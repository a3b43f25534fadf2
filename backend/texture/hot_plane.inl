// The linear filter of 2D views of the formats that images mostly have, when no border, comparison or reduction is in
// the way: texels never leave registers, and 8-bit ones are only scaled to [0, 1] once they are filtered.

template <TexelKind kKind>
struct HotTexel;

template <uint32_t kChannelCount, uint32_t kWordCount, typename Load = uint32_t>
struct HotLayout {
  static constexpr uint32_t kChannels = kChannelCount;
  static constexpr uint32_t kWords = kWordCount;
  static constexpr uint32_t kBytes = kWordCount > 1 ? kWordCount * 4 : sizeof(Load);
  using Word = Load;
  PUMICE_INLINE static F finish(const F& filtered, uint32_t) { return filtered; }
};
template <bool kSwapped>
struct HotBytes4 : HotLayout<4, 1> {
  PUMICE_INLINE static F channel(const U (&word)[1], uint32_t c) {
    return byteOf(word[0], static_cast<int>(8 * (kSwapped && c < 3 ? 2 - c : c)));
  }
  PUMICE_INLINE static F finish(const F& filtered, uint32_t) { return unorm8(filtered); }
};
template <bool kSwapped>
struct HotSrgb4 : HotLayout<4, 1> {
  PUMICE_INLINE static F channel(const U (&word)[1], uint32_t c) {
    const int shift = static_cast<int>(8 * (kSwapped && c < 3 ? 2 - c : c));
    return c == 3 ? byteOf(word[0], shift) : asFloat(srgb8(word[0], shift));
  }
  PUMICE_INLINE static F finish(const F& filtered, uint32_t c) { return c == 3 ? unorm8(filtered) : filtered; }
};
template <uint32_t kChannelCount, typename Load>
struct HotUnorm8 : HotLayout<kChannelCount, 1, Load> {
  PUMICE_INLINE static F channel(const U (&word)[1], uint32_t c) { return byteOf(word[0], static_cast<int>(8 * c)); }
  PUMICE_INLINE static F finish(const F& filtered, uint32_t) { return unorm8(filtered); }
};
template <uint32_t kChannelCount, uint32_t kWordCount, typename Load>
struct HotHalf : HotLayout<kChannelCount, kWordCount, Load> {
  PUMICE_INLINE static F channel(const U (&word)[kWordCount], uint32_t c) {
    const U& pair = word[c / 2];
    return asFloat(halfToFloat(c % 2 == 0 ? pair & 0xFFFFu : pair >> 16));
  }
};
template <uint32_t kChannelCount>
struct HotFloat : HotLayout<kChannelCount, kChannelCount> {
  PUMICE_INLINE static F channel(const U (&word)[kChannelCount], uint32_t c) { return asFloat(word[c]); }
};
template <>
struct HotTexel<TexelKind::kRgba8Unorm> : HotBytes4<false> {};
template <>
struct HotTexel<TexelKind::kBgra8Unorm> : HotBytes4<true> {};
template <>
struct HotTexel<TexelKind::kRgba8Srgb> : HotSrgb4<false> {};
template <>
struct HotTexel<TexelKind::kBgra8Srgb> : HotSrgb4<true> {};
template <>
struct HotTexel<TexelKind::kR8Unorm> : HotUnorm8<1, uint8_t> {};
template <>
struct HotTexel<TexelKind::kRg8Unorm> : HotUnorm8<2, uint16_t> {};
template <>
struct HotTexel<TexelKind::kR16Float> : HotHalf<1, 1, uint16_t> {};
template <>
struct HotTexel<TexelKind::kRg16Float> : HotHalf<2, 1, uint32_t> {};
template <>
struct HotTexel<TexelKind::kRgba16Float> : HotHalf<4, 2, uint32_t> {};
template <>
struct HotTexel<TexelKind::kR32> : HotFloat<1> {};
template <>
struct HotTexel<TexelKind::kRg32> : HotFloat<2> {};
template <>
struct HotTexel<TexelKind::kRgba32> : HotFloat<4> {};

/// What a texel's column (or row) adds to its offset: in both orders it is a sum of the two.
PUMICE_INLINE U columnOffset(const View& view, const U& x, uint32_t bytes) {
  if (!view.quadMajor) return x * bytes;
  return (x >> 2) * view.blockStride_B + ((x & 1u) | (x & 2u) << 1) * bytes;
}
PUMICE_INLINE U rowOffset(const View& view, const Level& level, const U& y, uint32_t bytes) {
  if (!view.quadMajor) return y * level.rowPitch_B;
  return (y >> 2) * level.rowPitch_B + ((y & 1u) << 1 | (y & 2u) << 2) * bytes;
}

/// The four texels' offsets, by column and row, and the weights of the second ones.
struct HotFootprint {
  Places places;  // all but the offsets
  U column[2], row[2];
  F weight[2];
  bool neighbours;  // all lanes' columns
};

[[gnu::noinline]] inline void findHotTexels(const Site& site, const Level& level, uint32_t bytes, HotFootprint& out) {
  const View& view = *site.view;
  for (uint32_t d = 0; d < 2; ++d) {
    const Span span = linearSpan(site, level, d);
    out.weight[d] = span.weight;
    for (uint32_t k = 0; k < 2; ++k) {
      I unused;
      const I first = k == 0 ? span.first : span.first + 1;
      const U index = asUint(wrapIndex(site.address[d], first, sizeOf(level, d), isNear(site), unused) & site.lanes);
      if (d == 0) out.column[k] = columnOffset(view, index, bytes);
      if (d == 1) out.row[k] = rowOffset(view, level, index, bytes);
    }
  }
  const I side = asInt(out.column[1] - out.column[0]) == static_cast<int32_t>(bytes);
  out.neighbours = bitsOf(side | ~site.lanes) == 0xFFFF && any(site.lanes);
  out.places.base = level.base;
  out.places.hasFar = level.sliceCount > 1;
  if (!out.places.hasFar) return;
  alignas(64) int32_t slice[kLanes];
  store(slice, site.slice);
  for (uint32_t l = 0; l < kLanes; ++l) out.places.far[l] = static_cast<uint32_t>(slice[l]) * level.slicePitch_B;
}

template <TexelKind kKind>
[[gnu::noinline]] inline void filterHotPlane(const Site& site, const Level& level, Texels& out) {
  using Hot = HotTexel<kKind>;
  HotFootprint footprint;
  findHotTexels(site, level, Hot::kBytes, footprint);
  Places& places = footprint.places;
  // Neighbours in memory are loaded as one. The bits that come out are the same.
  const bool pairs = sizeof(typename Hot::Word) == 4 && Hot::kWords == 1 && !places.hasFar && footprint.neighbours;
  F rows[2][4];
  for (uint32_t j = 0; j < 2; ++j) {
    U words[2][Hot::kWords];
    if (pairs) {
      store(places.offset, footprint.column[0] + footprint.row[j]);
      ofEachLanePair([&](size_t l) PUMICE_LAMBDA { return loadAt<uint64_t>(places.base + places.offset[l]); },
                     words[0][0], words[1][0]);
    } else {
      for (uint32_t i = 0; i < 2; ++i) {
        store(places.offset, footprint.column[i] + footprint.row[j]);
        for (uint32_t w = 0; w < Hot::kWords; ++w) words[i][w] = loadWords<typename Hot::Word>(places, 4 * w);
      }
    }
    for (uint32_t c = 0; c < Hot::kChannels; ++c) {
      rows[j][c] = lerp(Hot::channel(words[0], c), Hot::channel(words[1], c), footprint.weight[0]);
    }
  }
  for (uint32_t c = 0; c < 4; ++c) {
    if (c < Hot::kChannels) {
      out.c[c] = asBits(Hot::finish(lerp(rows[0][c], rows[1][c], footprint.weight[1]), c));
    } else {
      out.c[c] = asBits(F(c == 3 ? 1.0f : 0.0f));
    }
  }
}

/// Whether filterHotPlane() has done it. Never depends on coordinates: a lane's bits do not depend on its neighbours.
PUMICE_INLINE bool tryHotPlane(const Site& site, const Level& level, Texels& out) {
  const View& view = *site.view;
  const bool border = site.address[0] == AddressMode::kClampToBorder || site.address[1] == AddressMode::kClampToBorder;
  const bool reduces = (site.sampler->flags & (abi::kSamplerReduceMin | abi::kSamplerReduceMax)) != 0;
  const uint32_t rows = view.quadMajor ? (level.height + 3) / 4 : level.height;
  if (border || reduces || site.compare || site.seamless || uint64_t{rows} * level.rowPitch_B > 0xFFFFFFFFu)
    return false;
  switch (view.format->kind) {
#define PUMICE_HOT(kind)                               \
  case TexelKind::kind:                                \
    filterHotPlane<TexelKind::kind>(site, level, out); \
    return true;
    PUMICE_HOT(kRgba8Unorm)
    PUMICE_HOT(kBgra8Unorm)
    PUMICE_HOT(kRgba8Srgb)
    PUMICE_HOT(kBgra8Srgb)
    PUMICE_HOT(kR8Unorm)
    PUMICE_HOT(kRg8Unorm)
    PUMICE_HOT(kR16Float)
    PUMICE_HOT(kRg16Float)
    PUMICE_HOT(kRgba16Float)
    PUMICE_HOT(kR32)
    PUMICE_HOT(kRg32)
    PUMICE_HOT(kRgba32)
#undef PUMICE_HOT
    default:
      return false;
  }
}
