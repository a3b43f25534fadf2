#include "shaders/ir/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "shaders/ir/interpreter_image.h"
#include "shaders/ir/interpreter_memory.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/race_detector.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::ir {
namespace {

// Which invocations of the workgroup are active.
class Mask {
 public:
  void set(uint32_t lane) { words_[lane / 64] |= 1ull << (lane % 64); }
  void remove(uint32_t lane) { words_[lane / 64] &= ~(1ull << (lane % 64)); }
  void intersect(const Mask& other) {
    for (size_t i = 0; i < words_.size(); i++) words_[i] &= other.words_[i];
  }
  bool test(uint32_t lane) const { return (words_[lane / 64] >> (lane % 64) & 1) != 0; }
  void add(const Mask& other) {
    for (size_t i = 0; i < words_.size(); i++) words_[i] |= other.words_[i];
  }
  void clear() { words_ = {}; }
  bool any() const {
    return std::any_of(words_.begin(), words_.end(), [](uint64_t w) { return w != 0; });
  }
  uint32_t count() const {
    uint32_t n = 0;
    for (const uint64_t w : words_) n += static_cast<uint32_t>(std::popcount(w));
    return n;
  }
  // Calls f(lane) in ascending order.
  template <typename F>
  void forEach(F&& f) const {
    for (size_t i = 0; i < words_.size(); i++) {
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) {
        f(static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(std::countr_zero(w)));
      }
    }
  }

 private:
  std::array<uint64_t, abi::kMaxWorkgroupInvocations / 64> words_{};
};

// One vector of a fragment run, by lane.
struct FragmentVector {
  uint32_t position[2][16];
  uint32_t primitive[16];
  uint16_t coverage[abi::kMaxSamples];  // bit per lane
};

FragmentVector fragmentVector(const abi::FragmentRun& run, uint32_t n, uint32_t samples) {
  FragmentVector v{};
  const bool isBlock = n < run.blockCount;
  const uint32_t mix = n - run.blockCount;
  for (uint32_t lane = 0; lane < 16; lane++) {
    const uint32_t quad = lane / 4;
    const uint32_t corner = isBlock ? run.blockPosition[n] : run.mixPosition[mix][quad];
    v.position[0][lane] = (corner & 0xffffu) + lane % 2 + (isBlock ? quad % 2 * 2 : 0);
    v.position[1][lane] = (corner >> 16) + lane / 2 % 2 + (isBlock ? quad / 2 * 2 : 0);
    v.primitive[lane] = isBlock ? run.blockPrimitive[n] : run.mixPrimitive[mix][quad];
  }
  for (uint32_t s = 0; s < samples; s++) v.coverage[s] = isBlock ? run.blockCoverage[s][n] : run.mixCoverage[s][mix];
  return v;
}

class Interpreter {
 public:
  Interpreter(const Function& fn, std::span<const abi::BindingSlot> bindings, const void* env,
              const InterpreterLimits& limits)
      : fn_(fn), bindings_(bindings), envAddress_(reinterpret_cast<uint64_t>(env)), limits_(limits) {
    std::memcpy(&env_, env, sizeof env_);  // all environments begin alike
    lanes_ = fn.localSize[0] * fn.localSize[1] * fn.localSize[2];
    slot_.assign(fn.valueCount(), kNoSlot);
    pending_.resize(fn.constructCount());
    for (const LocalVar& v : fn.locals) locals_.emplace_back(size_t{v.size_B} * lanes_);
  }

  std::string run(const abi::ComputeEnv& env, uint64_t groupBegin, uint64_t groupEnd) {
    std::copy_n(env.groupCount, 3, groupCount_);
    const uint64_t nx = groupCount_[0], ny = groupCount_[1];
    for (uint64_t g = groupBegin; g < groupEnd && error_.empty(); g++) {
      groupId_[0] = static_cast<uint32_t>(g % nx) + env.groupBase[0];
      groupId_[1] = static_cast<uint32_t>(g / nx % ny) + env.groupBase[1];
      groupId_[2] = static_cast<uint32_t>(g / nx / ny) + env.groupBase[2];
      group_ = g;
      if (fn_.zeroShared) std::memset(env_.shared, 0, fn_.sharedBytes);
      runGroup(lanes_);
    }
    return std::move(error_);
  }

