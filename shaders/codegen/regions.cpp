// Workgroups of several gangs with barriers. Constructs that contain a barrier, or from which a group-uniform branch
// leads out to one that does, are *group level*: emitted once, with real control flow that the whole workgroup shares.
// Between barriers and group-level constructs lie *runs*: sequences of barrier-free nodes, each a loop over the gangs.
// What one run computes and another reads lives in the gang's block of the worker's frame; what is the same for the
// workgroup stays a scalar.
//
// If lanes can be lost at group level (a divergent return in front of a barrier, which the API forbids but programs
// do), every gang's mask lives in the frame too (dynamicMasks_).
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

constexpr uint32_t kGroupUse = ~0u;  // a "run" of uses by group-level control flow
constexpr int kRecomputeDepth = 4;

bool isBarrier(const Node* n) {
  if (n->tag != Node::Tag::kInst) return false;
  const auto* i = static_cast<const Inst*>(n);
  return i->op == Op::ControlBarrier && i->imm == 0;
}

bool encloses(const Construct* outer, const Construct* inner) {
  for (; inner; inner = inner->parent)
    if (inner == outer) return true;
  return false;
}

bool leavesConstruct(const Region& r, const Construct* c) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kConstruct) {
      const auto* inner = static_cast<const Construct*>(n);
      if (leavesConstruct(inner->body, c) || leavesConstruct(inner->otherwise, c)) return true;
      continue;
    }
    const auto* i = static_cast<const Inst*>(n);
    if (i->op == Op::Br && !encloses(c, i->target)) return true;
    for (const SwitchCase& s : i->cases)
      if (!encloses(c, s.target)) return true;
  }
  return false;
}

}  // namespace

// -- analysis -------------------------------------------------------------------------------------------------------

void Generator::findGroupLevel(const Region& r) {
  for (const Node* n : r.nodes) {
    if (n->tag != Node::Tag::kConstruct) continue;
    const auto* c = static_cast<const Construct*>(n);
    bool group = uniformity_.facts(c).containsBarrier;
    if (!group && (leavesConstruct(c->body, c) || leavesConstruct(c->otherwise, c))) {
      group = !uniformity_.groupFacts(c).losesLanes && !uniformity_.facts(c).losesLanes;
      dynamicMasks_ |= !group;
    }
    if (!group) continue;
    if (uniformity_.groupFacts(c).losesLanes || uniformity_.facts(c).losesLanes) dynamicMasks_ = true;
    if (c->condition && !uniformity_.shape(c->condition).isUniform()) dynamicMasks_ = true;
    groupLevel_[c->id] = 1;
    findGroupLevel(c->body);
    findGroupLevel(c->otherwise);
  }
  if (r.nodes.empty() || r.nodes.back()->tag != Node::Tag::kInst) return;
  const auto* last = static_cast<const Inst*>(r.nodes.back());
  if (last->op == Op::BrTable && !uniformity_.shape(last->operands[0]).isUniform()) dynamicMasks_ = true;
}

void Generator::useIn(const Value* v, uint32_t run) {
  if (v->def == Value::Def::kConstant) return;
  if (definedIn_[v->id] != run) crosses_[v->id] = 1;
}

// Everything inside a node of a run belongs to it.
void Generator::walkRun(const Node* node, uint32_t run) {
  if (node->tag == Node::Tag::kInst) {
    const auto* i = static_cast<const Inst*>(node);
    for (const Value* v : i->operands) useIn(v, run);
    if (i->result) definedIn_[i->result->id] = run;
    return;
  }
  const auto* c = static_cast<const Construct*>(node);
  if (c->condition) useIn(c->condition, run);
  for (const Value* v : c->initial) useIn(v, run);
  for (const Value* v : c->params) definedIn_[v->id] = run;
  for (const Value* v : c->results) definedIn_[v->id] = run;
  for (const Node* n : c->body.nodes) walkRun(n, run);
  for (const Node* n : c->otherwise.nodes) walkRun(n, run);
}

