#include "shaders/passes/promote_locals.h"

#include <algorithm>
#include <map>

#include "shaders/passes/tree.h"

namespace pumice::shader::passes {
namespace {

using ir::Construct;
using ir::Inst;
using ir::Kind;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Value;

constexpr uint32_t kMaxSelections = 8;  // elements of an array that dynamic indices choose from by selections

bool isLocalAccess(const Inst& i) {
  return (i.op == Op::Load || i.op == Op::Store) && i.mem.space == Space::kLocal;
}
Type accessType(const Inst& i) {
  return i.op == Op::Load ? i.result->type : i.operands.back()->type;
}

// A scalar piece of a variable that becomes a value.
struct Slot {
  Type type;
};

class Promoter {
 public:
  explicit Promoter(ir::Function& fn) : fn_(fn), vars_(fn.locals.size()) {}

  bool run() {
    forEachInst(*fn_.body, [&](Inst& i) {
      if (isLocalAccess(i)) collect(i);
    });
    decide();
    if (slots_.empty()) return dropUnused();
    separateTables(fn_.body, fn_.body->body, BranchIndex(fn_));
    modified_.resize(fn_.constructCount());
    pending_.resize(fn_.constructCount());
    collectModified(*fn_.body);
    current_.reserve(slots_.size());
    for (const Slot& s : slots_) current_.push_back(fn_.zero(s.type));
    region(fn_.body->body, fn_.body);
    replaced_.apply(fn_);
    dropUnused();
    return true;
  }

 private:
  struct Var {
    bool promotable = true;
    std::map<std::pair<uint32_t, uint32_t>, Kind> pieces;  // (offset, size) -> kind of the first access
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> slots;
  };

  // Byte offsets that an access may have, for each component; empty if there are too many. Constant addresses out of
  // range give none (they read zero and write nothing).
  struct Places {
    bool known = true;
    bool dynamic = false;
    uint32_t first = 0, step = 0, count = 0;
  };
  Places placesOf(const Inst& i) const {
    Places p;
    const uint32_t bytes = ir::kindBytes(accessType(i).kind) * accessType(i).components;
    const uint64_t size = fn_.locals[i.mem.local].size_B;
    const Value* index = i.operands[0];
    if (index->def == Value::Def::kConstant) {
      const uint64_t at = index->bits * i.mem.scale_B + i.mem.offset_B;
      p.first = static_cast<uint32_t>(std::min<uint64_t>(at, ~0u));
      p.count = at + bytes <= size ? 1 : 0;
      // A tuple that is partly in range is rare enough to leave alone.
      if (p.count == 0 && at < size && accessType(i).components > 1) p.known = false;
      return p;
    }
    p.dynamic = true;
    p.first = i.mem.offset_B;
    p.step = i.mem.scale_B;
    if (p.step < bytes || i.mem.offset_B + uint64_t{bytes} > size) {
      p.known = false;
      return p;
    }
    const uint64_t n = (size - i.mem.offset_B - bytes) / p.step + 1;
    if (n > kMaxSelections) p.known = false;
    // Behind the last whole element a tuple may be partly in range.
    const uint64_t end = i.mem.offset_B + n * p.step;
    if (end < size && accessType(i).components > 1) p.known = false;
    p.count = static_cast<uint32_t>(n);
    return p;
  }

  void collect(const Inst& i) {
    Var& v = vars_[i.mem.local];
    const Places p = placesOf(i);
    if (!p.known || i.mem.isVolatile) v.promotable = false;
    if (!v.promotable) return;
    const Type t = accessType(i);
    const uint32_t bytes = ir::kindBytes(t.kind);
    for (uint32_t k = 0; k < p.count; ++k)
      for (uint32_t c = 0; c < t.components; ++c)
        v.pieces.try_emplace({p.first + k * p.step + c * bytes, bytes}, t.kind);
  }

  // Pieces that overlap others of another shape keep the whole variable in memory.
  void decide() {
    for (Var& v : vars_) {
      uint32_t end = 0;
      for (const auto& [place, kind] : v.pieces) {
        if (place.first < end) v.promotable = false;
        end = std::max(end, place.first + place.second);
      }
      if (!v.promotable) continue;
      for (const auto& [place, kind] : v.pieces) {
        v.slots[place] = static_cast<uint32_t>(slots_.size());
        slots_.push_back({Type{kind, 1}});
      }
    }
  }