  std::string run(std::span<const abi::VertexBlock> blocks) {
    for (const abi::VertexBlock& block : blocks) {
      if (!error_.empty()) break;
      itemAddress_ = reinterpret_cast<uint64_t>(&block);
      runGroup(block.count);
    }
    return std::move(error_);
  }

  std::string run(const abi::FragmentEnv& env, const abi::FragmentRun& run, std::vector<FragmentValues>& values) {
    fragmentEnv_ = &env;
    const uint32_t samples = 1u << fn_.fragment.samples_log2;
    for (uint32_t n = 0; n < run.blockCount + run.mixCount; n++) {
      vector_ = fragmentVector(run, n, samples);
      for (sample_ = 0; sample_ < (fn_.fragment.sampleShading ? samples : 1); sample_++) {
        live_ = {};
        for (uint32_t lane = 0; lane < lanes_; lane++) {
          bool any = false;
          for (uint32_t s = 0; s < samples; s++)
            any |= (!fn_.fragment.sampleShading || s == sample_) && (vector_.coverage[s] >> lane & 1) != 0;
          if (any) live_.set(lane);
        }
        covered_ = {};
        live_.forEach([&](uint32_t lane) {
          for (uint32_t of = lane & ~3u; of < (lane & ~3u) + 4; of++) covered_.set(of);
        });
        fragment_ = {};
        runGroup(lanes_);
        live_.forEach([&](uint32_t lane) { fragment_.live |= static_cast<uint16_t>(1u << lane); });
        values.push_back(fragment_);
        if (!error_.empty()) return std::move(error_);
      }
    }
    return std::move(error_);
  }

 private:
  static constexpr size_t kNoSlot = ~size_t{0};

  void runGroup(uint32_t activeLanes) {
    for (auto& bytes : locals_) std::fill(bytes.begin(), bytes.end(), std::byte{0});
    Mask all;
    for (uint32_t lane = 0; lane < activeLanes; lane++) all.set(lane);
    construct(*fn_.body, all);
  }

  // -- values: 64 bits per lane and component; a buffer reference takes two (address, size)
  static uint32_t wordsOf(Type t) { return t.kind == Kind::kBufferRef ? 2 : t.components; }

  uint64_t* slotOf(const Value* v) {
    size_t& slot = slot_[v->id];
    if (slot == kNoSlot) {
      slot = values_.size();
      values_.resize(values_.size() + size_t{wordsOf(v->type)} * lanes_, v->def == Value::Def::kConstant ? v->bits : 0);
    }
    return &values_[slot];
  }
  uint64_t read(const Value* v, uint32_t lane, uint32_t word = 0) { return slotOf(v)[size_t{word} * lanes_ + lane]; }
  void write(const Value* v, uint32_t lane, uint64_t bits, uint32_t word = 0) {
    slotOf(v)[size_t{word} * lanes_ + lane] = bits;
  }

  void fail(const Inst& inst, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{}: {}", what, printInst(inst));
  }

  // -- control flow: pending_[c] holds the lanes that have branched to construct c and wait there
  void construct(const Construct& c, Mask active) {
    Mask& pending = pending_[c.id];
    pending.clear();
    switch (c.shape) {
      case Construct::Shape::kBlock:
        region(c.body, active);
        break;
      case Construct::Shape::kIf: {
        Mask taken, rest;
        active.forEach([&](uint32_t lane) { (read(c.condition, lane) != 0 ? taken : rest).set(lane); });
        region(c.body, taken);
        region(c.otherwise, rest);
        break;
      }
      case Construct::Shape::kLoop:
        copy(c.initial, c.params, active);
        while (active.any() && error_.empty()) {
          pending.clear();
          region(c.body, active);
          active = pending;
        }
        break;
    }
  }

  void region(const Region& r, Mask active) {
    uint32_t count = active.count();  // of a thousand lanes: not for every instruction
    for (const Node* node : r.nodes) {
      if (count == 0 || !error_.empty()) return;
      if (node->tag == Node::Tag::kConstruct) {
        const auto& c = *static_cast<const Construct*>(node);
        construct(c, active);
        // Nothing falls out of a loop; behind the others, all lanes that branched to them go on together.
        active = c.shape == Construct::Shape::kLoop ? Mask{} : pending_[c.id];
        count = active.count();
      } else {
        steps_ += count;
        instruction(*static_cast<const Inst*>(node), active);
      }
    }
  }

