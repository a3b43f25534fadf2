// Types of the IR. Values are per invocation: a scalar, a small tuple of equal scalars, or a buffer reference.
#pragma once

#include <cstdint>

namespace pumice::shader::ir {

enum class Kind : uint8_t {
  kVoid,
  kBool,  // 1 bit; has no memory representation (the reader loads and stores 32-bit integers)
  kI8,    // integers have no sign; operations do
  kI16,
  kI32,
  kI64,
  kF16,
  kF32,
  kF64,
  kBufferRef,  // {address, size} of a storage or uniform buffer: only made by BufferDescriptor and Global, only
               // consumed by memory operations, BufferSize, Select and block results (variable pointers)
};

// Tuples (components > 1) exist for memory operations, Construct and Extract, and may travel through block results; all
// arithmetic is on scalars.
struct Type {
  Kind kind = Kind::kVoid;
  uint8_t components = 1;  // 1 .. 4

  constexpr bool operator==(const Type&) const = default;
  constexpr bool isVoid() const { return kind == Kind::kVoid; }
  constexpr bool isBool() const { return kind == Kind::kBool; }
  constexpr bool isInt() const { return kind >= Kind::kI8 && kind <= Kind::kI64; }
  constexpr bool isFloat() const { return kind >= Kind::kF16 && kind <= Kind::kF64; }
  constexpr Type scalar() const { return {kind, 1}; }
};

constexpr uint32_t kindBits(Kind k) {
  switch (k) {
    case Kind::kVoid:
      return 0;
    case Kind::kBool:
      return 1;
    case Kind::kI8:
      return 8;
    case Kind::kI16:
    case Kind::kF16:
      return 16;
    case Kind::kI32:
    case Kind::kF32:
      return 32;
    case Kind::kI64:
    case Kind::kF64:
      return 64;
    case Kind::kBufferRef:
      return 128;
  }
  return 0;
}
// Bytes of one component in memory.
constexpr uint32_t kindBytes(Kind k) {
  return kindBits(k) / 8;
}

inline constexpr Type kVoid{Kind::kVoid}, kBool{Kind::kBool}, kI8{Kind::kI8}, kI16{Kind::kI16}, kI32{Kind::kI32},
    kI64{Kind::kI64}, kF16{Kind::kF16}, kF32{Kind::kF32}, kF64{Kind::kF64}, kBufferRef{Kind::kBufferRef};

}  // namespace pumice::shader::ir
