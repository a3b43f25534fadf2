// Fragment functions: the loop over the vectors of a run (docs/graphics.md).
//
//   vector:  block or mix?  ->  head of its kind: coverage, early tests, inputs
//   body     once for both kinds: the shader
//   tail     of its kind: late tests, blending, stores
//
// With sample shading the tests in front are those of all samples, and the rest is a loop over samples.
#include <cstddef>

#include "backend/abi/fragment_abi.h"
#include "backend/formats/format_table.h"
#include "backend/raster/samples.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;
using abi::FragmentEnv;
using abi::FragmentRun;
using abi::PrimitiveRecord;

namespace {

template <typename F>
bool anyInst(const Region& r, F f) {
  return std::any_of(r.nodes.begin(), r.nodes.end(), [&](const Node* n) {
    if (n->tag == Node::Tag::kInst) return f(static_cast<const Inst*>(n));
    const auto* c = static_cast<const Construct*>(n);
    return anyInst(c->body, f) || anyInst(c->otherwise, f);
  });
}

// Heads and tails are emitted for blocks and for mixes; quick code treats all vectors as mixes.
llvm::ArrayRef<bool> forms(Tier tier) {
  static constexpr bool kForms[] = {true, false};
  return llvm::ArrayRef(kForms).drop_front(tier == Tier::kQuick ? 1 : 0);
}

// `to`: of a mix, of a block.
void branchByForm(llvm::IRBuilder<>& b, Tier tier, llvm::Value* isBlock, llvm::BasicBlock* const (&to)[2]) {
  if (tier == Tier::kQuick) {
    b.CreateBr(to[0]);
    to[1]->eraseFromParent();
  } else {
    b.CreateCondBr(isBlock, to[1], to[0]);
  }
}

bool readsAddresses(const Inst* i) {
  return i->op == Op::Load && i->mem.space == Space::kGlobal && !i->mem.everyLane;
}

}  // namespace

void Generator::emitFragmentEntry() {
  allocaBlock_ = block("entry");
  llvm::BasicBlock* call = block("call");
  llvm::BasicBlock* item = block("vector");
  llvm::BasicBlock* next = block("vector.next");
  llvm::BasicBlock* exit = block("exit");
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* ptr = b_.getPtrTy();
  llvm::Type* mask = type(Kind::kBool, lanes_);

  enter(call);
  emitEnv();
  run_ = llvmFn_->getArg(1);
  primitives_ = envField(offsetof(FragmentEnv, primitives), ptr, "primitives");
  varyings_ = envField(offsetof(FragmentEnv, varyings), ptr, "varyings");
  blockCount_ = invariantLoad(i32, bytePointer(run_, b_.getInt64(offsetof(FragmentRun, blockCount))), 4);
  llvm::Value* mixes = invariantLoad(i32, bytePointer(run_, b_.getInt64(offsetof(FragmentRun, mixCount))), 4);
  llvm::Value* count = b_.CreateAdd(blockCount_, mixes);
  llvm::AllocaInst* index = newSlot(i32);
  b_.CreateStore(b_.getInt32(0), index);
  gangFrameStride_ =
      llvm::cast<llvm::Instruction>(b_.CreateFreeze(llvm::UndefValue::get(b_.getInt64Ty()), "frame.stride"));
  merger_.emplace(b_, features_, *key_, env_);
  merger_->begin();
  levelBlocks_[0] = b_.GetInsertBlock();

  for (uint32_t s = 0; s < 1u << fn_.fragment.samples_log2; ++s) coverage_.push_back(newSlot(mask));
  live_ = newSlot(mask);
  anyInst(fn_.body->body, [&](const Inst* i) {
    discards_ |= i->op == Op::Demote;
    if (i->op == Op::FragmentOutput && !outputs_.contains(i->imm))
      outputs_[i->imm] = newSlot(type(i->operands[0]->type.kind, lanes_));
    return false;
  });
  if (anyInst(fn_.body->body, readsAddresses)) coveredQuads_ = newSlot(mask);
  findHead();

  enter(item);
  vector_ = b_.CreateLoad(i32, index, "vector");
  isBlock_ = b_.CreateICmpULT(vector_, blockCount_);
  emitVector(next);

  enter(next);
  llvm::Value* following = b_.CreateAdd(vector_, b_.getInt32(1));
  b_.CreateStore(following, index);
  b_.CreateCondBr(b_.CreateICmpULT(following, count), item, exit);
  enter(exit);
  b_.CreateRetVoid();

  enter(levelBlocks_[0]);
  b_.CreateCondBr(b_.CreateICmpNE(count, b_.getInt32(0)), item, exit);
  enter(allocaBlock_);
  b_.CreateBr(call);
  endFrame();
}

