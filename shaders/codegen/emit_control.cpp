// Structured control flow of one gang.
//
// Code stands in the order of the IR. A branch that all lanes of its target take is a jump. Any other branch leaves its
// lanes waiting at the target (Open::pending) and goes on to the next place in that order where lanes can be: the other
// side of an If, the end of a construct, the latch of a loop.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "backend/trace/seeded_fault.h"
#include "shaders/codegen/generator.h"
#include "shaders/codegen/lane_masks.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

constexpr uint32_t kCancelStrip = 64;  // rounds between two looks at the cancel word

}  // namespace

// -- variables ------------------------------------------------------------------------------------------------------

Var Generator::newVar(const Value* v) {
  Var var;
  var.place = Var::Place::kSlots;
  const uint32_t n = formCount(v) * componentsOf(v);
  llvm::IRBuilder<> b(allocaBlock_);
  for (uint32_t i = 0; i < n; ++i) {
    slots_.push_back(b.CreateAlloca(formType(v)));
    var.slots.push_back(slots_.back());
    var.types.push_back(formType(v));
  }
  return var;
}

Var Generator::newMaskVar() {
  Var var;
  var.place = Var::Place::kSlots;
  llvm::IRBuilder<> b(allocaBlock_);
  for (uint32_t j = 0; j < k_; ++j) {
    slots_.push_back(b.CreateAlloca(type(Kind::kBool, lanes_)));
    var.slots.push_back(slots_.back());
    var.types.push_back(type(Kind::kBool, lanes_));
  }
  return var;
}

llvm::Value* Generator::varPointer(const Var& var, size_t i) {
  if (var.place == Var::Place::kSlots) return var.slots[i];
  return bytePointer(gangFrame_, b_.getInt64(var.offset_B + i * 64 * ((var.elementBytes + 63) / 64)));
}

// Masks in memory, P bits. With AVX-512 a mask is a register of its own kind and is loaded and stored as what it is:
// LLVM 19 may move logic back and forth without an end between masks and integers that are bitcast to masks (its issue
// 123333), so no integer may become one. Without AVX-512, LLVM's own form of a mask in memory is slow.
llvm::Value* Generator::loadMask(llvm::Value* pointer) {
  llvm::Type* mask = type(Kind::kBool, lanes_);
  if (lanes_ == 16) return loadLaneMask(b_, features_, pointer);
  if (features_.avx512) return b_.CreateLoad(mask, pointer);
  return b_.CreateBitCast(b_.CreateLoad(b_.getIntNTy(lanes_), pointer), mask);
}

void Generator::storeMask(llvm::Value* mask, llvm::Value* pointer) {
  b_.CreateStore(features_.avx512 ? mask : subgroups_.maskToInteger(mask), pointer);
}

Lowered Generator::readVar(const Var& var) {
  Lowered out;
  for (size_t i = 0; i < var.types.size(); ++i) {
    llvm::Value* pointer = varPointer(var, i);
    const bool bits = var.place == Var::Place::kFrame && var.types[i]->getScalarSizeInBits() == 1;
    if (!bits)
      out.push_back(b_.CreateLoad(var.types[i], pointer));
    else if (var.types[i]->isVectorTy())
      out.push_back(loadMask(pointer));
    else
      out.push_back(b_.CreateTrunc(b_.CreateLoad(b_.getInt8Ty(), pointer), b_.getInt1Ty()));
  }
  return out;
}

void Generator::writeVar(const Var& var, std::span<llvm::Value* const> values) {
  for (size_t i = 0; i < var.types.size(); ++i) {
    llvm::Value* pointer = varPointer(var, i);
    const bool bits = var.place == Var::Place::kFrame && var.types[i]->getScalarSizeInBits() == 1;
    if (!bits)
      b_.CreateStore(values[i], pointer);
    else if (var.types[i]->isVectorTy())
      storeMask(values[i], pointer);
    else
      b_.CreateStore(b_.CreateZExt(values[i], b_.getInt8Ty()), pointer);
  }
}

void Generator::zeroVar(const Var& var) {
  Lowered zeros;
  for (llvm::Type* t : var.types) zeros.push_back(llvm::Constant::getNullValue(t));
  writeVar(var, zeros);
}

