#include <cassert>
#include <utility>

#include "shaders/passes/math_expansions.h"
#include "shaders/passes/passes.h"

namespace pumice::shader::passes {
namespace {

using ir::Op;

Num expand(Op op, Num a, Num b) {
  switch (op) {
    case Op::FExp2:
      return expandExp2(a);
    case Op::FLog2:
      return expandLog2(a);
    case Op::FExp:
      return expandExp(a);
    case Op::FLog:
      return expandLog(a);
    case Op::FSin:
      return expandSin(a);
    case Op::FCos:
      return expandCos(a);
    case Op::FTan:
      return expandTan(a);
    case Op::FAsin:
      return expandAsin(a);
    case Op::FAcos:
      return expandAcos(a);
    case Op::FAtan:
      return expandAtan(a);
    case Op::FAtan2:
      return expandAtan2(a, b);
    case Op::FSinh:
      return expandSinh(a);
    case Op::FCosh:
      return expandCosh(a);
    case Op::FTanh:
      return expandTanh(a);
    case Op::FAsinh:
      return expandAsinh(a);
    case Op::FAcosh:
      return expandAcosh(a);
    case Op::FAtanh:
      return expandAtanh(a);
    case Op::FPow:
      return expandPow(a, b);
    case Op::FInverseSqrt:
      return expandInverseSqrt(a);
    case Op::FLdexp:
      return expandLdexp(a, b);
    case Op::FFrexpSig:
      return expandFrexpSig(a);
    case Op::FFrexpExp:
      return expandFrexpExp(a);
    case Op::FRem:
      return expandRem(a, b);
    case Op::FMod:
      return expandMod(a, b);
    default:
      break;
  }
  assert(false && "not a transcendental operation");
  return a;
}

// Vulkan has these for F64, too; the others are expanded in F32.
bool hasF64(Op op) {
  switch (op) {
    case Op::FInverseSqrt:
    case Op::FLdexp:
    case Op::FFrexpSig:
    case Op::FFrexpExp:
    case Op::FRem:
    case Op::FMod:
      return true;
    default:
      return false;
  }
}

// One walk in order: definitions come before their uses, so operands are replaced as the walk meets them.
class Lowering {
 public:
  explicit Lowering(ir::Function& fn) : fn_(fn), replacement_(fn.valueCount(), nullptr) {}

  void run() { construct(*fn_.body); }

 private:
  void replace(ir::Value*& v) const {
    if (v != nullptr && v->id < replacement_.size() && replacement_[v->id] != nullptr) v = replacement_[v->id];
  }

  void construct(ir::Construct& c) {
    replace(c.condition);
    for (ir::Value*& v : c.initial) replace(v);
    region(c, c.body);
    if (c.shape == ir::Construct::Shape::kIf) region(c, c.otherwise);
  }

  void region(ir::Construct& owner, ir::Region& r) {
    const std::vector<ir::Node*> nodes = std::exchange(r.nodes, {});
    r.nodes.reserve(nodes.size());
    for (ir::Node* node : nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        construct(static_cast<ir::Construct&>(*node));
        r.nodes.push_back(node);
        continue;
      }
      auto& inst = static_cast<ir::Inst&>(*node);
      for (ir::Value*& v : inst.operands) replace(v);
      if (!ir::isTranscendental(inst.op)) {
        r.nodes.push_back(node);
        continue;
      }
      ir::Builder builder(fn_, &owner, &r);
      builder.line = inst.line;
      replacement_[inst.result->id] = lower(builder, inst);
    }
  }

  ir::Value* lower(ir::Builder& builder, const ir::Inst& inst) {
    const ir::Kind kind = inst.operands[0]->type.kind;
    const bool direct = kind == ir::Kind::kF32 || (kind == ir::Kind::kF64 && hasF64(inst.op));
    const auto operand = [&](size_t i) -> Num {
      if (i >= inst.operands.size()) return {&builder, nullptr};
      ir::Value* v = inst.operands[i];
      if (!direct && v->type.isFloat()) v = builder.convert(Op::FConvert, ir::kF32, v);
      return {&builder, v};
    };
    // F16 goes through F32 and is rounded once.
    const Num a = operand(0), b = operand(1);
    ir::Value* r = expand(inst.op, a, b).value;
    if (!direct && r->type.isFloat()) r = builder.convert(Op::FConvert, inst.result->type, r);
    return r;
  }

  ir::Function& fn_;
  std::vector<ir::Value*> replacement_;  // by id of the values that were there at the start
};

}  // namespace

void lowerMath(ir::Function& fn) {
  Lowering(fn).run();
}

}  // namespace pumice::shader::passes
