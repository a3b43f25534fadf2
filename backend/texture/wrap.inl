// From coordinates to texel indices along one axis. Vulkan specification: "Unnormalized Texel Coordinate Operations",
// "Wrapping Operation".

/// The position in texels, between -(2 size + 64) and 2 size + 64 whatever the coordinate: NaN and infinities too end
/// at some texel. What repeats is taken modulo its period here, where that is exact, and lies in [0, period).
PUMICE_INLINE F texelPosition(AddressMode mode, F coordinate, int32_t size, bool normalized) {
  const auto extent = static_cast<float>(size);
  if (normalized && (mode == AddressMode::kRepeat || mode == AddressMode::kMirroredRepeat)) {
    const bool mirrored = mode == AddressMode::kMirroredRepeat;
    const float period = mirrored ? 2 * extent : extent;
    const F turns = mirrored ? coordinate * 0.5f : coordinate;
    const F small = select(absolute(turns) < 0x1p23f, turns, F{});  // larger ones are whole
    const F position = (small - toFloat(floorToInt(small))) * period;
    const auto below =
        std::bit_cast<float>(std::bit_cast<uint32_t>(period) - 1);  // the product may have been rounded up
    return select(position < period, position, splat(below));
  }
  const float limit = 2 * extent + 64;
  return clampFloat(normalized ? coordinate * extent : coordinate, splat(-limit), splat(limit));
}

/// index mod period, |index| < 2^20.
PUMICE_INLINE I modulo(I index, int32_t period) {
  const I turns = floorToInt(toFloat(index) * (1.0f / static_cast<float>(period)));
  I rest = index - turns * period;  // off by one period at most
  rest += (rest < 0) & period;
  return rest - ((rest >= period) & period);
}

/// The texel of an index. near: the index is a texel of a position's footprint, so at most one beyond the period.
/// inside loses the lanes that see the border.
PUMICE_INLINE I wrapIndex(AddressMode mode, I index, int32_t size, bool near, I& inside) {
  const bool mirrored = mode == AddressMode::kMirroredRepeat;
  switch (mode) {
    case AddressMode::kRepeat:
    case AddressMode::kMirroredRepeat: {
      const int32_t period = mirrored ? 2 * size : size;
      I texel = index;
      if (near) {
        texel += (texel < 0) & period;
        texel -= (texel >= period) & period;
      } else {
        texel = modulo(texel, period);
      }
      return mirrored ? select(texel >= size, period - 1 - texel, texel) : texel;
    }
    case AddressMode::kClampToBorder:
      inside &= (index >= 0) & (index < size);
      return index;
    case AddressMode::kMirrorClampToEdge: {
      const I mirror = select(index < 0, -1 - index, index);
      return select(mirror < size, mirror, splat(size - 1));
    }
    default:
      return clampInt(index, splat(0), splat(size - 1));
  }
}
