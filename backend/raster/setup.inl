// Transformation of vertices and set-up of triangles: plain loops over sixteen lanes, which compilers make vectors of.

constexpr float kLargest = 0x1.fffffep+127f;

PUMICE_INLINE int32_t roundToInt(float value) {  // |value| < 2^23; halves go up, wherever zero is
  const float moved = value + 0.5f;
  const int32_t whole = static_cast<int32_t>(moved);
  return whole - (static_cast<float>(whole) > moved);
}

PUMICE_INLINE float clampedTo(float value, float low, float high) {  // NaN becomes low
  const float above = value > low ? value : low;
  return above < high ? above : high;
}

// 1 or 0.
PUMICE_INLINE uint32_t isFinite(float v) { return (v < 0 ? -v : v) <= kLargest ? 1 : 0; }

/// A block of vertices on the screen as rows.
struct alignas(64) ScreenRows {
  int32_t x[abi::kVertexBlockLanes], y[abi::kVertexBlockLanes];
  uint32_t outcode[abi::kVertexBlockLanes];
  float oneOverW[abi::kVertexBlockLanes];
};

PUMICE_INLINE void storeVertices(const ScreenRows& rows, ScreenVertex* to) {
  for (uint32_t l = 0; l < abi::kVertexBlockLanes; l += 4) {
#if defined(__x86_64__)
    const auto load = [&](const void* row) { return _mm_load_si128(static_cast<const __m128i*>(row) + l / 4); };
    const auto store = [&](uint32_t i, __m128i v) { _mm_store_si128(reinterpret_cast<__m128i*>(to + l + i), v); };
    const __m128i lowXy = _mm_unpacklo_epi32(load(rows.x), load(rows.y));
    const __m128i highXy = _mm_unpackhi_epi32(load(rows.x), load(rows.y));
    const __m128i lowRest = _mm_unpacklo_epi32(load(rows.outcode), load(rows.oneOverW));
    const __m128i highRest = _mm_unpackhi_epi32(load(rows.outcode), load(rows.oneOverW));
    store(0, _mm_unpacklo_epi64(lowXy, lowRest));
    store(1, _mm_unpackhi_epi64(lowXy, lowRest));
    store(2, _mm_unpacklo_epi64(highXy, highRest));
    store(3, _mm_unpackhi_epi64(highXy, highRest));
#else
    for (uint32_t i = l; i < l + 4; ++i) to[i] = {rows.x[i], rows.y[i], rows.outcode[i], rows.oneOverW[i]};
#endif
  }
}

void transform(const VertexOutputs& in, const ViewTransform& view, uint32_t firstVertex, ScreenVertices& out) {
  const abi::VertexRow* rows = in.rows + (firstVertex / abi::kVertexBlockLanes) * in.rowCount;
  const uint32_t* const xs = rows[abi::kRowPosition];
  const uint32_t* const ys = rows[abi::kRowPosition + 1];
  const uint32_t* const zs = rows[abi::kRowPosition + 2];
  const uint32_t* const ws = rows[abi::kRowPosition + 3];
  const uint32_t depthBits = view.depthClip ? kOutNear | kOutFar : 0;
  float* const outDepth = out.depth + firstVertex;
  ScreenRows screen;
  // Coordinates outside of the guard are clamped to a little more than it, so that they fit an int.
  constexpr float kMore = 1024;
  for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) {
    const float x = __builtin_bit_cast(float, xs[l]);
    const float y = __builtin_bit_cast(float, ys[l]);
    const float z = __builtin_bit_cast(float, zs[l]);
    const float w = __builtin_bit_cast(float, ws[l]);
    const float oneOverW = 1.0f / w;
    const float screenX = (x * oneOverW * view.scaleX + view.offsetX) * static_cast<float>(kSubpixels);
    const float screenY = (y * oneOverW * view.scaleY + view.offsetY) * static_cast<float>(kSubpixels);
    uint32_t code = 0;
    code |= x < -w ? uint32_t{kOutLeft} : 0u;
    code |= x > w ? uint32_t{kOutRight} : 0u;
    code |= y < -w ? uint32_t{kOutTop} : 0u;
    code |= y > w ? uint32_t{kOutBottom} : 0u;
    code |= (z < -view.nearW * w ? uint32_t{kOutNear} : 0u) & depthBits;
    code |= (z > w ? uint32_t{kOutFar} : 0u) & depthBits;
    code |= w >= kMinW ? 0u : uint32_t{kOutBehind};
    const bool inGuard = (screenX >= view.guardMinX) & (screenX <= view.guardMaxX) & (screenY >= view.guardMinY) &
                         (screenY <= view.guardMaxY);
    code |= inGuard ? 0u : uint32_t{kOutGuard};
    const uint32_t finite = isFinite(x) & isFinite(y) & isFinite(z) & isFinite(w);
    code |= finite != 0 ? 0u : uint32_t{kOutBad};
    screen.x[l] = roundToInt(clampedTo(screenX, kMinCoordinate - kMore, kMaxCoordinate + kMore));
    screen.y[l] = roundToInt(clampedTo(screenY, kMinCoordinate - kMore, kMaxCoordinate + kMore));
    outDepth[l] = z * oneOverW * view.scaleZ + view.offsetZ;
    screen.oneOverW[l] = oneOverW;
    screen.outcode[l] = code;
  }
  for (uint32_t d = 0; d < in.distanceCount; ++d) {
    const uint32_t* const distance = rows[abi::kRowDistances + d];
    const uint32_t bit = kOutDistance0 << d;
    for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) screen.outcode[l] |= __builtin_bit_cast(float, distance[l]) >= 0.0f ? 0u : bit;
  }
  storeVertices(screen, out.vertex + firstVertex);
}