void Generator::findCrossings(const Region& r, uint32_t& run) {
  ++run;
  for (const Node* n : r.nodes) {
    if (isBarrier(n)) {
      ++run;
      continue;
    }
    if (n->tag == Node::Tag::kConstruct && groupLevel_[static_cast<const Construct*>(n)->id]) {
      const auto* c = static_cast<const Construct*>(n);
      if (c->condition) useIn(c->condition, kGroupUse);
      for (const Value* v : c->initial) useIn(v, kGroupUse);
      findCrossings(c->body, run);
      findCrossings(c->otherwise, run);
      ++run;
      continue;
    }
    walkRun(n, run);
    if (n->tag == Node::Tag::kInst && static_cast<const Inst*>(n)->op == Op::BrTable)
      useIn(static_cast<const Inst*>(n)->operands[0], kGroupUse);
  }
}

// -- values between runs --------------------------------------------------------------------------------------------

Var Generator::inFrame(Var var) {
  var.place = Var::Place::kFrame;
  var.slots.clear();
  const llvm::DataLayout& layout = module_.getDataLayout();
  for (llvm::Type* t : var.types)
    var.elementBytes = std::max(var.elementBytes, static_cast<uint32_t>(layout.getTypeAllocSize(t).getFixedValue()));
  var.offset_B = gangFrameBytes_;
  gangFrameBytes_ += static_cast<uint32_t>(var.types.size()) * ((var.elementBytes + 63) / 64 * 64);
  return var;
}

Var Generator::frameVar(const Value* v) {
  Var var;
  var.types.assign(size_t{formCount(v)} * componentsOf(v), formType(v));
  return inFrame(var);
}

Var Generator::frameMaskVar() {
  Var var;
  var.types.assign(k_, type(Kind::kBool, lanes_));
  return inFrame(var);
}

// Cheap enough to compute again in every run instead of keeping it: built-in values and a little arithmetic on them and
// on uniform values.
bool Generator::canRecompute(const Value* v, int budget) const {
  if (level(v) != Level::kHere) return true;
  if (v->def != Value::Def::kInst || budget <= 0) return false;
  const Inst* i = v->inst;
  if (i->op >= Op::LocalInvocationId && i->op <= Op::SubgroupInvocationId) return true;
  if (!OpsEmitter::handles(i->op)) return false;
  for (const Value* o : i->operands)
    if (!canRecompute(o, budget - 1)) return false;
  return true;
}

const Var& Generator::crossingVar(const Value* v) {
  Var& var = crossingVars_[v->id];
  if (!var) var = shape(v).isUniform() ? newVar(v) : frameVar(v);
  return var;
}

void Generator::storeCrossing(const Value* v) {
  if (canRecompute(v, kRecomputeDepth)) return;
  writeVar(crossingVar(v), values_[v->id]);
}

const Lowered& Generator::crossing(const Value* v) {
  llvm::BasicBlock* saved = b_.GetInsertBlock();
  const bool atEntry = saved == runEntry_;
  enter(runEntry_);
  if (!crossingVars_[v->id] && canRecompute(v, kRecomputeDepth)) {
    for (const Value* o : v->inst->operands) lowered(o);
    const uint8_t crosses = crosses_[v->id];
    crosses_[v->id] = 0;
    emitInst(v->inst, Flow{});
    crosses_[v->id] = crosses;
  } else {
    values_[v->id] = readVar(crossingVar(v));
    epochs_[v->id] = epoch_;
  }
  runEntry_ = b_.GetInsertBlock();
  enter(atEntry ? runEntry_ : saved);
  return values_[v->id];
}

// -- runs -----------------------------------------------------------------------------------------------------------

// A loop over the gangs. `body` emits one gang and jumps to `next` or falls off. Code in front of it may still be added
// (levelBlocks_[kRun]), and at the start of each round (runEntry_).
void Generator::gangLoop(llvm::function_ref<void(llvm::BasicBlock* next)> body) {
  ++epoch_;
  levelBlocks_[2] = b_.GetInsertBlock();
  llvm::BasicBlock* head = block("run");
  llvm::BasicBlock* inside = block("run.body");
  llvm::BasicBlock* next = block("run.next");
  llvm::BasicBlock* after = block("run.done");
  enter(head);
  gang_ = b_.CreateLoad(b_.getInt32Ty(), gangCounter_, "gang.index");
  gangFrame_ = bytePointer(frame_, b_.CreateMul(b_.CreateZExt(gang_, b_.getInt64Ty()), gangFrameStride_));
  llvm::Value* gang = gang_;
  runEntry_ = head;
  for (Open& o : open_) o.next = next;
  enter(inside);
  body(next);
  b_.CreateBr(next);

  enter(runEntry_);
  b_.CreateBr(inside);
  enter(levelBlocks_[2]);
  b_.CreateStore(b_.getInt32(0), gangCounter_);
  b_.CreateBr(head);
  enter(next);
  llvm::Value* count = b_.CreateAdd(gang, b_.getInt32(1));
  b_.CreateStore(count, gangCounter_);
  b_.CreateCondBr(b_.CreateICmpULT(count, b_.getInt32(plan_.geometry.gangs)), head, after);
  enter(after);
  ++epoch_;
}

