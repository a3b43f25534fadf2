// Sixteen lanes as one value, made of the vectors that the instruction set has (a compiler takes wider ones apart into
// single elements where it has no wide select). Included once per instruction set, inside its namespace and under its
// target: none of this may be compiled for one target and inlined into another.

constexpr uint32_t kLanes = abi::kImageCallLanes;
constexpr size_t kWidth = PUMICE_WIDTH;
constexpr size_t kParts = kLanes / kWidth;

#define PUMICE_INLINE [[gnu::always_inline]] inline
#define PUMICE_LAMBDA __attribute__((always_inline))

/// A vector, and the same anywhere in memory. (Attributes are lost on types that depend on a parameter.)
template <typename T>
struct Vectors;
template <>
struct Vectors<float> {
  typedef float Part __attribute__((vector_size(PUMICE_WIDTH * 4)));
  typedef float PartInMemory __attribute__((vector_size(PUMICE_WIDTH * 4), aligned(4), may_alias));
};
template <>
struct Vectors<int32_t> {
  typedef int32_t Part __attribute__((vector_size(PUMICE_WIDTH * 4)));
  typedef int32_t PartInMemory __attribute__((vector_size(PUMICE_WIDTH * 4), aligned(4), may_alias));
};
template <>
struct Vectors<uint32_t> {
  typedef uint32_t Part __attribute__((vector_size(PUMICE_WIDTH * 4)));
  typedef uint32_t PartInMemory __attribute__((vector_size(PUMICE_WIDTH * 4), aligned(4), may_alias));
};

template <typename T>
struct Lanes {
  using Part = typename Vectors<T>::Part;
  using PartInMemory = typename Vectors<T>::PartInMemory;

  Part part[kParts];

  Lanes() = default;
  PUMICE_INLINE Lanes(T value) {  // implicit: numbers stand for sixteen of them
    for (Part& p : part) p = Part{} + value;
  }

#define PUMICE_OPERATOR(op)                                                   \
  PUMICE_INLINE friend Lanes operator op(const Lanes& a, const Lanes& b) {    \
    Lanes out;                                                                \
    for (size_t p = 0; p < kParts; ++p) out.part[p] = a.part[p] op b.part[p]; \
    return out;                                                               \
  }                                                                           \
  PUMICE_INLINE Lanes& operator op##=(const Lanes& b) {                       \
    return *this = *this op b;                                                \
  }
#define PUMICE_COMPARISON(op)                                                       \
  PUMICE_INLINE friend Lanes<int32_t> operator op(const Lanes& a, const Lanes& b) { \
    Lanes<int32_t> out;                                                             \
    for (size_t p = 0; p < kParts; ++p) out.part[p] = a.part[p] op b.part[p];       \
    return out;                                                                     \
  }
  PUMICE_OPERATOR(+)
  PUMICE_OPERATOR(-)
  PUMICE_OPERATOR(*)
  PUMICE_OPERATOR(/)
  PUMICE_OPERATOR(&)
  PUMICE_OPERATOR(|)
  PUMICE_OPERATOR(^)
  PUMICE_OPERATOR(<<)
  PUMICE_OPERATOR(>>)
  PUMICE_COMPARISON(<)
  PUMICE_COMPARISON(>)
  PUMICE_COMPARISON(<=)
  PUMICE_COMPARISON(>=)
  PUMICE_COMPARISON(==)
  PUMICE_COMPARISON(!=)
#undef PUMICE_OPERATOR
#undef PUMICE_COMPARISON

  PUMICE_INLINE Lanes operator-() const {
    Lanes out;
    for (size_t p = 0; p < kParts; ++p) out.part[p] = -part[p];
    return out;
  }
  PUMICE_INLINE Lanes operator~() const {
    Lanes out;
    for (size_t p = 0; p < kParts; ++p) out.part[p] = ~part[p];
    return out;
  }
};

using F = Lanes<float>;
using I = Lanes<int32_t>;  // also masks: 0 or -1
using U = Lanes<uint32_t>;

template <typename T>
PUMICE_INLINE Lanes<T> splat(T value) {
  return value;
}

template <typename T>
PUMICE_INLINE Lanes<T> loadLanes(const void* from) {
  const auto* parts = static_cast<const typename Lanes<T>::PartInMemory*>(from);
  Lanes<T> out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = parts[p];
  return out;
}
PUMICE_INLINE F loadF(const void* from) {
  return loadLanes<float>(from);
}
PUMICE_INLINE I loadI(const void* from) {
  return loadLanes<int32_t>(from);
}
PUMICE_INLINE U loadU(const void* from) {
  return loadLanes<uint32_t>(from);
}
template <typename T>
PUMICE_INLINE void store(void* to, const Lanes<T>& value) {
  auto* parts = static_cast<typename Lanes<T>::PartInMemory*>(to);
  for (size_t p = 0; p < kParts; ++p) parts[p] = value.part[p];
}