Mask Generator::readMask(const Var& var) {
  Mask m;
  for (llvm::Value* v : readVar(var)) m.parts.push_back(v);
  return m;
}

void Generator::writeMask(const Var& var, const Mask& mask) {
  Lowered v;
  for (uint32_t j = 0; j < k_; ++j) v.push_back(partMask(mask, j));
  writeVar(var, v);
}

void Generator::addMask(const Var& var, const Mask& mask) {
  Lowered v = readVar(var);
  for (uint32_t j = 0; j < k_; ++j) v[j] = b_.CreateOr(v[j], partMask(mask, j));
  writeVar(var, v);
}

// -- lane tests -----------------------------------------------------------------------------------------------------

llvm::Value* Generator::anyLane(const Mask& mask) {
  if (mask.all()) return b_.getTrue();
  llvm::Value* any = mask.parts[0];
  for (uint32_t j = 1; j < k_; ++j) any = b_.CreateOr(any, mask.parts[j]);
  return subgroups_.anyLane(any);
}

llvm::Value* Generator::allLanes(const Mask& mask) {
  if (mask.all()) return b_.getTrue();
  llvm::Value* all = mask.parts[0];
  for (uint32_t j = 1; j < k_; ++j) all = b_.CreateAnd(all, mask.parts[j]);
  return subgroups_.allLanes(all);
}

// A comparison of an ascending value with one that is the same in the gang: decided by the first and the last lane, in
// 64 bits, where nothing wraps.
bool Generator::scalarTest(const Value* condition, LaneTest& test) {
  if (shape(condition).sameInGang()) {
    test.all = scalar(condition);
    test.none = b_.CreateNot(test.all);
    return true;
  }
  if (condition->def != Value::Def::kInst) return false;
  const Inst* i = condition->inst;
  if (i->op == Op::Not) {
    if (!scalarTest(i->operands[0], test)) return false;
    std::swap(test.all, test.none);
    return true;
  }
  if (i->op == Op::And || i->op == Op::Or) {
    LaneTest x, y;
    if (!scalarTest(i->operands[0], x) || !scalarTest(i->operands[1], y)) return false;
    if (i->op == Op::And)
      test = {b_.CreateAnd(x.all, y.all), b_.CreateOr(x.none, y.none)};
    else
      test = {b_.CreateOr(x.all, y.all), b_.CreateAnd(x.none, y.none)};
    return true;
  }
  const bool equality = i->op == Op::IEq || i->op == Op::INe;
  const bool isSigned = i->op == Op::SLt || i->op == Op::SLe;
  if (!equality && !isSigned && i->op != Op::ULt && i->op != Op::ULe) return false;
  const Value* a = i->operands[0];
  const Value* b = i->operands[1];
  if (a->type.kind != Kind::kI32) return false;
  const auto ascending = [&](const Value* v) {
    const Shape& s = shape(v);
    return s.kind == Shape::Kind::kAffine && s.laneStride >= 0 && s.partStride >= 0;
  };
  const bool rampFirst = ascending(a) && shape(b).sameInGang();
  if (!rampFirst && !(ascending(b) && shape(a).sameInGang())) return false;
  const Value* ramp = rampFirst ? a : b;
  const Value* fixed = rampFirst ? b : a;
  const auto widen = [&](llvm::Value* v) {
    return isSigned ? b_.CreateSExt(v, b_.getInt64Ty()) : b_.CreateZExt(v, b_.getInt64Ty());
  };
  const int64_t span = shape(ramp).laneStride * int64_t{lanes_ - 1} + shape(ramp).partStride * int64_t{k_ - 1};
  llvm::Value* first = widen(scalar(ramp));
  llvm::Value* last = b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(span)), "", true, true);
  llvm::Value* n = widen(scalar(fixed));
  const int64_t top = isSigned ? INT32_MAX : INT64_C(0xffff'ffff);
  llvm::Value* noWrap = ranges_.maxOfEveryLane(ramp) + static_cast<uint64_t>(span) <= INT32_MAX
                            ? static_cast<llvm::Value*>(b_.getTrue())
                            : b_.CreateICmpSLE(last, b_.getInt64(static_cast<uint64_t>(top)));
  if (equality) {
    llvm::Value* outside = b_.CreateAnd(noWrap, b_.CreateOr(b_.CreateICmpSLT(n, first), b_.CreateICmpSGT(n, last)));
    test = {b_.getFalse(), outside};
    if (i->op == Op::INe) std::swap(test.all, test.none);
    return true;
  }
  const bool strict = i->op == Op::ULt || i->op == Op::SLt;
  if (rampFirst) {  // ramp < n
    test.all = b_.CreateAnd(noWrap, strict ? b_.CreateICmpSLT(last, n) : b_.CreateICmpSLE(last, n));
    test.none = b_.CreateAnd(noWrap, strict ? b_.CreateICmpSGE(first, n) : b_.CreateICmpSGT(first, n));
  } else {  // n < ramp
    test.all = b_.CreateAnd(noWrap, strict ? b_.CreateICmpSLT(n, first) : b_.CreateICmpSLE(n, first));
    test.none = b_.CreateAnd(noWrap, strict ? b_.CreateICmpSGE(n, last) : b_.CreateICmpSGT(n, last));
  }
  return true;
}

