#include "shaders/passes/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "shaders/passes/algebra.h"
#include "shaders/passes/tree.h"

namespace pumice::shader::passes {
namespace {

using ir::Construct;
using ir::Inst;
using ir::Op;
using ir::Space;
using ir::Value;

constexpr size_t kMaxFlattened = 6;  // instructions of both sides of an If that becomes straight code

// One walk over the tree in execution order. Replaced values are resolved when an operand is read; a value's number in
// walk order tells whether it was there before a construct was entered.
class Simplifier {
 public:
  explicit Simplifier(ir::Function& fn) : fn_(fn), exits_(fn.constructCount()), tables_(fn.constructCount()) {}

  void run() {
    region(fn_.body->body, fn_.body);
    replaced_.apply(fn_);
  }

 private:
  struct Key {
    std::vector<uint64_t> words;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      uint64_t h = 0x9e37'79b9'7f4a'7c15ull;
      for (uint64_t w : k.words) h = (h ^ w) * 0xff51'afd7'ed55'8ccdull, h ^= h >> 32;
      return static_cast<size_t>(h);
    }
  };

  void define(const Value* v) {
    if (order_.size() <= v->id) order_.resize(std::max<size_t>(v->id + 1, order_.size() * 2));
    order_[v->id] = ++clock_;
  }
  bool isOlder(const Value* v, uint32_t mark) const {
    return v->def == Value::Def::kConstant || (v->id < order_.size() && order_[v->id] && order_[v->id] <= mark);
  }

  // -- memory: a load may be merged with an earlier one of the same epoch
  struct Effects {
    bool buffers = false, shared = false, local = false;
  };
  static Effects effectsOf(const Inst& i) {
    Effects e;
    if (i.op == Op::MemoryBarrier || i.op == Op::ControlBarrier) return {true, true, false};
    if (!ir::isMemoryOp(i.op)) return e;
    if (i.op == Op::Load) {
      // What a volatile access sees of others, later plain loads must see as well.
      if (i.mem.isVolatile) return {true, true, false};
      return e;
    }
    if (i.op != Op::Store || i.mem.isVolatile) return {true, true, i.mem.space == Space::kLocal};
    e.buffers = i.mem.space == Space::kBuffer || i.mem.space == Space::kGlobal;
    e.shared = i.mem.space == Space::kShared;
    e.local = i.mem.space == Space::kLocal;
    return e;
  }
  void touch(const Effects& e) {
    if (e.buffers) bufferEpoch_ = ++epochs_;
    if (e.shared) sharedEpoch_ = ++epochs_;
    if (e.local) localEpoch_ = ++epochs_;
  }
  const Effects& effectsOf(const Construct& c) {
    auto [it, isNew] = constructEffects_.try_emplace(&c);
    if (isNew) {
      Effects all;
      forEachInst(c, [&](const Inst& i) {
        const Effects e = effectsOf(i);
        all.buffers |= e.buffers;
        all.shared |= e.shared;
        all.local |= e.local;
      });
      constructEffects_[&c] = all;
    }
    return constructEffects_[&c];
  }

  // -- common subexpressions
  bool keyOf(const Inst& i, Key& key) const {
    uint64_t epoch = 0;
    if (i.op == Op::Load) {
      if (i.mem.isVolatile) return false;
      if (!i.mem.readOnly)
        epoch = i.mem.space == Space::kShared  ? sharedEpoch_
                : i.mem.space == Space::kLocal ? localEpoch_
                                               : bufferEpoch_;
    } else if (!isPure(i)) {
      return false;
    }
    auto& w = key.words;
    w.push_back(static_cast<uint64_t>(i.op) | static_cast<uint64_t>(i.result->type.kind) << 16 |
                uint64_t{i.result->type.components} << 24 | uint64_t{i.imm} << 32);
    for (const Value* v : i.operands) w.push_back(v->id);
    if (i.op == Op::BufferDescriptor || i.op == Op::DescriptorAddress) w.push_back(uint64_t{i.set} << 32 | i.binding);
    if (i.op == Op::ImageRead || i.op == Op::VertexField) w.push_back(i.imm2);
    if (i.op == Op::Load) {
      w.push_back(static_cast<uint64_t>(i.mem.space) | uint64_t{i.mem.local} << 8);
      w.push_back(uint64_t{i.mem.scale_B} << 32 | i.mem.offset_B);
      w.push_back(epoch);
    }
    // A value that may not be contracted must not lend its name to one that may, nor the other way round.
    if (i.noContract) w.push_back(~0ull);
    return true;
  }