  // Assigns all values at once: parameters may be among the sources.
  void copy(const std::vector<Value*>& from, const std::vector<Value*>& to, const Mask& active) {
    copies_.clear();
    for (const Value* v : from) {
      for (uint32_t w = 0; w < wordsOf(v->type); w++) {
        active.forEach([&](uint32_t lane) { copies_.push_back(read(v, lane, w)); });
      }
    }
    size_t next = 0;
    for (const Value* v : to) {
      for (uint32_t w = 0; w < wordsOf(v->type); w++) {
        active.forEach([&](uint32_t lane) { write(v, lane, copies_[next++], w); });
      }
    }
  }

  void branchTable(const Inst& inst, const Mask& active) {
    active.forEach([&](uint32_t lane) {
      const uint64_t selector = read(inst.operands[0], lane);
      size_t i = 0;
      while (i + 1 < inst.cases.size() && inst.cases[i].value != selector) i++;
      pending_[inst.cases[i].target->id].set(lane);
    });
  }

  void instruction(const Inst& inst, const Mask& active) {
    if (steps_ > limits_.maxSteps) return fail(inst, "step limit reached");
    if (inst.op == Op::QuadShuffle || inst.op == Op::IsHelper) return quad(inst, active);
    if (isMemoryOp(inst.op)) return memory(inst, withoutHelpers(inst, active));
    if (isSubgroupOp(inst.op)) return subgroup(inst, live(active));
    switch (inst.op) {
      case Op::Br: {
        const Construct& to = *inst.target;
        copy(inst.operands, to.shape == Construct::Shape::kLoop ? to.params : to.results, active);
        return pending_[to.id].add(active);
      }
      case Op::BrTable:
        return branchTable(inst, active);
      case Op::Unreachable:    // its lanes branch nowhere
      case Op::MemoryBarrier:  // lock step: everything before is done
        return;
      case Op::ControlBarrier:
        if (inst.imm == 0) epoch_++;
        if (limits_.checkRaces && inst.imm == 0 && active.count() != lanes_) fail(inst, "not reached by all");
        return;
      case Op::BufferDescriptor:
        return bufferDescriptor(inst, active);
      case Op::DescriptorAddress:
        return imageDescriptor(inst, active);
      case Op::ImageRead:
      case Op::ImageAccess:
      case Op::ImageWrite:
        return image(inst, active);
      case Op::FragmentPosition:
      case Op::FragmentCoverage:
      case Op::FragmentSample:
      case Op::PrimitiveField:
      case Op::VertexField:
      case Op::FragmentOutput:
      case Op::Demote:
        return fragment(inst, active);
      default:
        break;
    }
    if (inst.op == Op::Select && wordsOf(inst.result->type) > 1) {
      active.forEach([&](uint32_t lane) {
        const Value* from = inst.operands[read(inst.operands[0], lane) != 0 ? 1 : 2];
        for (uint32_t w = 0; w < wordsOf(inst.result->type); w++) write(inst.result, lane, read(from, lane, w), w);
      });
      return;
    }
    if (inst.op == Op::Construct) {
      active.forEach([&](uint32_t lane) {
        for (uint32_t w = 0; w < inst.operands.size(); w++) write(inst.result, lane, read(inst.operands[w], lane), w);
      });
      return;
    }
    active.forEach([&](uint32_t lane) { scalar(inst, lane); });
  }

  // Without helper invocations.
  Mask live(Mask active) const {
    if (fn_.stage == Stage::kFragment) active.intersect(live_);
    return active;
  }
  Mask withoutHelpers(const Inst& inst, Mask active) const {
    if (fn_.stage == Stage::kFragment && inst.op == Op::Load && inst.mem.space == Space::kGlobal && !inst.mem.everyLane)
      active.intersect(covered_);
    return inst.op == Op::Load || inst.op == Op::AtomicLoad || inst.mem.space == Space::kLocal ? active : live(active);
  }

  void quad(const Inst& inst, const Mask& active) {
    if (inst.op == Op::IsHelper) {
      active.forEach([&](uint32_t lane) { write(inst.result, lane, !live_.test(lane)); });
      return;
    }
    std::array<uint64_t, abi::kMaxWorkgroupInvocations> before{};
    for (uint32_t lane = 0; lane < lanes_; lane++) before[lane] = read(inst.operands[0], lane);
    active.forEach(
        [&](uint32_t lane) { write(inst.result, lane, before[(lane & ~3u) + (inst.imm >> 2 * (lane & 3u) & 3u)]); });
  }

