#include "shaders/codegen/plan.h"

#include <algorithm>
#include <cmath>

#include "shaders/ir/image_access.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

// What an image access is emitted as, roughly: each of its likely forms.
constexpr uint32_t kImageOperations = 20;

// The most varying values that live at one point, in the order of the text; values that a loop uses from outside live
// to its end. An estimate: the machine's scheduler moves things.
class Pressure {
 public:
  Pressure(const Function& fn, const passes::Uniformity& u)
      : u_(u), first_(fn.valueCount(), 0), last_(fn.valueCount(), 0), bits_(fn.valueCount(), 0) {
    region(fn.body->body);
    std::vector<int64_t> change(position_ + 2, 0);
    for (uint32_t v = 0; v < fn.valueCount(); ++v) {
      if (bits_[v] == 0 || last_[v] <= first_[v]) continue;
      change[first_[v]] += bits_[v];
      change[last_[v]] -= bits_[v];
    }
    int64_t live = 0;
    for (const int64_t c : change) {
      live += c;
      maxBits_ = std::max(maxBits_, live);
    }
  }

  // In 32-bit values of a lane.
  double maxLive() const { return static_cast<double>(maxBits_) / 32; }
  uint32_t operations() const { return operations_; }

 private:
  void def(const Value* v) {
    first_[v->id] = position_;
    last_[v->id] = position_;
    if (!u_.shape(v).isVarying() || v->type.isBool()) return;
    const uint32_t n =
        v->type.kind == Kind::kBufferRef ? 128 : std::max(32u, kindBits(v->type.kind)) * v->type.components;
    bits_[v->id] = n;
  }
  void use(const Value* v) {
    if (v->def == Value::Def::kConstant) return;
    uint32_t at = position_;
    for (const auto& [start, end] : loops_)
      if (first_[v->id] < start) at = std::max(at, end);
    last_[v->id] = std::max(last_[v->id], at);
  }
  void region(const Region& r) {
    for (const Node* n : r.nodes) {
      ++position_;
      if (n->tag == Node::Tag::kInst) {
        const auto* i = static_cast<const Inst*>(n);
        for (const Value* v : i->operands) use(v);
        if (i->result) def(i->result);
        if (!i->result || u_.shape(i->result).isVarying()) operations_ += isImageOp(i->op) ? kImageOperations : 1;
        continue;
      }
      const auto* c = static_cast<const Construct*>(n);
      if (c->condition) use(c->condition);
      for (const Value* v : c->initial) use(v);
      const uint32_t start = position_;
      for (const Value* v : c->params) def(v);
      if (c->shape == Construct::Shape::kLoop) {
        // The loop's extent is known only behind it: walk once for the length, then for the uses.
        const uint32_t length = size(c->body);
        loops_.emplace_back(start, start + length);
        for (const Value* v : c->params) last_[v->id] = start + length;
        region(c->body);
        loops_.pop_back();
      } else {
        region(c->body);
        region(c->otherwise);
      }
      for (const Value* v : c->results) def(v);
    }
  }
  static uint32_t size(const Region& r) {
    uint32_t n = 0;
    for (const Node* node : r.nodes) {
      ++n;
      if (node->tag != Node::Tag::kConstruct) continue;
      const auto* c = static_cast<const Construct*>(node);
      n += size(c->body) + size(c->otherwise);
    }
    return n;
  }

  const passes::Uniformity& u_;
  std::vector<uint32_t> first_, last_, bits_;
  std::vector<std::pair<uint32_t, uint32_t>> loops_;
  uint32_t position_ = 0, operations_ = 0;
  int64_t maxBits_ = 0;
};

bool hasBarrier(const Region& r) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [](const Node* n) {
    if (n->tag == Node::Tag::kInst)
      return static_cast<const Inst*>(n)->op == Op::ControlBarrier && static_cast<const Inst*>(n)->imm == 0;
    const auto* c = static_cast<const Construct*>(n);
    return hasBarrier(c->body) || hasBarrier(c->otherwise);
  });
}

// `if (i < k)` between barriers: a gang of which only a part goes there works as long as a full one, so narrower gangs
// leave out more.
bool hasDivergentIf(const Region& r, const passes::Uniformity& u) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [&](const Node* n) {
    if (n->tag == Node::Tag::kInst) return false;
    const auto* c = static_cast<const Construct*>(n);
    return (c->condition && u.shape(c->condition).isVarying()) || hasDivergentIf(c->body, u) ||
           hasDivergentIf(c->otherwise, u);
  });
}