  // Forgets what was learnt since the log had this size: it is not visible any more.
  void forget(size_t mark) {
    while (log_.size() > mark) {
      known_.erase(log_.back());
      log_.pop_back();
    }
  }

  // -- the walk
  void region(ir::Region& r, Construct* owner) {
    const size_t mark = log_.size();
    openRegion(r, owner);
    forget(mark);
  }
  void openRegion(ir::Region& r, Construct* owner) {
    std::vector<ir::Node*> nodes;
    nodes.swap(r.nodes);
    r.nodes.reserve(nodes.size());
    walk(nodes, r.nodes, owner);
  }

  // Appends what is left of `nodes` to `out`. Returns false if control does not come to their end (always so for whole
  // regions, whose last node is a terminator).
  bool walk(const std::vector<ir::Node*>& nodes, std::vector<ir::Node*>& out, Construct* owner) {
    for (ir::Node* node : nodes) {
      if (node->tag == ir::Node::Tag::kInst) {
        auto& i = *static_cast<Inst*>(node);
        if (!instruction(i)) continue;
        out.push_back(&i);
        if (i.isTerminator()) return false;
        continue;
      }
      auto& c = *static_cast<Construct*>(node);
      c.parent = owner;
      if (!construct(c, out, owner)) return false;
    }
    return true;
  }

  // Whether the instruction stays.
  bool instruction(Inst& i) {
    for (Value*& v : i.operands) v = replaced_.get(v);
    if (i.op == Op::BrTable) decideTable(i);
    if (i.op == Op::Br) {
      exits_[i.target->id].push_back(&i);
      return true;
    }
    for (const ir::SwitchCase& s : i.cases) ++tables_[s.target->id];
    do {
      if (Value* v = simplerValue(fn_, i)) {
        replaced_.set(i.result, v);
        return false;
      }
    } while (makeCheaper(fn_, i));
    touch(effectsOf(i));
    if (!i.result) return true;
    Key key;
    if (keyOf(i, key)) {
      auto [it, isNew] = known_.try_emplace(key, i.result);
      if (!isNew) {
        replaced_.set(i.result, it->second);
        return false;
      }
      log_.push_back(std::move(key));
    }
    define(i.result);
    return true;
  }

  void decideTable(Inst& i) {
    Construct* only = i.cases.back().target;
    if (i.operands[0]->def == Value::Def::kConstant) {
      for (const ir::SwitchCase& s : i.cases)
        if (&s != &i.cases.back() && s.value == i.operands[0]->bits) {
          only = s.target;
          break;
        }
    } else {
      for (const ir::SwitchCase& s : i.cases)
        if (s.target != only) return;
    }
    i.op = Op::Br;
    i.operands.clear();
    i.cases.clear();
    i.target = only;
  }

  bool construct(Construct& c, std::vector<ir::Node*>& out, Construct* owner) {
    switch (c.shape) {
      case Construct::Shape::kLoop:
        return loop(c, out, owner);
      case Construct::Shape::kIf:
        c.condition = replaced_.get(c.condition);
        if (c.condition->def != Value::Def::kConstant) return choice(c, out);
        if (!c.condition->bits) c.body.nodes.swap(c.otherwise.nodes);
        c.otherwise.nodes.clear();
        c.condition = nullptr;
        c.shape = Construct::Shape::kBlock;
        [[fallthrough]];
      case Construct::Shape::kBlock:
        return block(c, out, owner);
    }
    return true;
  }

  // Puts the nodes of a region that has been walked already where its construct stood.
  static void splice(ir::Region& r, std::vector<ir::Node*>& out, Construct* owner) {
    reparent(r, owner);
    out.insert(out.end(), r.nodes.begin(), r.nodes.end());
    r.nodes.clear();
  }

