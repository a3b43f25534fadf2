// Operations and the machine form of values.
#include "shaders/codegen/generator.h"
#include "shaders/ir/image_access.h"

namespace pumice::shader::codegen {

using namespace ir;

Generator::Level Generator::level(const Value* v) const {
  return v->def == Value::Def::kConstant ? Level::kCall : levels_[v->id];
}

void Generator::define(const Value* v, Lowered lowered, Level level) {
  values_[v->id] = std::move(lowered);
  levels_[v->id] = level;
  epochs_[v->id] = epoch_;
  if (groupMode_ && crosses_[v->id] && level == Level::kHere) storeCrossing(v);
}

const Lowered& Generator::lowered(const Value* v) {
  Lowered& l = values_[v->id];
  if (v->def == Value::Def::kConstant) {
    if (l.empty()) l.push_back(ops_.constant(v->type.kind, v->bits));
    return l;
  }
  if (groupMode_ && levels_[v->id] == Level::kHere && epochs_[v->id] != epoch_) return crossing(v);
  return l;
}

uint32_t Generator::formCount(const Value* v) const {
  const Shape& s = shape(v);
  return s.kind == Shape::Kind::kUniform || s.kind == Shape::Kind::kAffine ? 1 : k_;
}

llvm::Type* Generator::formType(const Value* v) {
  const Kind kind = v->type.kind == Kind::kBufferRef ? Kind::kI64 : v->type.kind;
  return type(kind, shape(v).isVarying() ? lanes_ : 0);
}

llvm::Value* Generator::scalar(const Value* v, uint32_t component) {
  return partScalar(v, 0, component);
}

llvm::Value* Generator::partScalar(const Value* v, uint32_t part, uint32_t component) {
  const Shape& s = shape(v);
  const Lowered& l = lowered(v);
  if (s.kind == Shape::Kind::kStrided) return l[component * k_ + part];
  llvm::Value* base = l[component];
  if (s.partStride == 0 || part == 0) return base;
  return b_.CreateAdd(base, llvm::ConstantInt::getSigned(base->getType(), s.partStride * part));
}

llvm::Constant* Generator::laneRamp(llvm::Type* element, int64_t stride) {
  llvm::SmallVector<llvm::Constant*, 32> c;
  for (uint32_t i = 0; i < lanes_; ++i)
    c.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(stride * int64_t{i})));
  return llvm::ConstantVector::get(c);
}

llvm::Value* Generator::vector(const Value* v, uint32_t part, uint32_t component) {
  const Shape& s = shape(v);
  const Lowered& l = lowered(v);
  if (s.isVarying()) return l[component * k_ + part];
  const bool perPart = s.kind == Shape::Kind::kStrided;
  llvm::Value* base = l[perPart ? component * k_ + part : component];
  const int64_t offset = perPart ? 0 : s.partStride * part;
  if (s.laneStride == 0 && offset == 0 && llvm::isa<llvm::Constant>(base)) return splat(base);
  const auto cached = [&](int64_t lane, int64_t first, auto&& make) -> llvm::Value* {
    Cached& c = vectors_[{base, {lane, first}}];
    if (c.block != b_.GetInsertBlock()) {
      llvm::Value* made = make();
      Cached& slot = vectors_[{base, {lane, first}}];
      slot = {b_.GetInsertBlock(), made};
      return made;
    }
    return c.value;
  };
  llvm::Value* plain = cached(0, 0, [&] { return splat(base); });
  if (s.laneStride == 0 && offset == 0) return plain;
  return cached(s.laneStride, offset, [&] {
    llvm::SmallVector<llvm::Constant*, 32> c;
    for (uint32_t i = 0; i < lanes_; ++i)
      c.push_back(llvm::ConstantInt::get(base->getType(), static_cast<uint64_t>(s.laneStride * int64_t{i} + offset)));
    return b_.CreateAdd(plain, llvm::ConstantVector::get(c));
  });
}

llvm::Value* Generator::partMask(const Mask& mask, uint32_t part) {
  return mask.all() ? llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_)) : mask.parts[part];
}

// The kinds of `and` that turn up with masks: with nothing, with all lanes.
llvm::Value* Generator::andMask(llvm::Value* a, llvm::Value* b) {
  const auto isAll = [](llvm::Value* v) {
    auto* c = llvm::dyn_cast_or_null<llvm::Constant>(v);
    return v == nullptr || (c != nullptr && c->isAllOnesValue());
  };
  if (isAll(a)) return b;
  if (isAll(b)) return a;
  return b_.CreateAnd(a, b);
}

