// The function's frame: what is read once per call, the loop over workgroups, and the loop over the gangs of a
// workgroup that needs no barriers between them.
#include <llvm/IR/MDBuilder.h>

#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

// Vector operations that copies of code for "all lanes" may add, over the whole function.
constexpr uint32_t kFastCopyBudget = 1200;

void markUsed(const Region& r, std::vector<uint8_t>& used) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kInst) {
      for (const Value* v : static_cast<const Inst*>(n)->operands) used[v->id] = 1;
      continue;
    }
    const auto* c = static_cast<const Construct*>(n);
    if (c->condition) used[c->condition->id] = 1;
    for (const Value* v : c->initial) used[v->id] = 1;
    markUsed(c->body, used);
    markUsed(c->otherwise, used);
  }
}

}  // namespace

Generator::Generator(const Function& fn, std::span<const abi::BindingSlot> bindings, const TargetOptions& target,
                     const TargetFeatures& features, const Plan& plan, const passes::Ranges& ranges,
                     const passes::Uniformity& uniformity, const FragmentKey* key, llvm::Module& module)
    : fn_(fn),
      bindings_(bindings),
      target_(target),
      features_(features),
      plan_(plan),
      ranges_(ranges),
      uniformity_(uniformity),
      module_(module),
      lanes_(plan.geometry.lanes),
      k_(plan.geometry.vectors),
      b_(module.getContext()),
      ops_(b_, features),
      subgroups_(ops_, lanes_, fn.subgroupSize),
      atomics_(ops_, subgroups_, lanes_),
      values_(fn.valueCount()),
      levels_(fn.valueCount(), Level::kHere),
      epochs_(fn.valueCount(), 0),
      fastCopyBudget_(target.tier == Tier::kQuick ? 0 : kFastCopyBudget),
      used_(fn.valueCount(), 0),
      key_(key),
      groupLevel_(fn.constructCount(), 0),
      definedIn_(fn.valueCount(), 0),
      crosses_(fn.valueCount(), 0),
      crossingVars_(fn.valueCount()) {
  likely_ = llvm::MDBuilder(module.getContext()).createBranchWeights(1000, 1);
  markUsed(fn.body->body, used_);
}

Generator::LevelScope::LevelScope(Generator& g, Level level)
    : g_(g), level_(level), previous_(g.at_), saved_(g.b_.GetInsertBlock()) {
  if (level_ == Level::kHere) return;
  if (previous_ != Level::kHere) g_.levelBlocks_[static_cast<size_t>(previous_)] = saved_;
  g_.at_ = level_;
  g_.enter(g_.levelBlocks_[static_cast<size_t>(level_)]);
}

Generator::LevelScope::~LevelScope() {
  if (level_ == Level::kHere) return;
  g_.levelBlocks_[static_cast<size_t>(level_)] = g_.b_.GetInsertBlock();
  g_.at_ = previous_;
  g_.enter(previous_ == Level::kHere ? saved_ : g_.levelBlocks_[static_cast<size_t>(previous_)]);
}

llvm::Value* Generator::envField(uint64_t offset_B, llvm::Type* t, const char* name) {
  return b_.CreateLoad(t, bytePointer(env_, b_.getInt64(offset_B)), name);
}

llvm::Function* Generator::run() {
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* ptr = b_.getPtrTy();
  const auto make = [&](llvm::ArrayRef<llvm::Type*> parameters) {
    auto* fnType = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
    llvmFn_ = llvm::Function::Create(fnType, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module_);
  };
  if (fn_.stage == Stage::kVertex) {
    make({ptr, ptr, b_.getInt32Ty()});
    emitVertexEntry();
  } else if (fn_.stage == Stage::kFragment) {
    make({ptr, ptr});
    emitFragmentEntry();
  } else {
    make({ptr, i64, i64});
    emitEntry();
  }
  return llvmFn_;
}

llvm::AllocaInst* Generator::newSlot(llvm::Type* t) {
  llvm::IRBuilder<> b(allocaBlock_);
  slots_.push_back(b.CreateAlloca(t));
  return slots_.back();
}