  bool block(Construct& c, std::vector<ir::Node*>& out, Construct* owner) {
    // What a Block starts with may as well stand in front of it, where more can see it.
    auto& nodes = c.body.nodes;
    size_t lead = 0;
    for (; nodes[lead]->tag == ir::Node::Tag::kInst; ++lead) {
      auto& i = *static_cast<Inst*>(nodes[lead]);
      if (i.isTerminator()) break;
      if (instruction(i)) out.push_back(&i);
    }
    nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(lead));
    const uint32_t mark = clock_;
    const Effects effects = effectsOf(c);
    const size_t known = log_.size();
    openRegion(c.body, &c);
    touch(effects);
    std::vector<Inst*>& exits = exits_[c.id];
    if (tables_[c.id] == 0) {
      if (exits.empty()) {  // left for good: what follows never runs
        forget(known);
        splice(c.body, out, owner);
        return false;
      }
      if (exits.size() == 1 && c.body.nodes.back() == exits[0]) {
        for (size_t k = 0; k < c.results.size(); ++k) replaced_.set(c.results[k], exits[0]->operands[k]);
        c.body.nodes.pop_back();
        splice(c.body, out, owner);
        return true;  // what the body computed stays known
      }
    }
    forget(known);
    settleResults(c, mark);
    out.push_back(&c);
    return true;
  }

  static bool isBareBranch(const ir::Region& r, const Construct& to) {
    if (r.nodes.size() != 1 || r.nodes[0]->tag != ir::Node::Tag::kInst) return false;
    const auto& i = *static_cast<const Inst*>(r.nodes[0]);
    return i.op == Op::Br && i.target == &to;
  }

  bool choice(Construct& c, std::vector<ir::Node*>& out) {
    const uint32_t mark = clock_;
    const Effects effects = effectsOf(c);
    const uint32_t before[] = {bufferEpoch_, sharedEpoch_, localEpoch_};
    region(c.body, &c);
    bufferEpoch_ = before[0], sharedEpoch_ = before[1], localEpoch_ = before[2];
    region(c.otherwise, &c);
    touch(effects);
    const std::vector<Inst*>& exits = exits_[c.id];
    if (exits.empty()) {
      out.push_back(&c);
      out.push_back(fn_.newInst(Op::Unreachable, ir::kVoid));
      return false;
    }
    const bool bare = isBareBranch(c.body, c) && isBareBranch(c.otherwise, c);
    if (bare || isCheapChoice(c)) {
      for (ir::Region* r : {&c.body, &c.otherwise}) {
        r->nodes.pop_back();
        out.insert(out.end(), r->nodes.begin(), r->nodes.end());
        r->nodes.clear();
      }
      for (size_t k = 0; k < c.results.size(); ++k) {
        Value* a = exits[0]->operands[k];
        Value* b = exits[1]->operands[k];
        if (a == b) {
          replaced_.set(c.results[k], a);
          continue;
        }
        Inst* s = fn_.newInst(Op::Select, a->type);
        s->operands = {c.condition, a, b};
        if (!instruction(*s)) {
          replaced_.set(c.results[k], replaced_.get(s->result));
          continue;
        }
        out.push_back(s);
        replaced_.set(c.results[k], s->result);
      }
      return true;
    }
    settleResults(c, mark);
    out.push_back(&c);
    return true;
  }

  // Both sides are so short that computing both is cheaper than deciding which.
  static bool isCheapChoice(const Construct& c) {
    if (c.dontFlatten) return false;
    size_t total = 0;
    for (const ir::Region* r : {&c.body, &c.otherwise}) {
      total += r->nodes.size() - 1;
      if (total > kMaxFlattened) return false;
      for (const ir::Node* node : r->nodes) {
        if (node->tag != ir::Node::Tag::kInst) return false;
        const auto& i = *static_cast<const Inst*>(node);
        if (node == r->nodes.back()) {
          if (i.op != Op::Br || i.target != &c) return false;
        } else if (!isCheap(i)) {
          return false;
        }
      }
    }
    return true;
  }
  static bool isCheap(const Inst& i) {
    if (!isPure(i) || ir::isTranscendental(i.op)) return false;
    switch (i.op) {
      case Op::UDiv:
      case Op::SDiv:
      case Op::URem:
      case Op::SRem:
      case Op::FDiv:
      case Op::FSqrt:
      case Op::BufferDescriptor:
      case Op::DescriptorAddress:
      case Op::ImageRead:
        return false;
      case Op::Load:
        return i.mem.space == Space::kPush;
      default:
        return true;
    }
  }

