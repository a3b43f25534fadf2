#include "shaders/codegen/atomics_emit.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <cassert>
#include <optional>

namespace pumice::shader::codegen {
namespace {

using ir::Kind;
using ir::Op;
using ir::ReduceOp;

bool isFloatExtreme(Op op) {
  return op == Op::AtomicFMin || op == Op::AtomicFMax;
}

// Operations whose combined effect and old values follow from one reduction and one scan.
std::optional<ReduceOp> combinable(Op op) {
  switch (op) {
    case Op::AtomicIAdd:
      return ReduceOp::kIAdd;
    case Op::AtomicUMin:
      return ReduceOp::kUMin;
    case Op::AtomicUMax:
      return ReduceOp::kUMax;
    case Op::AtomicSMin:
      return ReduceOp::kSMin;
    case Op::AtomicSMax:
      return ReduceOp::kSMax;
    case Op::AtomicAnd:
      return ReduceOp::kAnd;
    case Op::AtomicOr:
      return ReduceOp::kOr;
    case Op::AtomicXor:
      return ReduceOp::kXor;
    default:
      return std::nullopt;
  }
}

llvm::AtomicRMWInst::BinOp rmwOp(Op op) {
  using B = llvm::AtomicRMWInst::BinOp;
  switch (op) {
    case Op::AtomicIAdd:
      return B::Add;
    case Op::AtomicUMin:
      return B::UMin;
    case Op::AtomicUMax:
      return B::UMax;
    case Op::AtomicSMin:
      return B::Min;
    case Op::AtomicSMax:
      return B::Max;
    case Op::AtomicAnd:
      return B::And;
    case Op::AtomicOr:
      return B::Or;
    case Op::AtomicXor:
      return B::Xor;
    case Op::AtomicFAdd:
      return B::FAdd;
    default:
      return B::Xchg;
  }
}

llvm::Intrinsic::ID horizontal(ReduceOp op) {
  using namespace llvm::Intrinsic;
  switch (op) {
    case ReduceOp::kIAdd:
      return vector_reduce_add;
    case ReduceOp::kUMin:
      return vector_reduce_umin;
    case ReduceOp::kUMax:
      return vector_reduce_umax;
    case ReduceOp::kSMin:
      return vector_reduce_smin;
    case ReduceOp::kSMax:
      return vector_reduce_smax;
    case ReduceOp::kAnd:
      return vector_reduce_and;
    case ReduceOp::kOr:
      return vector_reduce_or;
    default:
      return vector_reduce_xor;
  }
}

}  // namespace

llvm::Value* AtomicsEmitter::emitScalar(ir::Op op, ir::Kind kind, llvm::Value* address, llvm::Value* value,
                                        llvm::Value* comparator, bool oneThread) {
  constexpr auto kOrder = llvm::AtomicOrdering::Monotonic;
  const llvm::Align align(ir::kindBytes(kind));
  llvm::Type* type = llvmType(b_.getContext(), kind);
  if (op == Op::AtomicStore) {
    llvm::StoreInst* store = b_.CreateAlignedStore(value, address, align);
    if (!oneThread) store->setAtomic(kOrder);
    return nullptr;
  }
  if (op == Op::AtomicLoad || oneThread) {
    llvm::LoadInst* load = b_.CreateAlignedLoad(type, address, align);
    if (op == Op::AtomicLoad) {
      if (!oneThread) load->setAtomic(kOrder);
      return load;
    }
    llvm::Value* next = value;
    if (op == Op::AtomicCompareExchange) {
      next = b_.CreateSelect(b_.CreateICmpEQ(load, comparator), value, load);
    } else if (op == Op::AtomicFAdd) {
      next = b_.CreateFAdd(load, value);
    } else if (isFloatExtreme(op)) {
      next = floatExtreme(op, load, value);
    } else if (const auto reduceOp = combinable(op)) {
      next = ops_.reduceStep(*reduceOp, kind, load, value);
    }
    b_.CreateAlignedStore(next, address, align);
    return load;
  }
  if (op == Op::AtomicCompareExchange) {
    llvm::Value* pair = b_.CreateAtomicCmpXchg(address, comparator, value, align, kOrder, kOrder);
    return b_.CreateExtractValue(pair, 0);
  }
  if (isFloatExtreme(op)) return emitFloatExtreme(op, kind, address, value);
  return b_.CreateAtomicRMW(rmwOp(op), address, value, align, kOrder);
}

// LLVM's own operations leave open which zero is less, and which NaN remains.
llvm::Value* AtomicsEmitter::floatExtreme(ir::Op op, llvm::Value* old, llvm::Value* value) {
  llvm::Value* beyond = op == Op::AtomicFMin ? b_.CreateFCmpOLT(value, old) : b_.CreateFCmpOGT(value, old);
  return b_.CreateSelect(b_.CreateOr(beyond, b_.CreateFCmpUNO(old, old)), value, old);
}

// Nothing is written where memory keeps its value, which it mostly does.
llvm::Value* AtomicsEmitter::emitFloatExtreme(ir::Op op, ir::Kind kind, llvm::Value* address, llvm::Value* value) {
  constexpr auto kOrder = llvm::AtomicOrdering::Monotonic;
  llvm::LLVMContext& context = b_.getContext();
  const llvm::Align align(ir::kindBytes(kind));
  llvm::Type* type = llvmType(context, kind);
  llvm::Type* bits = b_.getIntNTy(ir::kindBits(kind));
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* look = llvm::BasicBlock::Create(context, "atomic.look", function);
  auto* exchange = llvm::BasicBlock::Create(context, "atomic.exchange", function);
  auto* done = llvm::BasicBlock::Create(context, "atomic.settled", function);
  llvm::LoadInst* first = b_.CreateAlignedLoad(bits, address, align);
  first->setAtomic(kOrder);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(look);

  b_.SetInsertPoint(look);
  llvm::PHINode* seen = b_.CreatePHI(bits, 2);
  seen->addIncoming(first, before);
  llvm::Value* next = b_.CreateBitCast(floatExtreme(op, b_.CreateBitCast(seen, type), value), bits);
  b_.CreateCondBr(b_.CreateICmpEQ(next, seen), done, exchange);

  b_.SetInsertPoint(exchange);
  llvm::Value* pair = b_.CreateAtomicCmpXchg(address, seen, next, align, kOrder, kOrder);
  seen->addIncoming(b_.CreateExtractValue(pair, 0), exchange);
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, look);

