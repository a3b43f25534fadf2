// A notation for arithmetic on IR values, so that the expansions of lower_math read like formulas. A wrapper over
// ir::Builder without state of its own; operands of one operation have the same type.
#pragma once

#include <bit>
#include <initializer_list>

#include "shaders/ir/builder.h"

namespace pumice::shader::passes {

// A value and where instructions about it go.
struct Num {
  ir::Builder* builder;
  ir::Value* value;

  ir::Kind kind() const { return value->type.kind; }
};

inline Num unary(ir::Op op, Num a) {
  return {a.builder, a.builder->unary(op, a.value)};
}
inline Num binary(ir::Op op, Num a, Num b) {
  return {a.builder, a.builder->binary(op, a.value, b.value)};
}

// -- constants of the type of another value
inline Num bitsLike(Num like, uint64_t bits) {
  return {like.builder, like.builder->function().constant(like.value->type, bits)};
}
inline Num like(Num n, double v) {
  if (n.kind() == ir::Kind::kF64) return bitsLike(n, std::bit_cast<uint64_t>(v));
  return bitsLike(n, std::bit_cast<uint32_t>(static_cast<float>(v)));
}

// -- floats
inline Num operator+(Num a, Num b) {
  return binary(ir::Op::FAdd, a, b);
}
inline Num operator-(Num a, Num b) {
  return binary(ir::Op::FSub, a, b);
}
inline Num operator*(Num a, Num b) {
  return binary(ir::Op::FMul, a, b);
}
inline Num operator/(Num a, Num b) {
  return binary(ir::Op::FDiv, a, b);
}
inline Num operator-(Num a) {
  return unary(ir::Op::FNeg, a);
}
inline Num operator+(Num a, double b) {
  return a + like(a, b);
}
inline Num operator-(Num a, double b) {
  return a - like(a, b);
}
inline Num operator-(double a, Num b) {
  return like(b, a) - b;
}
inline Num operator*(Num a, double b) {
  return a * like(a, b);
}
inline Num fma(Num a, Num b, Num c) {
  return {a.builder, a.builder->ternary(ir::Op::FFma, a.value, b.value, c.value)};
}
inline Num abs(Num a) {
  return unary(ir::Op::FAbs, a);
}
inline Num sqrt(Num a) {
  return unary(ir::Op::FSqrt, a);
}
// The constant stands first: a NaN in `a` then passes through both (FMin and FMax return operand 1 for NaN).
inline Num atMost(double limit, Num a) {
  return binary(ir::Op::FMin, like(a, limit), a);
}
inline Num atLeast(double limit, Num a) {
  return binary(ir::Op::FMax, like(a, limit), a);
}
// c[0] + x * (c[1] + x * (c[2] + …)).
template <typename Coefficients>
Num polynomial(Num x, const Coefficients& c) {
  size_t i = std::size(c) - 1;
  Num r = like(x, c[i]);
  while (i-- > 0) r = fma(r, x, like(x, c[i]));
  return r;
}

// -- comparisons (ordered: false for NaN) and selection
inline Num less(Num a, Num b) {
  return binary(ir::Op::FOLt, a, b);
}
inline Num less(Num a, double b) {
  return less(a, like(a, b));
}
inline Num greater(Num a, double b) {
  return less(like(a, b), a);
}
inline Num equal(Num a, double b) {
  return binary(ir::Op::FOEq, a, like(a, b));
}
inline Num select(Num condition, Num a, Num b) {
  return {a.builder, a.builder->select(condition.value, a.value, b.value)};
}

// -- integers and bit patterns
inline Num toBits(Num a) {
  return {a.builder, a.builder->convert(ir::Op::Bitcast, a.kind() == ir::Kind::kF64 ? ir::kI64 : ir::kI32, a.value)};
}
inline Num fromBits(Num a) {
  return {a.builder, a.builder->convert(ir::Op::Bitcast, a.kind() == ir::Kind::kI64 ? ir::kF64 : ir::kF32, a.value)};
}
inline Num integer(ir::Op op, Num a, uint64_t b) {
  return binary(op, a, bitsLike(a, b));
}
inline uint64_t signMask(ir::Kind k) {
  return 1ull << (ir::kindBits(k) - 1);
}
// Sign bit of `a`, as an integer.
inline Num signBits(Num a) {
  return integer(ir::Op::And, toBits(a), signMask(a.kind()));
}
inline Num xorBits(Num a, Num bits) {
  return fromBits(binary(ir::Op::Xor, toBits(a), bits));
}

}  // namespace pumice::shader::passes
