// Loads and stores whose lanes lie side by side: known from strides, or found at run time.
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;

namespace {

llvm::SmallVector<int, 32> everyNth(uint32_t lanes, uint32_t n, uint32_t first) {
  llvm::SmallVector<int, 32> order;
  for (uint32_t lane = 0; lane < lanes; ++lane) order.push_back(static_cast<int>(lane * n + first));
  return order;
}

}  // namespace

// Element lane * n + c of the result is lane `lane` of component c.
llvm::Value* Generator::interleave(llvm::ArrayRef<llvm::Value*> components) {
  const auto n = static_cast<uint32_t>(components.size());
  if (n == 1) return components[0];
  const auto all = everyNth(2 * lanes_, 1, 0);
  llvm::SmallVector<int, 128> order;
  for (uint32_t lane = 0; lane < lanes_; ++lane)
    for (uint32_t c = 0; c < n; ++c) order.push_back(static_cast<int>(c * lanes_ + lane));
  if (n == 2) return b_.CreateShuffleVector(components[0], components[1], order);
  llvm::Value* last = n == 4 ? components[3] : llvm::PoisonValue::get(components[2]->getType());
  return b_.CreateShuffleVector(b_.CreateShuffleVector(components[0], components[1], all),
                                b_.CreateShuffleVector(components[2], last, all), order);
}

llvm::Value* Generator::scratch(uint32_t slot, uint32_t vectors, llvm::Type* t) {
  const auto bytes = vectors * static_cast<uint32_t>(module_.getDataLayout().getTypeAllocSize(t).getFixedValue());
  llvm::AllocaInst*& known = scratch_[{slot, bytes}];
  if (!known) {
    llvm::IRBuilder<> b(allocaBlock_);
    known = b.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), bytes));
    known->setAlignment(llvm::Align(64));
  }
  return known;
}

// Of each element: vectors of narrow types are smaller than a register.
llvm::Align Generator::scratchAlign(llvm::Type* t) const {
  return llvm::commonAlignment(llvm::Align(64), module_.getDataLayout().getTypeAllocSize(t).getFixedValue());
}

void Generator::partLoop(uint32_t parts, llvm::function_ref<void(llvm::Value* part)> body) {
  if (parts == 1) return body(b_.getInt32(0));
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = block("part");
  llvm::BasicBlock* done = block("parts.done");
  b_.CreateBr(loop);
  enter(loop);
  llvm::PHINode* part = b_.CreatePHI(b_.getInt32Ty(), 2);
  part->addIncoming(b_.getInt32(0), before);
  body(part);
  llvm::Value* next = b_.CreateAdd(part, b_.getInt32(1));
  part->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(parts)), loop, done);
  enter(done);
}

bool Generator::contiguous(const Address& a, bool* wholeGang) const {
  if (a.laneStride_B != int64_t{a.components} * a.bytes) return false;
  const Shape& idx = shape(a.index);
  const Shape* base = a.base ? &shape(a.base) : nullptr;
  // The check compares the last lane only, so lanes must ascend. (A stride in the address alone is not checked.)
  if (idx.laneStride < 0 || idx.partStride < 0) return false;
  const bool affine = idx.kind <= Shape::Kind::kAffine && (!base || base->kind <= Shape::Kind::kAffine);
  const int64_t part_B = idx.partStride * int64_t{a.mem->scale_B} + (base ? base->partStride : 0);
  *wholeGang = affine && (k_ == 1 || part_B == a.laneStride_B * lanes_);
  return true;
}

// i1: the lanes of `parts` parts from `firstPart` on are in range, all of them.
llvm::Value* Generator::contiguousRange(const Address& a, uint32_t firstPart, uint32_t parts) {
  const Shape& idx = shape(a.index);
  const int64_t span = idx.laneStride * int64_t{lanes_ - 1} + idx.partStride * int64_t{parts - 1};
  llvm::Value* first = index64(a, partScalar(a.index, firstPart));
  if (!a.checked) {
    // Signed 32-bit index of a device address: only that the lanes do not wrap around.
    return b_.CreateICmpSLE(first, b_.getInt64(static_cast<uint64_t>(INT32_MAX - span)));
  }
  llvm::Value* last = b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(span)), "", true, true);
  return b_.CreateICmpULT(last, indexLimit(a, a.components - 1));
}