// From the block of the builder to `next`.
void Generator::emitVector(llvm::BasicBlock* next) {
  const bool perSample = fn_.fragment.sampleShading;
  llvm::BasicBlock* heads[2] = {block("mix"), block("block")};
  llvm::BasicBlock* body = block("body");
  llvm::BasicBlock* group = b_.GetInsertBlock();  // of values that are the same in the item
  if (!perSample) {
    vectorDone_ = next;
    levelBlocks_[1] = group;
    for (const bool isBlock : forms(target_.tier)) {
      enter(heads[isBlock]);
      quads_ = quadsOf(isBlock);
      emitTests(next);
      emitHead();
      b_.CreateBr(body);
    }
    enter(body);
    emitBody();
    emitTail();
    b_.CreateBr(next);
    enter(levelBlocks_[1]);
    branchByForm(b_, target_.tier, isBlock_, heads);
    return;
  }

  llvm::BasicBlock* samples = block("samples");
  llvm::BasicBlock* sampleItem = block("sample");
  llvm::BasicBlock* covered = block("sample.covered");
  llvm::BasicBlock* sampleNext = block("sample.next");
  llvm::BasicBlock* inputs[2] = {block("mix.inputs"), block("block.inputs")};
  branchByForm(b_, target_.tier, isBlock_, heads);
  for (const bool isBlock : forms(target_.tier)) {
    enter(heads[isBlock]);
    quads_ = quadsOf(isBlock);
    emitTests(next);
    b_.CreateBr(samples);
  }
  enter(samples);
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::AllocaInst* number = newSlot(i32);
  b_.CreateStore(b_.getInt32(0), number);
  b_.CreateBr(sampleItem);

  enter(sampleItem);
  sample_ = b_.CreateLoad(i32, number, "sample");
  vectorDone_ = sampleNext;
  b_.CreateCondBr(subgroups_.anyLane(sampleCoverage()), covered, sampleNext);
  levelBlocks_[1] = covered;
  for (const bool isBlock : forms(target_.tier)) {
    enter(inputs[isBlock]);
    quads_ = quadsOf(isBlock);
    emitHead();
    b_.CreateBr(body);
  }
  enter(body);
  emitBody();
  emitTail();
  b_.CreateBr(sampleNext);

  enter(sampleNext);
  llvm::Value* following = b_.CreateAdd(sample_, b_.getInt32(1));
  b_.CreateStore(following, number);
  b_.CreateCondBr(b_.CreateICmpULT(following, b_.getInt32(1u << fn_.fragment.samples_log2)), sampleItem, next);
  enter(levelBlocks_[1]);
  branchByForm(b_, target_.tier, isBlock_, inputs);
}

// What is left of the sample that is shaded.
llvm::Value* Generator::sampleCoverage() {
  llvm::Type* mask = type(Kind::kBool, lanes_);
  llvm::Value* covered = b_.CreateLoad(mask, coverage_[0]);
  for (uint32_t s = 1; s < coverage_.size(); ++s)
    covered = b_.CreateSelect(b_.CreateICmpEQ(sample_, b_.getInt32(s)), b_.CreateLoad(mask, coverage_[s]), covered);
  return covered;
}