// Lanes within `within` whose condition is `truth`.
Mask Generator::conditionMask(const Value* condition, const Mask& within, bool truth) {
  Mask m;
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* c = vector(condition, j);
    if (!truth) c = b_.CreateNot(c);
    m.parts.push_back(within.all() ? c : b_.CreateAnd(within.parts[j], c));
  }
  return m;
}

// -- regions --------------------------------------------------------------------------------------------------------

llvm::BasicBlock* Generator::block(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, llvmFn_);
}

Flow Generator::emitNodes(const Region& r, size_t begin, size_t end, Flow flow) {
  for (size_t n = begin; n < end && !flow.ended; ++n) {
    const Node* node = r.nodes[n];
    if (node->tag == Node::Tag::kConstruct) {
      flow = emitConstruct(static_cast<const Construct*>(node), std::move(flow));
      continue;
    }
    const auto* i = static_cast<const Inst*>(node);
    switch (i->op) {
      case Op::Br:
        emitBranch(i->target, i->operands, flow);
        flow.ended = true;
        break;
      case Op::BrTable:
        emitBranchTable(i, flow);
        flow.ended = true;
        break;
      case Op::Unreachable:
        leave(flow);
        flow.ended = true;
        break;
      default:
        emitInst(i, flow);
        break;
    }
  }
  return flow;
}

Flow Generator::emitConstruct(const Construct* c, Flow flow) {
  switch (c->shape) {
    case Construct::Shape::kBlock:
      return emitBlock(c, std::move(flow));
    case Construct::Shape::kIf:
      return shape(c->condition).sameInGang() ? emitUniformIf(c, std::move(flow)) : emitDivergentIf(c, std::move(flow));
    case Construct::Shape::kLoop:
      emitLoop(c, flow);
      flow.ended = true;
      return flow;
  }
  return flow;
}

Generator::Open& Generator::open(const Construct* c, const Flow& flow) {
  Open o;
  o.c = c;
  o.entry = flow;
  o.end = block(c->shape == Construct::Shape::kLoop ? "latch" : "end");
  o.next = o.end;
  const auto& facts = uniformity_.facts(c);
  if (c->shape == Construct::Shape::kLoop) {
    for (const Value* v : c->params) o.values.push_back(newVar(v));
    if (facts.divergent) o.pending = newMaskVar();
  } else {
    for (const Value* v : c->results) {
      o.values.push_back(newVar(v));
      zeroVar(o.values.back());
    }
    if (facts.losesLanes) {
      o.pending = newMaskVar();
      zeroVar(o.pending);
    }
  }
  open_.push_back(std::move(o));
  return open_.back();
}

// No lane is left here, and none of those that were went to a construct inside the one that `full` names: on to where
// others may be.
void Generator::leave(const Flow& flow) {
  const auto top = static_cast<uint32_t>(open_.size() - 1);
  b_.CreateBr(open_[flow.full > top ? top : flow.full == 0 ? 0 : flow.full - 1].next);
}