  // A BrTable passes no values. Every Block that one branches to and that other ways lead to as well, or that holds
  // more than the table, gets a Block of its own around the table, with a branch behind it.
  void separateTables(Construct* parent, ir::Region& r, const BranchIndex& index) {
    for (ir::Node* node : r.nodes)
      if (node->tag == ir::Node::Tag::kConstruct) {
        auto& c = *static_cast<Construct*>(node);
        separateTables(&c, c.body, index);
        if (c.shape == Construct::Shape::kIf) separateTables(&c, c.otherwise, index);
      }
    if (r.nodes.back()->tag != ir::Node::Tag::kInst) return;
    auto* table = static_cast<Inst*>(r.nodes.back());
    if (table->op != Op::BrTable) return;
    std::vector<Construct*> targets;
    for (const ir::SwitchCase& c : table->cases)
      if (std::find(targets.begin(), targets.end(), c.target) == targets.end()) targets.push_back(c.target);
    if (isSeparate(*table, parent, targets, index)) return;
    std::vector<Construct*> ways;
    ir::Region* into = &r;
    r.nodes.pop_back();
    for (Construct* t : targets) {
      Construct* way = fn_.newConstruct(Construct::Shape::kBlock, parent);
      into->nodes.push_back(way);
      Inst* br = fn_.newInst(Op::Br, ir::kVoid);
      br->target = t;
      into->nodes.push_back(br);
      into = &way->body;
      parent = way;
      ways.push_back(way);
    }
    into->nodes.push_back(table);
    for (ir::SwitchCase& c : table->cases)
      c.target = ways[static_cast<size_t>(std::find(targets.begin(), targets.end(), c.target) - targets.begin())];
  }

  static bool isSeparate(const Inst& table, const Construct* parent, const std::vector<Construct*>& targets,
                         const BranchIndex& index) {
    size_t found = 0;
    const ir::Node* inner = &table;
    for (const Construct* c = parent; c && c->shape == Construct::Shape::kBlock && c->body.nodes.front() == inner;
         c = c->parent) {
      inner = c;
      if (std::find(targets.begin(), targets.end(), c) == targets.end()) continue;
      const auto mine = static_cast<uint32_t>(std::count_if(table.cases.begin(), table.cases.end(),
                                                            [&](const ir::SwitchCase& s) { return s.target == c; }));
      if (!index.to[c->id].empty() || index.tables[c->id] != mine) return false;
      ++found;
    }
    return found == targets.size();
  }

  void forEachSlot(const Inst& i, auto f) {
    const Var& v = vars_[i.mem.local];
    const Places p = placesOf(i);
    const Type t = accessType(i);
    const uint32_t bytes = ir::kindBytes(t.kind);
    for (uint32_t k = 0; k < p.count; ++k)
      for (uint32_t c = 0; c < t.components; ++c) f(k, c, v.slots.at({p.first + k * p.step + c * bytes, bytes}));
  }

  bool isPromoted(const Inst& i) const { return isLocalAccess(i) && vars_[i.mem.local].promotable; }

  void collectModified(Construct& c) {
    std::vector<uint32_t>& m = modified_[c.id];
    for (ir::Region* r : {&c.body, &c.otherwise})
      for (ir::Node* node : r->nodes) {
        if (node->tag == ir::Node::Tag::kConstruct) {
          auto& inner = *static_cast<Construct*>(node);
          collectModified(inner);
          m.insert(m.end(), modified_[inner.id].begin(), modified_[inner.id].end());
        } else if (auto& i = *static_cast<Inst*>(node); i.op == Op::Store && isPromoted(i)) {
          forEachSlot(i, [&](uint32_t, uint32_t, uint32_t slot) { m.push_back(slot); });
        }
      }
    std::sort(m.begin(), m.end());
    m.erase(std::unique(m.begin(), m.end()), m.end());
  }

  // -- renaming
  Value* emit(std::vector<ir::Node*>& out, Op op, Type t, std::initializer_list<Value*> operands, uint32_t line) {
    Inst* i = fn_.newInst(op, t);
    i->operands = operands;
    i->line = line;
    out.push_back(i);
    return i->result;
  }

  Value* converted(std::vector<ir::Node*>& out, Value* v, Type t, uint32_t line) {
    if (v->type == t) return v;
    if (v->def == Value::Def::kConstant) return fn_.constant(t, v->bits);
    return emit(out, Op::Bitcast, t, {v}, line);
  }

  void load(std::vector<ir::Node*>& out, Inst& i) {
    const Type t = i.result->type, s = t.scalar();
    const Places p = placesOf(i);
    std::vector<Value*> parts(t.components, fn_.zero(s));
    forEachSlot(i, [&](uint32_t k, uint32_t c, uint32_t slot) {
      Value* v = converted(out, current_[slot], s, i.line);
      if (!p.dynamic) {
        parts[c] = v;
        return;
      }
      Value* here = emit(out, Op::IEq, ir::kBool, {replaced_.get(i.operands[0]), fn_.constantI32(k)}, i.line);
      parts[c] = emit(out, Op::Select, s, {here, v, parts[c]}, i.line);
    });
    if (t.components == 1) {
      replaced_.set(i.result, parts[0]);
      return;
    }
    Inst* tuple = fn_.newInst(Op::Construct, t);
    tuple->operands = parts;
    out.push_back(tuple);
    replaced_.set(i.result, tuple->result);
  }