  void scalar(const Inst& inst, uint32_t lane) {
    switch (inst.op) {
      case Op::Extract:
        return write(inst.result, lane, read(inst.operands[0], lane, inst.imm));
      case Op::WorkgroupId:
        return write(inst.result, lane, groupId_[inst.imm]);
      case Op::NumWorkgroups:
        return write(inst.result, lane, groupCount_[inst.imm]);
      case Op::LocalInvocationId: {
        const uint32_t x = fn_.localSize[0], y = fn_.localSize[1];
        const uint32_t id[3] = {lane % x, lane / x % y, lane / x / y};
        return write(inst.result, lane, id[inst.imm]);
      }
      case Op::LocalInvocationIndex:
        return write(inst.result, lane, lane);
      case Op::SubgroupId:
        return write(inst.result, lane, lane / fn_.subgroupSize);
      case Op::SubgroupInvocationId:
        return write(inst.result, lane, lane % fn_.subgroupSize);
      case Op::NumSubgroups:
        return write(inst.result, lane, (lanes_ + fn_.subgroupSize - 1) / fn_.subgroupSize);
      case Op::SubgroupSize:
        return write(inst.result, lane, fn_.subgroupSize);
      case Op::EnvAddress:
        return write(inst.result, lane, envAddress_);
      case Op::ItemAddress:
        return write(inst.result, lane, itemAddress_);
      case Op::BufferSize:
        return write(inst.result, lane, std::min<uint64_t>(read(inst.operands[0], lane, 1), 0xffffffffu));
      case Op::BufferAddress:
        return write(inst.result, lane, read(inst.operands[0], lane));
      case Op::ReadClock:
        return write(inst.result, lane, env_.runtime->readClock());
      default:
        break;
    }
    std::array<uint64_t, 3> operands{};
    for (size_t i = 0; i < inst.operands.size() && i < operands.size(); i++) operands[i] = read(inst.operands[i], lane);
    const size_t typed = inst.op == Op::Select ? 1 : 0;
    if (inst.operands.size() <= typed || inst.result == nullptr) return fail(inst, "not interpretable");
    const auto bits = evaluate(inst.op, inst.operands[typed]->type.kind, inst.result->type.kind,
                               std::span(operands).first(std::min(inst.operands.size(), operands.size())));
    if (!bits) return fail(inst, "not interpretable");
    write(inst.result, lane, *bits);
  }

  // -- fragments
  void fragment(const Inst& inst, const Mask& active) {
    if (inst.op == Op::Demote) {
      active.forEach([&](uint32_t lane) { live_.remove(lane); });
      return;
    }
    if (inst.op == Op::FragmentOutput) {
      active.forEach([&](uint32_t lane) {
        fragment_.output[inst.imm][lane] = static_cast<uint32_t>(read(inst.operands[0], lane));
      });
      return;
    }
    active.forEach([&](uint32_t lane) { write(inst.result, lane, fragmentWord(inst, lane)); });
  }

  uint32_t fragmentWord(const Inst& inst, uint32_t lane) {
    const abi::PrimitiveRecord& primitive = fragmentEnv_->primitives[vector_.primitive[lane]];
    switch (inst.op) {
      case Op::FragmentPosition:
        return vector_.position[inst.imm][lane];
      case Op::FragmentCoverage:
        return vector_.coverage[inst.imm] >> lane & 1;
      case Op::FragmentSample:
        return sample_;
      case Op::PrimitiveField:
        return static_cast<uint32_t>(loadBits(reinterpret_cast<uint64_t>(&primitive) + inst.imm, 4));
      default: {  // VertexField
        const uint32_t rows[] = {primitive.vertex0, primitive.vertex1, primitive.vertex2, primitive.provokingVertex};
        return static_cast<uint32_t>(
            loadBits(reinterpret_cast<uint64_t>(fragmentEnv_->varyings[rows[inst.imm]]) + 4ull * inst.imm2, 4));
      }
    }
  }

