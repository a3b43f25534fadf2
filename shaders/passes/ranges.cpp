#include "shaders/passes/ranges.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace pumice::shader::passes {

using namespace ir;

namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

namespace {

uint64_t widthMask(Type t) {
  const uint32_t n = kindBits(t.kind);
  return n >= 64 ? ~0ull : (1ull << n) - 1;
}

// All ones from the highest bit that `v` may have.
uint64_t fill(uint64_t v) {
  return v == 0 ? 0 : ~0ull >> std::countl_zero(v);
}

// True if no path through `r` reaches the end of `c` (or its next iteration, for a loop): everything in it branches
// further out.
bool neverReaches(const Region& r, const Construct* c) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kConstruct) {
      const auto* inner = static_cast<const Construct*>(n);
      if (!neverReaches(inner->body, c) || !neverReaches(inner->otherwise, c)) return false;
      continue;
    }
    const auto* i = static_cast<const Inst*>(n);
    if (i->op == Op::Br && i->target == c) return false;
    if (i->op == Op::BrTable &&
        std::any_of(i->cases.begin(), i->cases.end(), [&](const SwitchCase& s) { return s.target == c; }))
      return false;
  }
  return true;
}

bool encloses(const Construct* outer, const Construct* inner) {
  for (; inner; inner = inner->parent)
    if (inner == outer) return true;
  return false;
}

bool isDefinedIn(const Region& r, const Value* v) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kInst) {
      if (v->inst == n) return true;
      continue;
    }
    const auto* c = static_cast<const Construct*>(n);
    if (v->construct == c || isDefinedIn(c->body, v) || isDefinedIn(c->otherwise, v)) return true;
  }
  return false;
}

// Every terminator in `r` leaves `loop`.
bool alwaysLeaves(const Region& r, const Construct* loop) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kConstruct) {
      const auto* inner = static_cast<const Construct*>(n);
      if (!alwaysLeaves(inner->body, loop) || !alwaysLeaves(inner->otherwise, loop)) return false;
      continue;
    }
    const auto* i = static_cast<const Inst*>(n);
    if (i->op == Op::Br && encloses(loop, i->target)) return false;
    if (i->op == Op::BrTable) return false;
  }
  return true;
}

}  // namespace

Ranges::Ranges(const Function& fn) : fn_(fn), max_(fn.valueCount(), ~0ull), trips_(fn.constructCount(), 0) {
  guards_ = false;
  region(fn.body->body);
  everyLane_ = max_;
  max_.assign(fn.valueCount(), ~0ull);
  guards_ = true;
  region(fn.body->body);
}

uint64_t Ranges::maxOfEveryLane(const Value* v) const {
  if (v->def == Value::Def::kConstant) return v->bits;
  return std::min(everyLane_[v->id], widthMask(v->type));
}

uint64_t Ranges::max(const Value* v) const {
  if (v->def == Value::Def::kConstant) return v->bits;
  return std::min(max_[v->id], widthMask(v->type));
}

void Ranges::region(const Region& r) {
  std::vector<std::pair<uint32_t, uint64_t>> undo;
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kInst) {
      inst(static_cast<const Inst*>(n));
      continue;
    }
    const auto* c = static_cast<const Construct*>(n);
    construct(c);
    // Behind an If of which only one side goes on, that side's condition holds.
    if (c->shape == Construct::Shape::kIf) {
      if (neverReaches(c->otherwise, c)) assume(c->condition, true, undo);
      if (neverReaches(c->body, c)) assume(c->condition, false, undo);
    }
  }
  restore(undo);
}

void Ranges::construct(const Construct* c) {
  std::vector<std::pair<uint32_t, uint64_t>> undo;
  switch (c->shape) {
    case Construct::Shape::kBlock:
      region(c->body);
      break;
    case Construct::Shape::kIf:
      assume(c->condition, true, undo);
      region(c->body);
      restore(undo);
      assume(c->condition, false, undo);
      region(c->otherwise);
      restore(undo);
      break;
    case Construct::Shape::kLoop:
      loop(c);
      break;
  }
  // Results keep the full range: their incoming values are rarely used as addresses.
}