  b_.SetInsertPoint(done);
  return b_.CreateBitCast(seen, type);
}

std::vector<llvm::Value*> AtomicsEmitter::emit(const AtomicRequest& request) {
  const bool combines = request.op == Op::AtomicLoad || combinable(request.op).has_value();
  return request.uniformAddress != nullptr && combines ? emitCombined(request) : emitLaneLoop(request);
}

llvm::Value* AtomicsEmitter::maskBits(llvm::Value* mask) {
  llvm::Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
  return b_.CreateZExtOrTrunc(bits, b_.getInt64Ty());
}

// <P x T>: how many active lanes stand below each lane.
llvm::Value* AtomicsEmitter::lanesBelow(llvm::Value* mask, ir::Kind kind) {
  llvm::Type* longs = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes_);
  llvm::Type* words = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes_);
  llvm::Type* element = lanes_ > 32 ? longs : words;
  llvm::SmallVector<llvm::Constant*, 64> below(lanes_);
  for (uint32_t i = 0; i < lanes_; i++) {
    below[i] = llvm::ConstantInt::get(element->getScalarType(), (1ull << i) - 1);
  }
  llvm::Value* bits = b_.CreateVectorSplat(lanes_, b_.CreateTrunc(maskBits(mask), element->getScalarType()));
  llvm::Value* count =
      b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateAnd(bits, llvm::ConstantVector::get(below)));
  return b_.CreateZExtOrTrunc(count, llvmType(b_.getContext(), kind, lanes_));
}