  // -- images
  void imageDescriptor(const Inst& inst, const Mask& active) {
    const abi::BindingSlot* slot = bindingSlot(inst);
    if (slot == nullptr) return fail(inst, "no such binding");
    active.forEach([&](uint32_t lane) {
      const uint64_t index = inst.operands.empty() ? 0 : read(inst.operands[0], lane);
      write(inst.result, lane, descriptorAddress(*slot, *env_.bindings, index, inst.imm == 1));
    });
  }

  void image(const Inst& inst, const Mask& active) {
    if (env_.runtime->accessImage == nullptr) return fail(inst, "no texture unit");
    const ImageAccess a = imageAccess(inst);
    (a.op == abi::ImageOp::kWrite || a.isAtomic() ? live(active) : active).forEach([&](uint32_t lane) {
      uint64_t results[4];
      accessImage(
          inst, env_.runtime->accessImage, [&](const Value* v) { return read(v, lane); }, results);
      const uint32_t words = inst.result == nullptr ? 0 : wordsOf(inst.result->type);
      for (uint32_t w = 0; w < words; w++) write(inst.result, lane, results[w], w);
    });
  }

  // -- memory
  const abi::BindingSlot* bindingSlot(const Inst& inst) const {
    const auto slot = std::find_if(bindings_.begin(), bindings_.end(), [&](const abi::BindingSlot& s) {
      return s.set == inst.set && s.binding == inst.binding;
    });
    return slot == bindings_.end() ? nullptr : &*slot;
  }

  void bufferDescriptor(const Inst& inst, const Mask& active) {
    const abi::BindingSlot* slot = bindingSlot(inst);
    if (slot == nullptr) return fail(inst, "no such binding");
    active.forEach([&](uint32_t lane) {
      const uint64_t index = inst.operands.empty() ? 0 : read(inst.operands[0], lane);
      const abi::BufferDescriptor d = readDescriptor(*slot, *env_.bindings, index);
      write(inst.result, lane, d.address, 0);
      write(inst.result, lane, d.size_B, 1);
    });
  }

  // Where component 0 of the access lies and how many components are accessible. A component that is not wholly in
  // range is not; as ranges end behind their last byte, the ones that are in range come first.
  Window window(const Inst& inst, uint32_t lane, uint32_t componentBytes, uint32_t components) {
    const MemRef& m = inst.mem;
    const uint32_t last = addressOperandCount(m.space) - 1;
    const Value* indexValue = inst.operands[last];
    uint64_t index = read(indexValue, lane);
    switch (m.space) {
      case Space::kBuffer:
        return checkedWindow(read(inst.operands[0], lane, 0), read(inst.operands[0], lane, 1), m, index, componentBytes,
                             components);
      case Space::kGlobal:
        if (indexValue->type == kI32) index = static_cast<uint64_t>(int64_t{static_cast<int32_t>(index)});
        return {read(inst.operands[0], lane) + index * m.scale_B + m.offset_B, components};
      case Space::kShared:
        return checkedWindow(reinterpret_cast<uint64_t>(env_.shared), fn_.sharedBytes, m, index, componentBytes,
                             components);
      case Space::kPush:
        return checkedWindow(reinterpret_cast<uint64_t>(env_.pushConstants), abi::kMaxPushConstantBytes, m, index,
                             componentBytes, components);
      case Space::kLocal: {
        const uint64_t size = fn_.locals[m.local].size_B;
        return checkedWindow(reinterpret_cast<uint64_t>(locals_[m.local].data()) + size * lane, size, m, index,
                             componentBytes, components);
      }
    }
    return {};
  }

  // True if the run may go on.
  bool mayAccess(const Inst& inst, uint32_t lane, uint64_t address, uint32_t bytes) {
    const Space space = inst.mem.space;
    if (space == Space::kGlobal && !limits_.globalRanges.empty()) {
      const auto contains = [&](const AddressRange& r) {
        return address >= r.address && address - r.address <= r.size_B && bytes <= r.size_B - (address - r.address);
      };
      if (!std::any_of(limits_.globalRanges.begin(), limits_.globalRanges.end(), contains)) {
        fail(inst, fmt::format("stray access of invocation {} to {:#x}", lane, address));
        return false;
      }
    }
    if (!limits_.checkRaces || bytes == 0 || space == Space::kLocal || space == Space::kPush) return true;
    const bool isWrite = inst.op != Op::Load && inst.op != Op::AtomicLoad;
    const RaceDetector::Access a{group_, lane, epoch_, isWrite, isAtomicOp(inst.op), space == Space::kShared};
    if (races_.access(address, bytes, a)) return true;
    fail(inst, fmt::format("data race of invocation {}", lane));
    return false;
  }