namespace {

// What helper invocations take no part in.
bool hidesFromHelpers(const Inst* i) {
  if (i->op == Op::QuadShuffle || i->op == Op::IsHelper) return false;
  if (isSubgroupOp(i->op)) return true;
  if (i->op == Op::ImageAccess) return imageAccess(*i).isAtomic();
  if (i->op == Op::ImageWrite) return true;
  return isMemoryOp(i->op) && i->op != Op::Load && i->op != Op::AtomicLoad && i->mem.space != Space::kLocal;
}

}  // namespace

void Generator::emitInst(const Inst* i, const Flow& flow) {
  if (emitted_.contains(i) || inHead_.contains(i)) return;
  if (fn_.stage == Stage::kFragment && hidesFromHelpers(i)) return emitOperation(i, withoutHelpers(flow));
  if (coveredQuads_ && i->op == Op::Load && i->mem.space == Space::kGlobal && !i->mem.everyLane)
    return emitOperation(i, insideCoveredQuads(flow));
  emitOperation(i, flow);
}

void Generator::emitOperation(const Inst* i, const Flow& flow) {
  if (i->op >= Op::WorkgroupId && i->op <= Op::SubgroupSize) return emitBuiltin(i);
  if (i->op >= Op::FragmentPosition && i->op <= Op::Demote) return emitFragment(i, flow);
  if (i->op == Op::QuadShuffle || i->op == Op::IsHelper) return emitFragment(i, flow);
  if (isSubgroupOp(i->op)) return emitSubgroup(i, flow);
  if (isAtomicOp(i->op)) return emitAtomic(i, flow);
  switch (i->op) {
    case Op::Load:
      return i->mem.space == Space::kLocal ? emitLocalLoad(i, flow) : emitLoad(i, flow);
    case Op::Store:
      return i->mem.space == Space::kLocal ? emitLocalStore(i, flow) : emitStore(i, flow);
    case Op::BufferDescriptor:
      return emitDescriptor(i);
    case Op::DescriptorAddress:
      return emitDescriptorAddress(i);
    case Op::EnvAddress:
    case Op::ItemAddress:
      return emitStageValue(i);
    case Op::ImageRead:
    case Op::ImageAccess:
    case Op::ImageWrite:
      return emitImage(i, flow);
    case Op::MemoryBarrier:
      // Other workers may run other workgroups, so this is a real one; x86 only reorders stores behind loads.
      b_.CreateFence(llvm::AtomicOrdering::AcquireRelease);
      return;
    case Op::ControlBarrier:
      // Workgroup barriers inside a gang's code: the workgroup is this one gang, which is in step already. The same for
      // a subgroup barrier.
      b_.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
      return;
    case Op::ReadClock: {
      llvm::Type* ptr = b_.getPtrTy();
      llvm::Value* runtime = b_.CreateLoad(ptr, env_, "runtime");
      llvm::Value* slot = bytePointer(runtime, b_.getInt64(offsetof(abi::RuntimeTable, readClock)));
      auto* fnType = llvm::FunctionType::get(b_.getInt64Ty(), false);
      define(i->result, {b_.CreateCall(fnType, b_.CreateLoad(ptr, slot), {})}, Level::kHere);
      return;
    }
    default:
      return emitPlain(i);
  }
}

void Generator::emitPlain(const Inst* i) {
  const Shape& s = shape(i->result);
  Level lvl = Level::kHere;
  if (s.isUniform()) {
    lvl = Level::kCall;
    for (const Value* v : i->operands) lvl = std::max(lvl, level(v));
  }
  LevelScope scope(*this, lvl);

  const uint32_t forms = formCount(i->result);
  const uint32_t components = componentsOf(i->result);
  Lowered out(forms * components);
  const auto form = [&](const Value* v, uint32_t j, uint32_t component = 0) {
    return s.isVarying() ? vector(v, j, component) : partScalar(v, j, component);
  };
  switch (i->op) {
    case Op::Construct:
      for (uint32_t c = 0; c < components; ++c)
        for (uint32_t j = 0; j < forms; ++j) out[c * forms + j] = form(i->operands[c], j);
      break;
    case Op::Extract:
      for (uint32_t j = 0; j < forms; ++j) out[j] = form(i->operands[0], j, i->imm);
      break;
    case Op::BufferSize:
      for (uint32_t j = 0; j < forms; ++j) {
        llvm::Value* size = form(i->operands[0], j, 1);
        llvm::Value* max = llvm::ConstantInt::get(size->getType(), 0xffff'ffffull);
        size = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, max);
        out[j] = b_.CreateTrunc(size, formType(i->result));
      }
      break;
    case Op::BufferAddress:
      for (uint32_t j = 0; j < forms; ++j) out[j] = form(i->operands[0], j, 0);
      break;
    case Op::Select: {
      const bool scalarCondition = shape(i->operands[0]).sameInPart();
      for (uint32_t c = 0; c < components; ++c)
        for (uint32_t j = 0; j < forms; ++j) {
          llvm::Value* cond = scalarCondition ? partScalar(i->operands[0], j) : vector(i->operands[0], j);
          llvm::Value* args[] = {cond, form(i->operands[1], j, c), form(i->operands[2], j, c)};
          const Kind kind = i->result->type.kind == Kind::kBufferRef ? Kind::kI64 : i->result->type.kind;
          out[c * forms + j] = ops_.emit(Op::Select, kind, kind, args);
        }
      break;
    }
    default:
      for (uint32_t j = 0; j < forms; ++j) {
        llvm::SmallVector<llvm::Value*, 3> args;
        for (const Value* v : i->operands) args.push_back(form(v, j));
        out[j] = ops_.emit(*i, args);
      }
      break;
  }
  define(i->result, std::move(out), lvl);
}