namespace {

struct Counter {
  uint32_t param;
  uint64_t first, step;
  const Value* bound;  // the loop goes on while param < bound (<= : inclusive)
  bool isSigned, inclusive;
};

// The guard must dominate the next iteration: it stands in the loop's body or in a Block that is reached
// unconditionally.
std::optional<Counter> findCounter(const Construct* loop, const std::vector<const Inst*>& backEdges) {
  const Region* r = &loop->body;
  const Construct* guard = nullptr;
  while (r && !guard) {
    const Region* next = nullptr;
    for (const Node* n : r->nodes) {
      if (n->tag == Node::Tag::kInst) continue;
      const auto* c = static_cast<const Construct*>(n);
      if (c->shape == Construct::Shape::kIf)
        guard = c;
      else if (c->shape == Construct::Shape::kBlock)
        next = &c->body;
      break;
    }
    r = next;
  }
  if (!guard || guard->condition->def != Value::Def::kInst) return std::nullopt;
  const bool elseLeaves = alwaysLeaves(guard->otherwise, loop);
  const bool thenLeaves = alwaysLeaves(guard->body, loop);
  if (elseLeaves == thenLeaves) return std::nullopt;
  const Inst* cmp = guard->condition->inst;
  if (cmp->operands.size() != 2) return std::nullopt;
  const Value* a = cmp->operands[0];
  const Value* b = cmp->operands[1];
  // Normalised to "goes on while a < b" or "a <= b".
  bool isSigned = false, inclusive = false;
  switch (cmp->op) {
    case Op::SLt:
      isSigned = true;
      break;
    case Op::ULt:
      break;
    case Op::SLe:
      isSigned = true;
      inclusive = true;
      break;
    case Op::ULe:
      inclusive = true;
      break;
    default:
      return std::nullopt;
  }
  if (thenLeaves) {  // goes on while !(a < b), that is b <= a
    std::swap(a, b);
    inclusive = !inclusive;
  }
  if (a->def != Value::Def::kParam || a->construct != loop) return std::nullopt;
  const uint32_t p = a->index;
  if (loop->initial[p]->def != Value::Def::kConstant) return std::nullopt;
  if (b->construct == loop || isDefinedIn(loop->body, b)) return std::nullopt;
  uint64_t step = 0;
  for (const Inst* br : backEdges) {
    const Value* next = br->operands[p];
    if (next->def != Value::Def::kInst || next->inst->op != Op::IAdd) return std::nullopt;
    const Value* x = next->inst->operands[0];
    const Value* y = next->inst->operands[1];
    if (x != a) std::swap(x, y);
    if (x != a || y->def != Value::Def::kConstant || y->bits == 0 || y->bits > 0xffff) return std::nullopt;
    if (step != 0 && step != y->bits) return std::nullopt;
    step = y->bits;
  }
  if (step == 0) return std::nullopt;
  return Counter{p, loop->initial[p]->bits, step, b, isSigned, inclusive};
}

void collectBackEdges(const Region& r, const Construct* loop, std::vector<const Inst*>& out) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kConstruct) {
      const auto* c = static_cast<const Construct*>(n);
      collectBackEdges(c->body, loop, out);
      collectBackEdges(c->otherwise, loop, out);
    } else if (const auto* i = static_cast<const Inst*>(n); i->op == Op::Br && i->target == loop) {
      out.push_back(i);
    }
  }
}

}  // namespace

