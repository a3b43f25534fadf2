#include "shaders/passes/uniformity.h"

#include <algorithm>
#include <bit>

namespace pumice::shader::passes {

using namespace ir;
using Kind = Shape::Kind;

namespace {

int64_t signExtend(int64_t v, Type type) {
  const uint32_t n = kindBits(type.kind);
  if (n == 0 || n >= 64) return v;
  const uint32_t shift = 64 - n;
  return static_cast<int64_t>(static_cast<uint64_t>(v) << shift) >> shift;
}

bool isConstant(const Value* v) {
  return v->def == Value::Def::kConstant;
}

bool sameValue(const Value* a, const Value* b) {
  return a == b;  // constants are unique
}

constexpr uint32_t kMaxAlign = 63;

}  // namespace

Uniformity::Uniformity(const Function& fn, const Ranges& ranges, const GangGeometry& geometry)
    : fn_(fn),
      ranges_(ranges),
      geometry_(geometry),
      shapes_(fn.valueCount()),
      seen_(fn.valueCount(), 0),
      align_(fn.valueCount(), kMaxAlign),
      facts_(fn.constructCount()),
      groupFacts_(fn.constructCount()),
      depth_(fn.constructCount(), 0),
      sites_(fn.constructCount()) {
  // Shapes only rise and facts only become worse, so this ends; two to four walks in practice.
  do {
    changed_ = false;
    for (auto& s : sites_) s.clear();
    region(fn.body->body, fn.body, Full{});
  } while (changed_);
}

uint32_t Uniformity::alignLog2(const Value* v) const {
  if (isConstant(v)) return v->bits == 0 ? kMaxAlign : static_cast<uint32_t>(std::countr_zero(v->bits));
  return align_[v->id];
}

// One part per gang makes every per-part base a per-gang one; one gang makes a gang's value the workgroup's.
Shape Uniformity::normal(Shape s) const {
  if (s.isVarying()) return {Kind::kVarying, 0, 0};
  if (geometry_.vectors == 1) {
    s.partStride = 0;
    if (s.kind == Kind::kStrided) s.kind = Kind::kAffine;
  }
  if (s.kind == Kind::kStrided) s.partStride = 0;
  if (s.sameInGang() && geometry_.gangs == 1) s.kind = Kind::kUniform;
  return s;
}

Shape Uniformity::join(const Shape& a, const Shape& b) const {
  if (a == b) return a;
  if (a.isVarying() || b.isVarying() || a.laneStride != b.laneStride) return {Kind::kVarying, 0, 0};
  const Kind kind = std::max({a.kind, b.kind, a.partStride != b.partStride ? Kind::kStrided : Kind::kUniform});
  return normal({kind, a.laneStride, a.partStride});
}

void Uniformity::raise(const Value* v, const Shape& s) {
  if (!seen_[v->id]) {
    seen_[v->id] = 1;
    shapes_[v->id] = s;
    changed_ = true;
    return;
  }
  set(shapes_[v->id], join(shapes_[v->id], s));
}

void Uniformity::region(const Region& r, const Construct* owner, Full full) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kConstruct) {
      const auto* c = static_cast<const Construct*>(n);
      full = construct(c, full);
      // Nobody gets behind a loop, or a construct that nothing branches to.
      if (c->shape == Construct::Shape::kLoop || sites_[c->id].empty()) return;
      continue;
    }
    const auto* i = static_cast<const Inst*>(n);
    switch (i->op) {
      case Op::Br:
        branch(i, i->target, owner, full);
        break;
      case Op::BrTable: {
        const Shape& s = shape(i->operands[0]);
        if (!s.sameInGang()) full.gang = ~0u;
        if (!s.isUniform()) full.group = ~0u;
        for (size_t c = 0; c < i->cases.size(); ++c) branch(i, i->cases[c].target, owner, full);
        break;
      }
      case Op::Unreachable:
        branch(i, fn_.body, owner, full);
        break;
      default:
        if (i->op == Op::ControlBarrier && i->imm == 0)
          for (const Construct* c = owner; c; c = c->parent) facts_[c->id].containsBarrier = true;
        inst(i);
        break;
    }
  }
}