// What the environments of all stages begin with.
void Generator::emitEnv() {
  llvm::Type* ptr = b_.getPtrTy();
  env_ = llvmFn_->getArg(0);
  using abi::ShaderEnv;
  bindingState_ = envField(offsetof(ShaderEnv, bindings), ptr, "bindings");
  push_ = envField(offsetof(ShaderEnv, pushConstants), ptr, "push");
  cancelWord_ = envField(offsetof(ShaderEnv, cancelWord), ptr, "cancel");
  shared_ = envField(offsetof(ShaderEnv, shared), ptr, "shared");
  frame_ = envField(offsetof(ShaderEnv, frame), ptr, "frame");
  sink_ = envField(offsetof(ShaderEnv, sink), ptr, "sink");
  cancelCounter_ = newSlot(b_.getInt32Ty());
  gangCounter_ = newSlot(b_.getInt32Ty());
  b_.CreateStore(b_.getInt32(64), cancelCounter_);
}

// In front of the code of a workgroup or item.
void Generator::beginFrame() {
  groupMode_ = plan_.geometry.gangs > 1 && uniformity_.facts(fn_.body).containsBarrier;
  gangFrameBytes_ = (localBytes() + 63) / 64 * 64;
}

// Behind all code.
void Generator::endFrame() {
  frameBytes_ = gangFrameBytes_ * (groupMode_ ? plan_.geometry.gangs : 1);
  gangFrameStride_->replaceAllUsesWith(b_.getInt64(gangFrameBytes_));
  gangFrameStride_->eraseFromParent();
}

void Generator::emitEntry() {
  allocaBlock_ = block("entry");
  llvm::BasicBlock* call = block("call");
  llvm::BasicBlock* group = block("group");
  llvm::BasicBlock* gangs = block("gangs");
  llvm::BasicBlock* groupNext = block("group.next");
  llvm::BasicBlock* exit = block("exit");
  llvm::Value* begin = llvmFn_->getArg(1);
  llvm::Value* end = llvmFn_->getArg(2);
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();

  enter(call);
  emitEnv();
  using abi::ComputeEnv;
  llvm::Value* base[3];
  for (uint32_t d = 0; d < 3; ++d) {
    groupCount_[d] = envField(offsetof(ComputeEnv, groupCount) + 4 * d, i32, "count");
    base[d] = envField(offsetof(ComputeEnv, groupBase) + 4 * d, i32, "base");
  }
  llvm::AllocaInst* id = newSlot(i64);
  llvm::AllocaInst* at[3] = {newSlot(i32), newSlot(i32), newSlot(i32)};
  b_.CreateStore(begin, id);
  llvm::Value* one = b_.getInt64(1);
  llvm::Value* rest = begin;
  for (uint32_t d = 0; d < 3; ++d) {
    llvm::Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, b_.CreateZExt(groupCount_[d], i64), one);
    b_.CreateStore(b_.CreateTrunc(d == 2 ? rest : b_.CreateURem(rest, count), i32), at[d]);
    if (d < 2) rest = b_.CreateUDiv(rest, count);
  }
  // A size that is not known before the end; replaced by a constant then.
  gangFrameStride_ = llvm::cast<llvm::Instruction>(b_.CreateFreeze(llvm::UndefValue::get(i64), "frame.stride"));
  levelBlocks_[0] = call;

  enter(group);
  llvm::Value* position[3];
  for (uint32_t d = 0; d < 3; ++d) {
    position[d] = b_.CreateLoad(i32, at[d]);
    groupId_[d] = b_.CreateAdd(position[d], base[d], "group.id");
  }
  levelBlocks_[1] = group;

  enter(gangs);
  emitZeroShared();
  beginFrame();
  if (groupMode_) {
    emitGroup();
  } else {
    emitGangs();
  }
  b_.CreateBr(groupNext);

  enter(groupNext);
  llvm::Value* next = b_.CreateAdd(b_.CreateLoad(i64, id), one);
  b_.CreateStore(next, id);
  llvm::Value* x = b_.CreateAdd(position[0], b_.getInt32(1));
  llvm::Value* xWraps = b_.CreateICmpUGE(x, groupCount_[0]);
  b_.CreateStore(b_.CreateSelect(xWraps, b_.getInt32(0), x), at[0]);
  llvm::Value* y = b_.CreateAdd(position[1], b_.CreateZExt(xWraps, i32));
  llvm::Value* yWraps = b_.CreateICmpUGE(y, groupCount_[1]);
  b_.CreateStore(b_.CreateSelect(yWraps, b_.getInt32(0), y), at[1]);
  b_.CreateStore(b_.CreateAdd(position[2], b_.CreateZExt(yWraps, i32)), at[2]);
  b_.CreateCondBr(b_.CreateICmpULT(next, end), group, exit);
  enter(exit);
  b_.CreateRetVoid();

  enter(levelBlocks_[1]);
  b_.CreateBr(gangs);
  enter(levelBlocks_[0]);
  b_.CreateCondBr(b_.CreateICmpULT(begin, end), group, exit);
  enter(allocaBlock_);
  b_.CreateBr(call);
  endFrame();
}

