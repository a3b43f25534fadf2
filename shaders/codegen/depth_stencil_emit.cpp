// Depth bounds, stencil and depth test (Vulkan 1.3, 28.8 to 28.12). Depth and stencil are planes of their own.
//
// UNORM depth is compared as codes, after the fragment's depth has been rounded as it would be stored.
#include <cstddef>

#include "backend/formats/format_table.h"
#include "shaders/codegen/output_merger.h"

namespace pumice::shader::codegen {

namespace {

enum CompareBits : uint8_t { kLess = 1, kEqual = 2, kGreater = 4 };  // VkCompareOp
constexpr uint8_t kAlways = VK_COMPARE_OP_ALWAYS;

uint32_t depthBits(VkFormat format) {
  return formats::formatInfo(format).components[0].bits;
}

bool isFloatDepth(VkFormat format) {
  return formats::formatInfo(format).components[0].numeric == formats::NumericFormat::kSfloat;
}

// Ordered, or unsigned.
llvm::CmpInst::Predicate predicate(uint8_t op, bool isFloat) {
  using P = llvm::CmpInst::Predicate;
  switch (op) {
    case VK_COMPARE_OP_LESS:
      return isFloat ? P::FCMP_OLT : P::ICMP_ULT;
    case VK_COMPARE_OP_EQUAL:
      return isFloat ? P::FCMP_OEQ : P::ICMP_EQ;
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return isFloat ? P::FCMP_OLE : P::ICMP_ULE;
    case VK_COMPARE_OP_GREATER:
      return isFloat ? P::FCMP_OGT : P::ICMP_UGT;
    case VK_COMPARE_OP_NOT_EQUAL:
      return isFloat ? P::FCMP_ONE : P::ICMP_NE;
    default:
      return isFloat ? P::FCMP_OGE : P::ICMP_UGE;
  }
}

llvm::Value* orWith(llvm::IRBuilder<>& b, llvm::Value* mask, llvm::Value* more) {
  return more ? b.CreateOr(mask, more) : mask;
}

}  // namespace

// i1: whether a test or write of the pipeline is on.
llvm::Value* OutputMerger::flag(abi::DepthFlags which, llvm::Value* present) {
  if (!isDynamic(kDynamicDepthFlags)) return present;
  llvm::Value* flags = load(state_, offsetof(abi::FragmentState, depthFlags), b_.getInt8Ty());
  return b_.CreateAnd(present, b_.CreateICmpNE(b_.CreateAnd(flags, b_.getInt8(which)), b_.getInt8(0)));
}

OutputMerger::Compare OutputMerger::compareState(uint8_t op, llvm::Value* dynamic) {
  Compare c;
  c.op = op;
  if (!dynamic) return c;
  const auto bit = [&](uint8_t which) {
    return splat(b_.CreateICmpNE(b_.CreateAnd(dynamic, b_.getInt8(which)), b_.getInt8(0)));
  };
  c.less = bit(kLess);
  c.equal = bit(kEqual);
  c.greater = bit(kGreater);
  return c;
}

OutputMerger::StencilOp OutputMerger::stencilOp(uint8_t op, llvm::Value* dynamic) {
  StencilOp s;
  s.op = op;
  if (!dynamic) return s;
  const auto is = [&](VkStencilOp which) { return b_.CreateICmpEQ(dynamic, b_.getInt8(static_cast<uint8_t>(which))); };
  const auto ones = [&](llvm::Value* condition) { return splat(b_.CreateSExt(condition, b_.getInt8Ty())); };
  const auto one = [&](llvm::Value* condition) { return splat(b_.CreateZExt(condition, b_.getInt8Ty())); };
  s.keep = ones(b_.CreateNot(b_.CreateOr(is(VK_STENCIL_OP_ZERO), is(VK_STENCIL_OP_REPLACE))));
  s.replace = ones(is(VK_STENCIL_OP_REPLACE));
  s.invert = ones(is(VK_STENCIL_OP_INVERT));
  s.add = b_.CreateOr(one(is(VK_STENCIL_OP_INCREMENT_AND_WRAP)), ones(is(VK_STENCIL_OP_DECREMENT_AND_WRAP)));
  s.up = one(is(VK_STENCIL_OP_INCREMENT_AND_CLAMP));
  s.down = one(is(VK_STENCIL_OP_DECREMENT_AND_CLAMP));
  return s;
}

OutputMerger::Face OutputMerger::face(uint64_t offset_B, const StencilOps& ops) {
  const auto field = [&](uint64_t of) { return load(state_, offset_B + of, b_.getInt8Ty()); };
  const auto dynamic = [&](uint64_t of) { return isDynamic(kDynamicStencilOps) ? field(of) : nullptr; };
  Face f;
  f.reference = splat(field(offsetof(abi::StencilFace, reference)));
  f.compareMask = splat(field(offsetof(abi::StencilFace, compareMask)));
  f.writeMask = splat(field(offsetof(abi::StencilFace, writeMask)));
  f.compare = compareState(ops.compareOp, dynamic(offsetof(abi::StencilFace, compareOp)));
  f.fail = stencilOp(ops.failOp, dynamic(offsetof(abi::StencilFace, failOp)));
  f.pass = stencilOp(ops.passOp, dynamic(offsetof(abi::StencilFace, passOp)));
  f.depthFail = stencilOp(ops.depthFailOp, dynamic(offsetof(abi::StencilFace, depthFailOp)));
  return f;
}

void OutputMerger::beginTests() {
  llvm::Value* sink = envPointer(offsetof(abi::FragmentEnv, common) + offsetof(abi::ShaderEnv, sink));
  if (testsDepth() || testsBounds()) {
    llvm::Value* surface = envPointer(offsetof(abi::FragmentEnv, depth));
    depth_ = texels_.plane(surface, sink, formats::formatInfo(key_.depthFormat).blockBytes, 1u << key_.samples_log2);
  }
  if (testsDepth()) {
    llvm::Value* on = flag(abi::kDepthTest, depth_.present);
    llvm::Value* op = nullptr;
    if (isDynamic(kDynamicDepthCompare))
      op = load(state_, offsetof(abi::FragmentState, depthCompareOp), b_.getInt8Ty());
    depthCompare_ = compareState(key_.depthCompareOp, op);
    llvm::Value* off = b_.CreateNot(on);
    // What always passes does so for numbers that do not compare, too.
    if (op) off = b_.CreateOr(off, b_.CreateICmpEQ(op, b_.getInt8(kAlways)));
    depthOff_ = splat(off);
    if (isDynamic(kDynamicDepthFlags)) depthWrites_ = splat(flag(abi::kDepthWrite, on));
    if (isDynamic(kDynamicDepthFlags)) clampsDepth_ = flag(abi::kDepthClamp, b_.getTrue());
  }
  if (testsBounds()) boundsOff_ = splat(b_.CreateNot(flag(abi::kDepthBounds, depth_.present)));
  if (testsStencil()) {
    llvm::Value* surface = envPointer(offsetof(abi::FragmentEnv, stencil));
    stencil_ = texels_.plane(surface, sink, 1, 1u << key_.samples_log2);
    stencilOff_ = splat(b_.CreateNot(flag(abi::kStencilTest, stencil_.present)));
    front_ = face(offsetof(abi::FragmentState, front), key_.front);
    back_ = face(offsetof(abi::FragmentState, back), key_.back);
  }
}

// a OP b
llvm::Value* OutputMerger::compare(const Compare& how, llvm::Value* a, llvm::Value* b) {
  const bool isFloat = a->getType()->isFPOrFPVectorTy();
  const auto test = [&](uint8_t op) { return b_.CreateCmp(predicate(op, isFloat), a, b); };
  if (how.less) {
    llvm::Value* less = b_.CreateAnd(how.less, test(kLess));
    llvm::Value* equal = b_.CreateAnd(how.equal, test(kEqual));
    return b_.CreateOr(b_.CreateOr(less, equal), b_.CreateAnd(how.greater, test(kGreater)));
  }
  if (how.op == VK_COMPARE_OP_NEVER) return allLanes(false);
  if (how.op == VK_COMPARE_OP_ALWAYS) return allLanes(true);
  return test(how.op);
}

// <16 x float>: the range that depth is clamped to.
void OutputMerger::depthRange(const FragmentVector& v, llvm::Value** low, llvm::Value** high) {
  *low = pack_.real(0);
  *high = pack_.real(1);
  if ((key_.depthFlags & abi::kDepthClamp) == 0) return;
  // minDepth and maxDepth of each quad, or of the block.
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* ranges =
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), state_, offsetof(abi::FragmentState, viewportDepth));
  const auto pair = [&](llvm::Value* viewport) {
    llvm::Value* at = b_.CreateGEP(i64, ranges, b_.CreateZExt(viewport, i64));
    return b_.CreateAlignedLoad(i64, at, llvm::Align(4));
  };
  llvm::Value* pairs = llvm::PoisonValue::get(llvm::FixedVectorType::get(i64, 4));
  if (v.isBlock) {
    pairs = b_.CreateVectorSplat(4, pair(v.viewport));
  } else {
    for (uint64_t q = 0; q < 4; ++q)
      pairs = b_.CreateInsertElement(pairs, pair(b_.CreateExtractElement(v.viewport, q)), q);
  }
  llvm::Value* numbers = b_.CreateBitCast(pairs, llvm::FixedVectorType::get(b_.getFloatTy(), 8));
  const auto lanes = [&](int first) {
    llvm::SmallVector<int, kFragmentLanes> order;
    for (int lane = 0; lane < static_cast<int>(kFragmentLanes); ++lane) order.push_back(lane / 4 * 2 + first);
    return b_.CreateShuffleVector(numbers, order);
  };
  // The viewport's range may be reversed. It lies in [0, 1].
  llvm::Value *near = lanes(0), *far = lanes(1);
  llvm::Value* reversed = b_.CreateFCmpOGT(near, far);
  llvm::Value* least = b_.CreateSelect(reversed, far, near);
  llvm::Value* most = b_.CreateSelect(reversed, near, far);
  *low = clampsDepth_ ? b_.CreateSelect(clampsDepth_, least, *low) : least;
  *high = clampsDepth_ ? b_.CreateSelect(clampsDepth_, most, *high) : most;
}