Uniformity::Full Uniformity::construct(const Construct* c, Full full) {
  const uint32_t d = c->parent ? depth(c->parent) + 1 : 0;
  depth_[c->id] = d;
  const Full inside{std::min(full.gang, d), std::min(full.group, d)};
  switch (c->shape) {
    case Construct::Shape::kBlock:
      region(c->body, c, inside);
      break;
    case Construct::Shape::kIf: {
      const Shape& s = shape(c->condition);
      const Full side{s.sameInGang() ? inside.gang : d + 1, s.isUniform() ? inside.group : d + 1};
      region(c->body, c, side);
      region(c->otherwise, c, side);
      break;
    }
    case Construct::Shape::kLoop: {
      mergeParams(c);
      Full body = inside;
      if (facts_[c->id].divergent) body.gang = d;
      if (groupFacts_[c->id].divergent) body.group = d;
      region(c->body, c, body);
      mergeParams(c);
      break;
    }
  }
  if (c->shape != Construct::Shape::kLoop) mergeResults(c);
  if (facts_[c->id].losesLanes) full.gang = d;
  if (groupFacts_[c->id].losesLanes) full.group = d;
  return full;
}

void Uniformity::branch(const Inst* br, const Construct* target, const Construct* from, Full full) {
  bool inInnerLoop = false;
  for (const Construct* c = from; c != target; c = c->parent) {
    const uint32_t d = depth(c);
    const bool isLoop = c->shape == Construct::Shape::kLoop;
    inInnerLoop |= isLoop;
    if (full.gang > d) {
      set(facts_[c->id].losesLanes, true);
      if (isLoop) set(facts_[c->id].divergent, true);
    }
    if (full.group > d) {
      set(groupFacts_[c->id].losesLanes, true);
      if (isLoop) set(groupFacts_[c->id].divergent, true);
    }
  }
  const uint32_t d = depth(target);
  if (target->shape == Construct::Shape::kLoop) {
    if (full.gang > d) set(facts_[target->id].divergent, true);
    if (full.group > d) set(groupFacts_[target->id].divergent, true);
  }
  if (full.gang > d || full.group > d) set(facts_[target->id].mergesDivergently, true);
  sites_[target->id].push_back({br, full, inInnerLoop});
}

void Uniformity::mergeResults(const Construct* c) {
  const auto& sites = sites_[c->id];
  const uint32_t d = depth(c);
  auto& facts = facts_[c->id];
  facts.branches = static_cast<uint32_t>(sites.size());
  for (const Site& s : sites) facts.branchInInnerLoop |= s.inInnerLoop;
  for (size_t r = 0; r < c->results.size(); ++r) {
    const Value* v = c->results[r];
    if (sites.empty()) {
      raise(v, {});
      continue;
    }
    const Value* first = sites[0].br->operands[r];
    uint32_t align = kMaxAlign;
    bool allSame = true, gangUniform = true, groupUniform = true;
    Shape joined = shape(first);
    for (const Site& s : sites) {
      const Value* x = s.br->operands[r];
      allSame &= sameValue(x, first);
      gangUniform &= s.full.gang <= d;
      groupUniform &= s.full.group <= d;
      joined = join(joined, shape(x));
      align = std::min(align, alignLog2(x));
    }
    // A single site that is reached once per entry passes its value on, whoever gets there. The same value from all
    // sites: only if it is not one of an inner loop's iteration.
    const bool once = !facts.branchInInnerLoop && (sites.size() == 1 || allSame);
    if (!once && !(allSame && isConstant(first))) {
      if (!gangUniform)
        joined = {Kind::kVarying, 0, 0};
      else if (!groupUniform)
        joined = join(joined, normal({Kind::kAffine, joined.laneStride, joined.partStride}));
    }
    raise(v, joined);
    if (v->type.isInt()) set(align_[v->id], static_cast<uint8_t>(std::min<uint32_t>(align_[v->id], align)));
  }
}

