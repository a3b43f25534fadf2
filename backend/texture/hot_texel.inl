// The formats that images mostly have, as the filters of hot_plane.inl see them: the words of a texel, what a channel
// of them is (bits beyond the texel are any), and what is still to do once channels are filtered. 8-bit ones are only
// then scaled to [0, 1].

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
struct HotUnorm16 : HotLayout<1, 1, uint16_t> {
  PUMICE_INLINE static F channel(const U (&word)[1], uint32_t) { return unorm16(word[0]); }
};
struct HotDepth24 : HotLayout<1, 1> {
  PUMICE_INLINE static F channel(const U (&word)[1], uint32_t) { return unorm24(word[0]); }
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
struct HotTexel<TexelKind::kR16Unorm> : HotUnorm16 {};
template <>
struct HotTexel<TexelKind::kD24Unorm> : HotDepth24 {};
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
