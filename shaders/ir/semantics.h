// The scalar operations of ops.def as functions on bit patterns: what the interpreter runs, what constant folding uses
// and what generated code is compared with. Pure, thread safe, needs the default floating-point environment (round to
// nearest, denormals kept).
//
// A bit pattern is zero-extended to 64 bits; a Bool is 0 or 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

// Evaluates one operation on scalars. `operandKind` is the kind of operand 0 (of Select: of operand 1), `resultKind`
// that of the result. Empty if `op` is no pure scalar operation (memory, subgroups, tuples, built-in values,
// transcendental functions) or does not exist for that kind. NaN results have an unspecified sign and payload, except
// that FNeg, FAbs, FMin, FMax, Select and Bitcast pass bits through.
std::optional<uint64_t> evaluate(Op op, Kind operandKind, Kind resultKind, std::span<const uint64_t> operands);

// -- float formats
double toDouble(Kind floatKind, uint64_t bits);  // exact; a NaN stays a (quiet) NaN
enum class Rounding : uint8_t { kNearestEven, kToZero };
uint64_t fromDouble(Kind floatKind, double value, Rounding rounding = Rounding::kNearestEven);

// -- subgroup arithmetic
Op reduceStep(ReduceOp op);                       // the scalar operation that combines two values
uint64_t reduceIdentity(ReduceOp op, Kind kind);  // what an inactive invocation contributes
bool reduceAccepts(ReduceOp op, Kind kind);

// All bits of a kind set.
constexpr uint64_t kindMask(Kind k) {
  const uint32_t n = kindBits(k);
  return n >= 64 ? ~0ull : (1ull << n) - 1;
}
// A float's pattern without sign is above this if it is a NaN.
constexpr uint64_t infinityBits(Kind floatKind) {
  return floatKind == Kind::kF16 ? 0x7c00u : floatKind == Kind::kF32 ? 0x7f800000u : 0x7ff0000000000000ull;
}

}  // namespace pumice::shader::ir