// Facing, viewport and depth of quads_, as far as the merger asks.
FragmentVector Generator::vectorOf(const Quads& q) {
  FragmentVector v;
  v.isBlock = q.isBlock;
  v.position = q.position;
  const auto words = [&](uint64_t offset_B) {
    return b_.CreateBitCast(primitiveField(q, static_cast<uint32_t>(offset_B)), type(Kind::kI32, lanes_));
  };
  if (merger_->needsFacing()) {
    llvm::Value* back =
        b_.CreateAnd(words(offsetof(PrimitiveRecord, flags)), splat(b_.getInt32(abi::kPrimitiveBackFacing)));
    v.backFacing = b_.CreateICmpNE(back, splat(b_.getInt32(0)));
  }
  if (merger_->needsViewport()) {
    llvm::Value* viewports = words(offsetof(PrimitiveRecord, viewport));
    v.viewport = q.isBlock ? b_.CreateExtractElement(viewports, uint64_t{0})
                           : b_.CreateShuffleVector(viewports, llvm::ArrayRef<int>{0, 4, 8, 12});
  }
  return v;
}

bool Generator::needsDepth() const {
  return merger_->needsDepth() && (fn_.fragment.earlyTests || !outputs_.contains(kOutputDepth));
}

void Generator::emitTests(llvm::BasicBlock* none) {
  FragmentVector v = vectorOf(quads_);
  v.coverage.assign(quads_.coverage.begin(), quads_.coverage.end());
  merger_->maskSamples(v);
  if (fn_.fragment.earlyTests) {
    if (merger_->needsDepth()) {
      const raster::SamplePattern& pattern = raster::kSamplePatterns[fn_.fragment.samples_log2];
      for (uint32_t s = 0; s < pattern.count; ++s) v.depth.push_back(sampleDepth(quads_, s));
    }
    merger_->earlyTests(v);
  }
  llvm::Value* any = v.coverage[0];
  for (uint32_t s = 0; s < v.coverage.size(); ++s) {
    b_.CreateStore(v.coverage[s], coverage_[s]);
    if (s > 0) any = b_.CreateOr(any, v.coverage[s]);
  }
  llvm::BasicBlock* some = block("some");
  b_.CreateCondBr(subgroups_.anyLane(any), some, none);
  enter(some);
}

llvm::Value* Generator::sampleDepth(const Quads& q, uint32_t sample) {
  const raster::SamplePattern& pattern = raster::kSamplePatterns[fn_.fragment.samples_log2];
  const auto real = [&](uint32_t v) { return llvm::ConstantFP::get(b_.getFloatTy(), v / 256.0); };
  return depthAt(q, real(pattern.x[sample]), real(pattern.y[sample]));
}

void Generator::emitBody() {
  defineHead();
  llvm::Type* mask = type(Kind::kBool, lanes_);
  llvm::Value* live = nullptr;
  if (sample_) {
    live = sampleCoverage();
  } else {
    live = b_.CreateLoad(mask, coverage_[0]);
    for (uint32_t s = 1; s < coverage_.size(); ++s) live = b_.CreateOr(live, b_.CreateLoad(mask, coverage_[s]));
  }
  b_.CreateStore(live, live_);
  if (coveredQuads_) b_.CreateStore(quadsWith(live), coveredQuads_);
  for (auto& [output, slot] : outputs_) b_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);

  // Of the worker: nobody else writes it meanwhile.
  llvm::Value* counters = envField(offsetof(FragmentEnv, counters), b_.getPtrTy(), "counters");
  llvm::Value* counter = bytePointer(counters, b_.getInt64(offsetof(abi::FragmentCounters, invocations)));
  llvm::Value* lanes = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, subgroups_.maskToInteger(live));
  llvm::Value* sum = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), counter), b_.CreateZExt(lanes, b_.getInt64Ty()));
  b_.CreateStore(sum, counter);

  beginFrame();
  gang_ = b_.getInt32(0);
  gangFrame_ = frame_;
  enter(emitGang());
}

