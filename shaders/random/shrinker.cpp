#include "shaders/random/shrinker.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "shaders/ir/clone.h"
#include "shaders/ir/semantics.h"
#include "shaders/ir/verifier.h"

namespace pumice::shader::random {

using namespace ir;

namespace {

// The nodes of a function in a fixed order, so that an edit can name its place by numbers in any copy.
struct Outline {
  struct Place {
    Construct* construct;
    Region* region;
  };
  std::vector<Place> regions;
  std::vector<Construct*> constructs;
  std::vector<Inst*> insts;

  explicit Outline(Function& fn) { add(fn.body); }
  void add(Construct* c) {
    constructs.push_back(c);
    add(c, &c->body);
    if (c->shape == Construct::Shape::kIf) add(c, &c->otherwise);
  }
  void add(Construct* c, Region* r) {
    regions.push_back({c, r});
    for (Node* n : r->nodes) {
      if (n->tag == Node::Tag::kConstruct) {
        add(static_cast<Construct*>(n));
      } else {
        insts.push_back(static_cast<Inst*>(n));
      }
    }
  }
};

using Replacements = std::unordered_map<const Value*, Value*>;

void replaceUses(Function& fn, const Replacements& by) {
  const auto fix = [&](Value*& v) {
    for (auto it = by.find(v); it != by.end(); it = by.find(v)) v = it->second;
  };
  const Outline outline(fn);
  for (Construct* c : outline.constructs) {
    if (c->condition != nullptr) fix(c->condition);
    for (Value*& v : c->initial) fix(v);
  }
  for (Inst* i : outline.insts) {
    for (Value*& v : i->operands) fix(v);
  }
}

std::vector<bool> usedValues(Function& fn) {
  std::vector<bool> used(fn.valueCount());
  const Outline outline(fn);
  for (const Construct* c : outline.constructs) {
    if (c->condition != nullptr) used[c->condition->id] = true;
    for (const Value* v : c->initial) used[v->id] = true;
  }
  for (const Inst* i : outline.insts) {
    for (const Value* v : i->operands) used[v->id] = true;
  }
  return used;
}

// Zero of any type but references; tuples get an instruction, inserted at `at`.
Value* makeZero(Function& fn, Type type, Region& region, size_t& at) {
  if (type.kind == Kind::kBufferRef) return nullptr;
  if (type.components == 1) return fn.zero(type);
  Inst* i = fn.newInst(Op::Construct, type);
  i->operands.assign(type.components, fn.zero(type.scalar()));
  region.nodes.insert(region.nodes.begin() + static_cast<std::ptrdiff_t>(at++), i);
  return i->result;
}

size_t indexOf(const Region& r, const Node* n) {
  return static_cast<size_t>(std::find(r.nodes.begin(), r.nodes.end(), n) - r.nodes.begin());
}

// -- edits: each returns false if it does not apply

bool removeNodes(Function& fn, size_t regionIndex, size_t from, size_t count) {
  Outline outline(fn);
  Region& r = *outline.regions[regionIndex].region;
  if (r.nodes.empty()) return false;
  const size_t end = std::min(from + count, r.nodes.size() - 1);  // the terminator stays
  if (from >= end) return false;
  std::vector<Node*> removed(r.nodes.begin() + static_cast<std::ptrdiff_t>(from),
                             r.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  r.nodes.erase(r.nodes.begin() + static_cast<std::ptrdiff_t>(from),
                r.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  Replacements by;
  size_t at = from;
  const std::vector<bool> used = usedValues(fn);
  const auto drop = [&](Value* v) {
    if (!used[v->id]) return;
    Value* zero = makeZero(fn, v->type, r, at);
    if (zero != nullptr) by[v] = zero;
  };
  for (Node* n : removed) {
    if (n->tag == Node::Tag::kInst) {
      if (static_cast<Inst*>(n)->result != nullptr) drop(static_cast<Inst*>(n)->result);
    } else {
      for (Value* v : static_cast<Construct*>(n)->results) drop(v);
    }
  }
  replaceUses(fn, by);
  return true;
}

// An If becomes a Block with one of its sides.
bool keepOneSide(Function& fn, size_t constructIndex, bool keepThen) {
  Outline outline(fn);
  Construct* c = outline.constructs[constructIndex];
  if (c->shape != Construct::Shape::kIf) return false;
  c->shape = Construct::Shape::kBlock;
  c->condition = nullptr;
  if (!keepThen) c->body = c->otherwise;
  c->otherwise = {};
  return true;
}

// A Loop becomes a Block that its body leaves where it would have gone on.
bool runOnce(Function& fn, size_t constructIndex) {
  Outline outline(fn);
  Construct* c = outline.constructs[constructIndex];
  if (c->shape != Construct::Shape::kLoop) return false;
  Replacements by;
  for (size_t i = 0; i < c->params.size(); i++) by[c->params[i]] = c->initial[i];
  c->shape = Construct::Shape::kBlock;
  c->params.clear();
  c->initial.clear();
  for (Inst* i : outline.insts) {
    if (i->op == Op::Br && i->target == c) i->operands.clear();
  }
  replaceUses(fn, by);
  return true;
}

// A Block that is left only by its own end dissolves into the region around it: if that end is a branch to it, what
// stands behind it follows; if not, nothing does.
bool dissolve(Function& fn, size_t constructIndex) {
  Outline outline(fn);
  Construct* c = outline.constructs[constructIndex];
  if (c->shape != Construct::Shape::kBlock || c->parent == nullptr || c->body.nodes.empty()) return false;
  auto* last = static_cast<Inst*>(c->body.nodes.back());
  const bool goesOn = last->op == Op::Br && last->target == c;
  for (const Inst* i : outline.insts) {
    if (i->target == c && !(goesOn && i == last)) return false;
    for (const SwitchCase& s : i->cases) {
      if (s.target == c) return false;
    }
  }
  Replacements by;
  for (size_t i = 0; i < c->results.size() && goesOn; i++) by[c->results[i]] = last->operands[i];
  for (const Outline::Place& p : outline.regions) {
    const size_t at = indexOf(*p.region, c);
    if (at == p.region->nodes.size()) continue;
    std::vector<Node*> inside(c->body.nodes.begin(), c->body.nodes.end() - (goesOn ? 1 : 0));
    for (Node* n : inside) {
      if (n->tag == Node::Tag::kConstruct) static_cast<Construct*>(n)->parent = p.construct;
    }
    auto& nodes = p.region->nodes;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at),
                goesOn ? nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1 : nodes.end());
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), inside.begin(), inside.end());
    break;
  }
  replaceUses(fn, by);
  return true;
}