/// Numbers of one kind for sixteen triangles.
struct Floats {
  float v[kLanes];
};
struct Ints {
  int32_t v[kLanes];
};

/// Corner k of sixteen triangles. Vertices are loaded whole, and each four of them turned from columns into rows.
PUMICE_INLINE void loadVertices(const ScreenVertex* from, const uint16_t (*triangles)[3], uint32_t k, int32_t* x,
                                int32_t* y, uint32_t* outcode, float* oneOverW) {
#if defined(__x86_64__)
  const auto load = [&](uint32_t l) { return _mm_load_si128(reinterpret_cast<const __m128i*>(from + triangles[l][k])); };
#if PUMICE_WIDTH == 16
  // Masks of ones: the forms without them make GCC 12 warn of values that it never uses.
  __m512i v[4];
  for (uint32_t m = 0; m < 4; ++m) {
    v[m] = _mm512_zextsi128_si512(load(m));
    v[m] = _mm512_maskz_inserti32x4(0xFFFF, v[m], load(4 + m), 1);
    v[m] = _mm512_maskz_inserti32x4(0xFFFF, v[m], load(8 + m), 2);
    v[m] = _mm512_maskz_inserti32x4(0xFFFF, v[m], load(12 + m), 3);
  }
  const __m512i low01 = _mm512_maskz_unpacklo_epi32(0xFFFF, v[0], v[1]);
  const __m512i low23 = _mm512_maskz_unpacklo_epi32(0xFFFF, v[2], v[3]);
  const __m512i high01 = _mm512_maskz_unpackhi_epi32(0xFFFF, v[0], v[1]);
  const __m512i high23 = _mm512_maskz_unpackhi_epi32(0xFFFF, v[2], v[3]);
  _mm512_storeu_si512(x, _mm512_maskz_unpacklo_epi64(0xFF, low01, low23));
  _mm512_storeu_si512(y, _mm512_maskz_unpackhi_epi64(0xFF, low01, low23));
  _mm512_storeu_si512(outcode, _mm512_maskz_unpacklo_epi64(0xFF, high01, high23));
  _mm512_storeu_si512(oneOverW, _mm512_maskz_unpackhi_epi64(0xFF, high01, high23));
#else
  for (uint32_t l = 0; l < kLanes; l += 4) {
    const __m128i low01 = _mm_unpacklo_epi32(load(l), load(l + 1));
    const __m128i low23 = _mm_unpacklo_epi32(load(l + 2), load(l + 3));
    const __m128i high01 = _mm_unpackhi_epi32(load(l), load(l + 1));
    const __m128i high23 = _mm_unpackhi_epi32(load(l + 2), load(l + 3));
    const auto store = [&](void* row, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(row) + l / 4, value); };
    store(x, _mm_unpacklo_epi64(low01, low23));
    store(y, _mm_unpackhi_epi64(low01, low23));
    store(outcode, _mm_unpacklo_epi64(high01, high23));
    store(oneOverW, _mm_unpackhi_epi64(high01, high23));
  }