std::vector<llvm::Value*> AtomicsEmitter::emitCombined(const AtomicRequest& request) {
  const size_t parts = request.masks.size();
  llvm::Type* type = llvmType(b_.getContext(), request.kind);
  llvm::Type* vectorType = llvm::FixedVectorType::get(type, lanes_);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* perform = llvm::BasicBlock::Create(b_.getContext(), "atomic", function);
  auto* done = llvm::BasicBlock::Create(b_.getContext(), "atomic.done", function);

  llvm::Value* any = request.masks[0];
  for (size_t p = 1; p < parts; p++) any = b_.CreateOr(any, request.masks[p]);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(subgroups_.anyLane(any), perform, done);

  b_.SetInsertPoint(perform);
  llvm::Value* old = nullptr;
  std::vector<llvm::Value*> prefixes(parts);  // what the lanes before, in the whole gang, contribute
  const auto reduceOp = combinable(request.op);
  const bool wantPrefix = request.resultUsed && reduceOp.has_value();
  if (!reduceOp) {
    old = emitScalar(request.op, request.kind, request.uniformAddress, nullptr, nullptr, request.oneThread);
  } else if (*reduceOp == ReduceOp::kIAdd && request.values.size() == 1 &&
             !request.values[0]->getType()->isVectorTy()) {
    llvm::Value* count = llvm::ConstantInt::get(type, 0);
    for (size_t p = 0; p < parts; p++) {
      if (wantPrefix) {
        llvm::Value* n = b_.CreateAdd(lanesBelow(request.masks[p], request.kind), b_.CreateVectorSplat(lanes_, count));
        prefixes[p] = b_.CreateMul(n, b_.CreateVectorSplat(lanes_, request.values[0]));
      }
      llvm::Value* ones = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, maskBits(request.masks[p]));
      count = b_.CreateAdd(count, b_.CreateZExtOrTrunc(ones, type));
    }
    llvm::Value* total = b_.CreateMul(count, request.values[0]);
    old = emitScalar(request.op, request.kind, request.uniformAddress, total, nullptr, request.oneThread);
  } else {
    SubgroupEmitter whole(ops_, lanes_, lanes_);
    llvm::Value* total = nullptr;
    for (size_t p = 0; p < parts; p++) {
      llvm::Value* value = partValue(request.values, p);
      if (wantPrefix) {
        prefixes[p] = whole.scan(*reduceOp, request.kind, value, request.masks[p], true);
        if (total != nullptr) {
          prefixes[p] = ops_.reduceStep(*reduceOp, request.kind, b_.CreateVectorSplat(lanes_, total), prefixes[p]);
        }
      }
      value = b_.CreateSelect(request.masks[p], value, ops_.reduceIdentity(*reduceOp, request.kind, lanes_));
      llvm::Value* sum = b_.CreateIntrinsic(type, horizontal(*reduceOp), {value});
      total = total == nullptr ? sum : ops_.reduceStep(*reduceOp, request.kind, total, sum);
    }
    old = emitScalar(request.op, request.kind, request.uniformAddress, total, nullptr, request.oneThread);
  }
  std::vector<llvm::Value*> results;
  if (request.resultUsed) {
    llvm::Value* splat = b_.CreateVectorSplat(lanes_, old);
    for (size_t p = 0; p < parts; p++) {
      llvm::Value* r = wantPrefix ? ops_.reduceStep(*reduceOp, request.kind, splat, prefixes[p]) : splat;
      results.push_back(b_.CreateSelect(request.masks[p], r, llvm::Constant::getNullValue(vectorType)));
    }
  }
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  for (llvm::Value*& r : results) {
    llvm::PHINode* phi = b_.CreatePHI(vectorType, 2);
    phi->addIncoming(llvm::Constant::getNullValue(vectorType), before);
    phi->addIncoming(r, from);
    r = phi;
  }
  return results;
}