void Ranges::loop(const Construct* c) {
  std::vector<const Inst*> backEdges;
  collectBackEdges(c->body, c, backEdges);

  std::optional<uint32_t> counted;
  if (auto counter = guards_ ? findCounter(c, backEdges) : std::nullopt) {
    const Value* param = c->params[counter->param];
    const uint64_t signedMax = widthMask(param->type) >> 1;
    const uint64_t bound = max(counter->bound);
    // The largest value with which the body is entered, then one step more. Nothing may wrap (signed: not into the
    // negative numbers, which would be large unsigned ones; a bound that may be negative is no bound).
    const uint64_t limit = counter->isSigned ? signedMax : widthMask(param->type);
    if (counter->first <= limit && bound <= limit && bound <= limit - counter->step) {
      const uint64_t last = counter->inclusive ? bound : bound == 0 ? 0 : bound - 1;
      max_[param->id] = std::max(counter->first, last + counter->step);
      trips_[c->id] = last < counter->first ? 1 : (last - counter->first) / counter->step + 2;
      counted = counter->param;
    }
  }

  // The others: assume that they do not grow, check, widen those that do.
  for (uint32_t i = 0; i < c->params.size(); ++i)
    if (i != counted) max_[c->params[i]->id] = c->params[i]->type.isInt() ? max(c->initial[i]) : ~0ull;
  for (bool changed = true; changed;) {
    changed = false;
    region(c->body);
    for (const Inst* br : backEdges)
      for (uint32_t i = 0; i < c->params.size(); ++i) {
        const Value* p = c->params[i];
        if (i == counted || !p->type.isInt() || p->type.components != 1) continue;
        if (max(br->operands[i]) > max(p)) {
          max_[p->id] = ~0ull;
          changed = true;
        }
      }
  }
}

void Ranges::inst(const Inst* i) {
  if (isMemoryOp(i->op)) indexMax_[i] = max(i->operands[addressOperandCount(i->mem.space) - 1]);
  if (i->result && i->result->type.isInt() && i->result->type.components == 1) max_[i->result->id] = eval(i);
}

uint64_t Ranges::eval(const Inst* i) const {
  const uint64_t full = widthMask(i->result->type);
  auto arg = [&](size_t n) { return max(i->operands[n]); };
  auto constant = [&](size_t n) { return i->operands[n]->def == Value::Def::kConstant; };
  switch (i->op) {
    case Op::IAdd: {
      const uint64_t a = arg(0), b = arg(1);
      return a > full - std::min(b, full) ? full : a + b;
    }
    case Op::IMul: {
      const auto p = static_cast<Wide>(arg(0)) * arg(1);
      return p > full ? full : static_cast<uint64_t>(p);
    }
    case Op::UDiv:
      return constant(1) && arg(1) != 0 ? arg(0) / arg(1) : full;  // x / 0 is all ones
    case Op::URem:
      return constant(1) && arg(1) != 0 ? std::min(arg(0), arg(1) - 1) : arg(0);
    case Op::SDiv:
      return constant(1) && arg(1) != 0 && arg(1) <= full / 2 && arg(0) <= full / 2 ? arg(0) / arg(1) : full;
    case Op::SRem:
      return arg(0) <= full / 2
                 ? (constant(1) && arg(1) != 0 && arg(1) <= full / 2 ? std::min(arg(0), arg(1) - 1) : arg(0))
                 : full;
    case Op::And:
      return std::min(arg(0), arg(1));
    case Op::Or:
    case Op::Xor:
      return fill(arg(0) | arg(1));
    case Op::Shl: {
      if (!constant(1)) return full;
      const uint32_t s = static_cast<uint32_t>(arg(1) % kindBits(i->result->type.kind));
      return arg(0) > (full >> s) ? full : arg(0) << s;
    }
    case Op::UShr:
      return constant(1) ? arg(0) >> (arg(1) % kindBits(i->result->type.kind)) : arg(0);
    case Op::SShr:
      return arg(0) <= full / 2 ? (constant(1) ? arg(0) >> (arg(1) % kindBits(i->result->type.kind)) : arg(0)) : full;
    case Op::UMin:
      return std::min(arg(0), arg(1));
    case Op::UMax:
      return std::max(arg(0), arg(1));
    case Op::SMin:  // of two that are not negative
      return arg(0) <= full / 2 && arg(1) <= full / 2 ? std::min(arg(0), arg(1)) : full;
    case Op::SMax:
      return arg(0) <= full / 2 && arg(1) <= full / 2 ? std::max(arg(0), arg(1)) : full;
    case Op::Select:
      return std::max(arg(1), arg(2));
    case Op::ZExt:
      return arg(0);
    case Op::SExt:
      return arg(0) <= widthMask(i->operands[0]->type) / 2 ? arg(0) : full;
    case Op::Trunc:
      return std::min(arg(0), full);
    case Op::BitCount:
    case Op::CountLeadingZeros:
    case Op::CountTrailingZeros:
      return kindBits(i->result->type.kind);
    case Op::LocalInvocationId:
      return fn_.localSize[i->imm] - 1;
    case Op::LocalInvocationIndex:
      return uint64_t{fn_.localSize[0]} * fn_.localSize[1] * fn_.localSize[2] - 1;
    case Op::SubgroupId:
    case Op::NumSubgroups:
      return (uint64_t{fn_.localSize[0]} * fn_.localSize[1] * fn_.localSize[2] + fn_.subgroupSize - 1) /
             fn_.subgroupSize;
    case Op::SubgroupInvocationId:
      return fn_.subgroupSize - 1;
    case Op::SubgroupSize:
      return fn_.subgroupSize;
    case Op::SubgroupBroadcastFirst:
      return arg(0);
    case Op::SubgroupShuffle:
    case Op::SubgroupShuffleXor:
    case Op::SubgroupShuffleUp:
    case Op::SubgroupShuffleDown:
      return arg(0);  // or 0
    default:
      return full;
  }
}