// As it is stored, and compared: <16 x float>, or <16 x i32>.
llvm::Value* OutputMerger::depthCode(const FragmentVector& v, llvm::Value* depth) {
  llvm::Value *low = nullptr, *high = nullptr;
  depthRange(v, &low, &high);
  depth = pack_.clamp(depth, low, high);
  return isFloatDepth(key_.depthFormat) ? depth : pack_.unormCode(depth, depthBits(key_.depthFormat));
}

// A word of the plane in the same form.
llvm::Value* OutputMerger::storedDepth(llvm::Value* word) {
  if (isFloatDepth(key_.depthFormat)) return b_.CreateBitCast(word, pack_.real(0)->getType());
  const uint32_t bits = depthBits(key_.depthFormat);
  llvm::Value* code = b_.CreateZExt(word, pack_.integer(0)->getType());
  return bits == 24 ? b_.CreateAnd(code, pack_.integer((1u << bits) - 1)) : code;
}

llvm::Value* OutputMerger::boundsTest(llvm::Value* stored) {
  if (!isFloatDepth(key_.depthFormat)) {
    llvm::Value* number = b_.CreateSIToFP(stored, pack_.real(0)->getType());
    stored = b_.CreateFDiv(number, pack_.real((1u << depthBits(key_.depthFormat)) - 1));
  }
  const auto bound = [&](uint64_t offset_B) { return splat(load(state_, offset_B, b_.getFloatTy())); };
  return b_.CreateAnd(b_.CreateFCmpOLE(bound(offsetof(abi::FragmentState, depthBoundsMin)), stored),
                      b_.CreateFCmpOLE(stored, bound(offsetof(abi::FragmentState, depthBoundsMax))));
}