llvm::Value* Generator::invocation(uint32_t part) {
  llvm::Value* first = b_.CreateMul(gang_, b_.getInt32(plan_.geometry.gangLanes()), "", true, true);
  return part == 0 ? first : b_.CreateAdd(first, b_.getInt32(part * lanes_), "", true, true);
}

llvm::Value* Generator::invocations(uint32_t part) {
  return b_.CreateAdd(splat(invocation(part)), laneRamp(b_.getInt32Ty(), 1), "", true, true);
}

void Generator::emitBuiltin(const Inst* i) {
  const auto uniform = [&](llvm::Value* v, Level lvl) { define(i->result, {v}, lvl); };
  switch (i->op) {
    case Op::WorkgroupId:
      return uniform(groupId_[i->imm], Level::kGroup);
    case Op::NumWorkgroups:
      return uniform(groupCount_[i->imm], Level::kCall);
    case Op::NumSubgroups:
      return uniform(b_.getInt32((plan_.invocations + fn_.subgroupSize - 1) / fn_.subgroupSize), Level::kCall);
    case Op::SubgroupSize:
      return uniform(b_.getInt32(fn_.subgroupSize), Level::kCall);
    default:
      break;
  }
  const uint32_t* size = fn_.localSize;
  if (i->op == Op::LocalInvocationId && size[i->imm] == 1) return uniform(b_.getInt32(0), Level::kCall);
  const auto from = [&](llvm::Value* index) -> llvm::Value* {
    const auto c = [&](uint32_t v) { return llvm::ConstantInt::get(index->getType(), v); };
    switch (i->op) {
      case Op::LocalInvocationIndex:
        return index;
      case Op::SubgroupId:
        return b_.CreateUDiv(index, c(fn_.subgroupSize));
      case Op::SubgroupInvocationId:
        return b_.CreateURem(index, c(fn_.subgroupSize));
      default: {
        const uint32_t below = i->imm == 0 ? 1 : i->imm == 1 ? size[0] : size[0] * size[1];
        llvm::Value* v = below == 1 ? index : b_.CreateUDiv(index, c(below));
        // The last dimension needs no remainder, except in lanes past the end, whose ids stay in the workgroup's range
        // this way (so that nothing derived from them leaves the range that the analysis proved).
        return plan_.invocations == below * size[i->imm] && !plan_.partial() ? v : b_.CreateURem(v, c(size[i->imm]));
      }
    }
  };
  const Shape& s = shape(i->result);
  const uint32_t forms = formCount(i->result);
  Lowered out;
  for (uint32_t j = 0; j < forms; ++j) out.push_back(from(s.isVarying() ? invocations(j) : invocation(j)));
  define(i->result, std::move(out), Level::kHere);
}

void Generator::emitSubgroup(const Inst* i, const Flow& flow) {
  const Shape& s = shape(i->result);
  if (s.isUniform() && i->op == Op::SubgroupBroadcastFirst && shape(i->operands[0]).isUniform()) {
    define(i->result, lowered(i->operands[0]), level(i->operands[0]));
    return;
  }
  const uint32_t forms = formCount(i->result);
  Lowered out;
  for (uint32_t j = 0; j < forms; ++j) {
    llvm::SmallVector<llvm::Value*, 2> args;
    for (const Value* v : i->operands) args.push_back(vector(v, j));
    llvm::Value* r = subgroups_.emit(*i, args, partMask(flow.mask, j));
    out.push_back(s.isVarying() ? r : b_.CreateExtractElement(r, uint64_t{0}));
  }
  define(i->result, std::move(out), Level::kHere);
}

const abi::BindingSlot* Generator::bindingSlot(const Inst* i) const {
  for (const abi::BindingSlot& s : bindings_)
    if (s.set == i->set && s.binding == i->binding && s.set < abi::kMaxBoundSets && s.count > 0) return &s;
  return nullptr;
}