// Behind a Block or If whose code is complete.
Flow Generator::finish(const Construct* c, const Flow& before) {
  Open o = std::move(open_.back());
  open_.pop_back();
  Flow flow = before;
  enter(o.end);
  if (llvm::pred_empty(o.end)) {
    b_.CreateUnreachable();
    flow.ended = true;
    return flow;
  }
  if (o.pending) {
    if (uniformity_.facts(c).branches == 0) {
      b_.CreateBr(open_.back().next);
      flow.ended = true;
      return flow;
    }
    flow.mask = readMask(o.pending);
    flow.full = static_cast<uint32_t>(open_.size());
    llvm::BasicBlock* some = block("some");
    b_.CreateCondBr(anyLane(flow.mask), some, open_.back().next);
    enter(some);
    flow.nonEmpty = true;
  }
  for (size_t i = 0; i < c->results.size(); ++i) define(c->results[i], readVar(o.values[i]), Level::kHere);
  return flow;
}

Flow Generator::emitBlock(const Construct* c, Flow flow) {
  open(c, flow);
  Flow inside = flow;
  inside.full = std::min(flow.full, uniformity_.depth(c));
  emitNodes(c->body, 0, c->body.nodes.size(), inside);
  return finish(c, flow);
}

void Generator::emitSide(const Region& r, const Flow& flow, llvm::BasicBlock* next) {
  open_.back().next = next;
  emitNodes(r, 0, r.nodes.size(), flow);
}

Flow Generator::emitUniformIf(const Construct* c, Flow flow) {
  llvm::Value* condition = scalar(c->condition);
  Open& o = open(c, flow);
  llvm::BasicBlock* end = o.end;
  Flow inside = flow;
  inside.full = std::min(flow.full, uniformity_.depth(c));
  llvm::BasicBlock* then = block("then");
  llvm::BasicBlock* otherwise = block("else");
  b_.CreateCondBr(condition, then, otherwise);
  enter(then);
  emitSide(c->body, inside, end);
  enter(otherwise);
  emitSide(c->otherwise, inside, end);
  return finish(c, flow);
}

namespace {

uint32_t nodeCount(const Region& r) {
  uint32_t n = 0;
  for (const Node* node : r.nodes) {
    ++n;
    if (node->tag == Node::Tag::kConstruct) {
      const auto* c = static_cast<const Construct*>(node);
      n += nodeCount(c->body) + nodeCount(c->otherwise);
    }
  }
  return n;
}

bool touchesMemory(const Region& r) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [](const Node* node) {
    if (node->tag == Node::Tag::kInst) return isMemoryOp(static_cast<const Inst*>(node)->op);
    const auto* c = static_cast<const Construct*>(node);
    return touchesMemory(c->body) || touchesMemory(c->otherwise);
  });
}

bool hasLoop(const Region& r) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [](const Node* node) {
    if (node->tag == Node::Tag::kInst) return false;
    const auto* c = static_cast<const Construct*>(node);
    return c->shape == Construct::Shape::kLoop || hasLoop(c->body) || hasLoop(c->otherwise);
  });
}

}  // namespace

bool Generator::isLocalTo(const Value* v, const Region& r) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [&](const Node* node) {
    return node->tag == Node::Tag::kInst && static_cast<const Inst*>(node)->result == v;
  });
}

// Worth a branch-free emission under its mask: a handful of operations that cannot do harm with no lane active.
bool Generator::cheapSide(const Region& r) const {
  if (r.nodes.size() > 6) return false;
  uint32_t moved = 0;
  for (const Node* node : r.nodes) {
    if (node->tag == Node::Tag::kConstruct) return false;
    const auto* i = static_cast<const Inst*>(node);
    if (i->op == Op::Br) {
      moved = static_cast<uint32_t>(i->operands.size());
    } else if (!OpsEmitter::handles(i->op) && i->op != Op::Construct && i->op != Op::Extract) {
      return false;
    } else if (i->op == Op::FDiv || i->op == Op::FSqrt || i->op == Op::UDiv || i->op == Op::SDiv || i->op == Op::URem ||
               i->op == Op::SRem) {
      return false;
    }
  }
  return r.nodes.size() + moved <= 8;
}

// A second copy for the case that all lanes go there: its memory operations are unmasked and its branches are jumps.
bool Generator::worthFastCopy(const Region& r) const {
  return (touchesMemory(r) || hasLoop(r)) && nodeCount(r) * k_ <= fastCopyBudget_;
}