constexpr uint32_t kMaxVectors = 16;
constexpr uint32_t kMaxVectorsOfDivergentGroups = 4;
// Emitted operations (times k) beyond which compile time matters more than interleaving.
constexpr uint32_t kOperationBudget = 1500;

}  // namespace

Plan makePlan(const Function& fn, const passes::Ranges& ranges, const TargetOptions& target) {
  Plan plan;
  plan.invocations = fn.localSize[0] * fn.localSize[1] * fn.localSize[2];
  plan.hasBarrier = hasBarrier(fn.body->body);
  plan.geometry.lanes = std::max(fn.subgroupSize, target.vectorLanes);
  if (fn.stage == Stage::kFragment) {
    // A vector of a run is one part, whatever the machine's vectors are: quads of a mix are quarters of it.
    plan.geometry = {plan.invocations, 1, 1};
    return plan;
  }
  const uint32_t parts = (plan.invocations + plan.geometry.lanes - 1) / plan.geometry.lanes;

  uint32_t want = target.gangVectors;
  if (want == 0 && target.tier == Tier::kQuick) want = 1;
  if (want == 0) {
    const passes::Uniformity u(fn, ranges, {plan.geometry.lanes, 1, parts});
    const Pressure pressure(fn, u);
    const double registers = target.vectorLanes == 16 ? 32 : 16;
    const double perValue = static_cast<double>(plan.geometry.lanes) / target.vectorLanes;
    const double k = registers / std::max(1.0, pressure.maxLive() * perValue);
    want = static_cast<uint32_t>(std::clamp(k, 1.0, 8.0));
    want = std::min(want, std::max(1u, kOperationBudget / std::max(1u, pressure.operations())));
    if (plan.hasBarrier && hasDivergentIf(fn.body->body, u)) want = std::min(want, kMaxVectorsOfDivergentGroups);
  }
  want = std::clamp(want, 1u, std::min(kMaxVectors, parts));
  while (parts % want != 0) --want;
  plan.geometry.vectors = want;
  plan.geometry.gangs = parts / want;
  return plan;
}

namespace {

// Cycles of one operation on one part, roughly.
double cost(const Inst* i, const passes::Uniformity& u) {
  if (i->result && i->result->def == Value::Def::kInst && !u.shape(i->result).isVarying()) return 0.3;
  switch (i->op) {
    case Op::Load:
    case Op::Store: {
      const Value* index = i->operands[addressOperandCount(i->mem.space) - 1];
      return u.shape(index).isVarying() ? 16 : 2;
    }
    case Op::FDiv:
    case Op::FSqrt:
      return 10;
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem:
      return 30;
    case Op::ImageRead:
    case Op::ImageAccess:
    case Op::ImageWrite:
      return ir::imageAccess(*i).hasSampler() ? 60 : 20;
    default:
      return isAtomicOp(i->op) ? 100 : isSubgroupOp(i->op) ? 10 : 1;
  }
}

double cost(const Region& r, const passes::Ranges& ranges, const passes::Uniformity& u) {
  double sum = 0;
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kInst) {
      sum += cost(static_cast<const Inst*>(n), u);
      continue;
    }
    const auto* c = static_cast<const Construct*>(n);
    double inside = cost(c->body, ranges, u) + cost(c->otherwise, ranges, u);
    if (c->shape == Construct::Shape::kLoop) {
      const uint64_t trips = ranges.tripCount(c);
      inside *= trips == 0 ? 32 : std::min<double>(static_cast<double>(trips), 65536);
    }
    sum += inside;
  }
  return sum;
}

}  // namespace

uint32_t estimateGroupCost_ns(const Function& fn, const passes::Ranges& ranges, const passes::Uniformity& uniformity,
                              const Plan& plan, const TargetFeatures& features) {
  constexpr double kCyclesPer_ns = 3;
  const double parts = plan.geometry.vectors * plan.geometry.gangs;
  const double split = static_cast<double>(plan.geometry.lanes) / features.vectorLanes;
  const double cycles = cost(fn.body->body, ranges, uniformity) * parts * split;
  return static_cast<uint32_t>(std::clamp(cycles / kCyclesPer_ns, 1.0, 4e9));
}

}  // namespace pumice::shader::codegen
