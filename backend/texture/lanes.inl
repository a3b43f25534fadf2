// Sixteen lanes as one value, in the compiler's vector types. Included once per instruction set, inside its namespace
// and under its target: vector operations are lowered before functions are inlined, so none of this may be compiled for
// one target and inlined into another.

using F = float __attribute__((vector_size(64)));
using I = int32_t __attribute__((vector_size(64)));  // also masks: 0 or -1
using U = uint32_t __attribute__((vector_size(64)));

// The same in memory, wherever arrays of lanes lie.
using FInMemory = float __attribute__((vector_size(64), aligned(4), may_alias));
using IInMemory = int32_t __attribute__((vector_size(64), aligned(4), may_alias));
using UInMemory = uint32_t __attribute__((vector_size(64), aligned(4), may_alias));

constexpr uint32_t kLanes = abi::kImageCallLanes;
constexpr I kLaneIndex = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

#define PUMICE_INLINE [[gnu::always_inline]] inline

PUMICE_INLINE F splat(float value) {
  return F{} + value;
}
PUMICE_INLINE I splat(int32_t value) {
  return I{} + value;
}
PUMICE_INLINE U splat(uint32_t value) {
  return U{} + value;
}

PUMICE_INLINE F asFloat(U bits) {
  return reinterpret_cast<F>(bits);
}
PUMICE_INLINE U asBits(F value) {
  return reinterpret_cast<U>(value);
}
PUMICE_INLINE I asInt(U value) {
  return reinterpret_cast<I>(value);
}
PUMICE_INLINE U asUint(I value) {
  return reinterpret_cast<U>(value);
}

PUMICE_INLINE F loadF(const void* from) {
  return *static_cast<const FInMemory*>(from);
}
PUMICE_INLINE I loadI(const void* from) {
  return *static_cast<const IInMemory*>(from);
}
PUMICE_INLINE U loadU(const void* from) {
  return *static_cast<const UInMemory*>(from);
}
PUMICE_INLINE void store(void* to, F value) {
  *static_cast<FInMemory*>(to) = value;
}
PUMICE_INLINE void store(void* to, I value) {
  *static_cast<IInMemory*>(to) = value;
}
PUMICE_INLINE void store(void* to, U value) {
  *static_cast<UInMemory*>(to) = value;
}

PUMICE_INLINE F toFloat(I value) {
  return __builtin_convertvector(value, F);
}
/// |value| < 2^31.
PUMICE_INLINE I truncate(F value) {
  return __builtin_convertvector(value, I);
}
/// |value| < 2^31.
PUMICE_INLINE I floorToInt(F value) {
  const I whole = truncate(value);
  return whole + (toFloat(whole) > value);
}

PUMICE_INLINE F select(I mask, F a, F b) {
  return mask ? a : b;
}
PUMICE_INLINE I select(I mask, I a, I b) {
  return mask ? a : b;
}
PUMICE_INLINE U select(I mask, U a, U b) {
  return mask ? a : b;
}

/// NaN becomes low.
PUMICE_INLINE F clampFloat(F value, F low, F high) {
  const F above = select(value > low, value, low);
  return select(above < high, above, high);
}
PUMICE_INLINE I clampInt(I value, I low, I high) {
  const I above = select(value > low, value, low);
  return select(above < high, above, high);
}
PUMICE_INLINE F absolute(F value) {
  return asFloat(asBits(value) & 0x7FFFFFFFu);
}
PUMICE_INLINE F lerp(F a, F b, F weight) {
  return a + weight * (b - a);
}

/// Bit l of lanes to lane l.
PUMICE_INLINE I maskOf(uint32_t lanes) {
  return -((splat(static_cast<int32_t>(lanes)) >> kLaneIndex) & 1);
}
/// The way back.
PUMICE_INLINE uint32_t bitsOf(I mask) {
  uint32_t bits = 0;
  alignas(64) int32_t lane[kLanes];
  store(lane, mask);
  for (uint32_t l = 0; l < kLanes; ++l) bits |= (static_cast<uint32_t>(lane[l]) & 1u) << l;
  return bits;
}
PUMICE_INLINE bool any(I mask) {
  return bitsOf(mask) != 0;
}

PUMICE_INLINE void storeLanes(uint32_t* to, U value, uint32_t lanes) {
  if (lanes == 0xFFFF) return store(to, value);
  store(to, select(maskOf(lanes), value, loadU(to)));
}