// Lanes of one iteration have all made the same number of steps, so with a single back edge a parameter keeps its shape
// even when lanes drop out.
void Uniformity::mergeParams(const Construct* loop) {
  const auto& sites = sites_[loop->id];
  const uint32_t d = depth(loop);
  auto& facts = facts_[loop->id];
  facts.branches = static_cast<uint32_t>(sites.size());
  bool gangUniform = true;
  for (const Site& s : sites) gangUniform &= s.full.gang <= d;
  for (size_t p = 0; p < loop->params.size(); ++p) {
    Shape joined = shape(loop->initial[p]);
    uint32_t align = alignLog2(loop->initial[p]);
    bool allSame = true;
    for (const Site& s : sites) {
      const Value* x = s.br->operands[p];
      allSame &= sameValue(x, sites[0].br->operands[p]);
      joined = join(joined, shape(x));
      align = std::min(align, alignLog2(x));
    }
    if (!gangUniform && sites.size() > 1 && !allSame) joined = {Kind::kVarying, 0, 0};
    const Value* v = loop->params[p];
    raise(v, joined);
    if (v->type.isInt()) set(align_[v->id], static_cast<uint8_t>(std::min<uint32_t>(align_[v->id], align)));
  }
}

void Uniformity::inst(const Inst* i) {
  if (!i->result) return;
  raise(i->result, eval(i));
  if (i->result->type.isInt() && i->result->type.components == 1)
    set(align_[i->result->id], static_cast<uint8_t>(std::min<uint32_t>(align_[i->result->id], evalAlign(i))));
}

Shape Uniformity::strides(Kind kind, int64_t lane, int64_t part, Type type) const {
  return normal({kind, signExtend(lane, type), signExtend(part, type)});
}

Shape Uniformity::sum(const Shape& a, const Shape& b, int64_t sign, Type type) const {
  if (a.isVarying() || b.isVarying()) return {Kind::kVarying, 0, 0};
  return strides(std::max(a.kind, b.kind), a.laneStride + sign * b.laneStride, a.partStride + sign * b.partStride,
                 type);
}

Shape Uniformity::evalBuiltin(const Inst* i) const {
  const auto P = static_cast<int64_t>(geometry_.lanes);
  const int64_t lx = fn_.localSize[0], ly = fn_.localSize[1], lz = fn_.localSize[2];
  const int64_t k = geometry_.vectors;
  const Shape varying{Kind::kVarying, 0, 0};
  switch (i->op) {
    case Op::LocalInvocationIndex:
      return strides(Kind::kAffine, 1, P, kI32);
    case Op::SubgroupId:
      return fn_.subgroupSize == geometry_.lanes ? strides(Kind::kAffine, 0, 1, kI32) : varying;
    case Op::SubgroupInvocationId:
      return fn_.subgroupSize == geometry_.lanes ? strides(Kind::kAffine, 1, 0, kI32) : varying;
    case Op::LocalInvocationId:
      if (fn_.localSize[i->imm] == 1) return {};
      if (i->imm == 0) {
        if (ly == 1 && lz == 1) return strides(Kind::kAffine, 1, P, kI32);
        if (lx == P) return strides(Kind::kAffine, 1, 0, kI32);
        if (lx % (P * k) == 0) return strides(Kind::kAffine, 1, P, kI32);
        return lx % P == 0 ? strides(Kind::kStrided, 1, 0, kI32) : varying;
      }
      if (i->imm == 1) {
        if (lx % (P * k) == 0) return strides(Kind::kAffine, 0, 0, kI32);
        if (lx == P && (lz == 1 || ly % k == 0)) return strides(Kind::kAffine, 0, 1, kI32);
        return lx % P == 0 ? strides(Kind::kStrided, 0, 0, kI32) : varying;
      }
      if ((lx * ly) % (P * k) == 0) return strides(Kind::kAffine, 0, 0, kI32);
      if (lx * ly == P) return strides(Kind::kAffine, 0, 1, kI32);
      return (lx * ly) % P == 0 ? strides(Kind::kStrided, 0, 0, kI32) : varying;
    default:
      return {};  // WorkgroupId, NumWorkgroups, NumSubgroups, SubgroupSize
  }
}

