// Loads and stores of buffers, device addresses, workgroup memory and push constants, by stride. Loads of lanes that
// are in range run unmasked whatever lanes are active (harmless, and masked loads halve the bandwidth); stores never
// touch memory for a lane that is not active or not in range.
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

// Always there to be read, so also ahead of where the program reads it.
bool isStageAddress(const Value* v) {
  return v->def == Value::Def::kInst && (v->inst->op == Op::EnvAddress || v->inst->op == Op::ItemAddress);
}

}  // namespace

void Generator::emitLoad(const Inst* i, const Flow& flow) {
  const Shape& s = shape(i->result);
  const bool readOnly = i->mem.readOnly || i->mem.space == Space::kPush;
  Level lvl = Level::kHere;
  if (s.isUniform() && readOnly && !i->mem.isVolatile &&
      (i->mem.space == Space::kBuffer || i->mem.space == Space::kPush || isStageAddress(i->operands[0]))) {
    lvl = Level::kCall;
    for (const Value* v : i->operands) lvl = std::max(lvl, level(v));
  }
  interleaved_.erase(i->result);
  LevelScope scope(*this, lvl);
  const Address a = resolve(i);
  Lowered out;
  if (!s.isVarying()) {
    const uint32_t forms = formCount(i->result);
    out.resize(size_t{forms} * a.components);
    for (uint32_t j = 0; j < forms; ++j) {
      const Lowered part = loadScalars(a, j);
      for (uint32_t c = 0; c < a.components; ++c) out[c * forms + j] = part[c];
    }
  } else {
    out.resize(size_t{k_} * a.components);
    bool wholeGang = false;
    if (contiguous(a, &wholeGang))
      loadContiguous(a, wholeGang, flow, i->result, out);
    else if (!loadStrided(i, a, flow, out) && !loadConsecutive(a, flow, i->result, out))
      loadGather(a, flow, out);
  }
  define(i->result, std::move(out), lvl);
}

// One address for a part (or the gang). An address that is out of range is replaced by the sink's: no branch.
llvm::Value* Generator::loadScalar(const Address& a, uint32_t part, uint32_t component, llvm::Value* inRange) {
  llvm::Type* t = type(a.kind);
  llvm::Value* base = a.baseInGang ? a.pointer : b_.CreateIntToPtr(partScalar(a.base, part), b_.getPtrTy());
  llvm::Value* pointer = bytePointer(base, offsetOf(a, index64(a, partScalar(a.index, part)), component));
  if (inRange) pointer = b_.CreateSelect(inRange, pointer, sink_);
  const llvm::Align align = component == 0 ? alignOf(a) : std::min(alignOf(a), llvm::Align(a.bytes));
  llvm::Value* v = b_.CreateAlignedLoad(t, pointer, align, a.mem->isVolatile);
  return inRange ? b_.CreateSelect(inRange, v, llvm::Constant::getNullValue(t)) : v;
}

Lowered Generator::loadScalars(const Address& a, uint32_t part) {
  Lowered out(a.components);
  for (uint32_t c = 0; c < a.components; ++c) {
    out[c] = loadScalar(a, part, c, a.provenActive ? nullptr : partInRange(a, part, c));
  }
  return out;
}

// Tuples of 32-bit components are fetched in pairs, 64 bits a lane, where all components have the same range.
void Generator::loadGather(const Address& a, const Flow& flow, Lowered& out) {
  if (!features_.avx512 || a.bytes != 4 || a.components % 2 != 0 || !a.baseInGang || flow.cold ||
      target_.tier == Tier::kQuick)
    return loadGatherParts(a, flow, out);
  if (!a.checked || a.provenAll || a.provenActive) return loadGatherPairs(a, flow, out);
  llvm::Value* same = b_.CreateICmpEQ(indexLimit(a, 0), indexLimit(a, a.components - 1));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(same))
    return known->isOne() ? loadGatherPairs(a, flow, out) : loadGatherParts(a, flow, out);
  llvm::BasicBlock* pairs = block("gather.pairs");
  llvm::BasicBlock* parts = block("gather.parts");
  llvm::BasicBlock* done = block("gather.done");
  b_.CreateCondBr(same, pairs, parts, likely_);
  enter(pairs);
  Lowered quick(out.size()), careful(out.size());
  loadGatherPairs(a, flow, quick);
  b_.CreateBr(done);
  enter(parts);
  loadGatherParts(a, flow, careful);
  b_.CreateBr(done);
  enter(done);
  for (size_t i = 0; i < out.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(quick[i]->getType(), 2);
    phi->addIncoming(quick[i], pairs);
    phi->addIncoming(careful[i], parts);
    out[i] = phi;
  }
}