  // Results that are the same old value on every way out are that value.
  void settleResults(Construct& c, uint32_t mark) {
    const std::vector<Inst*>& exits = exits_[c.id];
    std::vector<bool> keep(c.results.size(), true);
    bool any = false;
    for (size_t k = 0; k < c.results.size(); ++k) {
      Value* v = exits.empty() ? nullptr : replaced_.get(exits[0]->operands[k]);
      for (const Inst* e : exits)
        if (replaced_.get(e->operands[k]) != v) v = nullptr;
      if (v && isOlder(v, mark)) {
        keep[k] = false;
        any = true;
        replaced_.set(c.results[k], v);
      } else {
        define(c.results[k]);
      }
    }
    if (any) removeResults(c, keep, exits);
  }

  bool loop(Construct& c, std::vector<ir::Node*>& out, Construct* owner) {
    for (Value*& v : c.initial) v = replaced_.get(v);
    const Effects effects = effectsOf(c);
    touch(effects);
    for (const Value* p : c.params) define(p);
    region(c.body, &c);
    touch(effects);
    const std::vector<Inst*>& back = exits_[c.id];
    if (back.empty()) {  // runs once
      for (size_t k = 0; k < c.params.size(); ++k) replaced_.set(c.params[k], c.initial[k]);
      splice(c.body, out, owner);
      return false;
    }
    std::vector<bool> keep(c.params.size(), true);
    bool any = false;
    for (size_t k = 0; k < c.params.size(); ++k) {
      bool changes = false;
      for (const Inst* b : back) {
        const Value* v = replaced_.get(b->operands[k]);
        changes |= v != c.params[k] && v != c.initial[k];
      }
      if (changes) continue;
      keep[k] = false;
      any = true;
      replaced_.set(c.params[k], c.initial[k]);
    }
    if (any) removeParams(c, keep, back);
    out.push_back(&c);
    out.push_back(fn_.newInst(Op::Unreachable, ir::kVoid));
    return false;
  }

  ir::Function& fn_;
  std::vector<std::vector<Inst*>> exits_;  // by construct: the Br that reach it
  std::vector<uint32_t> tables_;           // by construct: cases of BrTables
  Replacements replaced_;
  std::vector<uint32_t> order_;  // by value: number in walk order, 0 = not yet
  uint32_t clock_ = 0;
  uint32_t epochs_ = 0, bufferEpoch_ = 0, sharedEpoch_ = 0, localEpoch_ = 0;
  std::unordered_map<const Construct*, Effects> constructEffects_;
  std::unordered_map<Key, Value*, KeyHash> known_;
  std::vector<Key> log_;
};

// Marks from what has an effect, then sweeps. A construct is needed if something in it has an effect, if one of its
// results is used, if a way out of it ends behind another construct that is needed, or if it is a loop.
class DeadCode {
 public:
  explicit DeadCode(ir::Function& fn)
      : fn_(fn), index_(fn), live_(fn.valueCount()), kept_(fn.constructCount()), ways_(fn.constructCount()) {}