llvm::Value* AtomicsEmitter::partValue(std::span<llvm::Value* const> values, size_t part) {
  llvm::Value* v = values.size() == 1 ? values[0] : values[part];
  return v->getType()->isVectorTy() ? v : b_.CreateVectorSplat(lanes_, v);
}

llvm::AllocaInst* AtomicsEmitter::scratch(Slot slot, llvm::Type* type) {
  llvm::AllocaInst*& known = scratch_[{slot, type}];
  if (known == nullptr) {
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> at(&entry, entry.getFirstInsertionPt());
    known = at.CreateAlloca(type);
  }
  return known;
}

// Vectors go to the stack once; the loop then picks elements by address.
std::vector<llvm::Value*> AtomicsEmitter::emitLaneLoop(const AtomicRequest& request) {
  llvm::LLVMContext& context = b_.getContext();
  llvm::Type* type = llvmType(context, request.kind);
  llvm::Type* vectorType = llvm::FixedVectorType::get(type, lanes_);
  llvm::Type* longs = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes_);
  const bool wantResult = request.resultUsed && request.op != Op::AtomicStore;
  std::vector<llvm::Value*> results;

  for (size_t p = 0; p < request.masks.size(); p++) {
    struct Operand {
      llvm::Value* memory = nullptr;  // or:
      llvm::Value* uniform = nullptr;
      llvm::Type* element = nullptr;
    };
    const auto prepare = [&](Slot slot, std::span<llvm::Value* const> list, llvm::Type* vector) {
      Operand o;
      if (list.empty()) return o;
      llvm::Value* v = list.size() == 1 ? list[0] : list[p];
      if (!v->getType()->isVectorTy()) {
        o.uniform = v;
        return o;
      }
      o.memory = scratch(slot, vector);
      o.element = vector->getScalarType();
      b_.CreateStore(v, o.memory);
      return o;
    };
    const Operand address = prepare(Slot::kAddress, request.addresses, longs);
    const Operand value = prepare(Slot::kValue, request.values, vectorType);
    const Operand comparator = prepare(Slot::kComparator, request.comparators, vectorType);
    llvm::Value* result = nullptr;
    if (wantResult) {
      result = scratch(Slot::kResult, vectorType);
      b_.CreateStore(llvm::Constant::getNullValue(vectorType), result);
    }

    llvm::Function* function = b_.GetInsertBlock()->getParent();
    auto* loop = llvm::BasicBlock::Create(context, "atomic.lane", function);
    auto* done = llvm::BasicBlock::Create(context, "atomic.done", function);
    llvm::Value* bits = maskBits(request.masks[p]);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpNE(bits, b_.getInt64(0)), loop, done);

    b_.SetInsertPoint(loop);
    llvm::PHINode* left = b_.CreatePHI(b_.getInt64Ty(), 2);
    left->addIncoming(bits, before);
    llvm::Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue());
    const auto pick = [&](const Operand& o) -> llvm::Value* {
      if (o.memory == nullptr) return o.uniform;
      return b_.CreateLoad(o.element, b_.CreateGEP(o.element, o.memory, lane));
    };
    llvm::Value* pointer = request.uniformAddress;
    if (pointer == nullptr) pointer = b_.CreateIntToPtr(pick(address), b_.getPtrTy());
    llvm::Value* old = emitScalar(request.op, request.kind, pointer, pick(value), pick(comparator), request.oneThread);
    if (wantResult) b_.CreateStore(old, b_.CreateGEP(type, result, lane));
    llvm::Value* next = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt64(1)));
    left->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpNE(next, b_.getInt64(0)), loop, done);

    b_.SetInsertPoint(done);
    if (wantResult) results.push_back(b_.CreateLoad(vectorType, result));
  }
  return results;
}

}  // namespace pumice::shader::codegen
