// Memory accesses of the interpreter: descriptors, bounds, loads, stores and atomics on real memory.
#pragma once

#include <cstdint>

#include "backend/abi/shader_abi.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

// The null descriptor if the set is not bound or the index is out of range.
abi::BufferDescriptor readDescriptor(const abi::BindingSlot& slot, const abi::BindingState& state, uint64_t index);

// The part of an access that may be done: components 0 .. components-1 from `address` on.
struct Window {
  uint64_t address = 0;
  uint32_t components = 0;
};
// In a space of `size_B` bytes at `base`.
Window checkedWindow(uint64_t base, uint64_t size_B, const MemRef& m, uint64_t index, uint32_t componentBytes,
                     uint32_t components);

uint64_t loadBits(uint64_t address, uint32_t bytes);  // any alignment; zero-extended
void storeBits(uint64_t address, uint32_t bytes, uint64_t bits);

// One atomic operation on 32 or 64 bits; returns the old value (0 of AtomicStore). `comparator` is only used by
// AtomicCompareExchange.
uint64_t atomic(Op op, Kind kind, uint64_t address, uint64_t value, uint64_t comparator);

}  // namespace pumice::shader::ir