/// The same bits.
template <typename To, typename From>
PUMICE_INLINE To bitsAs(const From& from) {
  To out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = reinterpret_cast<typename To::Part>(from.part[p]);
  return out;
}
PUMICE_INLINE F asFloat(const U& bits) {
  return bitsAs<F>(bits);
}
PUMICE_INLINE U asBits(const F& value) {
  return bitsAs<U>(value);
}
PUMICE_INLINE I asInt(const U& value) {
  return bitsAs<I>(value);
}
PUMICE_INLINE U asUint(const I& value) {
  return bitsAs<U>(value);
}

PUMICE_INLINE F toFloat(const I& value) {
  F out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = __builtin_convertvector(value.part[p], F::Part);
  return out;
}
/// |value| < 2^31.
PUMICE_INLINE I truncate(const F& value) {
  I out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = __builtin_convertvector(value.part[p], I::Part);
  return out;
}
/// |value| < 2^31.
PUMICE_INLINE I floorToInt(const F& value) {
  const I whole = truncate(value);
  return whole + (toFloat(whole) > value);
}

/// The largest whole number that is not above. |value| < 2^31.
PUMICE_INLINE F floorOf(const F& value) {
#if PUMICE_WIDTH == 16
  F out;
  out.part[0] =
      reinterpret_cast<F::Part>(_mm512_maskz_roundscale_ps(0xFFFF, reinterpret_cast<__m512>(value.part[0]), 0x09));
  return out;
#elif PUMICE_WIDTH == 8
  F out;
  for (size_t p = 0; p < kParts; ++p)
    out.part[p] = reinterpret_cast<F::Part>(_mm256_floor_ps(reinterpret_cast<__m256>(value.part[p])));
  return out;
#else
  return toFloat(floorToInt(value));
#endif
}

template <typename T>
PUMICE_INLINE Lanes<T> select(const I& mask, const Lanes<T>& a, const Lanes<T>& b) {
  Lanes<T> out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = mask.part[p] ? a.part[p] : b.part[p];
  return out;
}

/// NaN becomes low.
PUMICE_INLINE F clampFloat(const F& value, const F& low, const F& high) {
  const F above = select(value > low, value, low);
  return select(above < high, above, high);
}
PUMICE_INLINE I clampInt(const I& value, const I& low, const I& high) {
  const I above = select(value > low, value, low);
  return select(above < high, above, high);
}
PUMICE_INLINE F absolute(const F& value) {
  return asFloat(asBits(value) & 0x7FFFFFFFu);
}
PUMICE_INLINE F lerp(const F& a, const F& b, const F& weight) {
  return a + weight * (b - a);
}

template <typename Number, size_t... L>
PUMICE_INLINE U ofEachLane(const Number& number, std::index_sequence<L...>) {
  U out;
  for (size_t p = 0; p < kParts; ++p) out.part[p] = U::Part{number(p * kWidth + L)...};
  return out;
}
/// number(l) to lane l, without a detour through memory: a vector load of words just stored waits for all of them.
template <typename Number>
PUMICE_INLINE U ofEachLane(const Number& number) {
  return ofEachLane(number, std::make_index_sequence<kWidth>());
}

template <typename Number, size_t... H, size_t... L>
PUMICE_INLINE void ofEachLanePair(const Number& number, U& low, U& high, std::index_sequence<H...>,
                                  std::index_sequence<L...>) {
  typedef uint64_t Pairs __attribute__((vector_size(PUMICE_WIDTH * 4)));
  for (size_t p = 0; p < kParts; ++p) {
    const auto a = reinterpret_cast<U::Part>(Pairs{number(p * kWidth + H)...});
    const auto b = reinterpret_cast<U::Part>(Pairs{number(p * kWidth + kWidth / 2 + H)...});
    low.part[p] = __builtin_shufflevector(a, b, (2 * L)...);
    high.part[p] = __builtin_shufflevector(a, b, (2 * L + 1)...);
  }
}
/// The halves of the 64-bit number(l) to lane l of low and high.
template <typename Number>
PUMICE_INLINE void ofEachLanePair(const Number& number, U& low, U& high) {
  ofEachLanePair(number, low, high, std::make_index_sequence<kWidth / 2>(), std::make_index_sequence<kWidth>());
}

