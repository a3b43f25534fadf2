#include "shaders/passes/unroll.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "shaders/ir/semantics.h"
#include "shaders/passes/tree.h"

namespace pumice::shader::passes {

using ir::Construct;
using ir::Inst;
using ir::Op;
using ir::Space;
using ir::Value;

namespace {

constexpr uint32_t kMaxTrips = 1024;

bool contains(const ir::Region& r, const Inst* branch) {
  bool found = false;
  forEachInst(r, [&](Inst& i) { found |= &i == branch; });
  return found;
}

// Finds how often a loop iterates by running its counters and its exit test on constants.
class TripCount {
 public:
  TripCount(const Construct& loop, const std::vector<Inst*>& back) : loop_(loop), back_(back) {}

  // Number of times that the loop branches back, if it is a constant below the limit.
  std::optional<uint32_t> count() {
    if (!findTest()) return {};
    for (size_t k = 0; k < loop_.params.size(); ++k)
      if (loop_.initial[k]->def == Value::Def::kConstant) known_[loop_.params[k]] = loop_.initial[k]->bits;
    for (uint32_t trips = 0; trips < kMaxTrips; ++trips) {
      memo_ = known_;
      const auto c = value(test_->condition, 0);
      if (!c) return {};
      if ((*c != 0) != continuesOnTrue_) return trips;
      // The counters of the next iteration: those that all ways back agree on.
      std::unordered_map<const Value*, uint64_t> next;
      for (size_t k = 0; k < loop_.params.size(); ++k) {
        if (!known_.count(loop_.params[k])) continue;
        const auto first = value(back_[0]->operands[k], 0);
        bool agree = first.has_value();
        for (const Inst* b : back_) agree = agree && value(b->operands[k], 0) == first;
        if (agree) next[loop_.params[k]] = *first;
      }
      if (next.empty()) return {};
      known_ = std::move(next);
    }
    return {};
  }

 private:
  // The If that stands directly in the body and decides between going on and leaving.
  bool findTest() {
    if (back_.empty()) return false;
    for (ir::Node* node : loop_.body.nodes) {
      if (node->tag != ir::Node::Tag::kConstruct) continue;
      const auto& c = *static_cast<const Construct*>(node);
      if (c.shape != Construct::Shape::kIf) continue;
      size_t yes = 0, no = 0;
      for (const Inst* b : back_) {
        yes += contains(c.body, b);
        no += contains(c.otherwise, b);
      }
      // The side that does not go back must not come out behind the If either.
      const ir::Region& leaving = yes ? c.otherwise : c.body;
      bool comesBack = yes + no != back_.size() || (yes && no);
      forEachInst(leaving, [&](const Inst& i) { comesBack |= i.op == Op::Br && i.target == &c; });
      if (comesBack) continue;
      test_ = &c;
      continuesOnTrue_ = yes != 0;
      return true;
    }
    return false;
  }

  std::optional<uint64_t> value(const Value* v, uint32_t depth) {
    if (v->def == Value::Def::kConstant) return v->bits;
    if (auto it = memo_.find(v); it != memo_.end()) return it->second;
    if (v->def != Value::Def::kInst || depth > 32 || v->type.components != 1) return {};
    const Inst& i = *v->inst;
    if (i.operands.empty() || i.operands.size() > 3 || ir::isMemoryOp(i.op) || ir::isSubgroupOp(i.op)) return {};
    uint64_t bits[3];
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k]->type.components != 1) return {};
      const auto o = value(i.operands[k], depth + 1);
      if (!o) return {};
      bits[k] = *o;
    }
    const Value* typed = i.operands[i.op == Op::Select ? 1 : 0];
    const auto r = ir::evaluate(i.op, typed->type.kind, v->type.kind, std::span(bits, i.operands.size()));
    if (r) memo_[v] = *r;
    return r;
  }

  const Construct& loop_;
  const std::vector<Inst*>& back_;
  const Construct* test_ = nullptr;
  bool continuesOnTrue_ = false;
  std::unordered_map<const Value*, uint64_t> known_, memo_;
};

// Copies a loop's body, with the parameters replaced.
class BodyCopy {
 public:
  BodyCopy(ir::Function& fn, const Construct& loop, Construct* block, const std::vector<Value*>& params, bool isLast)
      : fn_(fn), loop_(loop), block_(block), isLast_(isLast) {
    for (size_t k = 0; k < params.size(); ++k) values_[loop.params[k]] = params[k];
  }

  void run() { region(loop_.body, block_->body, block_); }

 private:
  Value* mapped(Value* v) const {
    auto it = values_.find(v);
    return it == values_.end() ? v : it->second;
  }

  Construct* mappedTarget(Construct* c) const {
    auto it = constructs_.find(c);
    return it == constructs_.end() ? c : it->second;
  }