// The scalar arithmetic of a region, in front of it: harmless, and ranges of its accesses can be checked there.
void Generator::emitEarly(const Region& r) {
  for (const Node* node : r.nodes) {
    if (node->tag == Node::Tag::kConstruct) return;
    const auto* i = static_cast<const Inst*>(node);
    const bool push = i->op == Op::Load && i->mem.space == Space::kPush && shape(i->result).isUniform();
    const bool pure = OpsEmitter::handles(i->op) || i->op == Op::BufferDescriptor || push;
    if (!pure || shape(i->result).isVarying() || shape(i->result).kind == Shape::Kind::kStrided) continue;
    if (i->op == Op::BufferDescriptor && !i->operands.empty()) continue;
    const bool known = std::all_of(i->operands.begin(), i->operands.end(), [&](const Value* v) {
      return v->def == Value::Def::kConstant || !isLocalTo(v, r) || emitted_.contains(v->inst);
    });
    if (!known) continue;
    emitInst(i, Flow{});
    emitted_.insert(i);
  }
}

// i1: every access of a region to neighbouring addresses is in range for the whole gang; they are in inRange_ then.
// nullptr if there is none.
llvm::Value* Generator::allInRange(const Region& r) {
  llvm::Value* all = nullptr;
  for (const Node* node : r.nodes) {
    if (node->tag == Node::Tag::kConstruct) break;
    const auto* i = static_cast<const Inst*>(node);
    if ((i->op != Op::Load && i->op != Op::Store) || i->mem.space != Space::kBuffer) continue;
    const auto known = [&](const Value* v) {
      return v->def == Value::Def::kConstant || !isLocalTo(v, r) || emitted_.contains(v->inst);
    };
    if (!known(i->operands[0]) || !known(i->operands[1])) continue;
    if (!shape(i->operands[0]).sameInGang() || shape(i->operands[1]).kind > Shape::Kind::kAffine) continue;
    const Address a = resolve(i);
    bool wholeGang = false;
    if (a.provenActive || !contiguous(a, &wholeGang) || !wholeGang) continue;
    llvm::Value* ok = contiguousRange(a, 0, k_);
    all = all ? b_.CreateAnd(all, ok) : ok;
    inRange_.insert(i);
  }
  return all;
}

Flow Generator::emitDivergentIf(const Construct* c, Flow flow) {
  LaneTest test{};
  const bool thenFast = flow.mask.all() && worthFastCopy(c->body);
  const bool elseFast = flow.mask.all() && worthFastCopy(c->otherwise);
  const bool scalars = flow.mask.all() && scalarTest(c->condition, test);
  Mask condition;
  if (!scalars) condition = conditionMask(c->condition, Mask{}, true);
  open(c, flow);
  llvm::BasicBlock* end = open_.back().end;

  if (thenFast || elseFast || scalars) {
    if (!scalars) {
      test.all = allLanes(condition);
      test.none = b_.CreateNot(anyLane(condition));
    }
    Flow whole = flow;
    whole.full = std::min(flow.full, uniformity_.depth(c));
    llvm::BasicBlock* masked = block("mixed");
    const auto copy = [&](llvm::Value* decided, const Region& r, bool fast, bool trivial) {
      if (!fast && !trivial) return;
      if (fast) {
        fastCopyBudget_ -= std::min(fastCopyBudget_, nodeCount(r) * k_);
        // Out of range is as rare as the edge: the masked copy serves both, and this one checks nothing.
        if (scalars) {
          emitEarly(r);
          if (llvm::Value* inRange = allInRange(r)) decided = b_.CreateAnd(decided, inRange);
        }
      }
      llvm::BasicBlock* all = block("all");
      llvm::BasicBlock* rest = block("rest");
      b_.CreateCondBr(decided, all, rest);
      enter(all);
      emitSide(r, whole, end);
      inRange_.clear();
      enter(rest);
    };
    const auto trivial = [&](const Region& r) { return scalars && nodeCount(r) <= 3 && !touchesMemory(r); };
    copy(test.all, c->body, thenFast, trivial(c->body));
    copy(test.none, c->otherwise, elseFast, trivial(c->otherwise));
    b_.CreateBr(masked);
    enter(masked);
    if (scalars) condition = conditionMask(c->condition, Mask{}, true);
  }
  Flow mixed = flow;
  mixed.cold |= scalars && (thenFast || elseFast);
  emitMaskedSides(c, mixed, condition);
  emitted_.clear();
  return finish(c, flow);
}

