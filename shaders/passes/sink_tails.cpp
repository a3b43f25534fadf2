#include "shaders/passes/sink_tails.h"

#include <algorithm>

namespace pumice::shader::passes {

using namespace ir;

namespace {

template <typename Test>
bool anyInst(const Region& r, Test&& test) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [&](const Node* n) {
    if (n->tag == Node::Tag::kInst) return test(static_cast<const Inst*>(n));
    const auto* c = static_cast<const Construct*>(n);
    return anyInst(c->body, test) || anyInst(c->otherwise, test);
  });
}

bool branchesTo(const Region& r, const Construct* c) {
  return anyInst(r, [c](const Inst* i) {
    return (i->op == Op::Br && i->target == c) ||
           std::any_of(i->cases.begin(), i->cases.end(), [c](const SwitchCase& s) { return s.target == c; });
  });
}

// Nothing but the way behind the If.
bool fallsThrough(const Region& r, const Construct* c) {
  if (r.nodes.size() != 1 || r.nodes[0]->tag != Node::Tag::kInst) return false;
  const auto* i = static_cast<const Inst*>(r.nodes[0]);
  return i->op == Op::Br && i->target == c;
}

class Sinker {
 public:
  explicit Sinker(Function& fn) : fn_(fn) {}

  void region(Region& r) {
    for (size_t n = 0; n < r.nodes.size(); ++n) {
      if (r.nodes[n]->tag != Node::Tag::kConstruct) continue;
      auto* c = static_cast<Construct*>(r.nodes[n]);
      if (c->shape == Construct::Shape::kIf && n + 1 < r.nodes.size()) sink(r, n, c);
      region(c->body);
      region(c->otherwise);
    }
  }
  bool changed() const { return changed_; }

 private:
  void sink(Region& r, size_t at, Construct* c) {
    if (!c->results.empty()) return;
    Region* side = nullptr;
    if (fallsThrough(c->otherwise, c) && !branchesTo(c->body, c)) side = &c->otherwise;
    if (fallsThrough(c->body, c) && !branchesTo(c->otherwise, c)) side = &c->body;
    if (!side) return;
    Region rest;
    rest.nodes.assign(r.nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1, r.nodes.end());
    const bool trivial = rest.nodes.size() == 1;
    const auto isBarrier = [](const Inst* i) { return i->op == Op::ControlBarrier && i->imm == 0; };
    if (trivial || anyInst(rest, isBarrier)) return;
    for (Node* n : rest.nodes)
      if (n->tag == Node::Tag::kConstruct) static_cast<Construct*>(n)->parent = c;
    side->nodes = std::move(rest.nodes);
    r.nodes.resize(at + 1);
    r.nodes.push_back(fn_.newInst(Op::Unreachable, kVoid));
    changed_ = true;
  }

  Function& fn_;
  bool changed_ = false;
};

}  // namespace

bool sinkTails(Function& fn) {
  Sinker sinker(fn);
  sinker.region(fn.body->body);
  return sinker.changed();
}

}  // namespace pumice::shader::passes