void Ranges::assume(const Value* condition, bool truth, std::vector<std::pair<uint32_t, uint64_t>>& undo) {
  if (!guards_ || condition->def != Value::Def::kInst) return;
  const Inst* i = condition->inst;
  if (i->op == Op::And && truth) {
    assume(i->operands[0], true, undo);
    assume(i->operands[1], true, undo);
    return;
  }
  if (i->op == Op::Or && !truth) {
    assume(i->operands[0], false, undo);
    assume(i->operands[1], false, undo);
    return;
  }
  if (i->op == Op::Not) {
    assume(i->operands[0], !truth, undo);
    return;
  }
  if (i->operands.size() != 2) return;
  const Value* a = i->operands[0];
  const Value* b = i->operands[1];
  bool isSigned = false, strict = false;
  switch (i->op) {
    case Op::ULt:
      strict = true;
      break;
    case Op::ULe:
      break;
    case Op::SLt:
      isSigned = strict = true;
      break;
    case Op::SLe:
      isSigned = true;
      break;
    case Op::IEq:
      if (!truth || !a->type.isInt()) return;
      undo.emplace_back(a->id, max_[a->id]);
      undo.emplace_back(b->id, max_[b->id]);
      max_[a->id] = max_[b->id] = std::min(max(a), max(b));
      return;
    default:
      return;
  }
  if (!truth) {  // !(a < b) is b <= a
    std::swap(a, b);
    strict = !strict;
  }
  const uint64_t bound = max(b);
  // Signed: `a` must be known not to be negative, else it may be a large unsigned number; so must the bound.
  const uint64_t half = widthMask(a->type) / 2;
  if (isSigned && (max(a) > half || bound > half)) return;
  const uint64_t last = strict ? (bound == 0 ? 0 : bound - 1) : bound;
  if (last >= max(a)) return;
  undo.emplace_back(a->id, max_[a->id]);
  max_[a->id] = last;
}

void Ranges::restore(std::vector<std::pair<uint32_t, uint64_t>>& undo) {
  for (auto it = undo.rbegin(); it != undo.rend(); ++it) max_[it->first] = it->second;
  undo.clear();
}

}  // namespace pumice::shader::passes
