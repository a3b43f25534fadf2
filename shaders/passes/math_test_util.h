// For tests: one transcendental operation, expanded, and its reference in long double.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "shaders/ir/builder.h"
#include "shaders/ir/semantics.h"
#include "shaders/passes/passes.h"

namespace pumice::shader::passes::test {

// A function without control flow: loads of its inputs from push constants, `op`, a store; after lowerMath.
class Expanded {
 public:
  Expanded(ir::Op op, ir::Type result, std::initializer_list<ir::Type> inputs) {
    ir::Builder b(fn_);
    ir::MemRef mem;
    mem.space = ir::Space::kPush;
    std::vector<ir::Value*> operands;
    for (const ir::Type t : inputs) {
      operands.push_back(b.load(t, mem, {fn_.constantI32(0)}));
      inputs_.push_back(operands.back());
      mem.offset_B += 8;
    }
    ir::Value* r = b.inst(op, result, operands)->result;
    mem.space = ir::Space::kShared;
    b.store(mem, {fn_.constantI32(0)}, r);
    b.br(fn_.body);
    lowerMath(fn_);
  }

  const ir::Function& function() const { return fn_; }
  const std::vector<ir::Value*>& inputs() const { return inputs_; }
  // The instructions between the loads and the store, in order.
  std::vector<const ir::Inst*> instructions() const {
    std::vector<const ir::Inst*> list;
    for (const ir::Node* n : fn_.body->body.nodes) {
      const auto* i = static_cast<const ir::Inst*>(n);
      if (i->op != ir::Op::Load && i->op != ir::Op::Store && !i->isTerminator()) list.push_back(i);
    }
    return list;
  }
  const ir::Value* result() const {
    const auto& nodes = fn_.body->body.nodes;
    return static_cast<const ir::Inst*>(nodes[nodes.size() - 2])->operands.back();
  }

  // By the scalar semantics.
  uint64_t evaluate(std::initializer_list<uint64_t> inputs) const {
    std::vector<uint64_t>& v = scratch_;
    v.resize(fn_.valueCount());
    size_t at = 0;
    for (const uint64_t bits : inputs) v[inputs_[at++]->id] = bits;
    const auto read = [&v](const ir::Value* x) { return x->def == ir::Value::Def::kConstant ? x->bits : v[x->id]; };
    for (const ir::Node* n : fn_.body->body.nodes) {
      const auto* i = static_cast<const ir::Inst*>(n);
      if (i->op == ir::Op::Load || i->op == ir::Op::Store || i->isTerminator()) continue;
      uint64_t operands[3] = {};
      for (size_t k = 0; k < i->operands.size(); k++) operands[k] = read(i->operands[k]);
      const ir::Value* first = i->operands[i->op == ir::Op::Select ? 1 : 0];
      const auto r = ir::evaluate(i->op, first->type.kind, i->result->type.kind, {operands, i->operands.size()});
      if (!r) return ~0ull;
      v[i->result->id] = *r;
    }
    return read(result());
  }

 private:
  ir::Function fn_;
  std::vector<ir::Value*> inputs_;
  mutable std::vector<uint64_t> scratch_;
};

inline float asFloat(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
inline uint32_t asBits(float f) {
  return std::bit_cast<uint32_t>(f);
}

// |got - want| in units of the last place of F32 at `want` (denormals: 2^-149). 0 if both are NaN or the same infinity;
// infinite if only one is NaN. Results that F32 rounds to infinity may be either infinity or the largest number.
inline double ulpError(float got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<float>(want);
  if (rounded == got)
    return std::isinf(got)
               ? 0
               : std::fabs(static_cast<double>(
                     (got - want) / std::ldexp(1.0L, std::max(std::ilogb(want == 0 ? 1e-300L : want), -126) - 23)));
  if (std::isinf(got) || std::isinf(want)) {
    const long double a =
        std::isinf(got) ? std::copysign(0x1p128L, static_cast<long double>(got)) : static_cast<long double>(got);
    const long double b = std::isinf(want) ? std::copysign(0x1p128L, want) : want;
    return static_cast<double>(std::fabs((a - b) / 0x1p104L));
  }
  const int exponent = want == 0 ? -126 : std::max(std::ilogb(want), -126);
  return static_cast<double>(std::fabs((got - want) / std::ldexp(1.0L, exponent - 23)));
}

struct UnaryFunction {
  const char* name;
  ir::Op op;
  long double (*reference)(long double);
  float low,
      high;  // |x| (or x for logarithms) in which `maxUlp` is promised; results are only checked for sanity outside
  double maxUlp;
};

inline const std::vector<UnaryFunction>& unaryFunctions() {
  using ir::Op;
  constexpr float kMax = std::numeric_limits<float>::max();
  static const std::vector<UnaryFunction> list = {
      {"exp2", Op::FExp2, [](long double x) { return std::exp2(x); }, 0, kMax, 2.5},
      {"exp", Op::FExp, [](long double x) { return std::exp(x); }, 0, kMax, 6},
      {"log2", Op::FLog2, [](long double x) { return std::log2(x); }, 0, kMax, 2.5},
      {"log", Op::FLog, [](long double x) { return std::log(x); }, 0, kMax, 2.5},
      {"sin", Op::FSin, [](long double x) { return std::sin(x); }, 0, 1e5f, 3},
      {"cos", Op::FCos, [](long double x) { return std::cos(x); }, 0, 1e5f, 3},
      {"tan", Op::FTan, [](long double x) { return std::tan(x); }, 0, 1e5f, 5},
      {"asin", Op::FAsin, [](long double x) { return std::asin(x); }, 0, kMax, 3},
      {"acos", Op::FAcos, [](long double x) { return std::acos(x); }, 0, kMax, 3},
      {"atan", Op::FAtan, [](long double x) { return std::atan(x); }, 0, kMax, 3},
      {"sinh", Op::FSinh, [](long double x) { return std::sinh(x); }, 0, kMax, 4},
      {"cosh", Op::FCosh, [](long double x) { return std::cosh(x); }, 0, kMax, 3},
      {"tanh", Op::FTanh, [](long double x) { return std::tanh(x); }, 0, kMax, 3},
      {"asinh", Op::FAsinh, [](long double x) { return std::asinh(x); }, 0, kMax, 4},
      {"acosh", Op::FAcosh, [](long double x) { return std::acosh(x); }, 0, kMax, 4},
      {"atanh", Op::FAtanh, [](long double x) { return std::atanh(x); }, 0, kMax, 4},
      {"inversesqrt", Op::FInverseSqrt, [](long double x) { return 1 / std::sqrt(x); }, 0, kMax, 2},
  };
  return list;
}

}  // namespace pumice::shader::passes::test