// The lanes that may touch memory; nullptr: all.
llvm::Value* Generator::gatherMask(const Address& a, const Flow& flow, uint32_t part, uint32_t component) {
  if (a.provenAll) return nullptr;
  if (!a.checked || (a.provenActive && !flow.mask.all())) return flow.mask.all() ? nullptr : partMask(flow.mask, part);
  return a.provenActive ? nullptr : laneRange(a, part, component);
}

void Generator::loadGatherParts(const Address& a, const Flow& flow, Lowered& out) {
  for (uint32_t c = 0; c < a.components; ++c)
    for (uint32_t j = 0; j < k_; ++j) out[c * k_ + j] = gather(a, vector(a.index, j), j, c, gatherMask(a, flow, j, c));
}

void Generator::loadGatherPairs(const Address& a, const Flow& flow, Lowered& out) {
  Address pair = a;
  pair.kind = Kind::kI64;
  llvm::SmallVector<int, 32> even, odd;
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    even.push_back(static_cast<int>(2 * lane));
    odd.push_back(static_cast<int>(2 * lane + 1));
  }
  for (uint32_t c = 0; c < a.components; c += 2)
    for (uint32_t j = 0; j < k_; ++j) {
      llvm::Value* both = gather(pair, vector(a.index, j), j, c, gatherMask(a, flow, j, a.components - 1));
      both = b_.CreateBitCast(both, type(a.kind, 2 * lanes_));
      out[c * k_ + j] = b_.CreateShuffleVector(both, even);
      out[(c + 1) * k_ + j] = b_.CreateShuffleVector(both, odd);
    }
}

// mask == nullptr: all lanes. Lanes outside the mask give 0.
llvm::Value* Generator::gather(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component,
                               llvm::Value* mask) {
  llvm::Type* t = type(a.kind, lanes_);
  const bool wide = a.bytes == 4 || a.bytes == 8;
  const bool narrowIndex = a.index->type.kind == Kind::kI32;
  if (features_.avx512 && wide && a.baseInGang && narrowIndex && a.mem->scale_B % 4 == 0) {
    // 32-bit index times 4: in-range offsets are below 2^32, so the index stays below 2^30 (device addresses: scale 4
    // alone, where nothing is multiplied).
    if (a.mem->space != Space::kGlobal || a.mem->scale_B == 4) {
      llvm::Value* index = indices;
      if (a.mem->scale_B != 4) index = b_.CreateMul(index, splat(b_.getInt32(a.mem->scale_B / 4)));
      llvm::Value* base =
          bytePointer(a.pointer, b_.getInt64(uint64_t{a.mem->offset_B} + uint64_t{component} * a.bytes));
      llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), base, index);
      if (!mask) mask = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
      return b_.CreateMaskedGather(t, pointers, std::min(alignOf(a), llvm::Align(a.bytes)), mask,
                                   llvm::Constant::getNullValue(t));
    }
  }
  return gatherAddresses(laneAddresses(a, indices, part, component), a.kind, mask);
}

llvm::Value* Generator::gatherAddresses(llvm::Value* addresses, Kind kind, llvm::Value* mask) {
  llvm::Type* t = type(kind, lanes_);
  llvm::Value* zero = llvm::Constant::getNullValue(t);
  const uint32_t bytes = kindBytes(kind);
  if (features_.avx512 && bytes >= 4) {
    llvm::Value* pointers = b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), lanes_));
    if (!mask) mask = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
    return b_.CreateMaskedGather(t, pointers, llvm::Align(1), mask, zero);
  }
  // One scalar load a lane; lanes outside the mask read the sink.
  if (mask) addresses = b_.CreateSelect(mask, addresses, splat(b_.CreatePtrToInt(sink_, b_.getInt64Ty())));
  llvm::Value* out = llvm::PoisonValue::get(t);
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    llvm::Value* p = b_.CreateIntToPtr(b_.CreateExtractElement(addresses, uint64_t{lane}), b_.getPtrTy());
    out = b_.CreateInsertElement(out, b_.CreateAlignedLoad(type(kind), p, llvm::Align(1)), uint64_t{lane});
  }
  return mask ? b_.CreateSelect(mask, out, zero) : out;
}