/// The 128 bits at from(l), from(l + 4), ... one after the other.
template <typename From>
PUMICE_INLINE U::Part joinQuads(const From& from, size_t l) {
#if PUMICE_WIDTH == 16
  const auto load = [&](size_t n)
                        PUMICE_LAMBDA { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from(l + 4 * n))); };
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load(0)), load(1), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load(2)), load(3), 1);
  return reinterpret_cast<U::Part>(_mm512_maskz_inserti64x4(0xFF, _mm512_castsi256_si512(low), high, 1));
#elif PUMICE_WIDTH == 8
  const auto load = [&](size_t n)
                        PUMICE_LAMBDA { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from(l + 4 * n))); };
  return reinterpret_cast<U::Part>(_mm256_inserti128_si256(_mm256_castsi128_si256(load(0)), load(1), 1));
#else
  return *reinterpret_cast<const U::PartInMemory*>(from(l));
#endif
}
/// Of each four elements: two of a and two of b, as the pattern's elements (4 to 7: of b) say.
template <int kA, int kB, int kC, int kD, size_t... L>
PUMICE_INLINE U::Part mixQuads(const U::Part& a, const U::Part& b, std::index_sequence<L...>) {
  constexpr int kPattern[4] = {kA, kB, kC, kD};
  return __builtin_shufflevector(
      a, b, (static_cast<int>(L & ~size_t{3}) + (kPattern[L & 3] & 3) + (kPattern[L & 3] >= 4 ? PUMICE_WIDTH : 0))...);
}
template <int kA, int kB, int kC, int kD>
PUMICE_INLINE U::Part mixQuads(const U::Part& a, const U::Part& b) {
  return mixQuads<kA, kB, kC, kD>(a, b, std::make_index_sequence<kWidth>());
}
/// The four words at from(l) to lane l of four numbers.
template <typename From>
PUMICE_INLINE void ofEachLaneQuad(const From& from, U (&word)[4]) {
  for (size_t p = 0; p < kParts; ++p) {
    U::Part row[4];  // row r: what lanes r, 4 + r, 8 + r, .. have; each four of them are transposed
    for (size_t r = 0; r < 4; ++r) row[r] = joinQuads(from, p * kWidth + r);
    const U::Part low01 = mixQuads<0, 4, 1, 5>(row[0], row[1]), high01 = mixQuads<2, 6, 3, 7>(row[0], row[1]);
    const U::Part low23 = mixQuads<0, 4, 1, 5>(row[2], row[3]), high23 = mixQuads<2, 6, 3, 7>(row[2], row[3]);
    word[0].part[p] = mixQuads<0, 1, 4, 5>(low01, low23);
    word[1].part[p] = mixQuads<2, 3, 6, 7>(low01, low23);
    word[2].part[p] = mixQuads<0, 1, 4, 5>(high01, high23);
    word[3].part[p] = mixQuads<2, 3, 6, 7>(high01, high23);
  }
}

/// Bit l of lanes to lane l.
PUMICE_INLINE I maskOf(uint32_t lanes) {
  alignas(64) static constexpr int32_t kBit[kLanes] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                       256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const I bit = loadI(kBit);
  return (I(static_cast<int32_t>(lanes)) & bit) == bit;
}
/// The way back.
PUMICE_INLINE uint32_t bitsOf(const I& mask) {
#if PUMICE_WIDTH == 16
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask.part[0]));
#elif PUMICE_WIDTH == 8
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask.part[0])) |
                               _mm256_movemask_ps(reinterpret_cast<__m256>(mask.part[1])) << 8);
#else
  uint32_t bits = 0;
  for (uint32_t l = 0; l < kLanes; ++l) bits |= (static_cast<uint32_t>(mask.part[l / kWidth][l % kWidth]) & 1u) << l;
  return bits;
#endif
}
PUMICE_INLINE bool any(const I& mask) {
  return bitsOf(mask) != 0;
}
#if PUMICE_WIDTH == 16
/// The smallest of non-negative numbers in these lanes, of which there is one at least; exact below 2^16, elsewhere
/// not larger than the smallest.
PUMICE_INLINE int32_t smallest16(const I& value, const I& lanes) {
  const I counted = select(lanes, value, splat(0xFFFF));
  const __m256i words = _mm512_maskz_cvtepi32_epi16(0xFFFF, reinterpret_cast<__m512i>(counted.part[0]));
  const __m128i eight = _mm_min_epu16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  return _mm_cvtsi128_si32(_mm_minpos_epu16(eight)) & 0xFFFF;
}
#endif

PUMICE_INLINE void storeLanes(uint32_t* to, const U& value, uint32_t lanes) {
  if (lanes == 0xFFFF) return store(to, value);
  store(to, select(maskOf(lanes), value, loadU(to)));
}
