#include "shaders/passes/contract.h"

#include <vector>

#include "shaders/passes/simplify.h"
#include "shaders/passes/tree.h"

namespace pumice::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

bool isSum(const Inst& i) {
  return (i.op == Op::FAdd || i.op == Op::FSub) && !i.noContract && i.result->type != ir::kF16;
}

const Inst* productOf(const Value* v) {
  if (v->def != Value::Def::kInst || v->inst->op != Op::FMul || v->inst->noContract) return nullptr;
  return v->inst;
}

class Contraction {
 public:
  explicit Contraction(ir::Function& fn) : fn_(fn), uses_(fn.valueCount()), sums_(fn.valueCount()) {}

  void run() {
    forEachInst(*fn_.body, [&](Inst& i) {
      for (const Value* v : i.operands) ++uses_[v->id];
      if (i.result && isSum(i))
        for (const Value* v : i.operands) ++sums_[v->id];
    });
    forEachConstruct(fn_.body->body, [&](ir::Construct& c) {
      if (c.condition) ++uses_[c.condition->id];
      for (const Value* v : c.initial) ++uses_[v->id];
    });
    region(fn_.body->body);
    removeDeadCode(fn_);  // the products
  }

 private:
  // A product whose every use is a sum disappears; otherwise contraction would only repeat the multiplication.
  const Inst* wholeProduct(const Value* v) const {
    const Inst* p = productOf(v);
    return p && uses_[v->id] == sums_[v->id] ? p : nullptr;
  }

  void region(ir::Region& r) {
    std::vector<ir::Node*> out;
    out.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        auto& c = *static_cast<ir::Construct*>(node);
        region(c.body);
        region(c.otherwise);
      } else if (auto& i = *static_cast<Inst*>(node); i.result && isSum(i)) {
        contractSum(i, out);
      }
      out.push_back(node);
    }
    r.nodes.swap(out);
  }

  void contractSum(Inst& i, std::vector<ir::Node*>& out) {
    // In a sum of two products the second is contracted: chains of additions then run through the FFma.
    const bool right = wholeProduct(i.operands[1]) != nullptr;
    const Inst* p = right ? wholeProduct(i.operands[1]) : wholeProduct(i.operands[0]);
    if (!p) return;
    Value* other = i.operands[right ? 0 : 1];
    Value* a = p->operands[0];
    Value* b = p->operands[1];
    auto negated = [&](Value* v) {
      if (v->def == Value::Def::kConstant)
        return fn_.constant(v->type, v->bits ^ 1ull << (ir::kindBits(v->type.kind) - 1));
      Inst* n = fn_.newInst(Op::FNeg, v->type);
      n->operands = {v};
      n->line = i.line;
      out.push_back(n);
      return n->result;
    };
    if (i.op == Op::FSub) {
      if (right)
        a = negated(a);  // c - a * b
      else
        other = negated(other);  // a * b - c
    }
    i.op = Op::FFma;
    i.operands = {a, b, other};
  }

  ir::Function& fn_;
  std::vector<uint32_t> uses_, sums_;  // by value
};

}  // namespace

void contract(ir::Function& fn) {
  Contraction(fn).run();
}

}  // namespace pumice::shader::passes