void Generator::emitDescriptor(const Inst* i) {
  const abi::BindingSlot* slot = bindingSlot(i);
  if (slot == nullptr ||
      (!i->operands.empty() && i->operands[0]->def == Value::Def::kConstant && i->operands[0]->bits >= slot->count)) {
    // Nothing there: the null descriptor.
    const uint32_t forms = formCount(i->result);
    define(i->result, Lowered(2 * forms, llvm::Constant::getNullValue(formType(i->result))),
           shape(i->result).isUniform() ? Level::kCall : Level::kHere);
    return;
  }
  const Value* index = i->operands.empty() ? nullptr : i->operands[0];
  const Shape& s = shape(i->result);
  const Level lvl = s.isUniform() ? (index ? level(index) : Level::kCall) : Level::kHere;
  LevelScope scope(*this, lvl);

  const bool dynamic = slot->dynamicIndex != abi::kNotDynamic;
  llvm::Value* set = b_.CreateLoad(b_.getInt64Ty(), bytePointer(bindingState_, b_.getInt64(8ull * slot->set)), "set");
  llvm::Value* bound = b_.CreateICmpNE(set, b_.getInt64(0));
  llvm::Value* sinkAddress = b_.CreatePtrToInt(sink_, b_.getInt64Ty());
  const uint32_t forms = formCount(i->result);
  Lowered out(2 * forms);
  for (uint32_t j = 0; j < forms; ++j) {
    if (s.isVarying()) {
      llvm::Value* idx = vector(index, j);
      llvm::Value* ok = b_.CreateAnd(splat(bound), b_.CreateICmpULT(idx, splat(b_.getInt32(slot->count))));
      llvm::Value* idx64 = b_.CreateZExt(idx, type(Kind::kI64, lanes_));
      llvm::Value* address = b_.CreateAdd(splat(b_.CreateAdd(set, b_.getInt64(slot->offset_B))),
                                          b_.CreateMul(idx64, splat(b_.getInt64(slot->stride_B))));
      llvm::Value* base = gatherAddresses(address, Kind::kI64, ok);
      out[forms + j] = gatherAddresses(
          b_.CreateAdd(address, splat(b_.getInt64(offsetof(abi::BufferDescriptor, size_B)))), Kind::kI64, ok);
      if (dynamic) {
        llvm::Value* first = b_.CreatePtrToInt(
            bytePointer(bindingState_,
                        b_.getInt64(offsetof(abi::BindingState, dynamicOffset_B) + 4ull * slot->dynamicIndex)),
            b_.getInt64Ty());
        llvm::Value* offsets = b_.CreateAdd(splat(first), b_.CreateShl(idx64, splat(b_.getInt64(2))));
        llvm::Value* offset = gatherAddresses(offsets, Kind::kI32, ok);
        base = b_.CreateAdd(base, b_.CreateZExt(offset, type(Kind::kI64, lanes_)));
      }
      out[j] = base;
      continue;
    }
    llvm::Value* ok = bound;
    llvm::Value* offset = b_.getInt64(slot->offset_B);
    llvm::Value* idx64 = nullptr;
    if (index) {
      llvm::Value* idx = partScalar(index, j);
      ok = b_.CreateAnd(ok, b_.CreateICmpULT(idx, b_.getInt32(slot->count)));
      idx64 = b_.CreateZExt(idx, b_.getInt64Ty());
      offset = b_.CreateAdd(offset, b_.CreateMul(idx64, b_.getInt64(slot->stride_B)));
    }
    // An unbound set or an index past the end reads the sink's bytes, which are thrown away: no branch.
    llvm::Value* address = b_.CreateSelect(ok, b_.CreateAdd(set, offset), sinkAddress);
    llvm::Value* pointer = b_.CreateIntToPtr(address, b_.getPtrTy());
    llvm::Value* base = b_.CreateLoad(b_.getInt64Ty(), pointer, "base");
    llvm::Value* size = b_.CreateLoad(
        b_.getInt64Ty(), bytePointer(pointer, b_.getInt64(offsetof(abi::BufferDescriptor, size_B))), "size");
    if (dynamic) {
      llvm::Value* at = b_.getInt64(offsetof(abi::BindingState, dynamicOffset_B) + 4ull * slot->dynamicIndex);
      if (idx64) at = b_.CreateAdd(at, b_.CreateShl(b_.CreateSelect(ok, idx64, b_.getInt64(0)), b_.getInt64(2)));
      llvm::Value* add = b_.CreateLoad(b_.getInt32Ty(), bytePointer(bindingState_, at));
      base = b_.CreateAdd(base, b_.CreateZExt(add, b_.getInt64Ty()));
    }
    out[j] = base;
    out[forms + j] = b_.CreateSelect(ok, size, b_.getInt64(0));
  }
  define(i->result, std::move(out), lvl);
}

}  // namespace pumice::shader::codegen