#endif
#else
  for (uint32_t l = 0; l < kLanes; ++l) {
    const ScreenVertex& v = from[triangles[l][k]];
    x[l] = v.x;
    y[l] = v.y;
    outcode[l] = v.outcode;
    oneOverW[l] = v.oneOverW;
  }
#endif
}

PUMICE_INLINE int32_t lower(int32_t a, int32_t b) { return a < b ? a : b; }
PUMICE_INLINE int32_t higher(int32_t a, int32_t b) { return a > b ? a : b; }
void setUpGroup(const uint16_t (*vertices)[3], uint32_t count, const ScreenVertices& screen, const SetupState& draw,
                TriangleGroup& out) {
  const SetupState state = draw;  // nothing that is written below can be it: else loops are no vectors
  Ints x[3];
  Ints y[3];
  Floats z[3];
  Floats w[3];
  uint32_t any[kLanes] = {};
  uint32_t all[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) all[l] = ~0u;
  uint16_t padded[kLanes][3];
  if (count < kLanes) {
    for (uint32_t l = 0; l < kLanes; ++l)
      for (uint32_t k = 0; k < 3; ++k) padded[l][k] = vertices[l < count ? l : 0][k];
    vertices = padded;
  }
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t code[kLanes];
    loadVertices(screen.vertex, vertices, k, x[k].v, y[k].v, code, w[k].v);
    for (uint32_t l = 0; l < kLanes; ++l) {
      any[l] |= code[l];
      all[l] &= code[l];
    }
  }

  const SamplePattern& pattern = kSamplePatterns[state.samples_log2];
  const uint32_t clipBits = kClipBits | ((kOutDistance0 << state.clipDistanceCount) - kOutDistance0);
  const int32_t keepClockwise = (state.frontClockwise ? state.cullFront : state.cullBack) ? 0 : -1;
  const int32_t keepCounter = (state.frontClockwise ? state.cullBack : state.cullFront) ? 0 : -1;
  const int32_t clockwiseIsBack = state.frontClockwise ? 0 : -1;
  int32_t visible[kLanes];
  int32_t mustClip[kLanes];
  int32_t back[kLanes];
  Floats area;
  int32_t clockwise[kLanes];
  int32_t counter[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    // Products below 2^46 and their difference are exact in double (fixed_point.h); of vertices that will be clipped the
    // result does not count. Exact numbers that are not zero are not zero as floats.
    const double product1 = static_cast<double>(x[1].v[l] - x[0].v[l]) * static_cast<double>(y[2].v[l] - y[0].v[l]);
    const double product2 = static_cast<double>(y[1].v[l] - y[0].v[l]) * static_cast<double>(x[2].v[l] - x[0].v[l]);
    area.v[l] = static_cast<float>(product1 - product2);
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    clockwise[l] = area.v[l] > 0 ? -1 : 0;
    counter[l] = area.v[l] < 0 ? -1 : 0;
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    const int32_t x0 = lower(lower(x[0].v[l], x[1].v[l]), x[2].v[l]);
    const int32_t x1 = higher(higher(x[0].v[l], x[1].v[l]), x[2].v[l]);
    const int32_t y0 = lower(lower(y[0].v[l], y[1].v[l]), y[2].v[l]);
    const int32_t y1 = higher(higher(y[0].v[l], y[1].v[l]), y[2].v[l]);
    // Pixels with a sample at or behind the first side, and at or before the last one.
    const int32_t left = higher((x0 - pattern.max + kSubpixels - 1) >> kSubpixelBits, state.clip.x0);
    const int32_t top = higher((y0 - pattern.max + kSubpixels - 1) >> kSubpixelBits, state.clip.y0);
    const int32_t right = lower(((x1 - pattern.min) >> kSubpixelBits) + 1, state.clip.x1);
    const int32_t bottom = lower(((y1 - pattern.min) >> kSubpixelBits) + 1, state.clip.y1);
    out.rect[0][l] = left;
    out.rect[1][l] = top;
    out.rect[2][l] = right;
    out.rect[3][l] = bottom;
    const int32_t hasPixels = (left < right ? -1 : 0) & (top < bottom ? -1 : 0);
    const int32_t rejected = ((all[l] & kRejectBits) | (any[l] & kOutBad)) != 0 ? -1 : 0;
    const int32_t clip = (any[l] & clipBits) != 0 ? -1 : 0;
    const int32_t faces = (clockwise[l] & keepClockwise) | (counter[l] & keepCounter);
    const int32_t present = static_cast<int32_t>(l) < static_cast<int32_t>(count) ? -1 : 0;
    mustClip[l] = clip & ~rejected & present;
    visible[l] = ~clip & ~rejected & hasPixels & faces & present;
    back[l] = (clockwise[l] & clockwiseIsBack) | (counter[l] & ~clockwiseIsBack);
  }
  out.visible = signs(loadInts(visible));
  out.mustClip = signs(loadInts(mustClip));
  out.backFacing = signs(loadInts(back));
  if (!out.visible) return;

  uint32_t index[3][kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    for (uint32_t k = 0; k < 3; ++k) {
      index[k][l] = vertices[l][k];
      z[k].v[l] = screen.depth[vertices[l][k]];
    }

  // Edges, clockwise: vertices 1 and 2 change places where the triangle is not.
  for (uint32_t l = 0; l < kLanes; ++l) {
    const bool keep = area.v[l] > 0;
    const int32_t px[3] = {x[0].v[l], keep ? x[1].v[l] : x[2].v[l], keep ? x[2].v[l] : x[1].v[l]};
    const int32_t py[3] = {y[0].v[l], keep ? y[1].v[l] : y[2].v[l], keep ? y[2].v[l] : y[1].v[l]};
    for (uint32_t e = 0; e < 3; ++e) {
      const uint32_t n = (e + 1) % 3;
      const int32_t a = py[e] - py[n];
      const int32_t b = px[n] - px[e];
      const int32_t owned = (a > 0) | ((a == 0) & (b > 0));
      out.a[e][l] = a;
      out.b[e][l] = b;
      out.c[e][l] = -(int64_t{a} * px[e] + int64_t{b} * py[e]) - (1 - owned);
    }
  }

  // Planes from vertex 0. Differences of coordinates are below 2^24: exact as floats.
  const bool biased = state.depthKind != DepthKind::kNone;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const float scale = static_cast<float>(kSubpixels) / area.v[l];
    const float x1 = static_cast<float>(x[1].v[l] - x[0].v[l]);
    const float y1 = static_cast<float>(y[1].v[l] - y[0].v[l]);
    const float x2 = static_cast<float>(x[2].v[l] - x[0].v[l]);
    const float y2 = static_cast<float>(y[2].v[l] - y[0].v[l]);
    const float iX = y2 * scale;
    const float iY = -x2 * scale;
    const float jX = -y1 * scale;
    const float jY = x1 * scale;
    const float w0 = w[0].v[l];
    const float w1 = w[1].v[l];
    const float w2 = w[2].v[l];
    const float z0 = z[0].v[l];
    const float z1 = z[1].v[l];
    const float z2 = z[2].v[l];
    const auto set = [&](uint32_t row, float origin, float dx, float dy, float last) {
      out.words[row * 4][l] = origin;
      out.words[row * 4 + 1][l] = dx;
      out.words[row * 4 + 2][l] = dy;
      out.words[row * 4 + 3][l] = last;
    };
    const auto rows = [&](uint32_t k) { return __builtin_bit_cast(float, index[k][l] * state.varyingSlots); };
    set(0, w0, iX * (w1 - w0) + jX * (w2 - w0), iY * (w1 - w0) + jY * (w2 - w0),
        static_cast<float>(x[0].v[l]) * (1.0f / kSubpixels));
    set(1, 0.0f, iX * w1, iY * w1, static_cast<float>(y[0].v[l]) * (1.0f / kSubpixels));
    set(2, 0.0f, jX * w2, jY * w2, rows(0));
    set(3, 0.0f, iX, iY, rows(1));
    set(4, 0.0f, jX, jY, rows(2));
    const float zX = iX * (z1 - z0) + jX * (z2 - z0);
    const float zY = iY * (z1 - z0) + jY * (z2 - z0);
    const float low = z0 < z1 ? (z0 < z2 ? z0 : z2) : (z1 < z2 ? z1 : z2);
    const float high = z0 > z1 ? (z0 > z2 ? z0 : z2) : (z1 > z2 ? z1 : z2);
    const float largest = largerMagnitude(low, high);
    const float bias = biased ? depthBias(state, zX, zY, largest) : 0.0f;
    set(5, z0 + bias, zX, zY, state.provokingLast ? rows(2) : rows(0));
    // Room for the rounding of what fragments compute.
    const float slack = (largest + (bias < 0 ? -bias : bias)) * 0x1p-20f;
    out.depthMin[l] = low + bias - slack;
    out.depthMax[l] = high + bias + slack;
  }
}