void Generator::emitMaskedSides(const Construct* c, const Flow& flow, const Mask& condition) {
  llvm::BasicBlock* end = open_.back().end;
  Mask on, off;
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* negated = PUMICE_SEEDED_FAULT("else-for-all")
                               ? llvm::Constant::getAllOnesValue(condition.parts[j]->getType())
                               : b_.CreateNot(condition.parts[j]);
    on.parts.push_back(flow.mask.all() ? condition.parts[j] : b_.CreateAnd(flow.mask.parts[j], condition.parts[j]));
    off.parts.push_back(flow.mask.all() ? negated : b_.CreateAnd(flow.mask.parts[j], negated));
  }
  const auto side = [&](const Region& r, const Mask& mask, llvm::BasicBlock* next) {
    Flow inside;
    inside.mask = mask;
    inside.cold = flow.cold;
    inside.full = uniformity_.depth(c) + 1;
    inside.nonEmpty = !cheapSide(r);
    if (inside.nonEmpty) {
      llvm::BasicBlock* some = block("side");
      b_.CreateCondBr(anyLane(mask), some, next);
      enter(some);
    }
    emitSide(r, inside, next);
  };
  llvm::BasicBlock* second = block("other");
  side(c->body, on, second);
  enter(second);
  side(c->otherwise, off, end);
}

// One for the whole function.
llvm::BasicBlock* Generator::leaveBlock() {
  if (leaveBlock_) return leaveBlock_;
  leaveBlock_ = block("cancel.leave");
  const auto here = b_.saveIP();
  enter(leaveBlock_);
  llvm::Value* runtime = b_.CreateLoad(b_.getPtrTy(), env_);
  llvm::Value* leaveFn =
      b_.CreateLoad(b_.getPtrTy(), bytePointer(runtime, b_.getInt64(offsetof(abi::RuntimeTable, leave))));
  auto* fnType = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  b_.CreateCall(fnType, leaveFn, {env_})->setDoesNotReturn();
  b_.CreateUnreachable();
  b_.restoreIP(here);
  return leaveBlock_;
}

// Strip-mined: one look per 64 rounds of all such loops together.
void Generator::emitCancelCheck() {
  llvm::Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), cancelCounter_), b_.getInt32(1));
  b_.CreateStore(left, cancelCounter_);
  llvm::BasicBlock* look = block("cancel.look");
  llvm::BasicBlock* on = block("loop.go");
  llvm::MDBuilder md(b_.getContext());
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), look, on, md.createBranchWeights(1, 1000));
  enter(look);
  b_.CreateStore(b_.getInt32(kCancelStrip), cancelCounter_);
  auto* word = b_.CreateAlignedLoad(b_.getInt32Ty(), cancelWord_, llvm::Align(4));
  word->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateCondBr(b_.CreateICmpNE(word, b_.getInt32(0)), leaveBlock(), on, md.createBranchWeights(1, 1000));
  enter(on);
}

void Generator::emitLoop(const Construct* c, Flow flow) {
  const bool divergent = uniformity_.facts(c).divergent;
  const uint32_t depth = uniformity_.depth(c);
  Open& o = open(c, flow);
  llvm::BasicBlock* latch = o.end;
  for (size_t p = 0; p < c->params.size(); ++p) writeVar(o.values[p], formsLike(c->initial[p], c->params[p]));
  if (divergent) writeMask(o.pending, flow.mask);
  llvm::BasicBlock* header = block("loop");
  b_.CreateBr(header);

  enter(header);
  Flow inside = flow;
  inside.nonEmpty = true;
  inside.full = divergent ? depth : std::min(flow.full, depth);
  if (divergent) {
    inside.mask = readMask(o.pending);
    zeroVar(o.pending);
  }
  for (size_t p = 0; p < c->params.size(); ++p) define(c->params[p], readVar(o.values[p]), Level::kHere);
  const uint64_t trips = ranges_.tripCount(c);
  if (trips == 0 || trips > kUncheckedTrips) emitCancelCheck();
  emitNodes(c->body, 0, c->body.nodes.size(), inside);

  Var pending = open_.back().pending;
  open_.pop_back();
  enter(latch);
  if (llvm::pred_empty(latch)) {
    b_.CreateUnreachable();
    return;
  }
  if (divergent)
    b_.CreateCondBr(anyLane(readMask(pending)), header, open_.back().next);
  else
    b_.CreateBr(header);
}

