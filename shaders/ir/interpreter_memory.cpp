#include "shaders/ir/interpreter_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "shaders/ir/semantics.h"

namespace pumice::shader::ir {
namespace {

// The value that a read-modify-write operation leaves in memory.
uint64_t combine(Op op, Kind kind, uint64_t old, uint64_t value) {
  Op step = Op::kCount;
  switch (op) {
    case Op::AtomicIAdd:
      step = Op::IAdd;
      break;
    case Op::AtomicUMin:
      step = Op::UMin;
      break;
    case Op::AtomicUMax:
      step = Op::UMax;
      break;
    case Op::AtomicSMin:
      step = Op::SMin;
      break;
    case Op::AtomicSMax:
      step = Op::SMax;
      break;
    case Op::AtomicAnd:
      step = Op::And;
      break;
    case Op::AtomicOr:
      step = Op::Or;
      break;
    case Op::AtomicXor:
      step = Op::Xor;
      break;
    case Op::AtomicFAdd:
      step = Op::FAdd;
      break;
    case Op::AtomicFMin:
    case Op::AtomicFMax: {
      const std::array order{op == Op::AtomicFMin ? value : old, op == Op::AtomicFMin ? old : value};
      const std::array self{old, old};
      const bool replaces = evaluate(Op::FOLt, kind, Kind::kBool, order).value_or(0) != 0 ||
                            evaluate(Op::FUNe, kind, Kind::kBool, self).value_or(0) != 0;
      return replaces ? value : old;
    }
    default:  // exchange
      return value;
  }
  const std::array operands{old, value};
  return evaluate(step, kind, kind, operands).value_or(old);
}

template <typename T>
uint64_t atomicAs(Op op, Kind kind, uint64_t address, uint64_t value, uint64_t comparator) {
  T* p = reinterpret_cast<T*>(address);
  if (op == Op::AtomicLoad) return __atomic_load_n(p, __ATOMIC_SEQ_CST);
  if (op == Op::AtomicStore) {
    __atomic_store_n(p, static_cast<T>(value), __ATOMIC_SEQ_CST);
    return 0;
  }
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  if (op == Op::AtomicCompareExchange) {
    old = static_cast<T>(comparator);
    __atomic_compare_exchange_n(p, &old, static_cast<T>(value), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
  }
  while (!__atomic_compare_exchange_n(p, &old, static_cast<T>(combine(op, kind, old, value)), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}

}  // namespace

abi::BufferDescriptor readDescriptor(const abi::BindingSlot& slot, const abi::BindingState& state, uint64_t index) {
  abi::BufferDescriptor d{};
  if (index >= slot.count || slot.set >= abi::kMaxBoundSets || state.setAddress[slot.set] == 0) return d;
  const uint64_t address = state.setAddress[slot.set] + slot.offset_B + index * slot.stride_B;
  std::memcpy(&d, reinterpret_cast<const void*>(address), sizeof d);
  if (slot.dynamicIndex != abi::kNotDynamic) d.address += state.dynamicOffset_B[slot.dynamicIndex + index];
  return d;
}

Window checkedWindow(uint64_t base, uint64_t size_B, const MemRef& m, uint64_t index, uint32_t componentBytes,
                     uint32_t components) {
  const uint64_t offset = index * m.scale_B + m.offset_B;  // at most 2^64 - 2^32: index has 32 bits here
  if (offset >= size_B) return {};
  const uint64_t fits = (size_B - offset) / componentBytes;
  return {base + offset, static_cast<uint32_t>(std::min<uint64_t>(fits, components))};
}

uint64_t loadBits(uint64_t address, uint32_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), bytes);
  return bits;
}

void storeBits(uint64_t address, uint32_t bytes, uint64_t bits) {
  std::memcpy(reinterpret_cast<void*>(address), &bits, bytes);
}

uint64_t atomic(Op op, Kind kind, uint64_t address, uint64_t value, uint64_t comparator) {
  return kindBytes(kind) == 8 ? atomicAs<uint64_t>(op, kind, address, value, comparator)
                              : atomicAs<uint32_t>(op, kind, address, value, comparator);
}

}  // namespace pumice::shader::ir
