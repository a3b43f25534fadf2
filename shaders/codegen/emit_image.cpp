// Image operations: a call of the texture unit for every sixteen lanes, see backend/abi/image_call.h.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>

#include "backend/abi/descriptor_room.h"
#include "backend/abi/image_call.h"
#include "shaders/codegen/generator.h"
#include "shaders/ir/image_access.h"

namespace pumice::shader::codegen {

using abi::ImageCall;
using ir::Inst;
using ir::Kind;
using ir::Value;

namespace {

// Lanes first .. first + count - 1 of a vector.
llvm::Value* slice(llvm::IRBuilder<>& b, llvm::Value* v, uint32_t first, uint32_t count) {
  if (llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements() == count) return v;
  return b.CreateShuffleVector(v, llvm::createSequentialMask(first, count, 0));
}

}  // namespace

void Generator::emitDescriptorAddress(const Inst* i) {
  const Value* index = i->operands.empty() ? nullptr : i->operands[0];
  const Shape& s = shape(i->result);
  const Level lvl = s.isUniform() ? (index ? level(index) : Level::kCall) : Level::kHere;
  LevelScope scope(*this, lvl);
  llvm::Value* null = b_.CreatePtrToInt(nullDescriptor(), b_.getInt64Ty());
  const uint32_t forms = formCount(i->result);
  const bool vectors = s.isVarying();
  const auto like = [&](llvm::Value* v) { return vectors ? splat(v) : v; };
  const abi::BindingSlot* slot = bindingSlot(i);
  if (!slot) {
    define(i->result, Lowered(forms, like(null)), lvl);
    return;
  }
  const uint32_t part_B = i->imm == 1 ? abi::samplerOffset_B(slot->stride_B) : 0;
  llvm::Value* set = b_.CreateLoad(b_.getInt64Ty(), bytePointer(bindingState_, b_.getInt64(8ull * slot->set)), "set");
  llvm::Value* bound = b_.CreateICmpNE(set, b_.getInt64(0));
  llvm::Value* first = b_.CreateAdd(set, b_.getInt64(uint64_t{slot->offset_B} + part_B));
  Lowered out(forms);
  for (uint32_t j = 0; j < forms; ++j) {
    if (!index) {
      out[j] = b_.CreateSelect(bound, first, null);
      continue;
    }
    llvm::Value* idx = vectors ? vector(index, j) : partScalar(index, j);
    llvm::Value* ok = b_.CreateAnd(like(bound), b_.CreateICmpULT(idx, like(b_.getInt32(slot->count))));
    llvm::Value* idx64 = b_.CreateZExt(idx, like(b_.getInt64(0))->getType());
    llvm::Value* address = b_.CreateAdd(like(first), b_.CreateMul(idx64, like(b_.getInt64(slot->stride_B))));
    out[j] = b_.CreateSelect(ok, address, like(null));
  }
  define(i->result, std::move(out), lvl);
}

// Zeros that last as long as the code: what a shader sees where nothing is bound.
llvm::Constant* Generator::nullDescriptor() {
  if (nullDescriptor_) return nullDescriptor_;
  llvm::Type* bytes =
      llvm::ArrayType::get(b_.getInt8Ty(), sizeof(abi::ImageDescriptor) + sizeof(abi::SamplerDescriptor));
  auto* zeros = new llvm::GlobalVariable(module_, bytes, true, llvm::GlobalValue::PrivateLinkage,
                                         llvm::Constant::getNullValue(bytes), "null_descriptor");
  zeros->setAlignment(llvm::Align(64));
  nullDescriptor_ = zeros;
  return zeros;
}

void Generator::emitImage(const Inst* i, const Flow& flow) {
  const ir::ImageAccess a = ir::imageAccess(*i);
  if (emitTexels(i, a, flow) || emitWindowSample(i, a, flow) || emitSample(i, a, flow)) return;
  Lowered out;
  emitImageCalls(i, a, flow, out);
  if (i->result) define(i->result, std::move(out), Level::kHere);
}

void Generator::emitImageCalls(const Inst* i, const ir::ImageAccess& a, const Flow& flow, Lowered& out) {
  const uint32_t lanes = std::min(lanes_, abi::kImageCallLanes);
  if (!imageCall_) {
    llvm::IRBuilder<> entry(allocaBlock_);
    imageCall_ = entry.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), sizeof(ImageCall)));
    imageCall_->setAlignment(llvm::Align(alignof(ImageCall)));
  }
  llvm::Type* ptr = b_.getPtrTy();
  llvm::Value* runtime = b_.CreateLoad(ptr, env_, "runtime");
  llvm::Value* function =
      b_.CreateLoad(ptr, bytePointer(runtime, b_.getInt64(offsetof(abi::RuntimeTable, accessImage))), "access_image");

  const uint32_t components = i->result ? i->result->type.components : 0;
  out.resize(size_t{components} * k_);
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::SmallVector<llvm::Value*, 2> pieces[4];  // by component
    for (uint32_t first = 0; first < lanes_; first += lanes) {
      storeImageCall(i, a, flow, j, first, lanes);
      b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), {ptr}, false), function, {imageCall_});
      for (uint32_t c = 0; c < components; ++c) pieces[c].push_back(loadTexel(a, i->result->type.kind, c, lanes));
    }
    for (uint32_t c = 0; c < components; ++c) out[c * k_ + j] = llvm::concatenateVectors(b_, pieces[c]);
  }
}

