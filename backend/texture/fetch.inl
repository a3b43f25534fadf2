// Texels at integer coordinates that lie inside the image, as four numbers each.

/// R, G, B, A as bits of the texel's type.
struct Texels {
  U c[4];
};

/// Byte offsets of sixteen texels. Slices may be far apart, and a slice may be larger than 4 GiB: what does not fit
/// into 32 bits is in `far`.
struct Places {
  const std::byte* base;
  bool hasFar;
  alignas(64) uint32_t offset[kLanes];
  uint64_t far[kLanes];
};

PUMICE_INLINE void findTexels(const View& view, const Level& level, U x, U y, U slice, Places& out) {
  const uint32_t bytes = view.format->bytes;
  const uint32_t rows = view.quadMajor ? (level.height + 3) / 4 : level.height;
  const bool farRows = uint64_t{rows} * level.rowPitch_B > 0xFFFFFFFFu;
  const U row = view.quadMajor ? y >> 2 : y;
  U offset;
  if (view.quadMajor) {
    const U inBlock = (x & 1u) | (y & 1u) << 1 | (x & 2u) << 1 | (y & 2u) << 2;
    offset = (x >> 2) * view.blockStride_B + inBlock * bytes;
  } else {
    offset = x * bytes;
  }
  if (!farRows) offset += row * level.rowPitch_B;
  out.base = level.base;
  store(out.offset, offset);
  out.hasFar = farRows || level.sliceCount > 1;
  if (!out.hasFar) return;
  alignas(64) uint32_t rowOf[kLanes];
  alignas(64) uint32_t sliceOf[kLanes];
  store(rowOf, farRows ? row : U{});
  store(sliceOf, slice);
  for (uint32_t l = 0; l < kLanes; ++l) {
    out.far[l] = sliceOf[l] * level.slicePitch_B + uint64_t{rowOf[l]} * level.rowPitch_B;
  }
}