  void store(std::vector<ir::Node*>& out, Inst& i) {
    const Type t = accessType(i);
    const Places p = placesOf(i);
    Value* value = replaced_.get(i.operands[1]);
    forEachSlot(i, [&](uint32_t k, uint32_t c, uint32_t slot) {
      Value* part = value;
      if (t.components > 1) {
        part = emit(out, Op::Extract, t.scalar(), {value}, i.line);
        part->inst->imm = c;
      }
      part = converted(out, part, slots_[slot].type, i.line);
      if (p.dynamic) {
        Value* here = emit(out, Op::IEq, ir::kBool, {replaced_.get(i.operands[0]), fn_.constantI32(k)}, i.line);
        part = emit(out, Op::Select, part->type, {here, part, current_[slot]}, i.line);
      }
      current_[slot] = part;
    });
  }

  struct Exit {
    Inst* branch;
    std::vector<Value*> values;  // of modified_[target]
  };

  void noteExit(Inst& i, Construct* target) {
    if (target == fn_.body) return;
    Exit e{&i, {}};
    for (uint32_t slot : modified_[target->id]) e.values.push_back(current_[slot]);
    if (target->shape == Construct::Shape::kLoop)
      i.operands.insert(i.operands.end(), e.values.begin(), e.values.end());
    else
      pending_[target->id].push_back(std::move(e));
  }

  void region(ir::Region& r, Construct* c) {
    std::vector<ir::Node*> out;
    out.reserve(r.nodes.size());
    for (ir::Node* node : r.nodes) {
      if (node->tag == ir::Node::Tag::kConstruct) {
        out.push_back(node);
        construct(*static_cast<Construct*>(node));
        continue;
      }
      auto& i = *static_cast<Inst*>(node);
      if (isPromoted(i)) {
        i.op == Op::Load ? load(out, i) : store(out, i);
        continue;
      }
      out.push_back(node);
      if (i.op == Op::Br) noteExit(i, i.target);
      for (const ir::SwitchCase& s : i.cases) noteExit(i, s.target);
    }
    r.nodes.swap(out);
    reparent(r, c);
  }

  void construct(Construct& c) {
    const std::vector<uint32_t>& slots = modified_[c.id];
    const std::vector<Value*> before = current_;
    if (c.shape == Construct::Shape::kLoop) {
      for (uint32_t slot : slots) current_[slot] = fn_.addParam(&c, current_[slot]);
      region(c.body, &c);
      current_ = before;  // unreachable: nothing runs behind a loop
      return;
    }
    region(c.body, &c);
    if (c.shape == Construct::Shape::kIf) {
      current_ = before;
      region(c.otherwise, &c);
    }
    current_ = before;
    const std::vector<Exit>& exits = pending_[c.id];
    for (size_t n = 0; n < slots.size(); ++n) {
      bool unchanged = true;
      for (const Exit& e : exits) unchanged &= e.values[n] == before[slots[n]];
      if (unchanged) continue;
      if (exits.front().branch->op == Op::BrTable) {  // the only way out, see separateTables()
        current_[slots[n]] = exits.front().values[n];
        continue;
      }
      for (const Exit& e : exits) e.branch->operands.push_back(e.values[n]);
      current_[slots[n]] = fn_.addResult(&c, slots_[slots[n]].type);
    }
  }

  // Variables that nobody names any more disappear; the others close the gaps.
  bool dropUnused() {
    std::vector<bool> used(fn_.locals.size());
    forEachInst(*fn_.body, [&](Inst& i) {
      if (ir::isMemoryOp(i.op) && i.mem.space == Space::kLocal) used[i.mem.local] = true;
    });
    std::vector<uint32_t> to(used.size());
    std::vector<ir::LocalVar> kept;
    for (size_t i = 0; i < used.size(); ++i)
      if (used[i]) {
        to[i] = static_cast<uint32_t>(kept.size());
        kept.push_back(fn_.locals[i]);
      }
    if (kept.size() == fn_.locals.size()) return false;
    fn_.locals = std::move(kept);
    forEachInst(*fn_.body, [&](Inst& i) {
      if (ir::isMemoryOp(i.op) && i.mem.space == Space::kLocal) i.mem.local = to[i.mem.local];
    });
    return true;
  }

  ir::Function& fn_;
  std::vector<Var> vars_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint32_t>> modified_;  // by construct: slots that are stored to inside, sorted
  std::vector<std::vector<Exit>> pending_;       // by construct
  std::vector<Value*> current_;                  // by slot
  Replacements replaced_;
};

}  // namespace

bool promoteLocals(ir::Function& fn) {
  if (fn.locals.empty()) return false;
  return Promoter(fn).run();
}

}  // namespace pumice::shader::passes
