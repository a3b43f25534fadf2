#include "shaders/codegen/output_merger.h"

#include <llvm/IR/MDBuilder.h>

#include <cstddef>

namespace pumice::shader::codegen {

namespace {

constexpr uint8_t kAllComponents = 0xF;

}  // namespace

OutputMerger::OutputMerger(llvm::IRBuilder<>& builder, const TargetFeatures& features, const FragmentKey& key,
                           llvm::Value* env)
    : b_(builder),
      features_(features),
      key_(key),
      env_(env),
      ops_(builder, features),
      texels_(builder, features),
      pack_(builder, features, ops_) {}

bool OutputMerger::testsStencil() const {
  return key_.stencilFormat != VK_FORMAT_UNDEFINED && (key_.depthFlags & abi::kStencilTest) != 0;
}

// Whether the fragment's own depth matters.
bool OutputMerger::comparesDepth() const {
  if (!testsDepth()) return false;
  if (isDynamic(kDynamicDepthCompare) || (key_.depthFlags & abi::kDepthWrite) != 0) return true;
  return key_.depthCompareOp != VK_COMPARE_OP_ALWAYS && key_.depthCompareOp != VK_COMPARE_OP_NEVER;
}

bool OutputMerger::isWritten(uint32_t attachment) const {
  const ColorTarget& target = key_.color[attachment];
  return target.format != VK_FORMAT_UNDEFINED && (target.writeMask & kAllComponents) != 0;
}

bool OutputMerger::needsDepth() const {
  return comparesDepth();
}

bool OutputMerger::needsFacing() const {
  return testsStencil();
}

bool OutputMerger::needsViewport() const {
  return comparesDepth() && (key_.depthFlags & abi::kDepthClamp) != 0;
}

llvm::Value* OutputMerger::load(llvm::Value* base, uint64_t offset_B, llvm::Type* type) {
  return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset_B));
}

llvm::Value* OutputMerger::envPointer(uint64_t offset_B) {
  return load(env_, offset_B, b_.getPtrTy());
}

llvm::Constant* OutputMerger::allLanes(bool on) {
  return llvm::ConstantInt::get(llvm::FixedVectorType::get(b_.getInt1Ty(), kFragmentLanes), on ? 1 : 0);
}

llvm::Value* OutputMerger::anyLane(llvm::ArrayRef<llvm::Value*> masks) {
  llvm::Value* any = masks[0];
  for (llvm::Value* mask : masks.drop_front()) any = b_.CreateOr(any, mask);
  return b_.CreateICmpNE(b_.CreateBitCast(any, b_.getInt16Ty()), b_.getInt16(0));
}

// <16 x i1>: the bit of a mask of samples (i32 or <16 x i32>) of a vector's sample. As a comparison of vectors: masks
// of mask registers are not made of integers (lane_masks.h).
llvm::Value* OutputMerger::sampleBit(llvm::Value* mask, llvm::Value* sample) {
  llvm::Value* bit = b_.CreateShl(b_.getInt32(1), sample);
  llvm::Value* masked = mask->getType()->isVectorTy() ? b_.CreateAnd(mask, splat(bit)) : splat(b_.CreateAnd(mask, bit));
  return b_.CreateICmpNE(masked, pack_.integer(0));
}

// `body` where the condition (i1) holds, which is likely.
void OutputMerger::branchOver(llvm::Value* condition, llvm::function_ref<void()> body) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* some = llvm::BasicBlock::Create(b_.getContext(), "", function);
  llvm::BasicBlock* next = llvm::BasicBlock::Create(b_.getContext(), "", function);
  b_.CreateCondBr(condition, some, next, llvm::MDBuilder(b_.getContext()).createBranchWeights(16, 1));
  b_.SetInsertPoint(some);
  body();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void OutputMerger::begin() {
  state_ = envPointer(offsetof(abi::FragmentEnv, state));
  counters_ = envPointer(offsetof(abi::FragmentEnv, counters));
  sampleMask_ = load(state_, offsetof(abi::FragmentState, sampleMask), b_.getInt32Ty());
  for (uint32_t s = 0; s < 1u << key_.samples_log2; ++s) sampleLanes_.push_back(sampleBit(sampleMask_, b_.getInt32(s)));
  beginTests();
  beginBlending();
}

void OutputMerger::maskSamples(FragmentVector& v) {
  for (uint32_t s = 0; s < samples(v); ++s)
    v.coverage[s] = b_.CreateAnd(v.coverage[s], v.sample ? sampleBit(sampleMask_, v.sample) : sampleLanes_[s]);
}

void OutputMerger::earlyTests(FragmentVector& v) {
  tests(v, nullptr, nullptr);
  countSamples(v);
  v.tested = true;
}

// Sample s is covered from alpha = (s + 1/2) / samples on, so that the number of samples is alpha rounded.
void OutputMerger::alphaToCoverage(FragmentVector& v, llvm::Value* alpha) {
  const double share = 1.0 / (1u << key_.samples_log2);
  for (uint32_t s = 0; s < samples(v); ++s) {
    llvm::Value* threshold = pack_.real((s + 0.5) * share);
    if (v.sample) {
      llvm::Value* number = b_.CreateUIToFP(v.sample, b_.getFloatTy());
      llvm::Type* real = b_.getFloatTy();
      threshold = splat(
          b_.CreateFMul(b_.CreateFAdd(number, llvm::ConstantFP::get(real, 0.5)), llvm::ConstantFP::get(real, share)));
    }
    v.coverage[s] = b_.CreateAnd(v.coverage[s], b_.CreateFCmpOGE(alpha, threshold));
  }
}

void OutputMerger::lateTests(FragmentVector& v, const FragmentOutputs& o) {
  const bool hasAlpha = o.color[0][3] && o.color[0][3]->getType()->isFPOrFPVectorTy();
  if ((key_.flags & kKeyAlphaToCoverage) != 0 && hasAlpha) alphaToCoverage(v, o.color[0][3]);
  if (o.sampleMask)
    for (uint32_t s = 0; s < samples(v); ++s)
      v.coverage[s] = b_.CreateAnd(v.coverage[s], sampleBit(o.sampleMask, v.sample ? v.sample : b_.getInt32(s)));
  if (v.tested) return;
  tests(v, o.depth, o.stencilReference);
  countSamples(v);
}

// The counter stays in the first-level cache; a sum over the run would be a register for all of the function.
void OutputMerger::countSamples(const FragmentVector& v) {
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* counter =
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), counters_, offsetof(abi::FragmentCounters, samplesPassed));
  llvm::Value* count = b_.CreateLoad(i64, counter);
  for (llvm::Value* mask : v.coverage) {
    llvm::Value* bits = b_.CreateZExt(b_.CreateBitCast(mask, b_.getInt16Ty()), b_.getInt32Ty());
    count = b_.CreateAdd(count, b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), i64));
  }
  b_.CreateStore(count, counter);
}

void OutputMerger::write(const FragmentVector& v, const FragmentOutputs& o) {
  llvm::SmallVector<uint32_t, abi::kMaxColorAttachments> written;
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
    const bool byShader = o.color[i][0] || o.color[i][1] || o.color[i][2] || o.color[i][3];
    if (byShader && isWritten(i)) written.push_back(i);
  }
  if (written.empty()) return;
  branchOver(anyLane(v.coverage), [&] {
    for (const uint32_t i : written) writeTarget(i, v, o);
  });
}

}  // namespace pumice::shader::codegen