llvm::Value* OutputMerger::byFace(const FragmentVector& v, llvm::Value* front, llvm::Value* back) {
  return !v.backFacing || front == back ? front : b_.CreateSelect(v.backFacing, back, front);
}

llvm::Value* OutputMerger::applyStencil(const StencilOp& op, llvm::Value* s, llvm::Value* reference) {
  llvm::Type* type = s->getType();
  const auto up = [&](llvm::Value* by) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, s, by); };
  const auto down = [&](llvm::Value* by) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, s, by); };
  if (op.keep) {
    s = b_.CreateOr(b_.CreateAnd(s, op.keep), b_.CreateAnd(reference, op.replace));
    s = b_.CreateAdd(b_.CreateXor(s, op.invert), op.add);
    s = up(op.up);
    return down(op.down);
  }
  llvm::Constant* one = llvm::ConstantInt::get(type, 1);
  switch (op.op) {
    case VK_STENCIL_OP_ZERO:
      return llvm::Constant::getNullValue(type);
    case VK_STENCIL_OP_REPLACE:
      return reference;
    case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
      return up(one);
    case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
      return down(one);
    case VK_STENCIL_OP_INVERT:
      return b_.CreateNot(s);
    case VK_STENCIL_OP_INCREMENT_AND_WRAP:
      return b_.CreateAdd(s, one);
    case VK_STENCIL_OP_DECREMENT_AND_WRAP:
      return b_.CreateSub(s, one);
    default:
      return s;
  }
}