// True: the branch's value is known at group level and needs no copy per gang.
bool Generator::atGroupLevel(const Value* formal, const Value* v) const {
  return shape(formal).isUniform() && level(v) != Level::kHere;
}

void Generator::emitRun(const Region& r, size_t begin, size_t end, const Inst* terminator) {
  const Construct* target = terminator && terminator->op == Op::Br ? terminator->target : nullptr;
  const std::vector<Value*>* formals = nullptr;
  bool copies = dynamicMasks_ && target;
  if (target) {
    formals = target->shape == Construct::Shape::kLoop ? &target->params : &target->results;
    // Values of the run itself get their level only when they are emitted: those of uniform shape may turn out to be
    // known at group level, but then a copy per gang does no harm.
    for (size_t i = 0; i < formals->size(); ++i) copies |= !atGroupLevel((*formals)[i], terminator->operands[i]);
  }
  if (begin == end && !copies) {
    if (target)
      for (size_t i = 0; i < formals->size(); ++i)
        writeVar(open_[uniformity_.depth(target)].values[i], formsLike(terminator->operands[i], (*formals)[i]));
    return;
  }
  gangLoop([&](llvm::BasicBlock* next) {
    Flow flow;
    if (dynamicMasks_) {
      flow.mask = readMask(currentMask_);
      flow.full = static_cast<uint32_t>(open_.size());
      llvm::BasicBlock* some = block("run.some");
      b_.CreateCondBr(anyLane(flow.mask), some, next);
      enter(some);
      zeroVar(currentMask_);
    } else {
      flow.mask = baseMask();
    }
    flow = emitNodes(r, begin, end, flow);
    if (flow.ended) {
      enter(block("dead"));
      return;
    }
    if (target && dynamicMasks_) {
      Open& o = open_[uniformity_.depth(target)];
      assignValues(o, terminator->operands, flow, false);
      addMask(o.pending, flow.mask);
    } else if (target) {
      std::vector<Lowered> values;
      for (size_t i = 0; i < formals->size(); ++i) values.push_back(formsLike(terminator->operands[i], (*formals)[i]));
      for (size_t i = 0; i < formals->size(); ++i) writeVar(open_[uniformity_.depth(target)].values[i], values[i]);
    } else if (dynamicMasks_) {
      writeMask(currentMask_, flow.mask);
    }
  });
}

// -- group-level control flow ---------------------------------------------------------------------------------------

void Generator::emitGroup() {
  groupLevel_[fn_.body->id] = 1;
  findGroupLevel(fn_.body->body);
  uint32_t run = 0;
  findCrossings(fn_.body->body, run);
  if (localBytes() != 0) gangLoop([&](llvm::BasicBlock*) { emitZeroLocals(); });
  if (dynamicMasks_) {
    currentMask_ = frameMaskVar();
    gangLoop([&](llvm::BasicBlock*) { writeMask(currentMask_, baseMask()); });
  }
  openGroupLevel(fn_.body);
  emitGroupRegion(fn_.body->body);
  enter(open_.back().end);
  open_.pop_back();
}

void Generator::openGroupLevel(const Construct* c) {
  Open o;
  o.c = c;
  o.end = block(c->shape == Construct::Shape::kLoop ? "group.latch" : "group.end");
  o.groupNext = o.end;
  const auto& formals = c->shape == Construct::Shape::kLoop ? c->params : c->results;
  for (const Value* v : formals) o.values.push_back(shape(v).isUniform() ? newVar(v) : frameVar(v));
  if (dynamicMasks_) {
    o.pending = frameMaskVar();
    const bool blended = c->shape != Construct::Shape::kLoop;
    gangLoop([&](llvm::BasicBlock*) {
      zeroVar(o.pending);
      if (!blended) return;
      for (const Var& v : o.values)
        if (v.place == Var::Place::kFrame) zeroVar(v);
    });
  }
  open_.push_back(std::move(o));
}