  void memory(const Inst& inst, const Mask& active) {
    const size_t firstValue = addressOperandCount(inst.mem.space);
    const Type type = inst.result != nullptr ? inst.result->type : inst.operands[firstValue]->type;
    const uint32_t bytes = kindBytes(type.kind);
    if (inst.op == Op::Load) {
      active.forEach([&](uint32_t lane) {
        if (!error_.empty()) return;
        const Window w = window(inst, lane, bytes, type.components);
        if (!mayAccess(inst, lane, w.address, w.components * bytes)) return;
        for (uint32_t i = 0; i < type.components; i++) {
          write(inst.result, lane, i < w.components ? loadBits(w.address + uint64_t{i} * bytes, bytes) : 0, i);
        }
      });
    } else if (inst.op == Op::Store) {
      active.forEach([&](uint32_t lane) {
        if (!error_.empty()) return;
        const Window w = window(inst, lane, bytes, type.components);
        if (!mayAccess(inst, lane, w.address, w.components * bytes)) return;
        for (uint32_t i = 0; i < w.components; i++) {
          storeBits(w.address + uint64_t{i} * bytes, bytes, read(inst.operands[firstValue], lane, i));
        }
      });
    } else {
      active.forEach([&](uint32_t lane) {
        if (!error_.empty()) return;
        const Window w = window(inst, lane, bytes, 1);
        if (!mayAccess(inst, lane, w.address, w.components * bytes)) return;
        const auto operand = [&](size_t i) {
          return firstValue + i < inst.operands.size() ? read(inst.operands[firstValue + i], lane) : 0;
        };
        const uint64_t old = w.components == 0 ? 0 : atomic(inst.op, type.kind, w.address, operand(0), operand(1));
        if (inst.result != nullptr) write(inst.result, lane, old);
      });
    }
  }

  // -- subgroups
  void subgroup(const Inst& inst, const Mask& active) {
    for (uint32_t first = 0; first < lanes_; first += fn_.subgroupSize) {
      const uint32_t end = std::min(first + fn_.subgroupSize, lanes_);
      activeLanes_.clear();
      for (uint32_t lane = first; lane < end; lane++) {
        if (active.test(lane)) activeLanes_.push_back(lane);
      }
      if (!activeLanes_.empty()) subgroup(inst, active, first);
    }
  }

  void subgroup(const Inst& inst, const Mask& active, uint32_t first) {
    const Value* a = inst.operands.empty() ? nullptr : inst.operands[0];
    const Value* result = inst.result;
    const uint32_t size = fn_.subgroupSize;
    const auto all = [&](uint64_t bits) {
      for (const uint32_t lane : activeLanes_) write(result, lane, bits);
    };
    switch (inst.op) {
      case Op::SubgroupElect:
        for (const uint32_t lane : activeLanes_) write(result, lane, lane == activeLanes_[0]);
        return;
      case Op::SubgroupAll:
      case Op::SubgroupAny: {
        const auto isTrue = [&](uint32_t lane) { return read(a, lane) != 0; };
        return all(inst.op == Op::SubgroupAll ? std::all_of(activeLanes_.begin(), activeLanes_.end(), isTrue)
                                              : std::any_of(activeLanes_.begin(), activeLanes_.end(), isTrue));
      }
      case Op::SubgroupAllEqual: {
        const Op equal = a->type.isFloat() ? Op::FOEq : Op::IEq;
        const uint64_t reference = read(a, activeLanes_[0]);
        return all(std::all_of(activeLanes_.begin(), activeLanes_.end(), [&](uint32_t lane) {
          const uint64_t operands[2] = {reference, read(a, lane)};
          return evaluate(equal, a->type.kind, Kind::kBool, operands) == 1;
        }));
      }
      case Op::SubgroupBallot: {
        uint64_t bits = 0;
        for (const uint32_t lane : activeLanes_) bits |= read(a, lane) << (lane - first);
        return all(bits);
      }
      case Op::SubgroupBroadcastFirst:
        return all(read(a, activeLanes_[0]));
      case Op::SubgroupReduce:
      case Op::SubgroupInclusiveScan:
      case Op::SubgroupExclusiveScan:
        return reduce(inst, active, first);
      default:
        break;
    }
    // Shuffles.
    std::array<uint64_t, 32> shuffled{};
    for (const uint32_t lane : activeLanes_) {
      const uint64_t id = lane - first, b = read(inst.operands[1], lane);
      uint64_t from = ~0ull;
      if (inst.op == Op::SubgroupShuffle) from = b % size;
      if (inst.op == Op::SubgroupShuffleXor) from = id ^ b;
      if (inst.op == Op::SubgroupShuffleUp) from = id - b;  // wraps to a huge id
      if (inst.op == Op::SubgroupShuffleDown) from = id + b;
      const bool exists = from < size && first + from < lanes_ && active.test(first + static_cast<uint32_t>(from));
      shuffled[id] = exists ? read(a, first + static_cast<uint32_t>(from)) : 0;
    }
    for (const uint32_t lane : activeLanes_) write(result, lane, shuffled[lane - first]);
  }