// Bit operations on a strided value whose lanes stay inside an aligned block: with base a multiple of 2^a and
// stride * (P - 1) < 2^a no lane carries into bit a.
Shape Uniformity::evalBits(const Inst* i) const {
  const Shape varying{Kind::kVarying, 0, 0};
  const Value* x = i->operands[0];
  const Value* c = i->operands[1];
  if (!isConstant(c)) {
    std::swap(x, c);
    if (!isConstant(c) || i->op == Op::UShr || i->op == Op::UDiv || i->op == Op::URem) return varying;
  }
  const Shape& s = shape(x);
  if (s.isVarying() || s.laneStride < 0) return varying;
  const uint32_t a = alignLog2(x);
  const auto span = static_cast<uint64_t>(s.laneStride) * (geometry_.lanes - 1);
  if (a >= kindBits(x->type.kind) || span >= (1ull << a)) return varying;
  const uint64_t low = (1ull << a) - 1;
  const auto strided = [&](int64_t lane) { return strides(Kind::kStrided, lane, 0, x->type); };
  switch (i->op) {
    case Op::And:
      if ((c->bits & low) == low) return strided(s.laneStride);
      return (c->bits & low) == 0 ? strided(0) : varying;
    case Op::Or:
    case Op::Xor:
      return (c->bits & low) == 0 ? strided(s.laneStride) : varying;
    case Op::UShr: {
      const uint64_t n = c->bits % kindBits(x->type.kind);
      if (n >= a) return strided(0);
      return (s.laneStride & ((1ll << n) - 1)) == 0 ? strided(s.laneStride >> n) : varying;
    }
    case Op::UDiv:
    case Op::URem: {
      if (!std::has_single_bit(c->bits)) return varying;
      const auto n = static_cast<uint32_t>(std::countr_zero(c->bits));
      if (n < a && (i->op == Op::URem || (s.laneStride & ((1ll << n) - 1)) != 0)) return varying;
      if (i->op == Op::URem) return strided(s.laneStride);
      return n >= a ? strided(0) : strided(s.laneStride >> n);
    }
    default:
      return varying;
  }
}

Shape Uniformity::eval(const Inst* i) const {
  const Shape varying{Kind::kVarying, 0, 0};
  const Type type = i->result->type;
  if (i->op >= Op::WorkgroupId && i->op <= Op::SubgroupSize) return evalBuiltin(i);

  // What holds for everything without effects across lanes: the strictest kind of the operands, if none has a stride
  // over lanes (over parts: then it is one scalar a part).
  Shape plain{};
  for (const Value* v : i->operands) {
    const Shape& s = shape(v);
    if (!s.sameInPart()) plain = varying;
    if (!plain.isVarying()) plain = join(plain, {s.partStride != 0 ? Kind::kStrided : s.kind, 0, 0});
  }
  plain = normal(plain);

  if (isSubgroupOp(i->op)) {
    switch (i->op) {
      case Op::QuadShuffle:
        return plain;
      case Op::IsHelper:
        return varying;
      case Op::SubgroupBroadcastFirst:
        if (plain.isUniform()) return plain;
        [[fallthrough]];
      case Op::SubgroupAll:
      case Op::SubgroupAny:
      case Op::SubgroupAllEqual:
      case Op::SubgroupBallot:
        // One subgroup a part: the result is the part's. (In a workgroup of one gang with k = 1: everybody's.)
        return fn_.subgroupSize == geometry_.lanes ? strides(Kind::kStrided, 0, 0, type) : varying;
      default:
        return varying;
    }
  }
  switch (i->op) {
    case Op::Load:
    case Op::AtomicLoad:
      if (i->mem.space == Space::kLocal) return varying;
      // Memory that others may write meanwhile is the same for those that read it with one instruction.
      if (i->op == Op::AtomicLoad || i->mem.isVolatile) return join(plain, normal({Kind::kAffine, 0, 0}));
      return plain;
    case Op::ImageRead:
    case Op::ImageAccess:
      return varying;
    case Op::FragmentInput:
      return shape(i->operands[0]);
    case Op::FragmentPosition:
    case Op::FragmentCoverage:
    case Op::PrimitiveField:
    case Op::VertexField:
      return varying;
    case Op::ReadClock:
      return normal({Kind::kAffine, 0, 0});
    default:
      if (isAtomicOp(i->op)) return varying;
      break;
  }
  if (!plain.isVarying()) {
    // Operations that keep a stride over parts as well.
    const bool linear = i->op == Op::IAdd || i->op == Op::ISub || i->op == Op::IMul || i->op == Op::Shl;
    if (!linear || plain.kind != Kind::kStrided) return plain;
  }
  const auto arg = [&](size_t n) -> const Shape& { return shape(i->operands[n]); };
  switch (i->op) {
    case Op::IAdd:
      return sum(arg(0), arg(1), 1, type);
    case Op::ISub:
      return sum(arg(0), arg(1), -1, type);
    case Op::IMul:
      for (int side = 0; side < 2; ++side) {
        const Value* c = i->operands[static_cast<size_t>(side)];
        const Shape& s = arg(static_cast<size_t>(1 - side));
        if (isConstant(c) && !s.isVarying()) {
          const int64_t f = signExtend(static_cast<int64_t>(c->bits), type);
          const auto times = [&](int64_t v) {
            return static_cast<int64_t>(static_cast<uint64_t>(v) * static_cast<uint64_t>(f));
          };
          return strides(s.kind, times(s.laneStride), times(s.partStride), type);
        }
      }
      return plain;
    case Op::Shl:
      if (isConstant(i->operands[1]) && !arg(0).isVarying()) {
        const uint64_t n = i->operands[1]->bits % kindBits(type.kind);
        return strides(arg(0).kind, static_cast<int64_t>(static_cast<uint64_t>(arg(0).laneStride) << n),
                       static_cast<int64_t>(static_cast<uint64_t>(arg(0).partStride) << n), type);
      }
      return plain;
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::UShr:
    case Op::UDiv:
    case Op::URem:
      return type.isInt() ? evalBits(i) : varying;
    case Op::ZExt:
    case Op::SExt: {
      // base + lane * stride must not wrap in the narrow type: the value's bound says so for every lane.
      const Shape& s = arg(0);
      const uint64_t half = (1ull << (kindBits(i->operands[0]->type.kind) - 1)) - 1;
      if (s.isVarying() || s.laneStride < 0 || s.partStride < 0 || ranges_.max(i->operands[0]) > half) return varying;
      return s;
    }
    case Op::Trunc:
      return arg(0).isVarying() ? varying : strides(arg(0).kind, arg(0).laneStride, arg(0).partStride, type);
    case Op::Bitcast:
      return type.isInt() && i->operands[0]->type.isInt() ? arg(0) : varying;
    case Op::Select: {
      const Shape& c = arg(0);
      if (!c.sameInPart() || arg(1).isVarying() || arg(2).isVarying()) return varying;
      if (c.sameInGang()) return join(join(arg(1), arg(2)), {c.kind, arg(1).laneStride, arg(1).partStride});
      return arg(1).laneStride == arg(2).laneStride ? strides(Kind::kStrided, arg(1).laneStride, 0, type) : varying;
    }
    default:
      return varying;
  }
}

