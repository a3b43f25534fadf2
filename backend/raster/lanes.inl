// Sixteen 32-bit numbers as one value, made of the vectors that the instruction set has. Included once per instruction set,
// inside its namespace and under its target.

#define PUMICE_INLINE [[gnu::always_inline]] inline

constexpr uint32_t kLanes = 16;
constexpr uint32_t kParts = kLanes / PUMICE_WIDTH;

typedef int32_t IntPart __attribute__((vector_size(PUMICE_WIDTH * 4)));

struct Int16 {
  IntPart part[kParts];

  Int16() = default;
  PUMICE_INLINE Int16(int32_t value) {  // implicit: numbers stand for sixteen of them
    for (IntPart& p : part) p = IntPart{} + value;
  }
};

#define PUMICE_OPERATOR(op)                                                    \
  PUMICE_INLINE Int16 operator op(const Int16& a, const Int16& b) {            \
    Int16 out;                                                                 \
    for (uint32_t p = 0; p < kParts; ++p) out.part[p] = a.part[p] op b.part[p]; \
    return out;                                                                \
  }
PUMICE_OPERATOR(+)
PUMICE_OPERATOR(-)
PUMICE_OPERATOR(*)
PUMICE_OPERATOR(|)
#undef PUMICE_OPERATOR

PUMICE_INLINE Int16 shiftLeft(const Int16& a, uint32_t bits) {
  Int16 out;
  for (uint32_t p = 0; p < kParts; ++p) out.part[p] = a.part[p] << bits;
  return out;
}

PUMICE_INLINE Int16 loadInts(const int32_t* from) {
  Int16 out;
  for (uint32_t p = 0; p < kParts; ++p) __builtin_memcpy(&out.part[p], from + p * PUMICE_WIDTH, sizeof(IntPart));
  return out;
}

/// Bit l: lane l is negative.
PUMICE_INLINE uint32_t signs(const Int16& a) {
#if defined(__x86_64__) && PUMICE_WIDTH == 16
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(a.part[0]));
#elif defined(__x86_64__) && PUMICE_WIDTH == 8
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(a.part[0]))) |
         static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(a.part[1]))) << 8;
#elif defined(__x86_64__)
  uint32_t mask = 0;
  for (uint32_t p = 0; p < kParts; ++p)
    mask |= static_cast<uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(a.part[p]))) << (p * 4);
  return mask;
#else
  uint32_t mask = 0;
  for (uint32_t p = 0; p < kParts; ++p)
    for (uint32_t i = 0; i < PUMICE_WIDTH; ++i)
      mask |= (static_cast<uint32_t>(a.part[p][i]) >> 31) << (p * PUMICE_WIDTH + i);
  return mask;
#endif
}