void Generator::emitStore(const Inst* i, const Flow& flow) {
  const Address a = resolve(i);
  const Value* value = i->operands.back();
  if (storeSingle(a, value, flow)) return;
  bool wholeGang = false;
  if (contiguous(a, &wholeGang))
    storeContiguous(a, wholeGang, value, flow);
  else if (!storeConsecutive(a, value, flow))
    storeScatter(a, value, flow);
}

// One address for the whole gang or a part: the value of the last active lane stays.
bool Generator::storeSingle(const Address& a, const Value* value, const Flow& flow) {
  const bool inGang = a.baseInGang && shape(a.index).sameInGang();
  if (!inGang && !((!a.base || shape(a.base).sameInPart()) && shape(a.index).sameInPart())) return false;
  const auto storeAt = [&](uint32_t part, uint32_t c, llvm::Value* v, llvm::Value* active) {
    llvm::Value* base = a.baseInGang ? a.pointer : b_.CreateIntToPtr(partScalar(a.base, part), b_.getPtrTy());
    llvm::Value* index = index64(a, partScalar(a.index, part));
    llvm::Value* pointer = bytePointer(base, offsetOf(a, index, c));
    llvm::Value* ok = active;
    if (!a.provenActive) {
      llvm::Value* inRange = partInRange(a, part, c);
      ok = ok ? b_.CreateAnd(ok, inRange) : inRange;
    }
    if (ok) pointer = b_.CreateSelect(ok, pointer, sink_);
    b_.CreateAlignedStore(v, pointer, std::min(alignOf(a), llvm::Align(a.bytes)), a.mem->isVolatile);
  };
  if (inGang && flow.nonEmpty && shape(value).sameInGang()) {
    for (uint32_t c = 0; c < a.components; ++c) storeAt(0, c, scalar(value, c), nullptr);
    return true;
  }
  const uint32_t first = inGang && flow.mask.all() ? k_ - 1 : 0;
  for (uint32_t j = first; j < k_; ++j) {
    llvm::Value* active = nullptr;
    llvm::Value* lane = b_.getInt32(lanes_ - 1);
    if (!flow.mask.all()) {
      llvm::Value* bits = b_.CreateZExt(subgroups_.maskToInteger(flow.mask.parts[j]), b_.getInt32Ty());
      active = b_.CreateICmpNE(bits, b_.getInt32(0));
      lane = b_.CreateSub(b_.getInt32(31), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, b_.getInt1(false)));
      lane = b_.CreateAnd(lane, b_.getInt32(lanes_ - 1));
    }
    for (uint32_t c = 0; c < a.components; ++c) {
      llvm::Value* v =
          shape(value).sameInPart() ? partScalar(value, j, c) : b_.CreateExtractElement(vector(value, j, c), lane);
      storeAt(j, c, v, active);
    }
  }
  return true;
}

void Generator::storeScatter(const Address& a, const Value* value, const Flow& flow) {
  for (uint32_t j = 0; j < k_; ++j)
    for (uint32_t c = 0; c < a.components; ++c) {
      llvm::Value* mask = flow.mask.all() ? nullptr : flow.mask.parts[j];
      if (!a.provenActive) mask = andMask(mask, laneRange(a, j, c));
      scatter(a, vector(a.index, j), j, c, vector(value, j, c), mask);
    }
}

void Generator::scatter(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component, llvm::Value* value,
                        llvm::Value* mask) {
  const bool wide = a.bytes == 4 || a.bytes == 8;
  if (features_.avx512 && wide && a.baseInGang && a.index->type.kind == Kind::kI32 && a.mem->scale_B % 4 == 0 &&
      (a.mem->space != Space::kGlobal || a.mem->scale_B == 4)) {
    llvm::Value* index = indices;  // as in gather()
    if (a.mem->scale_B != 4) index = b_.CreateMul(index, splat(b_.getInt32(a.mem->scale_B / 4)));
    llvm::Value* base = bytePointer(a.pointer, b_.getInt64(uint64_t{a.mem->offset_B} + uint64_t{component} * a.bytes));
    llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), base, index);
    if (!mask) mask = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
    b_.CreateMaskedScatter(value, pointers, std::min(alignOf(a), llvm::Align(a.bytes)), mask);
    return;
  }
  scatterAddresses(laneAddresses(a, indices, part, component), value, a.kind, mask);
}