// Lanes first .. first + lanes - 1 of part `part`.
void Generator::storeImageCall(const Inst* i, const ir::ImageAccess& a, const Flow& flow, uint32_t part, uint32_t first,
                               uint32_t lanes) {
  const ir::ImageOperands at = ir::imageOperands(a);
  const auto store = [&](uint64_t offset_B, llvm::Value* v, uint64_t align) {
    b_.CreateAlignedStore(v, bytePointer(imageCall_, b_.getInt64(offset_B)), llvm::Align(align));
  };
  const auto lanesOf = [&](uint32_t operand) { return slice(b_, vector(i->operands[operand], part), first, lanes); };
  // A field of one 32-bit number per lane.
  const auto storeLanes = [&](uint64_t offset_B, uint32_t operand) { store(offset_B, lanesOf(operand), 64); };
  constexpr uint64_t kRow = sizeof(uint32_t) * abi::kImageCallLanes;

  llvm::Value* active = b_.getInt16(static_cast<uint16_t>((1u << lanes) - 1));
  if (llvm::Value* mask = partMask(flow.mask, part)) {
    active = b_.CreateZExt(b_.CreateBitCast(slice(b_, mask, first, lanes), b_.getIntNTy(lanes)), b_.getInt16Ty());
  }
  store(offsetof(ImageCall, op),
        b_.getInt16(static_cast<uint16_t>(static_cast<uint32_t>(a.op) | a.gatherComponent << 8u)), 2);
  store(offsetof(ImageCall, activeLanes), active, 2);
  const bool uniform =
      shape(i->operands[0]).sameInPart() && (!a.hasSampler() || shape(i->operands[at.sampler]).sameInPart());
  store(offsetof(ImageCall, flags), b_.getInt32(a.flags | (uniform ? abi::kImageUniformDescriptor : 0u)), 4);
  const auto descriptor = [&](uint64_t offset_B, uint32_t operand) {
    store(offset_B, uniform ? partScalar(i->operands[operand], part) : lanesOf(operand), 8);
  };
  descriptor(offsetof(ImageCall, image), 0);
  if (a.hasSampler()) descriptor(offsetof(ImageCall, sampler), at.sampler);

  for (uint32_t c = 0; c <= a.spatial; ++c) storeLanes(offsetof(ImageCall, coordinate) + kRow * c, at.coordinates + c);
  if (at.lod != at.minLod) storeLanes(offsetof(ImageCall, lod), at.lod);
  if (at.minLod != at.reference) storeLanes(offsetof(ImageCall, minLod), at.minLod);
  if (at.reference != at.gradients) storeLanes(offsetof(ImageCall, reference), at.reference);
  if (at.gradients != at.offsets) {
    for (uint32_t c = 0; c < a.spatial; ++c) {
      storeLanes(offsetof(ImageCall, ddx) + kRow * c, at.gradients + c);
      storeLanes(offsetof(ImageCall, ddy) + kRow * c, at.gradients + a.spatial + c);
    }
  }
  if (at.offsets != at.gatherOffsets) {
    for (uint32_t c = 0; c < a.spatial; ++c) storeLanes(offsetof(ImageCall, offset) + kRow * c, at.offsets + c);
  }
  // Constants of the instruction.
  for (uint32_t n = at.gatherOffsets; n < at.values; ++n) {
    store(offsetof(ImageCall, gatherOffset) + 4ull * (n - at.gatherOffsets), partScalar(i->operands[n], part), 4);
  }
  const bool wide = a.has(abi::kImage64);
  for (uint32_t n = 0; n < at.count - at.values && (!wide || n < 2); ++n) {
    const uint64_t row = offsetof(ImageCall, texel) + kRow * (wide ? 2 * n : n);
    llvm::Value* v = lanesOf(at.values + n);
    if (!wide) {
      store(row, v, 64);
      continue;
    }
    llvm::Type* words = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes);
    store(row, b_.CreateTrunc(v, words), 64);
    store(row + kRow, b_.CreateTrunc(b_.CreateLShr(v, 32), words), 64);
  }
}

llvm::Value* Generator::loadTexel(const ir::ImageAccess& a, Kind kind, uint32_t component, uint32_t lanes) {
  const auto load = [&](llvm::Type* element, uint32_t row) {
    const uint64_t offset_B = offsetof(ImageCall, texel) + sizeof(uint32_t) * abi::kImageCallLanes * row;
    return b_.CreateAlignedLoad(llvm::FixedVectorType::get(element, lanes),
                                bytePointer(imageCall_, b_.getInt64(offset_B)), llvm::Align(64));
  };
  if (!a.has(abi::kImage64)) return load(type(kind), component);
  // One component of 64 bits; what a format lacks is 0, 0, and 1 unless the descriptor is a null one.
  llvm::Type* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes);
  if (component == 3) return b_.CreateZExt(load(b_.getInt32Ty(), 3), wide);
  if (component > 0) return llvm::ConstantInt::get(wide, 0);
  return b_.CreateOr(b_.CreateZExt(load(b_.getInt32Ty(), 0), wide),
                     b_.CreateShl(b_.CreateZExt(load(b_.getInt32Ty(), 1), wide), 32));
}

}  // namespace pumice::shader::codegen