// Everything behind a node of a region goes, and the region ends in a branch to its own construct (a Loop: nowhere).
bool cutShort(Function& fn, size_t regionIndex, size_t from) {
  Outline outline(fn);
  const Outline::Place p = outline.regions[regionIndex];
  if (from >= p.region->nodes.size()) return false;
  if (from + 1 == p.region->nodes.size()) {
    const auto* last = static_cast<const Inst*>(p.region->nodes.back());
    if (last->op == Op::Unreachable || (last->op == Op::Br && last->target == p.construct)) return false;
  }
  p.region->nodes.resize(from);
  if (p.construct->shape == Construct::Shape::kLoop) {
    p.region->nodes.push_back(fn.newInst(Op::Unreachable, kVoid));
    return true;
  }
  std::vector<Value*> zeros;
  size_t at = from;
  for (const Value* r : p.construct->results) {
    Value* zero = makeZero(fn, r->type, *p.region, at);
    if (zero == nullptr) return false;
    zeros.push_back(zero);
  }
  Inst* br = fn.newInst(Op::Br, kVoid);
  br->target = p.construct;
  br->operands = zeros;
  p.region->nodes.push_back(br);
  return true;
}

bool dropResult(Function& fn, size_t constructIndex, size_t which) {
  Outline outline(fn);
  Construct* c = outline.constructs[constructIndex];
  const bool isLoop = c->shape == Construct::Shape::kLoop;
  auto& values = isLoop ? c->params : c->results;
  if (which >= values.size()) return false;
  Value* gone = values[which];
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(which));
  for (size_t i = which; i < values.size(); i++) values[i]->index = static_cast<uint32_t>(i);
  Replacements by;
  if (isLoop) {
    by[gone] = c->initial[which];
    c->initial.erase(c->initial.begin() + static_cast<std::ptrdiff_t>(which));
  } else if (gone->type.components == 1 && gone->type.kind != Kind::kBufferRef) {
    by[gone] = fn.zero(gone->type);
  }
  for (Inst* i : outline.insts) {
    if (i->op == Op::Br && i->target == c) i->operands.erase(i->operands.begin() + static_cast<std::ptrdiff_t>(which));
  }
  replaceUses(fn, by);
  return true;
}