// All lanes of quads that have one of `mask`.
llvm::Value* Generator::quadsWith(llvm::Value* mask) {
  llvm::Value* words = b_.CreateSExt(mask, type(Kind::kI32, lanes_));
  for (const uint32_t step : {1u, 2u}) {
    llvm::SmallVector<int, kFragmentLanes> other;
    for (uint32_t l = 0; l < lanes_; ++l) other.push_back(static_cast<int>(l ^ step));
    words = b_.CreateOr(words, b_.CreateShuffleVector(words, other));
  }
  return b_.CreateICmpNE(words, llvm::Constant::getNullValue(words->getType()));
}

// -- behind the shader

FragmentOutputs Generator::outputs() {
  FragmentOutputs o;
  const auto load = [&](uint32_t index) -> llvm::Value* {
    const auto it = outputs_.find(index);
    return it == outputs_.end() ? nullptr : b_.CreateLoad(it->second->getAllocatedType(), it->second);
  };
  const auto as = [&](llvm::Value* v, Kind kind) { return v ? b_.CreateBitCast(v, type(kind, lanes_)) : nullptr; };
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
    const VkFormat format = key_->color[i].format;
    if (format == VK_FORMAT_UNDEFINED) continue;
    const bool isInteger = formats::texelType(formats::formatInfo(format)) != formats::TexelType::kFloat;
    const Kind kind = isInteger ? Kind::kI32 : Kind::kF32;
    bool any = false;
    for (uint32_t c = 0; c < 4; ++c) {
      o.color[i][c] = as(load(4 * i + c), kind);
      any |= o.color[i][c] != nullptr;
      if (i == 0) o.secondColor[c] = as(load(kOutputSecondColor + c), kind);
    }
    // What the shader leaves out of a location that it writes is any value.
    for (llvm::Value*& v : o.color[i])
      if (any && !v) v = llvm::Constant::getNullValue(type(kind, lanes_));
  }
  // Coverage is made of location 0's alpha where there is no attachment, too ("Multisample Coverage").
  const auto alpha = outputs_.find(3);
  const bool covers = (key_->flags & kKeyAlphaToCoverage) != 0 && key_->color[0].format == VK_FORMAT_UNDEFINED;
  if (covers && alpha != outputs_.end() && alpha->second->getAllocatedType()->isFPOrFPVectorTy())
    o.color[0][3] = load(3);
  o.depth = as(load(kOutputDepth), Kind::kF32);
  o.stencilReference = load(kOutputStencil);
  o.sampleMask = load(kOutputSampleMask);
  return o;
}

void Generator::emitTail() {
  llvm::BasicBlock* tails[2] = {block("mix.tail"), block("block.tail")};
  llvm::BasicBlock* done = block("tail.done");
  branchByForm(b_, target_.tier, isBlock_, tails);
  llvm::Type* mask = type(Kind::kBool, lanes_);
  for (const bool isBlock : forms(target_.tier)) {
    enter(tails[isBlock]);
    const Quads q = quadsOf(isBlock);
    FragmentVector v = vectorOf(q);
    v.tested = fn_.fragment.earlyTests;
    v.sample = sample_;
    llvm::Value* live = b_.CreateLoad(mask, live_);
    if (sample_) {
      v.coverage.push_back(live);
    } else {
      for (llvm::AllocaInst* slot : coverage_) {
        llvm::Value* covered = b_.CreateLoad(mask, slot);
        v.coverage.push_back(discards_ ? b_.CreateAnd(covered, live) : covered);
      }
    }
    if (!v.tested && needsDepth()) emitLateDepth(q, v);
    const FragmentOutputs o = outputs();
    merger_->lateTests(v, o);
    merger_->write(v, o);
    b_.CreateBr(done);
  }
  enter(done);
}