// A result or parameter at group level: a scalar that dominates what follows, or a place in the frame.
void Generator::defineGroupLevel(const Value* v, const Var& var) {
  if (shape(v).isUniform()) {
    values_[v->id] = readVar(var);
    levels_[v->id] = Level::kRun;
    return;
  }
  crossingVars_[v->id] = var;
  levels_[v->id] = Level::kHere;
  epochs_[v->id] = ~0u;
}

// False: control does not get behind the region's end (it never does: regions end in branches).
bool Generator::emitGroupRegion(const Region& r) {
  size_t begin = 0;
  for (size_t n = 0; n < r.nodes.size(); ++n) {
    const Node* node = r.nodes[n];
    if (isBarrier(node)) {
      emitRun(r, begin, n, nullptr);
      begin = n + 1;
      continue;
    }
    if (node->tag == Node::Tag::kConstruct) {
      const auto* c = static_cast<const Construct*>(node);
      if (!groupLevel_[c->id]) continue;
      emitRun(r, begin, n, nullptr);
      if (!emitGroupConstruct(c)) return false;
      begin = n + 1;
      continue;
    }
    const auto* i = static_cast<const Inst*>(node);
    if (!i->isTerminator()) continue;
    emitRun(r, begin, n, i);
    if (i->op == Op::BrTable)
      emitGroupTable(i);
    else if (dynamicMasks_)
      b_.CreateBr(open_.back().groupNext);
    else
      b_.CreateBr(i->op == Op::Br ? open_[uniformity_.depth(i->target)].end : open_[0].end);
    return false;
  }
  return true;
}

bool Generator::emitGroupConstruct(const Construct* c) {
  if (c->shape == Construct::Shape::kLoop) {
    openGroupLevel(c);
    const size_t at = open_.size() - 1;
    bool perGang = dynamicMasks_;
    for (size_t p = 0; p < c->params.size(); ++p) perGang |= !atGroupLevel(c->params[p], c->initial[p]);
    const auto assign = [&] {
      for (size_t p = 0; p < c->params.size(); ++p)
        writeVar(open_[at].values[p], formsLike(c->initial[p], c->params[p]));
    };
    if (perGang)
      gangLoop([&](llvm::BasicBlock*) {
        assign();
        if (dynamicMasks_) writeMask(open_[at].pending, readMask(currentMask_));
      });
    else
      assign();
    llvm::BasicBlock* header = block("group.loop");
    b_.CreateBr(header);
    enter(header);
    for (size_t p = 0; p < c->params.size(); ++p) defineGroupLevel(c->params[p], open_[at].values[p]);
    if (dynamicMasks_) {
      // With no lane left nobody would decide to leave.
      llvm::Value* any = takeMasks(open_[at].pending);
      llvm::BasicBlock* go = block("group.some");
      b_.CreateCondBr(any, go, open_[at - 1].groupNext);
      enter(go);
    }
    const uint64_t trips = ranges_.tripCount(c);
    if (trips == 0 || trips > kUncheckedTrips) emitCancelCheck();
    emitGroupRegion(c->body);
    llvm::BasicBlock* latch = open_.back().end;
    open_.pop_back();
    enter(latch);
    if (llvm::pred_empty(latch))
      b_.CreateUnreachable();
    else
      b_.CreateBr(header);
    return false;
  }

  if (c->shape == Construct::Shape::kBlock) {
    openGroupLevel(c);
    emitGroupRegion(c->body);
  } else if (shape(c->condition).isUniform()) {
    llvm::Value* condition = groupUniform(c->condition);
    openGroupLevel(c);
    llvm::BasicBlock* then = block("group.then");
    llvm::BasicBlock* otherwise = block("group.else");
    b_.CreateCondBr(condition, then, otherwise);
    enter(then);
    emitGroupRegion(c->body);
    enter(otherwise);
    emitGroupRegion(c->otherwise);
  } else {
    emitGroupDivergentIf(c);
  }
  Open o = std::move(open_.back());
  open_.pop_back();
  enter(o.end);
  if (dynamicMasks_) {
    if (uniformity_.facts(c).branches == 0) {
      b_.CreateBr(open_.back().groupNext);
      return false;
    }
    llvm::Value* any = takeMasks(o.pending);
    llvm::BasicBlock* some = block("group.some");
    b_.CreateCondBr(any, some, open_.back().groupNext);
    enter(some);
  } else if (llvm::pred_empty(o.end)) {
    b_.CreateUnreachable();
    return false;
  }
  for (size_t i = 0; i < c->results.size(); ++i) defineGroupLevel(c->results[i], o.values[i]);
  return true;
}