// Operand `which` of an instruction becomes something simpler.
bool simplifyOperand(Function& fn, size_t instIndex, size_t which, uint32_t how) {
  Outline outline(fn);
  Inst* inst = outline.insts[instIndex];
  if (which >= inst->operands.size()) return false;
  Value*& v = inst->operands[which];
  const Type t = v->type;
  if (how >= 3) {  // an operand of what computes it
    if (v->def != Value::Def::kInst || how - 3 >= v->inst->operands.size()) return false;
    Value* inner = v->inst->operands[how - 3];
    if (v->inst->op == Op::Extract && inner->def == Value::Def::kInst && inner->inst->op == Op::Construct) {
      inner = inner->inst->operands[v->inst->imm];
    }
    if (inner->type != t) return false;
    v = inner;
    return true;
  }
  if (t.components != 1 || t.kind == Kind::kBufferRef) return false;
  const uint64_t one = t.isFloat() ? fromDouble(t.kind, 1.0) : 1;
  Value* simple = fn.zero(t);
  if (how == 1) simple = fn.constant(t, one);
  if (how == 2) {
    if (v->def != Value::Def::kConstant || v->bits < 4 || !t.isInt()) return false;
    simple = fn.constant(t, v->bits / 2);
  }
  if (v == simple || (v->def == Value::Def::kConstant && how == 1 && v->bits == 0)) return false;
  v = simple;
  return true;
}

bool fixCondition(Function& fn, size_t constructIndex, size_t operand) {
  Outline outline(fn);
  Construct* c = outline.constructs[constructIndex];
  if (c->condition == nullptr || c->condition->def != Value::Def::kInst) return false;
  const auto& operands = c->condition->inst->operands;
  if (operand >= operands.size() || operands[operand]->type != kBool) return false;
  c->condition = operands[operand];
  return true;
}

bool plainMemory(Function& fn, size_t instIndex) {
  Outline outline(fn);
  Inst* inst = outline.insts[instIndex];
  if (!isMemoryOp(inst->op)) return false;
  if (!inst->mem.isVolatile && !inst->mem.nonTemporalHint && !inst->mem.readOnly) return false;
  inst->mem.isVolatile = inst->mem.nonTemporalHint = inst->mem.readOnly = false;
  return true;
}

class Shrinker {
 public:
  Shrinker(const Program& program, const std::function<bool(const Program&)>& stillFails, const ShrinkLimits& limits)
      : best_(copyProgram(program)), stillFails_(stillFails), limits_(limits) {}

  Program run() {
    for (int round = 0; round < 40 && !isOver(); round++) {
      const uint32_t before = attemptsThatHelped_;
      dispatch();
      nodes();
      constructs();
      if (attemptsThatHelped_ == before) operands();
      if (attemptsThatHelped_ == before) break;
    }
    return std::move(best_);
  }

 private:
  bool isOver() const {
    const std::chrono::duration<double> d = std::chrono::steady_clock::now() - start_;
    return attempts_ >= limits_.maxAttempts || d.count() > limits_.maxSeconds;
  }

  // Keeps the changed copy if it is well formed and still fails.
  template <typename Edit>
  bool attempt(Edit&& edit) {
    if (isOver()) return false;
    Program candidate = copyProgram(best_);
    if (!edit(candidate) || !verify(*candidate.fn).empty()) return false;
    attempts_++;
    if (!stillFails_(candidate)) return false;
    best_ = copyProgram(candidate);  // a copy without the nodes that are gone
    attemptsThatHelped_++;
    return true;
  }
  template <typename Edit>
  bool attemptOnFunction(Edit&& edit) {
    return attempt([&](Program& p) { return edit(*p.fn); });
  }