// -- branches -------------------------------------------------------------------------------------------------------

// `v` in the machine form that `like` has (which contains that of v).
Lowered Generator::formsLike(const Value* v, const Value* like) {
  Lowered out;
  const Shape& s = shape(like);
  for (uint32_t c = 0; c < componentsOf(like); ++c)
    for (uint32_t j = 0; j < formCount(like); ++j) out.push_back(s.isVarying() ? vector(v, j, c) : partScalar(v, j, c));
  return out;
}

void Generator::assignValues(Open& target, std::span<Value* const> values, const Flow& flow, bool uniform) {
  const auto& facts = uniformity_.facts(target.c);
  const bool isLoop = target.c->shape == Construct::Shape::kLoop;
  const auto& formals = isLoop ? target.c->params : target.c->results;
  // Lanes that came here earlier keep what they brought. A single site that is passed once needs no blending: whoever
  // goes on there has come from it.
  const bool blend = !uniform && !flow.mask.all() && !(facts.branches == 1 && (isLoop || !facts.branchInInnerLoop));
  std::vector<Lowered> next;
  for (size_t i = 0; i < values.size(); ++i) next.push_back(formsLike(values[i], formals[i]));
  for (size_t i = 0; i < values.size(); ++i) {
    if (blend && shape(formals[i]).isVarying()) {
      const Lowered old = readVar(target.values[i]);
      for (size_t f = 0; f < old.size(); ++f) next[i][f] = b_.CreateSelect(flow.mask.parts[f % k_], next[i][f], old[f]);
    }
    writeVar(target.values[i], next[i]);
  }
}

void Generator::emitBranch(const Construct* target, std::span<Value* const> values, const Flow& flow) {
  const uint32_t depth = uniformity_.depth(target);
  Open& o = open_[depth];
  const bool uniform = flow.full <= depth && !isGroupLevel(target);
  assignValues(o, values, flow, uniform);
  if (o.pending) {
    if (uniform)
      writeMask(o.pending, flow.mask);
    else
      addMask(o.pending, flow.mask);
  }
  if (uniform)
    b_.CreateBr(o.end);
  else
    leave(flow);
}

void Generator::emitBranchTable(const Inst* i, const Flow& flow) {
  const Value* selector = i->operands[0];
  if (shape(selector).sameInGang()) {
    llvm::BasicBlock* otherwise = block("default");
    auto* sw = b_.CreateSwitch(scalar(selector), otherwise, static_cast<unsigned>(i->cases.size()));
    for (size_t c = 0; c + 1 < i->cases.size(); ++c) {
      auto* value = llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(type(selector->type.kind), i->cases[c].value));
      if (sw->findCaseValue(value) != sw->case_default()) continue;  // the first one counts
      llvm::BasicBlock* b = block("case");
      sw->addCase(value, b);
      enter(b);
      emitBranch(i->cases[c].target, {}, flow);
    }
    enter(otherwise);
    emitBranch(i->cases.back().target, {}, flow);
    return;
  }
  addTableMasks(i, flow);
  b_.CreateBr(open_.back().next);
}

// Each lane waits at the target of its case.
void Generator::addTableMasks(const Inst* i, const Flow& flow) {
  const Value* selector = i->operands[0];
  Mask rest;
  for (uint32_t j = 0; j < k_; ++j) rest.parts.push_back(partMask(flow.mask, j));
  for (size_t c = 0; c < i->cases.size(); ++c) {
    Mask here;
    if (c + 1 == i->cases.size()) {
      here = rest;
    } else {
      for (uint32_t j = 0; j < k_; ++j) {
        llvm::Value* value = llvm::ConstantInt::get(type(selector->type.kind), i->cases[c].value);
        llvm::Value* equal = b_.CreateICmpEQ(vector(selector, j), splat(value));
        here.parts.push_back(b_.CreateAnd(rest.parts[j], equal));
        rest.parts[j] = b_.CreateAnd(rest.parts[j], b_.CreateNot(equal));
      }
    }
    const Open& o = open_[uniformity_.depth(i->cases[c].target)];
    if (o.pending) addMask(o.pending, here);
  }
}

}  // namespace pumice::shader::codegen