llvm::AllocaInst* Generator::newFlag() {
  llvm::AllocaInst* flag = llvm::IRBuilder<>(allocaBlock_).CreateAlloca(b_.getInt1Ty());
  slots_.push_back(flag);
  b_.CreateStore(b_.getFalse(), flag);
  return flag;
}

void Generator::raiseFlag(llvm::AllocaInst* flag, llvm::Value* condition) {
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), flag), condition), flag);
}

// Every gang's current mask becomes what `from` holds, which is empty then. i1: any lane of the workgroup.
llvm::Value* Generator::takeMasks(const Var& from) {
  llvm::AllocaInst* any = newFlag();
  gangLoop([&](llvm::BasicBlock*) {
    const Mask m = readMask(from);
    writeMask(currentMask_, m);
    zeroVar(from);
    raiseFlag(any, anyLane(m));
  });
  return b_.CreateLoad(b_.getInt1Ty(), any);
}

// Both sides one after the other, each if any lane of the workgroup is there.
void Generator::emitGroupDivergentIf(const Construct* c) {
  openGroupLevel(c);
  const size_t at = open_.size() - 1;
  const Var elseMask = frameMaskVar();
  llvm::AllocaInst* any = newFlag();
  gangLoop([&](llvm::BasicBlock*) {
    const Mask all = readMask(currentMask_);
    const Mask on = conditionMask(c->condition, all, true);
    writeMask(elseMask, conditionMask(c->condition, all, false));
    writeMask(currentMask_, on);
    raiseFlag(any, anyLane(on));
  });
  llvm::BasicBlock* then = block("group.then");
  llvm::BasicBlock* other = block("group.other");
  llvm::BasicBlock* otherwise = block("group.else");
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), any), then, other);
  enter(then);
  open_[at].groupNext = other;
  emitGroupRegion(c->body);
  enter(other);
  llvm::Value* anyElse = takeMasks(elseMask);
  b_.CreateCondBr(anyElse, otherwise, open_[at].end);
  enter(otherwise);
  open_[at].groupNext = open_[at].end;
  emitGroupRegion(c->otherwise);
}

llvm::Value* Generator::groupUniform(const Value* v) {
  return level(v) != Level::kHere ? lowered(v)[0] : readVar(crossingVar(v))[0];
}

void Generator::emitGroupTable(const Inst* i) {
  const Value* selector = i->operands[0];
  if (dynamicMasks_) {
    gangLoop([&](llvm::BasicBlock* next) {
      Flow flow;
      flow.mask = readMask(currentMask_);
      zeroVar(currentMask_);
      addTableMasks(i, flow);
      b_.CreateBr(next);
      enter(block("dead"));
    });
    b_.CreateBr(open_.back().groupNext);
    return;
  }
  llvm::Value* v = groupUniform(selector);
  llvm::BasicBlock* otherwise = block("group.default");
  auto* sw = b_.CreateSwitch(v, otherwise, static_cast<unsigned>(i->cases.size()));
  for (size_t c = 0; c + 1 < i->cases.size(); ++c) {
    auto* value = llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(type(selector->type.kind), i->cases[c].value));
    if (sw->findCaseValue(value) != sw->case_default()) continue;
    llvm::BasicBlock* b = block("group.case");
    sw->addCase(value, b);
    enter(b);
    b_.CreateBr(open_[uniformity_.depth(i->cases[c].target)].end);
  }
  enter(otherwise);
  b_.CreateBr(open_[uniformity_.depth(i->cases.back().target)].end);
}

}  // namespace pumice::shader::codegen