// The same for all parts, which the checks take `step` at a time.
llvm::Value* Generator::contiguousRanges(const Address& a, uint32_t step) {
  llvm::Value* all = nullptr;
  for (uint32_t j = 0; j < k_; j += step) {
    llvm::Value* ok = contiguousRange(a, j, step);
    all = all ? b_.CreateAnd(all, ok) : ok;
  }
  return all;
}

llvm::Value* Generator::pointerAt(const Address& a, uint32_t part, llvm::Value* index, bool wrapAware, uint32_t parts) {
  llvm::Value* pointer = a.pointer;
  if (!a.baseInGang || (a.mem->space == Space::kGlobal && part != 0))
    pointer = b_.CreateIntToPtr(partScalar(a.base, part), b_.getPtrTy());
  llvm::Value* wide = index64(a, index);
  if (wrapAware && a.checked) {
    const int64_t span =
        shape(a.index).laneStride * int64_t{lanes_ - 1} + shape(a.index).partStride * int64_t{parts - 1};
    llvm::Value* wraps = b_.CreateICmpUGT(wide, b_.getInt64(0xffff'ffffull - static_cast<uint64_t>(span)));
    wide = b_.CreateSelect(wraps, b_.CreateSub(wide, b_.getInt64(1ull << 32)), wide);
  }
  return bytePointer(pointer, offsetOf(a, wide, 0));
}

llvm::Value* Generator::contiguousPointer(const Address& a, uint32_t part) {
  return pointerAt(a, part, partScalar(a.index, part), false);
}

void Generator::loadContiguous(const Address& a, bool wholeGang, const Flow& flow, const Value* result, Lowered& out) {
  const uint32_t n = a.components;
  llvm::Type* narrow = type(a.kind, lanes_);
  llvm::Type* wide = type(a.kind, lanes_ * n);
  llvm::SmallVector<llvm::Value*, 8> whole(k_);
  const auto loadParts = [&](uint32_t first, uint32_t count) {
    llvm::Value* pointer = contiguousPointer(a, first);
    for (uint32_t j = first; j < first + count; ++j) {
      llvm::Value* p =
          j == first ? pointer : bytePointer(pointer, b_.getInt64(uint64_t{j - first} * lanes_ * n * a.bytes));
      whole[j] = b_.CreateAlignedLoad(wide, p, alignOf(a), a.mem->isVolatile);
    }
  };
  const uint32_t step = wholeGang && a.baseInGang ? k_ : 1;
  const bool global = a.mem->space == Space::kGlobal;
  if (global && !flow.mask.all() && !a.provenAll) {
    // Unchecked: lanes that do not run may hold any address.
    if (n > 1 || !features_.avx512 || a.bytes < 4) return loadGather(a, flow, out);
    for (uint32_t j = 0; j < k_; ++j)
      out[j] = b_.CreateMaskedLoad(narrow, contiguousPointer(a, j), alignOf(a), flow.mask.parts[j],
                                   llvm::Constant::getNullValue(narrow));
    return;
  }
  const bool narrowIndex =
      a.index->type.kind == Kind::kI32 && shape(a.index).laneStride + shape(a.index).partStride != 0;
  const bool unchecked = a.provenAll || (a.provenActive && flow.mask.all() && !(global && narrowIndex));
  if (unchecked) {
    for (uint32_t j = 0; j < k_; j += step) loadParts(j, step);
  } else {
    // One decision for the gang, also where every part has a base of its own.
    llvm::BasicBlock* slow = block("load.slow");
    llvm::BasicBlock* done = block("load.done");
    llvm::BasicBlock* fastEnd = nullptr;
    llvm::SmallVector<llvm::Value*, 8> quick, careful;
    if (flow.cold) {
      b_.CreateBr(slow);
    } else {
      llvm::BasicBlock* fast = block("load.fast");
      b_.CreateCondBr(contiguousRanges(a, step), fast, slow, likely_);
      enter(fast);
      for (uint32_t j = 0; j < k_; j += step) loadParts(j, step);
      quick = whole;
      fastEnd = b_.GetInsertBlock();
      b_.CreateBr(done);
    }
    enter(slow);
    for (uint32_t first = 0; first < k_; first += step) {
      if (n == 1 && features_.avx512 && a.checked) {
        llvm::Value* pointer = pointerAt(a, first, partScalar(a.index, first), true, step);
        for (uint32_t j = 0; j < step; ++j) {
          llvm::Value* mask = indexRange(a, vector(a.index, first + j), 0);
          llvm::Value* p = bytePointer(pointer, b_.getInt64(uint64_t{j} * lanes_ * a.bytes));
          careful.push_back(b_.CreateMaskedLoad(narrow, p, alignOf(a), mask, llvm::Constant::getNullValue(narrow)));
        }
      } else {
        loadSlowly(a, first, step, careful);
      }
    }
    llvm::BasicBlock* slowEnd = b_.GetInsertBlock();
    b_.CreateBr(done);
    enter(done);
    for (uint32_t j = 0; j < k_; ++j) {
      whole[j] = careful[j];
      if (!fastEnd) continue;
      llvm::PHINode* phi = b_.CreatePHI(wide, 2);
      phi->addIncoming(quick[j], fastEnd);
      phi->addIncoming(careful[j], slowEnd);
      whole[j] = phi;
    }
  }
  for (uint32_t j = 0; j < k_; ++j)
    for (uint32_t c = 0; c < n; ++c)
      out[c * k_ + j] = n == 1 ? whole[j] : b_.CreateShuffleVector(whole[j], everyNth(lanes_, n, c));
  if (n > 1 && result) interleaved_[result] = whole;
}

// Lane by lane, part by part, through the stack: for what is rare.
void Generator::loadSlowly(const Address& a, uint32_t first, uint32_t parts, llvm::SmallVector<llvm::Value*, 8>& out) {
  llvm::Type* wide = type(a.kind, lanes_ * a.components);
  llvm::Value* kept = parts > 1 ? scratch(0, parts, wide) : nullptr;
  llvm::Value* only = nullptr;
  partLoop(parts, [&](llvm::Value* part) {
    llvm::Value* index = partScalar(a.index, first);
    if (parts > 1) {
      llvm::Value* stride = llvm::ConstantInt::getSigned(index->getType(), shape(a.index).partStride);
      index = b_.CreateAdd(index, b_.CreateMul(b_.CreateZExtOrTrunc(part, index->getType()), stride));
    }
    llvm::Value* indices = b_.CreateAdd(splat(index), laneRamp(index->getType(), shape(a.index).laneStride));
    llvm::SmallVector<llvm::Value*, 4> components;
    for (uint32_t c = 0; c < a.components; ++c)
      components.push_back(gather(a, indices, first, c, a.checked ? indexRange(a, indices, c) : nullptr));
    only = interleave(components);
    if (kept) b_.CreateAlignedStore(only, b_.CreateGEP(wide, kept, part), scratchAlign(wide));
  });
  for (uint32_t j = 0; j < parts; ++j)
    out.push_back(kept ? b_.CreateAlignedLoad(wide, b_.CreateGEP(wide, kept, b_.getInt32(j)), scratchAlign(wide))
                       : only);
}

// Every second to fourth element: loads of whole vectors and a shuffle, as if it were one component of a tuple. Several
// such loads (x[4 * i], x[4 * i + 1] ..) then share their vectors.
bool Generator::loadStrided(const Inst* i, const Address& a, const Flow& flow, Lowered& out) {
  if (a.components != 1 || a.bytes < 4 || a.mem->isVolatile || a.mem->space == Space::kGlobal) return false;
  if (a.laneStride_B <= 0 || a.laneStride_B % a.bytes != 0 || !a.baseInGang) return false;
  const auto m = static_cast<uint32_t>(a.laneStride_B / a.bytes);
  if (m < 2 || m > 4) return false;
  const uint32_t r = a.mem->offset_B / a.bytes % m;
  MemRef mem = i->mem;
  mem.offset_B -= r * a.bytes;
  Address tuple = a;
  tuple.mem = &mem;
  tuple.components = m;
  const uint64_t size = a.mem->space == Space::kShared ? fn_.sharedBytes : abi::kMaxPushConstantBytes;
  const auto fits = [&](uint64_t index) {
    return a.mem->space != Space::kBuffer && index <= 0xffff'ffffull &&
           index * mem.scale_B + mem.offset_B + uint64_t{m} * a.bytes <= size;
  };
  tuple.provenAll = a.provenAll && fits(ranges_.maxOfEveryLane(a.index));
  tuple.provenActive = a.provenActive && fits(ranges_.indexMax(i));
  bool wholeGang = false;
  if (!contiguous(tuple, &wholeGang)) return false;
  Lowered all(size_t{m} * k_);
  loadContiguous(tuple, wholeGang, flow, nullptr, all);
  for (uint32_t j = 0; j < k_; ++j) out[j] = all[r * k_ + j];
  return true;
}

void Generator::storeContiguous(const Address& a, bool wholeGang, const Value* value, const Flow& flow) {
  const uint32_t n = a.components;
  const bool masked = !flow.mask.all();
  if (n > 1 && masked) return storeScatter(a, value, flow);
  const auto known = interleaved_.find(value);
  const auto whole = [&](uint32_t j) -> llvm::Value* {
    if (n == 1) return vector(value, j);
    if (known != interleaved_.end() && !groupMode_) return known->second[j];
    llvm::SmallVector<llvm::Value*, 4> components;
    for (uint32_t c = 0; c < n; ++c) components.push_back(vector(value, j, c));
    return interleave(components);
  };
  const auto storeParts = [&](uint32_t first, uint32_t count) {
    llvm::Value* pointer = contiguousPointer(a, first);
    for (uint32_t j = first; j < first + count; ++j) {
      llvm::Value* p =
          j == first ? pointer : bytePointer(pointer, b_.getInt64(uint64_t{j - first} * lanes_ * n * a.bytes));
      if (masked)
        b_.CreateMaskedStore(whole(j), p, alignOf(a), flow.mask.parts[j]);
      else
        b_.CreateAlignedStore(whole(j), p, alignOf(a), a.mem->isVolatile);
    }
  };
  const uint32_t step = wholeGang && a.baseInGang ? k_ : 1;
  const bool narrowGlobal = a.mem->space == Space::kGlobal && a.index->type.kind == Kind::kI32 &&
                            shape(a.index).laneStride + shape(a.index).partStride != 0;
  if (a.provenAll || (a.provenActive && !narrowGlobal)) {
    // With the range proved for active lanes only, the wrap of an inactive first lane must still be undone.
    for (uint32_t j = 0; j < k_; j += step) {
      if (masked && !a.provenAll && a.checked) {
        for (uint32_t p = j; p < j + step; ++p)
          b_.CreateMaskedStore(vector(value, p), pointerAt(a, p, partScalar(a.index, p), true), alignOf(a),
                               flow.mask.parts[p]);
      } else {
        storeParts(j, step);
      }
    }
    return;
  }
  llvm::Type* narrow = type(a.kind, lanes_);
  llvm::BasicBlock* slow = block("store.slow");
  llvm::BasicBlock* done = block("store.done");
  if (flow.cold) {
    b_.CreateBr(slow);
  } else {
    llvm::BasicBlock* fast = block("store.fast");
    b_.CreateCondBr(contiguousRanges(a, step), fast, slow, likely_);
    enter(fast);
    for (uint32_t j = 0; j < k_; j += step) storeParts(j, step);
    b_.CreateBr(done);
  }
  enter(slow);
  for (uint32_t first = 0; first < k_; first += step) {
    if (n == 1 && features_.avx512 && a.checked) {
      llvm::Value* pointer = pointerAt(a, first, partScalar(a.index, first), true, step);
      for (uint32_t j = 0; j < step; ++j) {
        llvm::Value* mask =
            andMask(masked ? flow.mask.parts[first + j] : nullptr, indexRange(a, vector(a.index, first + j), 0));
        llvm::Value* p = bytePointer(pointer, b_.getInt64(uint64_t{j} * lanes_ * a.bytes));
        b_.CreateMaskedStore(vector(value, first + j), p, alignOf(a), mask);
      }
      continue;
    }
    llvm::Value* kept = nullptr;
    llvm::Value* keptMasks = nullptr;
    if (step > 1) {
      kept = scratch(0, step * n, narrow);
      for (uint32_t j = 0; j < step; ++j)
        for (uint32_t c = 0; c < n; ++c)
          b_.CreateAlignedStore(vector(value, first + j, c), b_.CreateGEP(narrow, kept, b_.getInt32(j * n + c)),
                                scratchAlign(narrow));
      if (masked) {
        keptMasks = scratch(1, step, b_.getIntNTy(lanes_));
        for (uint32_t j = 0; j < step; ++j)
          storeMask(flow.mask.parts[first + j], b_.CreateGEP(b_.getIntNTy(lanes_), keptMasks, b_.getInt32(j)));
      }
    }
    partLoop(step, [&](llvm::Value* part) {
      llvm::Value* index = partScalar(a.index, first);
      if (step > 1) {
        llvm::Value* stride = llvm::ConstantInt::getSigned(index->getType(), shape(a.index).partStride);
        index = b_.CreateAdd(index, b_.CreateMul(b_.CreateZExtOrTrunc(part, index->getType()), stride));
      }
      llvm::Value* indices = b_.CreateAdd(splat(index), laneRamp(index->getType(), shape(a.index).laneStride));
      llvm::Value* active = nullptr;
      if (masked)
        active = keptMasks ? loadMask(b_.CreateGEP(b_.getIntNTy(lanes_), keptMasks, part)) : flow.mask.parts[first];
      for (uint32_t c = 0; c < n; ++c) {
        llvm::Value* v = vector(value, first, c);
        if (kept) {
          llvm::Value* at = b_.CreateAdd(b_.CreateMul(part, b_.getInt32(n)), b_.getInt32(c));
          v = b_.CreateAlignedLoad(narrow, b_.CreateGEP(narrow, kept, at), scratchAlign(narrow));
        }
        llvm::Value* mask = a.checked ? andMask(active, indexRange(a, indices, c)) : active;
        scatter(a, indices, first, c, v, mask);
      }
    });
  }
  b_.CreateBr(done);
  enter(done);
}

// -- found at run time ----------------------------------------------------------------------------------------------

// i1: the indices of every part ascend by one from lane to lane, and all are in range (nullptr: proved).
llvm::Value* Generator::consecutiveTest(const Address& a, llvm::ArrayRef<llvm::Value*> ranges) {
  llvm::Value* all = nullptr;
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* index = vector(a.index, j);
    llvm::Value* first = splat(b_.CreateExtractElement(index, uint64_t{0}));
    llvm::Value* ok = b_.CreateICmpEQ(index, b_.CreateAdd(first, laneRamp(b_.getInt32Ty(), 1)));
    if (ranges[j]) ok = b_.CreateAnd(ok, ranges[j]);
    all = all ? b_.CreateAnd(all, ok) : ok;
  }
  return subgroups_.allLanes(all);
}

// A gather costs some ten times a load; the test half a nanosecond a vector.
bool Generator::mayBeConsecutive(const Address& a, const Flow& flow) const {
  return features_.avx512 && target_.tier != Tier::kQuick && !flow.cold && a.bytes >= 4 && a.baseInGang && a.checked &&
         a.mem->scale_B == a.bytes * a.components && shape(a.index).isVarying() && a.index->type.kind == Kind::kI32;
}

llvm::SmallVector<llvm::Value*, 8> Generator::tupleRanges(const Address& a, const Flow& flow) {
  llvm::SmallVector<llvm::Value*, 8> ranges;
  const bool proven = a.provenAll || (a.provenActive && flow.mask.all());
  for (uint32_t j = 0; j < k_; ++j) ranges.push_back(proven ? nullptr : laneRange(a, j, a.components - 1));
  return ranges;
}

bool Generator::loadConsecutive(const Address& a, const Flow& flow, const Value* result, Lowered& out) {
  if (!mayBeConsecutive(a, flow)) return false;
  const uint32_t n = a.components;
  llvm::Type* wide = type(a.kind, lanes_ * n);
  llvm::BasicBlock* fast = block("load.row");
  llvm::BasicBlock* slow = block("load.gather");
  llvm::BasicBlock* done = block("load.done");
  b_.CreateCondBr(consecutiveTest(a, tupleRanges(a, flow)), fast, slow);
  enter(fast);
  llvm::SmallVector<llvm::Value*, 8> rows;
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* p = pointerAt(a, j, b_.CreateExtractElement(vector(a.index, j), uint64_t{0}), false);
    rows.push_back(b_.CreateAlignedLoad(wide, p, alignOf(a), a.mem->isVolatile));
  }
  Lowered quick(out.size());
  for (uint32_t j = 0; j < k_; ++j)
    for (uint32_t c = 0; c < n; ++c)
      quick[c * k_ + j] = n == 1 ? rows[j] : b_.CreateShuffleVector(rows[j], everyNth(lanes_, n, c));
  b_.CreateBr(done);
  enter(slow);
  Lowered careful(out.size());
  loadGather(a, flow, careful);
  llvm::BasicBlock* slowEnd = b_.GetInsertBlock();
  b_.CreateBr(done);
  enter(done);
  interleaved_.erase(result);
  for (size_t i = 0; i < out.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(type(a.kind, lanes_), 2);
    phi->addIncoming(quick[i], fast);
    phi->addIncoming(careful[i], slowEnd);
    out[i] = phi;
  }
  return true;
}

