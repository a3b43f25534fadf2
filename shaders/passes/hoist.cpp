#include "shaders/passes/hoist.h"

#include <vector>

#include "shaders/passes/tree.h"

namespace pumice::shader::passes {

using ir::Construct;
using ir::Inst;
using ir::Op;
using ir::Space;
using ir::Value;

namespace {

class Hoist {
 public:
  explicit Hoist(ir::Function& fn) : fn_(fn), loopOf_(fn.valueCount()) {}

  void run() { region(fn_.body->body, fn_.body); }

 private:
  void region(ir::Region& r, Construct* owner) {
    std::vector<ir::Node*> out;
    out.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        auto& c = *static_cast<Construct*>(node);
        region(c.body, &c);  // inner loops first: what leaves them may leave this one as well
        region(c.otherwise, &c);
        if (c.shape == Construct::Shape::kLoop) hoistFrom(c, out);
      }
      out.push_back(node);
    }
    r.nodes.swap(out);
    reparent(r, owner);
  }

  struct Writes {
    bool buffers = false, shared = false, local = false;
  };

  void hoistFrom(Construct& loop, std::vector<ir::Node*>& out) {
    ++stamp_;
    Writes writes;
    for (const Value* p : loop.params) loopOf_[p->id] = stamp_;
    forEachInst(loop, [&](Inst& i) {
      if (i.result) loopOf_[i.result->id] = stamp_;
      if (i.op == Op::MemoryBarrier || i.op == Op::ControlBarrier || ir::isAtomicOp(i.op) || i.mem.isVolatile)
        writes.buffers = writes.shared = true;
      if (i.op == Op::Store) {
        writes.buffers |= i.mem.space == Space::kBuffer || i.mem.space == Space::kGlobal;
        writes.shared |= i.mem.space == Space::kShared;
        writes.local |= i.mem.space == Space::kLocal;
      }
    });
    forEachConstruct(loop.body, [&](Construct& c) {
      for (const Value* v : c.params) loopOf_[v->id] = stamp_;
      for (const Value* v : c.results) loopOf_[v->id] = stamp_;
    });
    bool straight = true;  // still in the part that runs in every iteration
    take(loop.body, writes, straight, out);
  }

  void take(ir::Region& r, const Writes& writes, bool& straight, std::vector<ir::Node*>& out) {
    std::vector<ir::Node*> kept;
    kept.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        auto& c = *static_cast<Construct*>(node);
        straight = false;
        kept.push_back(node);
        take(c.body, writes, straight, out);
        take(c.otherwise, writes, straight, out);
        continue;
      }
      auto& i = *static_cast<Inst*>(node);
      if (!mayMove(i, writes, straight)) {
        kept.push_back(node);
        continue;
      }
      out.push_back(node);
      loopOf_[i.result->id] = 0;
    }
    r.nodes.swap(kept);
  }

  bool mayMove(const Inst& i, const Writes& writes, bool straight) const {
    if (!i.result) return false;
    for (const Value* v : i.operands)
      if (v->def != Value::Def::kConstant && loopOf_[v->id] == stamp_) return false;
    if (i.op == Op::Load) {
      if (i.mem.isVolatile) return false;
      // An address may be bad where the program would not have read it.
      if (i.mem.space == Space::kGlobal && !straight) return false;
      if (i.mem.readOnly) return true;
      switch (i.mem.space) {
        case Space::kBuffer:
        case Space::kGlobal:
          return !writes.buffers;
        case Space::kShared:
          return !writes.shared;
        case Space::kLocal:
          return !writes.local;
        case Space::kPush:
          return true;
      }
    }
    return isPure(i);
  }

  ir::Function& fn_;
  std::vector<uint32_t> loopOf_;  // by value: stamp of the loop that it was last seen in
  uint32_t stamp_ = 0;
};

}  // namespace

void hoistInvariants(ir::Function& fn) {
  Hoist(fn).run();
}

}  // namespace pumice::shader::passes