void Generator::scatterAddresses(llvm::Value* addresses, llvm::Value* value, Kind kind, llvm::Value* mask) {
  if (features_.avx512 && kindBytes(kind) >= 4) {
    llvm::Value* pointers = b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), lanes_));
    if (!mask) mask = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
    b_.CreateMaskedScatter(value, pointers, llvm::Align(1), mask);
    return;
  }
  if (mask) addresses = b_.CreateSelect(mask, addresses, splat(b_.CreatePtrToInt(sink_, b_.getInt64Ty())));
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    llvm::Value* p = b_.CreateIntToPtr(b_.CreateExtractElement(addresses, uint64_t{lane}), b_.getPtrTy());
    b_.CreateAlignedStore(b_.CreateExtractElement(value, uint64_t{lane}), p, llvm::Align(1));
  }
}

void Generator::emitAtomic(const Inst* i, const Flow& flow) {
  const Address a = resolve(i);
  const size_t first = addressOperandCount(i->mem.space);
  const Value* value = i->operands.size() > first ? i->operands[first] : nullptr;
  const Value* comparator = i->operands.size() > first + 1 ? i->operands[first + 1] : nullptr;
  const bool inGang = a.baseInGang && shape(a.index).sameInGang();

  if (i->op == Op::AtomicLoad && !shape(i->result).isVarying()) {
    const uint32_t forms = formCount(i->result);
    Lowered out;
    for (uint32_t j = 0; j < forms; ++j) {
      llvm::Value* base = a.baseInGang ? a.pointer : b_.CreateIntToPtr(partScalar(a.base, j), b_.getPtrTy());
      llvm::Value* index = index64(a, partScalar(a.index, j));
      llvm::Value* pointer = bytePointer(base, offsetOf(a, index, 0));
      llvm::Value* ok = nullptr;
      if (!a.provenActive) ok = partInRange(a, j, 0);
      if (ok) pointer = b_.CreateSelect(ok, pointer, sink_);
      llvm::Value* v = atomics_.emitScalar(i->op, a.kind, pointer, nullptr, nullptr, a.mem->space == Space::kShared);
      out.push_back(ok ? b_.CreateSelect(ok, v, llvm::Constant::getNullValue(v->getType())) : v);
    }
    define(i->result, std::move(out), Level::kHere);
    return;
  }

  AtomicRequest request;
  request.op = i->op;
  request.kind = a.kind;
  request.oneThread = a.mem->space == Space::kShared;
  request.resultUsed = i->result && used_[i->result->id];
  llvm::SmallVector<llvm::Value*, 16> addresses, masks, values, comparators;
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* inRange = a.provenActive ? nullptr : laneRange(a, j, 0);
    llvm::Value* mask = andMask(partMask(flow.mask, j), inRange);
    // No mask means all lanes; the emitter wants to see it.
    if (!mask) mask = llvm::Constant::getAllOnesValue(type(Kind::kBool, lanes_));
    masks.push_back(mask);
    if (!inGang) addresses.push_back(laneAddresses(a, vector(a.index, j), j, 0));
  }
  if (inGang) request.uniformAddress = bytePointer(a.pointer, offsetOf(a, index64(a, scalar(a.index)), 0));
  const auto operands = [&](const Value* v, llvm::SmallVector<llvm::Value*, 16>& to) {
    if (!v) return;
    if (shape(v).sameInGang())
      to.push_back(scalar(v));
    else
      for (uint32_t j = 0; j < k_; ++j) to.push_back(vector(v, j));
  };
  operands(value, values);
  operands(comparator, comparators);
  request.addresses = addresses;
  request.masks = masks;
  request.values = values;
  request.comparators = comparators;
  const std::vector<llvm::Value*> old = atomics_.emit(request);
  if (!i->result) return;
  Lowered out(old.begin(), old.end());
  if (out.empty()) out.assign(k_, llvm::Constant::getNullValue(type(a.kind, lanes_)));
  define(i->result, std::move(out), Level::kHere);
}

}  // namespace pumice::shader::codegen