void Generator::emitZeroShared() {
  if (fn_.zeroShared) emitZero(shared_, fn_.sharedBytes);
}

// A loop of vector stores; the C library's memset is out of reach.
void Generator::emitZero(llvm::Value* pointer, uint32_t bytes) {
  constexpr uint32_t kStep = 64;
  llvm::Type* wide = llvm::FixedVectorType::get(b_.getInt8Ty(), kStep);
  const uint32_t whole = bytes / kStep * kStep;
  if (whole != 0) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* loop = block("zero");
    llvm::BasicBlock* done = block("zero.done");
    b_.CreateBr(loop);
    enter(loop);
    llvm::PHINode* offset = b_.CreatePHI(b_.getInt64Ty(), 2);
    b_.CreateAlignedStore(llvm::Constant::getNullValue(wide), bytePointer(pointer, offset), llvm::Align(kStep));
    llvm::Value* next = b_.CreateAdd(offset, b_.getInt64(kStep));
    offset->addIncoming(b_.getInt64(0), before);
    offset->addIncoming(next, loop);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(whole)), loop, done);
    enter(done);
  }
  for (uint32_t at = whole; at < bytes; ++at)
    b_.CreateAlignedStore(b_.getInt8(0), bytePointer(pointer, b_.getInt64(at)), llvm::Align(1));
}

Mask Generator::baseMask() {
  Mask m;
  if (itemLanes_) {
    for (uint32_t j = 0; j < k_; ++j) m.parts.push_back(b_.CreateICmpULT(invocations(j), splat(itemLanes_)));
    return m;
  }
  if (!plan_.partial()) return m;
  for (uint32_t j = 0; j + 1 < k_; ++j) m.parts.push_back(llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_)));
  m.parts.push_back(b_.CreateICmpULT(invocations(k_ - 1), splat(b_.getInt32(plan_.invocations))));
  return m;
}

// From the function's start to its end, where the block returned begins.
llvm::BasicBlock* Generator::emitGang() {
  emitZeroLocals();
  Flow flow;
  flow.mask = baseMask();
  open(fn_.body, flow);
  llvm::BasicBlock* end = open_.back().end;
  emitNodes(fn_.body->body, 0, fn_.body->body.nodes.size(), flow);
  open_.pop_back();
  return end;
}

// No barriers, or all of the workgroup in one gang: gang after gang from the function's start to its end.
void Generator::emitGangs() {
  const uint32_t gangs = plan_.geometry.gangs;
  llvm::BasicBlock* body = nullptr;
  gang_ = b_.getInt32(0);
  gangFrame_ = frame_;
  if (gangs > 1) {
    b_.CreateStore(b_.getInt32(0), gangCounter_);
    body = block("gang");
    b_.CreateBr(body);
    enter(body);
    gang_ = b_.CreateLoad(b_.getInt32Ty(), gangCounter_, "gang.index");
  }
  enter(emitGang());
  if (gangs > 1) {
    llvm::BasicBlock* after = block("gangs.done");
    llvm::Value* count = b_.CreateAdd(gang_, b_.getInt32(1));
    b_.CreateStore(count, gangCounter_);
    llvm::Value* more = b_.CreateICmpULT(count, b_.getInt32(gangs));
    if (itemLanes_) {
      // Only gangs that have an invocation.
      llvm::Value* first = b_.CreateMul(count, b_.getInt32(plan_.geometry.gangLanes()), "", true, true);
      more = b_.CreateICmpULT(first, itemLanes_);
    }
    b_.CreateCondBr(more, body, after);
    enter(after);
  }
}

}  // namespace pumice::shader::codegen