void Generator::emitLateDepth(const Quads& q, FragmentVector& v) {
  const raster::SamplePattern& pattern = raster::kSamplePatterns[fn_.fragment.samples_log2];
  if (!sample_) {
    for (uint32_t s = 0; s < pattern.count; ++s) v.depth.push_back(sampleDepth(q, s));
    return;
  }
  llvm::Type* f32 = b_.getFloatTy();
  llvm::Value* x = llvm::ConstantFP::get(f32, pattern.x[0] / 256.0);
  llvm::Value* y = llvm::ConstantFP::get(f32, pattern.y[0] / 256.0);
  for (uint32_t s = 1; s < pattern.count; ++s) {
    llvm::Value* isThis = b_.CreateICmpEQ(sample_, b_.getInt32(s));
    x = b_.CreateSelect(isThis, llvm::ConstantFP::get(f32, pattern.x[s] / 256.0), x);
    y = b_.CreateSelect(isThis, llvm::ConstantFP::get(f32, pattern.y[s] / 256.0), y);
  }
  v.depth.push_back(depthAt(q, x, y));
}

// -- operations

void Generator::emitDemote(const Flow& flow) {
  llvm::Type* mask = type(Kind::kBool, lanes_);
  llvm::Value* live = b_.CreateLoad(mask, live_);
  live = flow.mask.all() ? llvm::Constant::getNullValue(mask) : b_.CreateAnd(live, b_.CreateNot(flow.mask.parts[0]));
  b_.CreateStore(live, live_);
  llvm::BasicBlock* some = block("live");
  b_.CreateCondBr(subgroups_.anyLane(live), some, vectorDone_);
  enter(some);
}

// Without helper invocations; there may be nobody left.
Flow Generator::withoutHelpers(const Flow& flow) {
  Flow f = flow;
  llvm::Value* live = b_.CreateLoad(type(Kind::kBool, lanes_), live_);
  f.mask.parts.assign({flow.mask.all() ? live : b_.CreateAnd(live, flow.mask.parts[0])});
  f.nonEmpty = false;
  return f;
}

// Quads without an invocation that is no helper may have any addresses.
Flow Generator::insideCoveredQuads(const Flow& flow) {
  Flow f = flow;
  llvm::Value* covered = b_.CreateLoad(type(Kind::kBool, lanes_), coveredQuads_);
  f.mask.parts.assign({flow.mask.all() ? covered : b_.CreateAnd(covered, flow.mask.parts[0])});
  f.nonEmpty = false;
  return f;
}

void Generator::emitFragment(const Inst* i, const Flow& flow) {
  switch (i->op) {
    case Op::FragmentSample:
      define(i->result, {sample_ ? sample_ : b_.getInt32(0)}, Level::kGroup);
      return;
    case Op::FragmentInput:
      define(i->result, Lowered(lowered(i->operands[0])), level(i->operands[0]));
      return;
    case Op::FragmentOutput:
      b_.CreateStore(b_.CreateBitCast(vector(i->operands[0], 0), outputs_[i->imm]->getAllocatedType()),
                     outputs_[i->imm]);
      return;
    case Op::Demote:
      emitDemote(flow);
      return;
    case Op::IsHelper:
      define(i->result, {b_.CreateNot(b_.CreateLoad(type(Kind::kBool, lanes_), live_))}, Level::kHere);
      return;
    case Op::QuadShuffle: {
      const Value* v = i->operands[0];
      if (!shape(i->result).isVarying()) {
        define(i->result, Lowered(lowered(v)), level(v));
        return;
      }
      llvm::SmallVector<int, kFragmentLanes> from;
      for (uint32_t l = 0; l < lanes_; ++l) from.push_back(static_cast<int>((l & ~3u) + (i->imm >> 2 * (l & 3u) & 3u)));
      define(i->result, {b_.CreateShuffleVector(vector(v, 0), from)}, Level::kHere);
      return;
    }
    default:
      emitPrimitiveValue(i);
      return;
  }
}

}  // namespace pumice::shader::codegen