// The order of the specification: bounds, stencil, depth. Every test is made for all lanes; masks say what is stored.
void OutputMerger::tests(FragmentVector& v, llvm::Value* shaderDepth, llvm::Value* stencilReference) {
  if (!testsDepth() && !testsBounds() && !testsStencil()) return;
  TexelPlaces depthPlaces, stencilPlaces;
  if (depth_.address) depthPlaces = texels_.places(depth_, v.position, v.sample);
  if (stencil_.address) stencilPlaces = texels_.places(stencil_, v.position, v.sample);
  llvm::Value* code = shaderDepth && comparesDepth() ? depthCode(v, shaderDepth) : nullptr;

  for (uint32_t s = 0; s < samples(v); ++s) {
    llvm::Value* covered = v.coverage[s];
    LoadedTexels depthTexels;
    llvm::Value* depthPasses = nullptr;  // nullptr: everywhere
    if (!shaderDepth && comparesDepth()) code = depthCode(v, v.depth[s]);
    const bool readsDepth = testsBounds() || (testsDepth() && (depthCompare_.less || depthCompare_.op != kAlways));
    llvm::Value* stored = nullptr;
    if (readsDepth) {
      depthTexels = texels_.load(depth_, depthPlaces, s);
      stored = storedDepth(depthTexels.words[0]);
    }
    if (testsBounds()) covered = b_.CreateAnd(covered, b_.CreateOr(boundsTest(stored), boundsOff_));
    if (testsDepth() && (depthCompare_.less || depthCompare_.op != kAlways)) {
      const bool never = !depthCompare_.less && depthCompare_.op == VK_COMPARE_OP_NEVER;
      depthPasses = orWith(b_, never ? allLanes(false) : compare(depthCompare_, code, stored), depthOff_);
    }
    llvm::Value* passes = covered;
    if (testsStencil()) {
      const LoadedTexels texels = texels_.load(stencil_, stencilPlaces, s);
      llvm::Value* old = texels.words[0];
      const auto reference = [&](const Face& f) {
        return stencilReference ? b_.CreateTrunc(stencilReference, old->getType()) : f.reference;
      };
      const auto compared = [&](const Face& f) {
        return compare(f.compare, b_.CreateAnd(reference(f), f.compareMask), b_.CreateAnd(old, f.compareMask));
      };
      llvm::Value* stencilPasses = byFace(v, compared(front_), v.backFacing ? compared(back_) : nullptr);
      const auto updated = [&](const Face& f) {
        llvm::Value* pass = applyStencil(f.pass, old, reference(f));
        if (depthPasses) pass = b_.CreateSelect(depthPasses, pass, applyStencil(f.depthFail, old, reference(f)));
        llvm::Value* value = b_.CreateSelect(stencilPasses, pass, applyStencil(f.fail, old, reference(f)));
        return b_.CreateOr(b_.CreateAnd(value, f.writeMask), b_.CreateAnd(old, b_.CreateNot(f.writeMask)));
      };
      llvm::Value* value = byFace(v, updated(front_), v.backFacing ? updated(back_) : nullptr);
      texels_.store(stencil_, stencilPlaces, s, {value}, b_.CreateAnd(covered, b_.CreateNot(stencilOff_)), &texels);
      passes = b_.CreateAnd(passes, b_.CreateOr(stencilPasses, stencilOff_));
    }
    if (depthPasses) passes = b_.CreateAnd(passes, depthPasses);
    if (testsDepth() && (key_.depthFlags & abi::kDepthWrite) != 0) {
      llvm::Value* mask = depthWrites_ ? b_.CreateAnd(passes, depthWrites_) : passes;
      llvm::Type* word = llvm::FixedVectorType::get(b_.getIntNTy(8 * depth_.elementBytes), kFragmentLanes);
      llvm::Value* bits = isFloatDepth(key_.depthFormat) ? b_.CreateBitCast(code, word) : b_.CreateTrunc(code, word);
      texels_.store(depth_, depthPlaces, s, {bits}, mask, depthTexels.whole ? &depthTexels : nullptr);
    }
    v.coverage[s] = passes;
  }
}

}  // namespace pumice::shader::codegen