  void dispatch() {
    attempt([](Program& p) {
      if (p.groupEnd - p.groupBegin == 1) return false;
      p.groupEnd = p.groupBegin + 1;
      return true;
    });
    attempt([](Program& p) {
      if (p.groupBegin == 0) return false;
      p.groupEnd -= p.groupBegin;
      p.groupBegin = 0;
      return true;
    });
    for (int c = 0; c < 3; c++) {
      while (attempt([&](Program& p) {
        p.fn->localSize[c] /= 2;
        return p.fn->localSize[c] != 0;
      })) {
      }
      attempt([&](Program& p) { return --p.fn->localSize[c] != 0; });
    }
    for (size_t i = best_.fn->locals.size(); i-- > 0;) {
      attempt([&](Program& p) {
        p.fn->locals.resize(i);
        return true;
      });
    }
  }

  void nodes() {
    for (size_t r = 0; r < Outline(*best_.fn).regions.size(); r++) {
      // From the end, as later nodes use earlier ones; in large pieces first.
      for (size_t piece = 32; piece > 0 && !isOver(); piece /= 2) {
        size_t size = regionSize(r);
        for (size_t from = size; from > 0;) {
          from -= std::min(piece, from);
          attemptOnFunction([&](Function& f) { return removeNodes(f, r, from, piece); });
          if (r >= Outline(*best_.fn).regions.size()) return;
          from = std::min(from, regionSize(r));
        }
      }
    }
  }

  size_t regionSize(size_t r) { return Outline(*best_.fn).regions[r].region->nodes.size(); }

  void constructs() {
    for (size_t c = Outline(*best_.fn).constructs.size(); c-- > 1 && !isOver();) {
      const auto exists = [&] { return c < Outline(*best_.fn).constructs.size(); };
      for (const bool keepThen : {true, false}) {
        if (exists()) attemptOnFunction([&](Function& f) { return keepOneSide(f, c, keepThen); });
      }
      if (exists()) attemptOnFunction([&](Function& f) { return runOnce(f, c); });
      for (size_t i = 4; i-- > 0;) {
        if (exists()) attemptOnFunction([&](Function& f) { return dropResult(f, c, i); });
        if (exists()) attemptOnFunction([&](Function& f) { return fixCondition(f, c, i); });
      }
      if (exists()) attemptOnFunction([&](Function& f) { return dissolve(f, c); });
    }
    for (size_t r = Outline(*best_.fn).regions.size(); r-- > 0 && !isOver();) {
      const auto exists = [&] { return r < Outline(*best_.fn).regions.size(); };
      if (exists()) attemptOnFunction([&](Function& f) { return cutShort(f, r, regionSize(r) - 1); });
    }
  }

  void operands() {
    for (size_t i = Outline(*best_.fn).insts.size(); i-- > 0 && !isOver();) {
      for (size_t o = 0; o < Outline(*best_.fn).insts[i]->operands.size(); o++) {
        for (uint32_t how = 0; how < 6; how++) {
          if (attemptOnFunction([&](Function& f) { return simplifyOperand(f, i, o, how); }) && how < 2) break;
        }
      }
      attemptOnFunction([&](Function& f) { return plainMemory(f, i); });
    }
  }

  Program best_;
  const std::function<bool(const Program&)>& stillFails_;
  ShrinkLimits limits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint32_t attempts_ = 0, attemptsThatHelped_ = 0;
};

}  // namespace

Program copyProgram(const Program& p) {
  Program copy;
  copy.seed = p.seed;
  copy.fn = clone(*p.fn);
  copy.slots = p.slots;
  copy.buffers = p.buffers;
  for (int i = 0; i < 3; i++) {
    copy.groupCount[i] = p.groupCount[i];
    copy.groupBase[i] = p.groupBase[i];
  }
  copy.contractable = p.contractable;
  copy.groupBegin = p.groupBegin;
  copy.groupEnd = p.groupEnd;
  return copy;
}

uint32_t nodeCount(const Function& fn) {
  Outline outline(const_cast<Function&>(fn));  // only read
  return static_cast<uint32_t>(outline.constructs.size() + outline.insts.size());
}

Program shrink(const Program& program, const std::function<bool(const Program&)>& stillFails,
               const ShrinkLimits& limits) {
  return Shrinker(program, stillFails, limits).run();
}

}  // namespace pumice::shader::random