  void run() {
    roots(*fn_.body);
    need(fn_.body);
    while (!values_.empty() || !constructs_.empty()) {
      if (!constructs_.empty()) {
        Construct* c = constructs_.back();
        constructs_.pop_back();
        if (c->condition) mark(c->condition);
        if (c->parent) need(c->parent);
        for (const Way& w : ways_[c->id]) {
          need(w.from);
          if (w.table) mark(w.table->operands[0]);
        }
        continue;
      }
      Value* v = values_.back();
      values_.pop_back();
      switch (v->def) {
        case Value::Def::kConstant:
          break;
        case Value::Def::kInst:
          for (Value* o : v->inst->operands) mark(o);
          break;
        case Value::Def::kResult:
          need(v->construct);
          for (Inst* b : index_.to[v->construct->id]) mark(b->operands[v->index]);
          break;
        case Value::Def::kParam:
          mark(v->construct->initial[v->index]);
          for (Inst* b : index_.to[v->construct->id]) mark(b->operands[v->index]);
          break;
      }
    }
    sweep(fn_.body->body);
  }

 private:
  struct Way {  // a branch: where it stands
    Construct* from;
    Inst* table;  // BrTable only
  };

  void mark(Value* v) {
    if (live_[v->id]) return;
    live_[v->id] = true;
    values_.push_back(v);
  }
  void need(Construct* c) {
    if (kept_[c->id]) return;
    kept_[c->id] = true;
    constructs_.push_back(c);
  }

  void roots(Construct& c) {
    if (c.shape == Construct::Shape::kLoop) need(&c);
    for (ir::Region* r : {&c.body, &c.otherwise})
      for (ir::Node* node : r->nodes) {
        if (node->tag == ir::Node::Tag::kConstruct) {
          roots(*static_cast<Construct*>(node));
          continue;
        }
        auto& i = *static_cast<Inst*>(node);
        if (i.op == Op::Br) {
          ways_[i.target->id].push_back({&c, nullptr});
        } else if (i.op == Op::BrTable) {
          for (const ir::SwitchCase& s : i.cases) ways_[s.target->id].push_back({&c, &i});
        } else if (i.op == Op::Unreachable) {
          // Lanes that get here end; behind a construct that nobody leaves for its end, none do.
          if (!behindDeadEnd(*r)) need(&c);
        } else if (ir::hasSideEffect(i.op) || i.mem.isVolatile) {
          need(&c);
          for (Value* v : i.operands) mark(v);
          if (i.result) mark(i.result);
        }
      }
  }

  bool behindDeadEnd(const ir::Region& r) const {
    if (r.nodes.size() < 2 || r.nodes[r.nodes.size() - 2]->tag != ir::Node::Tag::kConstruct) return false;
    const auto& c = *static_cast<const Construct*>(r.nodes[r.nodes.size() - 2]);
    return c.shape == Construct::Shape::kLoop || (index_.to[c.id].empty() && index_.tables[c.id] == 0);
  }

  void sweep(ir::Region& r) {
    std::vector<ir::Node*> out;
    out.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kInst) {
        auto& i = *static_cast<Inst*>(node);
        if (!i.result || live_[i.result->id]) out.push_back(node);
        continue;
      }
      auto& c = *static_cast<Construct*>(node);
      if (!kept_[c.id]) continue;
      out.push_back(node);
      const bool isLoop = c.shape == Construct::Shape::kLoop;
      const auto& values = isLoop ? c.params : c.results;
      std::vector<bool> keep(values.size());
      bool all = true;
      for (size_t k = 0; k < values.size(); ++k) {
        keep[k] = live_[values[k]->id];
        all &= keep[k];
      }
      if (!all) isLoop ? removeParams(c, keep, index_.to[c.id]) : removeResults(c, keep, index_.to[c.id]);
      sweep(c.body);
      if (c.shape == Construct::Shape::kIf) sweep(c.otherwise);
    }
    r.nodes.swap(out);
  }

  ir::Function& fn_;
  BranchIndex index_;
  std::vector<bool> live_;              // by value
  std::vector<bool> kept_;              // by construct
  std::vector<std::vector<Way>> ways_;  // by construct: the branches that reach it
  std::vector<Value*> values_;          // to follow
  std::vector<Construct*> constructs_;
};

}  // namespace

void removeDeadCode(ir::Function& fn) {
  DeadCode(fn).run();
}

void simplify(ir::Function& fn) {
  Simplifier(fn).run();
  removeDeadCode(fn);
}

}  // namespace pumice::shader::passes