template <typename T>
PUMICE_INLINE T loadAt(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Word `word` of each texel, of which the first sizeof(T) bytes are read.
template <typename T>
PUMICE_INLINE U loadWords(const Places& places, uint32_t byte = 0) {
  const std::byte* base = places.base + byte;
  if (places.hasFar) {
    return ofEachLane([&](size_t l)
                          PUMICE_LAMBDA { return uint32_t{loadAt<T>(base + places.far[l] + places.offset[l])}; });
  }
  return ofEachLane([&](size_t l) PUMICE_LAMBDA { return uint32_t{loadAt<T>(base + places.offset[l])}; });
}

/// The quotient by 2^kBits - 1, rounded as the format asks; see formats/fixed_point.h.
template <int kBits>
PUMICE_INLINE F unormOf(F number) {
  constexpr double kReciprocal = 1.0 / ((1 << kBits) - 1);
  constexpr float kHigh = static_cast<float>(static_cast<int32_t>(0x1p23 * kReciprocal) * 0x1p-23);
  constexpr float kLow = static_cast<float>(kReciprocal - static_cast<double>(kHigh));
  return number * kHigh + number * kLow;
}
/// Numbers need not be whole.
PUMICE_INLINE F unorm8(F number) {
  return unormOf<8>(number);
}
PUMICE_INLINE F unorm16(U word) {
  return unormOf<16>(toFloat(asInt(word & 0xFFFFu)));
}
PUMICE_INLINE F unorm24(U word) {
  return toFloat(asInt(word & 0xFFFFFFu)) / 16777215.0f;
}
PUMICE_INLINE F byteOf(U word, int shift) {
  return toFloat(asInt((word >> shift) & 0xFFu));
}

PUMICE_INLINE U srgb8(U word, int shift) {
  alignas(64) uint32_t codes[kLanes];
  store(codes, (word >> shift) & 0xFFu);
  return ofEachLane([&](size_t l) PUMICE_LAMBDA { return std::bit_cast<uint32_t>(formats::kSrgbToLinear[codes[l]]); });
}

/// Sixteen half floats, in the low bits. Like the instruction, this makes signalling NaN quiet.
PUMICE_INLINE U halfToFloat(U half) {
#if PUMICE_WIDTH == 16
  const __m256i narrow = _mm512_maskz_cvtepi32_epi16(0xFFFF, reinterpret_cast<__m512i>(half.part[0]));
  U out;
  out.part[0] = reinterpret_cast<U::Part>(_mm512_maskz_cvtph_ps(0xFFFF, narrow));
  return out;
#elif PUMICE_WIDTH == 8
  U out;
  for (size_t p = 0; p < kParts; ++p) {
    const auto words = reinterpret_cast<__m256i>(half.part[p]) & _mm256_set1_epi32(0xFFFF);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
    out.part[p] = reinterpret_cast<U::Part>(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
  }
  return out;
#else
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  constexpr uint32_t kSmallest = kRebias + (1u << 23);
  const U shifted = (half & 0x7FFFu) << 13;
  const U exponent = shifted & (31u << 23);
  const U normal = shifted + kRebias;
  const U quiet = select((half & 0x3FFu) != 0u, splat(1u << 22), U{});
  const F denormal = asFloat(shifted + kSmallest) - std::bit_cast<float>(kSmallest);
  U bits = select(exponent == (31u << 23), (normal + kRebias) | quiet, normal);
  bits = select(exponent == 0u, asBits(denormal), bits);
  return bits | (half & 0x8000u) << 16;
#endif
}

/// Any format, by its codec.
[[gnu::noinline]] inline void decodeByCodec(const View& view, const Places& places, Texels& out) {
  const TexelFormat& format = *view.format;
  constexpr uint32_t kMaxBytes = 32;
  std::byte texels[kLanes * kMaxBytes];
  alignas(64) uint64_t numbers[kLanes * 4];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const std::byte* texel = places.base + places.offset[l] + (places.hasFar ? places.far[l] : 0);
    std::memcpy(texels + l * format.bytes, texel, format.bytes);
  }
  format.codec.decode(texels, kLanes, numbers);
  alignas(64) uint32_t channel[4][kLanes];
  const bool wide = format.kind == TexelKind::kWide;
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t c = 0; c < 4; ++c) {
      // 64-bit components: the halves of the first are all that a call carries.
      const uint32_t word = wide ? l * 8 + c : l * 4 + c;
      std::memcpy(&channel[c][l], reinterpret_cast<const std::byte*>(numbers) + word * 4, 4);
    }
  }
  for (uint32_t c = 0; c < 4; ++c) out.c[c] = wide && c > 1 ? U{} : loadU(channel[c]);
}

[[gnu::noinline]] inline void decodeTexels(const View& view, const Places& places, Texels& out) {
  const U zero{};
  const U one = asBits(splat(1.0f));
  switch (view.format->kind) {
    case TexelKind::kRgba8Unorm:
    case TexelKind::kBgra8Unorm: {
      const bool swapped = view.format->kind == TexelKind::kBgra8Unorm;
      const U word = loadWords<uint32_t>(places);
      out.c[swapped ? 2 : 0] = asBits(unorm8(byteOf(word, 0)));
      out.c[1] = asBits(unorm8(byteOf(word, 8)));
      out.c[swapped ? 0 : 2] = asBits(unorm8(byteOf(word, 16)));
      out.c[3] = asBits(unorm8(byteOf(word, 24)));
      return;
    }
    case TexelKind::kRgba8Srgb:
    case TexelKind::kBgra8Srgb: {
      const bool swapped = view.format->kind == TexelKind::kBgra8Srgb;
      const U word = loadWords<uint32_t>(places);
      out.c[swapped ? 2 : 0] = srgb8(word, 0);
      out.c[1] = srgb8(word, 8);
      out.c[swapped ? 0 : 2] = srgb8(word, 16);
      out.c[3] = asBits(unorm8(byteOf(word, 24)));
      return;
    }
    case TexelKind::kR8Unorm:
      out = {{asBits(unorm8(byteOf(loadWords<uint8_t>(places), 0))), zero, zero, one}};
      return;
    case TexelKind::kRg8Unorm: {
      const U word = loadWords<uint16_t>(places);
      out = {{asBits(unorm8(byteOf(word, 0))), asBits(unorm8(byteOf(word, 8))), zero, one}};
      return;
    }
    case TexelKind::kR16Unorm:
      out = {{asBits(unorm16(loadWords<uint16_t>(places))), zero, zero, one}};
      return;
    case TexelKind::kD24Unorm:
      out = {{asBits(unorm24(loadWords<uint32_t>(places))), zero, zero, one}};
      return;
    case TexelKind::kR16Float:
      out = {{halfToFloat(loadWords<uint16_t>(places)), zero, zero, one}};
      return;
    case TexelKind::kRg16Float: {
      const U word = loadWords<uint32_t>(places);
      out = {{halfToFloat(word & 0xFFFFu), halfToFloat(word >> 16), zero, one}};
      return;
    }
    case TexelKind::kRgba16Float: {
      const U low = loadWords<uint32_t>(places);
      const U high = loadWords<uint32_t>(places, 4);
      out = {
          {halfToFloat(low & 0xFFFFu), halfToFloat(low >> 16), halfToFloat(high & 0xFFFFu), halfToFloat(high >> 16)}};
      return;
    }
    case TexelKind::kR32:
      out = {{loadWords<uint32_t>(places), zero, zero, splat(view.format->one)}};
      return;
    case TexelKind::kRg32:
      out = {{loadWords<uint32_t>(places), loadWords<uint32_t>(places, 4), zero, splat(view.format->one)}};
      return;
    case TexelKind::kRgba32:
      for (uint32_t c = 0; c < 4; ++c) out.c[c] = loadWords<uint32_t>(places, 4 * c);
      return;
    default:
      decodeByCodec(view, places, out);
  }
}

