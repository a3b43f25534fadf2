// Memory accesses of random programs.
#include <algorithm>
#include <bit>

#include "shaders/ir/semantics.h"
#include "shaders/random/generator.h"

namespace pumice::shader::random {

using namespace ir;

namespace {
// Numbers of the slots that every program has.
constexpr uint32_t kColumns = 0, kRecords = 1, kInputA = 2, kInputB = 3, kAccumulators = 4, kArray = 5;
constexpr uint32_t kAccumulatorSlots = 32;  // of 128 bytes each
constexpr uint32_t kSharedAccumulatorBytes = 64;
}  // namespace

void Generator::makeBuffers() {
  const auto slot = [](uint32_t set, uint32_t binding, uint32_t count, uint32_t offset, uint32_t dynamic) {
    return abi::BindingSlot{set, binding, count, offset, sizeof(abi::BufferDescriptor), dynamic};
  };
  program_.slots = {slot(0, 0, 1, 0, abi::kNotDynamic),  slot(0, 1, 1, 16, abi::kNotDynamic),
                    slot(0, 2, 1, 32, abi::kNotDynamic), slot(0, 3, 1, 48, 0),
                    slot(1, 0, 1, 0, abi::kNotDynamic),  slot(0, 5, 3, 64, abi::kNotDynamic)};
  program_.buffers.resize(program_.slots.size());
  for (size_t i = 0; i < program_.slots.size(); i++) program_.buffers[i].resize(program_.slots[i].count);
  program_.buffers[kInputA][0].size_B = rng_.chance(70) ? rng_.between(1, 64) * 64 : rng_.between(1, 4096);
  program_.buffers[kInputB][0].size_B = rng_.chance(70) ? rng_.between(1, 16) * 64 : rng_.between(0, 1000);
  program_.buffers[kInputB][0].dynamicOffset_B = rng_.below(4) * 64;
  program_.buffers[kAccumulators][0].size_B = kAccumulatorSlots * 128 - (rng_.chance(10) ? rng_.below(500) : 0);
  for (BufferInfo& b : program_.buffers[kArray]) {
    b.size_B = rng_.between(1, 600);
    b.isNull = rng_.chance(15);
  }
  recordStride_ = rng_.oneOf({16u, 32u, 64u, 64u, 128u, 20u, 24u, 36u});

  if (rng_.chance(75)) {
    sharedExchangeBytes_ = invocations_ * rng_.oneOf({4u, 8u, 16u, 16u});
    sharedExchangeBytes_ = (sharedExchangeBytes_ + 15) / 16 * 16;
    fn_->sharedBytes = sharedExchangeBytes_ + kSharedAccumulatorBytes;
    fn_->zeroShared = rng_.chance(30);
  }
  const uint32_t locals = rng_.below(4);
  for (uint32_t i = 0; i < locals; i++) fn_->locals.push_back({rng_.between(1, 8) * 8, 8, ""});
}

void Generator::finishBuffers() {
  // Sometimes the last invocations' parts of the output are out of range, wholly or in part.
  uint32_t columns = std::max(columnBytes_, 16u);
  uint32_t records = recordStride_ * totalInvocations_;
  if (rng_.chance(25)) columns -= rng_.below(std::min(columns, 100u));
  if (rng_.chance(25)) records -= rng_.below(std::min(records, 100u));
  program_.buffers[kColumns][0].size_B = columns;
  program_.buffers[kRecords][0].size_B = records;
}

Value* Generator::reference(uint32_t slot, Value* index) {
  Inst* i = index == nullptr ? b_->inst(Op::BufferDescriptor, kBufferRef, {})
                             : b_->inst(Op::BufferDescriptor, kBufferRef, {index});
  i->set = program_.slots[slot].set;
  i->binding = program_.slots[slot].binding;
  i->nonUniform = index != nullptr && !isKnownUniform(index);
  return i->result;
}

Type Generator::memoryType() {
  Type t{someKind(), 1};
  if (t.isBool()) t.kind = Kind::kI32;
  if (rng_.chance(30)) t.components = static_cast<uint8_t>(rng_.between(2, 4));
  return t;
}

MemRef Generator::place(Space space, uint32_t scale_B, uint32_t offset_B, uint32_t baseAlign_log2) {
  MemRef m;
  m.space = space;
  m.scale_B = scale_B;
  m.offset_B = offset_B;
  const uint32_t aligned = scale_B | offset_B | 1u << baseAlign_log2;
  m.align_log2 = static_cast<uint8_t>(std::countr_zero(aligned));
  if (rng_.chance(10)) m.align_log2 = static_cast<uint8_t>(rng_.below(m.align_log2 + 1u));
  m.isVolatile = rng_.chance(4);
  m.nonTemporalHint = rng_.chance(4);
  return m;
}

// -- output: every invocation has a part of its own, of a column (index = invocation) or of its record

Value* Generator::ownIndex() {
  return ownForms_[rng_.below(static_cast<uint32_t>(ownForms_.size()))];
}

Value* Generator::maybeOutOfRange(Value* index) {
  if (!rng_.chance(12)) return index;
  return b_->select(pick(Kind::kBool), index, b_->binary(Op::Or, pick(Kind::kI32), u32(0xc0000000)));
}

Generator::OwnPlace Generator::ownPlace(Type type) {
  const uint32_t component = kindBytes(type.kind);
  const uint32_t bytes = component * type.components;
  const uint32_t offset = (recordBytes_ + component - 1) / component * component;
  if (offset + bytes <= recordStride_ && rng_.chance(40)) {
    recordBytes_ = offset + bytes;
    if (recordStride_ % component == 0 && rng_.chance(50)) {
      Value* index = add(b_->binary(Op::IMul, ownIndex(), u32(recordStride_ / component)), u32(offset / component));
      return {place(Space::kBuffer, component, 0), refs_[kRecords], index, type};
    }
    return {place(Space::kBuffer, recordStride_, offset), refs_[kRecords], ownIndex(), type};
  }
  const uint32_t at = (columnBytes_ + 15) / 16 * 16;
  columnBytes_ = at + bytes * totalInvocations_;
  return {place(Space::kBuffer, bytes, at), refs_[kColumns], ownIndex(), type};
}

void Generator::storeOutput() {
  const Type type = memoryType();
  if (!ownPlaces_.empty() && rng_.chance(15)) {
    const OwnPlace& old = ownPlaces_[rng_.below(static_cast<uint32_t>(ownPlaces_.size()))];
    b_->store(old.mem, {old.reference, old.index}, observableTuple(pickType(old.type)));
    return;
  }
  Value* v = observableTuple(pickType(type));
  const OwnPlace p = ownPlace(type);
  Value* index = maybeOutOfRange(p.index);
  b_->store(p.mem, {p.reference, index}, v);
  // Only indices from the prologue are visible everywhere.
  if (p.index == index && std::find(ownForms_.begin(), ownForms_.end(), index) != ownForms_.end()) {
    ownPlaces_.push_back(p);
  }
}

void Generator::reloadOutput() {
  if (ownPlaces_.empty()) return storeOutput();
  const OwnPlace& p = ownPlaces_[rng_.below(static_cast<uint32_t>(ownPlaces_.size()))];
  remember(b_->load(p.type, p.mem, {p.reference, maybeOutOfRange(p.index)}));
}

// Atomics on memory that no other invocation uses: their results are known.
void Generator::ownAtomic() {
  const Type type{rng_.oneOf({Kind::kI32, Kind::kI32, Kind::kI64, Kind::kF32, Kind::kF64}), 1};
  const Op op = type.isFloat()
                    ? rng_.oneOf({Op::AtomicLoad, Op::AtomicStore, Op::AtomicExchange, Op::AtomicFAdd, Op::AtomicFMin,
                                  Op::AtomicFMax})
                    : rng_.oneOf({Op::AtomicLoad, Op::AtomicStore, Op::AtomicIAdd, Op::AtomicUMin, Op::AtomicUMax,
                                  Op::AtomicSMin, Op::AtomicSMax, Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor,
                                  Op::AtomicExchange, Op::AtomicCompareExchange});
  std::vector<Value*> values;
  if (op != Op::AtomicLoad) values.push_back(observable(pick(type.kind)));
  if (op == Op::AtomicCompareExchange) values.push_back(pick(type.kind));
  // A float sum may become NaN in memory: keep it finite, from the zero that an AtomicStore leaves there.
  if (op == Op::AtomicFAdd) values[0] = fn_->constant(type, fromDouble(type.kind, rng_.below(100)));
  const uint32_t bytes = kindBytes(type.kind);
  const uint32_t at = (columnBytes_ + 15) / 16 * 16;
  columnBytes_ = at + bytes * totalInvocations_;
  MemRef mem = place(Space::kBuffer, bytes, at);
  mem.align_log2 = static_cast<uint8_t>(std::countr_zero(bytes));  // atomics are always naturally aligned
  Value* index = ownIndex();
  if (op == Op::AtomicFAdd) {
    Inst* clear = b_->inst(Op::AtomicStore, kVoid, {refs_[kColumns], index, fn_->zero(type)});
    clear->mem = mem;
  }
  Inst* i = b_->inst(op, op == Op::AtomicStore ? kVoid : type, {refs_[kColumns], maybeOutOfRange(index)});
  i->operands.insert(i->operands.end(), values.begin(), values.end());
  i->mem = mem;
  if (i->result != nullptr) remember(i->result);
}

// Atomics on memory of all: one commuting operation per place, results unused.
void Generator::commonAtomic(bool shared) {
  const Op op = rng_.oneOf({Op::AtomicIAdd, Op::AtomicUMin, Op::AtomicUMax, Op::AtomicSMin, Op::AtomicSMax,
                            Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor});
  const Type type{rng_.oneOf({Kind::kI32, Kind::kI32, Kind::kI64}), 1};
  const uint32_t bytes = kindBytes(type.kind);
  uint32_t base = sharedExchangeBytes_;
  uint32_t elements = kSharedAccumulatorBytes / bytes;
  if (!shared) {
    if (accumulators_ == kAccumulatorSlots) return;
    base = 128 * accumulators_++;
    elements = 128 / bytes;
  }
  Value* index = smallIndex(rng_.oneOf({1u, 2u, elements}), rng_.chance(20));
  MemRef mem = place(shared ? Space::kShared : Space::kBuffer, bytes, base);
  mem.align_log2 = static_cast<uint8_t>(std::countr_zero(bytes));
  index = maybeOutOfRange(index);
  Inst* i = shared ? b_->inst(op, type, {index}) : b_->inst(op, type, {refs_[kAccumulators], index});
  i->operands.push_back(pick(type.kind));
  i->mem = mem;
}

// -- input

// A chain of operations on an invocation's number that looks like a stride and is none where it wraps: what stride
// analysis must see through.
Value* Generator::nearlyAffine(uint32_t elements) {
  Value* v = rng_.chance(60) ? lane_ : rng_.chance(50) ? ownIndex() : pick(Kind::kI32);
  const uint32_t steps = rng_.between(1, 4);
  for (uint32_t i = 0; i < steps; i++) {
    const uint32_t small = rng_.between(1, 9);
    // Near the edges of 8, 16 and 32 bits, seen from both sides.
    const uint32_t edge = rng_.oneOf({0x100u, 0x10000u, 0u, 0x80000000u, 0x40000000u}) + rng_.below(40) - 20;
    const uint32_t c = rng_.chance(60) ? small : edge;
    switch (rng_.below(11)) {
      case 0:
      case 1:
        v = add(v, u32(c));
        break;
      case 2:
        v = add(v, pick(Kind::kI32, true));
        break;
      case 3:
        v = b_->binary(Op::IMul, v, u32(c));
        break;
      case 4:
        v = b_->binary(Op::ISub, u32(c), v);
        break;
      case 5:
        v = b_->binary(rng_.oneOf({Op::Shl, Op::UShr, Op::SShr}), v, u32(small % 4));
        break;
      case 6:
        v = b_->binary(Op::And, v, u32(rng_.chance(50) ? (1u << small) - 1 : ~((1u << small % 4) - 1)));
        break;
      case 7:
        v = b_->binary(rng_.oneOf({Op::UDiv, Op::URem, Op::SDiv, Op::SRem}), v, u32(rng_.oneOf({small, 16u, 64u})));
        break;
      case 8:
        v = b_->binary(rng_.oneOf({Op::Xor, Op::Or}), v, u32(small));
        break;
      case 9: {
        const Type narrow = rng_.oneOf({kI8, kI16});
        Value* n = b_->convert(Op::Trunc, narrow, v);
        if (rng_.chance(50)) n = b_->binary(rng_.oneOf({Op::IAdd, Op::IMul}), n, fn_->constant(narrow, c));
        v = b_->convert(rng_.oneOf({Op::ZExt, Op::SExt}), kI32, n);
        break;
      }
      default: {
        Value* wide = b_->convert(rng_.oneOf({Op::ZExt, Op::SExt}), kI64, v);
        wide = b_->binary(rng_.oneOf({Op::IAdd, Op::IMul, Op::UShr}), wide, fn_->constant(kI64, c));
        v = b_->convert(Op::Trunc, kI32, wide);
        break;
      }
    }
  }
  if (rng_.chance(35)) v = b_->binary(Op::And, v, u32(std::bit_ceil(elements) - 1));
  return v;
}

// An index of about `elements` elements: uniform, strided, or anything.
Value* Generator::inputIndex(uint32_t elements, bool* isUniform) {
  elements = std::max(elements, 1u);
  *isUniform = false;
  switch (rng_.below(12)) {
    case 9:
    case 10:
    case 11:
      return nearlyAffine(elements);
    case 0:
      *isUniform = true;
      return rng_.chance(50) ? u32(rng_.below(elements + 2)) : pick(Kind::kI32, true);
    case 1:
      *isUniform = true;
      return smallIndex(elements, true);
    case 2:
      return lane_;
    case 3:
      return ownIndex();
    case 4:
      return add(lane_, rng_.chance(50) ? u32(rng_.below(elements)) : smallIndex(elements, true));
    case 5:
      return add(b_->binary(Op::IMul, lane_, u32(rng_.between(2, 5))), u32(rng_.below(5)));
    case 6:
      return b_->binary(Op::ISub, u32(rng_.below(elements)), lane_);
    case 7:
      return smallIndex(elements, false);
    default:
      return pick(Kind::kI32);
  }
}

void Generator::loadInput() {
  const Type type = memoryType();
  const uint32_t component = kindBytes(type.kind), bytes = component * type.components;
  const uint32_t scale = rng_.chance(60) ? bytes : rng_.chance(60) ? component : rng_.oneOf({1u, 2u, 3u, 6u, 12u, 16u});
  const uint32_t offset = rng_.chance(70) ? 0 : rng_.chance(70) ? component * rng_.below(8) : rng_.below(64);
  Value* from = nullptr;
  uint32_t size = 0, baseAlign_log2 = 6;
  bool readOnly = false, uniformReference = true;
  switch (rng_.below(8)) {
    case 0:
      from = reference(kArray, pick(Kind::kI32));
      if (rng_.chance(80)) from = reference(kArray, smallIndex(4, rng_.chance(30)));
      if (rng_.chance(50)) remember(from);
      uniformReference = false;
      size = 300;
      break;
    case 1:
      from = pickReference();
      uniformReference = false;
      size = 300;
      break;
    case 2:
    case 3:
      from = refs_[kInputB];
      readOnly = rng_.chance(80);
      size = program_.buffers[kInputB][0].size_B;
      break;
    default:
      from = refs_[kInputA];
      readOnly = rng_.chance(40);
      size = program_.buffers[kInputA][0].size_B;
      break;
  }
  if (rng_.chance(5)) {
    remember(b_->inst(Op::BufferSize, kI32, {from})->result, uniformReference);
    return;
  }
  bool uniform = false;
  Value* index = inputIndex(size / std::max(scale, 1u), &uniform);
  // By address there is no check: only indices that are certainly inside, from input A.
  if (uniformReference && from == refs_[kInputA] && size >= offset + bytes && rng_.chance(12)) {
    const uint32_t elements = (size - offset - bytes) / scale + 1;
    Value* address = b_->inst(Op::BufferAddress, kI64, {from})->result;
    index = b_->binary(Op::URem, index, u32(elements));
    if (rng_.chance(30)) {  // backwards from the last element
      address = b_->binary(Op::IAdd, address, fn_->constant(kI64, uint64_t{elements - 1} * scale));
      index = b_->binary(Op::ISub, u32(0), index);
    }
    if (rng_.chance(30)) index = b_->convert(Op::SExt, kI64, index);
    MemRef mem = place(Space::kGlobal, scale, offset, baseAlign_log2);
    remember(b_->load(type, mem, {address, index}), uniform);
    return;
  }
  MemRef mem = place(Space::kBuffer, scale, offset, baseAlign_log2);
  mem.readOnly = readOnly;
  remember(b_->load(type, mem, {from, index}), uniform && uniformReference);
}

void Generator::loadPush(bool uniform) {
  Type type = memoryType();
  const uint32_t component = kindBytes(type.kind), bytes = component * type.components;
  MemRef mem = place(Space::kPush, rng_.chance(70) ? component : bytes, component * rng_.below(16));
  mem.readOnly = true;
  mem.isVolatile = false;
  Value* index = rng_.chance(40) ? u32(rng_.below(8)) : uniform ? smallIndex(16, true) : pick(Kind::kI32);
  remember(b_->load(type, mem, {index}), uniform || index->def == Value::Def::kConstant);
}

// -- private arrays

void Generator::privateArray() {
  if (fn_->locals.empty()) return loadInput();
  const Type type = memoryType();
  const uint32_t component = kindBytes(type.kind);
  const uint32_t local = rng_.below(static_cast<uint32_t>(fn_->locals.size()));
  const uint32_t elements = std::max(fn_->locals[local].size_B / component, 1u);
  MemRef mem = place(Space::kLocal, component, rng_.chance(80) ? 0 : component, 3);
  mem.isVolatile = false;
  mem.local = local;
  const bool constant = rng_.chance(40);
  Value* index = constant          ? u32(rng_.below(elements))
                 : rng_.chance(20) ? nearlyAffine(elements)
                 : rng_.chance(80) ? smallIndex(elements, rng_.chance(20))
                                   : pick(Kind::kI32);
  if (rng_.chance(55)) {
    b_->store(mem, {index}, observableTuple(pickType(type)));
  } else {
    remember(b_->load(type, mem, {index}));
  }
}

// -- shared memory: phases between barriers of their own

void Generator::barrier() {
  if (rng_.chance(30)) b_->inst(Op::MemoryBarrier, kVoid, {});
  if (rng_.chance(20)) b_->inst(Op::ControlBarrier, kVoid, {})->imm = 1;
  b_->inst(Op::ControlBarrier, kVoid, {});
}

// Each invocation writes one element, of its own or of another one's place; then all read anywhere.
void Generator::sharedExchange() {
  Type type = memoryType();
  while (kindBytes(type.kind) * type.components * invocations_ > sharedExchangeBytes_) {
    type = {rng_.oneOf({Kind::kI8, Kind::kI16, Kind::kI32, Kind::kF16, Kind::kF32}), 1};
  }
  const uint32_t component = kindBytes(type.kind), bytes = component * type.components;
  Value* index = lane_;
  if (rng_.chance(25)) index = b_->binary(Op::ISub, u32(invocations_ - 1), lane_);
  if (rng_.chance(25) && (invocations_ & (invocations_ - 1)) == 0) {
    index = b_->binary(Op::Xor, lane_, u32(rng_.below(invocations_)));
  } else if (rng_.chance(20)) {
    index = b_->binary(Op::URem, add(lane_, u32(rng_.below(2000))), u32(invocations_));
  }
  Value* v = observableTuple(pickType(type));
  const MemRef mem = place(Space::kShared, bytes, 0);
  barrier();
  if (rng_.chance(30)) {
    Construct* c = b_->openIf(pick(Kind::kBool));
    b_->store(mem, {maybeOutOfRange(index)}, v);
    b_->br(c);
    b_->openElse();
    b_->br(c);
    b_->close();
  } else {
    b_->store(mem, {maybeOutOfRange(index)}, v);
  }
  barrier();
  const uint32_t loads = rng_.between(1, 3);
  for (uint32_t i = 0; i < loads; i++) {
    bool uniform = false;
    Value* from = inputIndex(invocations_, &uniform);
    Type t = type;
    uint32_t scale = bytes;
    if (rng_.chance(30)) {
      t = memoryType();
      scale = kindBytes(t.kind);
    }
    remember(b_->load(t, place(Space::kShared, scale, 0), {from}), uniform);
  }
  barrier();
}

// s[i] = s[i] op s[i + k] for i < k, k = N/2, N/4 .. 1: the textbook's loop with a barrier in each round. Upper
// elements are only read in the round in which lower ones are written.
void Generator::sharedReduction() {
  const Type type{rng_.oneOf({Kind::kI32, Kind::kF32}), 1};
  const uint32_t n = std::min(invocations_, sharedExchangeBytes_ / 4);
  uint32_t half = 1;
  while (half * 2 < n) half *= 2;
  const MemRef mem = place(Space::kShared, 4, 0);
  Value* v = observable(pick(type.kind));
  barrier();
  b_->store(mem, {lane_}, v);
  barrier();
  Construct* exit = b_->openBlock();
  Construct* loop = b_->openLoop({u32(half)});
  Value* k = loop->params[0];
  Value* mayAdd = b_->binary(Op::ULt, lane_, k);
  if (rng_.chance(50)) mayAdd = b_->binary(Op::And, mayAdd, b_->binary(Op::ULt, add(lane_, k), u32(n)));
  Construct* test = b_->openIf(mayAdd);
  Value* a = b_->load(type, mem, {lane_});
  Value* b = b_->load(type, mem, {add(lane_, k)});
  const Op op =
      type.isFloat() ? rng_.oneOf({Op::FAdd, Op::FMax, Op::FMin}) : rng_.oneOf({Op::IAdd, Op::SMax, Op::UMin, Op::Xor});
  b_->store(mem, {lane_}, observable(b_->binary(op, a, b)));
  b_->br(test);
  b_->openElse();
  b_->br(test);
  b_->close();
  barrier();
  Value* next = b_->binary(Op::UShr, k, u32(1));
  b_->openIf(b_->binary(Op::INe, next, u32(0)));
  b_->br(loop, {next});
  b_->openElse();
  b_->br(exit);
  b_->close();
  b_->unreachable();
  b_->close();
  b_->unreachable();
  b_->close();
  remember(b_->load(type, mem, {u32(0)}), true);
  barrier();
}

// acc = acc op f(a[.. + i], b[.. + i * stride]): the inner loop of every matrix product and filter.
void Generator::accumulatingLoop(bool uniform) {
  const Kind kind = rng_.oneOf({Kind::kF32, Kind::kF32, Kind::kI32, Kind::kF64, Kind::kF16, Kind::kI8});
  const Type type{kind, 1};
  const uint32_t bytes = kindBytes(kind);
  Value* bound = uniform ? u32(rng_.between(1, 12)) : smallIndex(8, false);
  Value* start[2];
  for (Value*& s : start) {
    bool isUniform = false;
    s = inputIndex(64, &isUniform);
  }
  Value* stride = rng_.chance(50) ? u32(rng_.between(1, 9)) : smallIndex(8, rng_.chance(70));
  Value* initial = pick(kind);
  Construct* exit = b_->openBlock();
  Value* sum = b_->result(exit, type);
  Construct* loop = b_->openLoop({u32(0), initial});
  Value *i = loop->params[0], *acc = loop->params[1];
  b_->openIf(b_->binary(Op::ULt, i, bound));
  MemRef mem = place(Space::kBuffer, bytes, 0);
  mem.isVolatile = false;
  mem.readOnly = rng_.chance(60);
  Value* x = b_->load(type, mem, {refs_[kInputA], add(start[0], i)});
  Value* y = b_->load(type, mem, {refs_[kInputB], add(start[1], b_->binary(Op::IMul, i, stride))});
  Value* next = nullptr;
  if (!type.isFloat()) {
    next = b_->binary(Op::IAdd, acc, b_->binary(Op::IMul, x, y));
  } else if (program_.contractable) {
    next = b_->binary(Op::FAdd, acc, b_->binary(Op::FMul, x, y));
  } else {
    next = b_->ternary(Op::FFma, x, y, acc);
  }
  b_->br(loop, {add(i, u32(1)), next});
  b_->openElse();
  b_->br(exit, {acc});
  b_->close();
  b_->unreachable();
  b_->close();
  b_->unreachable();
  b_->close();
  remember(sum);
}

// One commuting atomic of all invocations (some, in divergent flow), then all read.
void Generator::sharedAccumulate(Flow flow) {
  barrier();
  if (rng_.chance(40)) {
    Construct* c = b_->openIf(boolExpression(false));
    const PoolMark m = mark();
    if (rng_.chance(50)) expression({false, flow.depth + 1});
    commonAtomic(true);
    release(m);
    b_->br(c);
    b_->openElse();
    b_->br(c);
    b_->close();
  } else {
    commonAtomic(true);
  }
  barrier();
  MemRef mem = place(Space::kShared, 4, sharedExchangeBytes_);
  bool uniform = false;
  Value* index = inputIndex(kSharedAccumulatorBytes / 4, &uniform);
  remember(b_->load(kI32, mem, {index}), uniform);
  barrier();
}

}  // namespace pumice::shader::random