  void region(const ir::Region& from, ir::Region& to, Construct* owner) {
    to.nodes.reserve(from.nodes.size());
    for (ir::Node* node : from.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct)
        construct(*static_cast<Construct*>(node), to, owner);
      else
        instruction(*static_cast<Inst*>(node), to);
    }
  }

  void construct(Construct& c, ir::Region& to, Construct* owner) {
    Construct* n = fn_.newConstruct(c.shape, owner);
    n->unroll = c.unroll, n->dontUnroll = c.dontUnroll, n->flatten = c.flatten, n->dontFlatten = c.dontFlatten;
    if (c.condition) n->condition = mapped(c.condition);
    for (size_t k = 0; k < c.params.size(); ++k) values_[c.params[k]] = fn_.addParam(n, mapped(c.initial[k]));
    constructs_[&c] = n;
    to.nodes.push_back(n);
    region(c.body, n->body, n);
    region(c.otherwise, n->otherwise, n);
    for (Value* r : c.results) values_[r] = fn_.addResult(n, r->type);
  }

  void instruction(Inst& i, ir::Region& to) {
    if (i.op == Op::Br && i.target == &loop_ && isLast_) {  // the test says that it never gets here
      to.nodes.push_back(fn_.newInst(Op::Unreachable, ir::kVoid));
      return;
    }
    Inst* n = fn_.newInst(i.op, i.result ? i.result->type : ir::kVoid);
    Value* result = n->result;
    *n = i;
    n->result = result;
    for (Value*& v : n->operands) v = mapped(v);
    if (i.result) values_[i.result] = result;
    if (n->target) n->target = i.target == &loop_ ? block_ : mappedTarget(i.target);
    for (ir::SwitchCase& s : n->cases) s.target = mappedTarget(s.target);
    to.nodes.push_back(n);
  }

  ir::Function& fn_;
  const Construct& loop_;
  Construct* block_;
  bool isLast_;
  std::unordered_map<const Value*, Value*> values_;
  std::unordered_map<const Construct*, Construct*> constructs_;
};

class Unroller {
 public:
  Unroller(ir::Function& fn, const UnrollLimits& limits) : fn_(fn), limits_(limits) {}

  bool run() {
    region(fn_.body->body, fn_.body);
    return changed_;
  }

 private:
  void region(ir::Region& r, Construct* owner) {
    std::vector<ir::Node*> out;
    out.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        auto& c = *static_cast<Construct*>(node);
        region(c.body, &c);
        region(c.otherwise, &c);
        if (c.shape == Construct::Shape::kLoop && unroll(c, owner, out)) continue;
      }
      out.push_back(node);
    }
    r.nodes.swap(out);
  }

  bool unroll(Construct& loop, Construct* owner, std::vector<ir::Node*>& out) {
    if (loop.dontUnroll) return false;
    std::vector<Inst*> back;
    uint32_t size = 0;
    bool hasBarrier = false;
    forEachInst(loop.body, [&](Inst& i) {
      ++size;
      hasBarrier |= i.op == Op::ControlBarrier && i.imm == 0;
      if (i.op == Op::Br && i.target == &loop) back.push_back(&i);
    });
    if (size > limits_.wanted) return false;
    const auto trips = TripCount(loop, back).count();
    if (!trips) return false;
    const bool wanted = loop.unroll || indexesLocals(loop);
    // Each copy would become loops over the workgroup of its own: much code, little gain.
    if (hasBarrier && !wanted) return false;
    const uint64_t grown = uint64_t{size} * (*trips + 1);
    if (grown > (wanted ? limits_.wanted : limits_.plain) || copied_ + grown > limits_.total) return false;
    copied_ += grown;
    std::vector<Value*> params = loop.initial;
    for (uint32_t k = 0; k <= *trips; ++k) {
      Construct* block = fn_.newConstruct(Construct::Shape::kBlock, owner);
      const bool isLast = k == *trips;
      BodyCopy(fn_, loop, block, params, isLast).run();
      out.push_back(block);
      if (isLast) break;
      params.clear();
      for (const Value* p : loop.params) params.push_back(fn_.addResult(block, p->type));
    }
    changed_ = true;
    return true;
  }

  // Whether an access to a private array depends on something that changes from iteration to iteration.
  static bool indexesLocals(const Construct& loop) {
    std::unordered_map<const Value*, bool> depends;
    for (const Value* p : loop.params) depends[p] = true;
    bool found = false;
    forEachInst(loop.body, [&](Inst& i) {
      bool any = false;
      for (const Value* v : i.operands) {
        auto it = depends.find(v);
        any |= it != depends.end() && it->second;
      }
      if ((i.op == Op::Load || i.op == Op::Store) && i.mem.space == Space::kLocal) {
        auto it = depends.find(i.operands[0]);
        found |= it != depends.end() && it->second;
      }
      if (any && i.result) depends[i.result] = true;
    });
    return found;
  }

  ir::Function& fn_;
  const UnrollLimits limits_;
  uint64_t copied_ = 0;  // instructions so far
  bool changed_ = false;
};

}  // namespace

bool unrollLoops(ir::Function& fn, const UnrollLimits& limits) {
  return Unroller(fn, limits).run();
}

}  // namespace pumice::shader::passes