/// Compressed formats. x, y, slice: inside the level.
[[gnu::noinline]] inline void decodeBlocks(const View& view, const Level& level, const U& x, const U& y, const U& slice,
                                           Texels& out) {
  const TexelFormat& format = *view.format;
  alignas(64) uint32_t column[kLanes];
  alignas(64) uint32_t row[kLanes];
  alignas(64) uint32_t sliceOf[kLanes];
  store(column, x);
  store(row, y);
  store(sliceOf, slice);
  alignas(64) float channel[4][kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t i = column[l] / format.blockWidth;
    const uint32_t j = row[l] / format.blockHeight;
    const float* texels = view.blocks->texels(format, texelAddress(view, level, {i, j, sliceOf[l], 0}));
    const uint32_t at = (row[l] - j * format.blockHeight) * format.blockWidth + column[l] - i * format.blockWidth;
    for (uint32_t c = 0; c < 4; ++c) channel[c][l] = texels[4 * at + c];
  }
  for (uint32_t c = 0; c < 4; ++c) out.c[c] = loadU(channel[c]);
}

/// Texels of the lanes in `inside`; the others get `outside`. Their loads go to the level's first texel.
PUMICE_INLINE void fetchTexels(const View& view, const Level& level, I x, I y, I slice, I inside,
                               const uint32_t (&outside)[4], Texels& out) {
  const U i = asUint(x & inside);
  const U j = asUint(y & inside);
  const U k = asUint(slice & inside);
  if (view.format->kind == TexelKind::kBlock) {
    decodeBlocks(view, level, i, j, k, out);
  } else {
    Places places;
    findTexels(view, level, i, j, k, places);
    decodeTexels(view, places, out);
  }
  for (uint32_t c = 0; c < 4; ++c) out.c[c] = select(inside, out.c[c], splat(outside[c]));
}

/// The view's component mapping, then the lanes that take part are written.
PUMICE_INLINE void returnTexels(abi::ImageCall* call, uint32_t lanes, const TexelFormat& format, uint16_t swizzle,
                                const Texels& texels) {
  if (swizzle == abi::kIdentitySwizzle || format.kind == TexelKind::kWide) {
    for (uint32_t c = 0; c < 4; ++c) storeLanes(call->texel[c], texels.c[c], lanes);
    return;
  }
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t source = (swizzle >> (3 * c)) & 7u;
    const U value = source < 4 ? texels.c[source] : splat(source == 5 ? format.one : 0u);
    storeLanes(call->texel[c], value, lanes);
  }
}
PUMICE_INLINE void returnTexels(abi::ImageCall* call, uint32_t lanes, const View& view, const Texels& texels) {
  returnTexels(call, lanes, *view.format, view.swizzle, texels);
}