  void reduce(const Inst& inst, const Mask& active, uint32_t first) {
    const auto op = static_cast<ReduceOp>(inst.imm2);
    const Kind kind = inst.result->type.kind;
    const uint32_t size = fn_.subgroupSize;
    const uint32_t cluster = inst.imm == 0 ? size : inst.imm;
    const uint64_t identity = reduceIdentity(op, kind);
    const auto combine = [&](uint64_t left, uint64_t right) {
      const uint64_t operands[2] = {left, right};
      return evaluate(reduceStep(op), kind, kind, operands).value_or(0);
    };
    std::array<uint64_t, 32> x{};
    for (uint32_t i = 0; i < size; i++) {
      x[i] = first + i < lanes_ && active.test(first + i) ? read(inst.operands[0], first + i) : identity;
    }
    for (uint32_t d = 1; d < cluster; d *= 2) {
      const auto before = x;
      for (uint32_t i = 0; i < size; i++) {
        if (inst.op == Op::SubgroupReduce) {
          x[i] = combine(before[i & ~d], before[i | d]);
        } else if (i >= d) {
          x[i] = combine(before[i - d], before[i]);
        }
      }
    }
    if (inst.op == Op::SubgroupExclusiveScan) {
      for (uint32_t i = size - 1; i > 0; i--) x[i] = x[i - 1];
      x[0] = identity;
    }
    for (const uint32_t lane : activeLanes_) write(inst.result, lane, x[lane - first]);
  }

  const Function& fn_;
  std::span<const abi::BindingSlot> bindings_;
  uint64_t envAddress_;
  abi::ShaderEnv env_{};
  InterpreterLimits limits_;
  uint32_t lanes_ = 0;
  uint32_t groupId_[3] = {}, groupCount_[3] = {};
  uint64_t itemAddress_ = 0;
  const abi::FragmentEnv* fragmentEnv_ = nullptr;
  FragmentVector vector_;
  FragmentValues fragment_;
  uint32_t sample_ = 0;
  Mask live_, covered_;  // fragment: no helpers; quads that began with one
  uint64_t group_ = 0;
  uint32_t epoch_ = 0;  // workgroup barriers so far
  RaceDetector races_;
  uint64_t steps_ = 0;
  std::string error_;
  std::vector<size_t> slot_;  // by value id: where its lanes start in values_
  std::vector<uint64_t> values_;
  std::vector<Mask> pending_;                   // by construct id
  std::vector<std::vector<std::byte>> locals_;  // per variable, lane after lane
  std::vector<uint64_t> copies_;                // scratch of copy()
  std::vector<uint32_t> activeLanes_;           // scratch of subgroup()
};

}  // namespace

std::string interpret(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::ComputeEnv& env,
                      uint64_t groupBegin, uint64_t groupEnd, const InterpreterLimits& limits) {
  return Interpreter(fn, bindings, &env, limits).run(env, groupBegin, groupEnd);
}

std::string interpretFragment(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::FragmentEnv& env,
                              const abi::FragmentRun& run, std::vector<FragmentValues>& values,
                              const InterpreterLimits& limits) {
  return Interpreter(fn, bindings, &env, limits).run(env, run, values);
}

std::string interpretVertex(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::VertexEnv& env,
                            std::span<const abi::VertexBlock> blocks, const InterpreterLimits& limits) {
  return Interpreter(fn, bindings, &env, limits).run(blocks);
}

}  // namespace pumice::shader::ir