bool Generator::storeConsecutive(const Address& a, const Value* value, const Flow& flow) {
  if (!mayBeConsecutive(a, flow) || (a.components > 1 && !flow.mask.all())) return false;
  llvm::BasicBlock* fast = block("store.row");
  llvm::BasicBlock* slow = block("store.scatter");
  llvm::BasicBlock* done = block("store.done");
  b_.CreateCondBr(consecutiveTest(a, tupleRanges(a, flow)), fast, slow);
  enter(fast);
  for (uint32_t j = 0; j < k_; ++j) {
    llvm::Value* p = pointerAt(a, j, b_.CreateExtractElement(vector(a.index, j), uint64_t{0}), false);
    llvm::SmallVector<llvm::Value*, 4> components;
    for (uint32_t c = 0; c < a.components; ++c) components.push_back(vector(value, j, c));
    llvm::Value* v = interleave(components);
    if (flow.mask.all())
      b_.CreateAlignedStore(v, p, alignOf(a), a.mem->isVolatile);
    else
      b_.CreateMaskedStore(v, p, alignOf(a), flow.mask.parts[j]);
  }
  b_.CreateBr(done);
  enter(slow);
  storeScatter(a, value, flow);
  b_.CreateBr(done);
  enter(done);
  return true;
}

}  // namespace pumice::shader::codegen