uint32_t Uniformity::evalAlign(const Inst* i) const {
  const auto arg = [&](size_t n) { return alignLog2(i->operands[n]); };
  const auto P = static_cast<uint32_t>(std::countr_zero(geometry_.lanes));
  switch (i->op) {
    case Op::IAdd:
    case Op::ISub:
    case Op::Or:
    case Op::Xor:
      return std::min(arg(0), arg(1));
    case Op::And:
      return std::max(arg(0), arg(1));
    case Op::IMul:
      return std::min(kMaxAlign, arg(0) + arg(1));
    case Op::Shl:
      return isConstant(i->operands[1])
                 ? std::min<uint32_t>(
                       kMaxAlign, arg(0) + static_cast<uint32_t>(i->operands[1]->bits % kindBits(i->result->type.kind)))
                 : arg(0);
    case Op::UShr: {
      if (!isConstant(i->operands[1])) return 0;
      const auto n = static_cast<uint32_t>(i->operands[1]->bits % kindBits(i->result->type.kind));
      return arg(0) > n ? arg(0) - n : 0;
    }
    case Op::Select:
      return std::min(arg(1), arg(2));
    case Op::SExt:
    case Op::ZExt:
    case Op::Trunc:
      return arg(0);
    case Op::Bitcast:
      return i->operands[0]->type.isInt() ? arg(0) : 0;
    case Op::LocalInvocationIndex:
      return P;
    case Op::LocalInvocationId:
      if (fn_.localSize[i->imm] == 1) return kMaxAlign;
      return i->imm == 0 && fn_.localSize[0] % geometry_.lanes == 0 ? P : 0;
    case Op::SubgroupInvocationId:
      return fn_.subgroupSize == geometry_.lanes ? kMaxAlign : 0;
    default:
      return 0;
  }
}

}  // namespace pumice::shader::passes
