// Atomics on 32- and 64-bit texels. Lanes take their turn in rising order. Memory order is relaxed: ordering is the
// shader's business, by its barriers.
#include <atomic>
#include <bit>
#include <type_traits>

#include "backend/texture/access.h"
#include "backend/texture/address.h"

namespace pumice::texture {
namespace {

using abi::ImageOp;

/// The old value. change(old) is the new one.
template <typename T, typename Change>
T update(T* texel, Change change) {
  std::atomic_ref<T> atomic(*texel);
  T old = atomic.load(std::memory_order_relaxed);
  while (!atomic.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}

template <typename T>
T apply(ImageOp op, T* texel, T value, T comparator) {
  using S = std::make_signed_t<T>;
  std::atomic_ref<T> atomic(*texel);
  constexpr auto kOrder = std::memory_order_relaxed;
  switch (op) {
    case ImageOp::kAtomicAdd:
      return atomic.fetch_add(value, kOrder);
    case ImageOp::kAtomicAnd:
      return atomic.fetch_and(value, kOrder);
    case ImageOp::kAtomicOr:
      return atomic.fetch_or(value, kOrder);
    case ImageOp::kAtomicXor:
      return atomic.fetch_xor(value, kOrder);
    case ImageOp::kAtomicExchange:
      return atomic.exchange(value, kOrder);
    case ImageOp::kAtomicCompareExchange:
      atomic.compare_exchange_strong(comparator, value, kOrder);
      return comparator;  // what stood there, in either case
    case ImageOp::kAtomicUMin:
      return update(texel, [=](T old) { return value < old ? value : old; });
    case ImageOp::kAtomicUMax:
      return update(texel, [=](T old) { return value > old ? value : old; });
    case ImageOp::kAtomicSMin:
      return update(texel, [=](T old) { return static_cast<S>(value) < static_cast<S>(old) ? value : old; });
    case ImageOp::kAtomicSMax:
      return update(texel, [=](T old) { return static_cast<S>(value) > static_cast<S>(old) ? value : old; });
    case ImageOp::kAtomicFAdd:
      if constexpr (sizeof(T) == 4) {
        return update(texel,
                      [=](T old) { return std::bit_cast<T>(std::bit_cast<float>(old) + std::bit_cast<float>(value)); });
      } else {
        return update(
            texel, [=](T old) { return std::bit_cast<T>(std::bit_cast<double>(old) + std::bit_cast<double>(value)); });
      }
    case ImageOp::kAtomicFMin:
    case ImageOp::kAtomicFMax:
      if constexpr (sizeof(T) == 4) {
        return update(texel, [=](T old) {
          const auto there = std::bit_cast<float>(old), given = std::bit_cast<float>(value);
          return (op == ImageOp::kAtomicFMin ? given < there : given > there) ? value : old;
        });
      }
      return 0;
    default:
      return 0;
  }
}

uint64_t join(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

}  // namespace

void accessAtomically(abi::ImageCall* call, uint32_t lanes, const View& view) {
  const Level level = view.level(0);
  const bool wide = (call->flags & abi::kImage64) != 0;
  const bool fits =
      view.format->codec && view.format->bytes == (wide ? 8 : 4);  // else the view is not what the shader declares
  for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::byte* texel = fits ? texelOfLane(*call, lane, view, level) : nullptr;
    auto* numbers = &call->texel[0][lane];
    constexpr size_t kNext = abi::kImageCallLanes;
    uint64_t old = 0;
    if (texel != nullptr && wide) {
      old = apply(call->op, reinterpret_cast<uint64_t*>(texel), join(numbers[0], numbers[kNext]),
                  join(numbers[2 * kNext], numbers[3 * kNext]));
    } else if (texel != nullptr) {
      old = apply(call->op, reinterpret_cast<uint32_t*>(texel), numbers[0], numbers[kNext]);
    }
    numbers[0] = static_cast<uint32_t>(old);
    if (wide) numbers[kNext] = static_cast<uint32_t>(old >> 32);
  }
}

}  // namespace pumice::texture
