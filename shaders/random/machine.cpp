#include "shaders/random/machine.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "shaders/ir/interpreter.h"
#include "shaders/random/rng.h"

namespace pumice::shader::random {
namespace {

size_t alignUp(size_t v, size_t a) {
  return (v + a - 1) / a * a;
}

// Words that make something happen: small integers, floats of moderate size, a few extremes, any bits.
uint32_t someWord(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return rng.below(40);
    case 1:
    case 2:
      return std::bit_cast<uint32_t>((static_cast<float>(rng.below(2000)) - 1000.0f) / 16.0f);
    case 3:
      return rng.oneOf({0u, 0xffffffffu, 0x80000000u, 0x7fffffffu, 0x7f800000u, 0x3c003c00u, 0x00010001u});
    default:
      return rng.bits32();
  }
}

void fill(std::byte* to, size_t size_B, uint64_t seed) {
  Rng rng(seed);
  for (size_t i = 0; i < size_B; i += 4) {
    const uint32_t w = someWord(rng);
    std::memcpy(to + i, &w, std::min<size_t>(4, size_B - i));
  }
}

std::byte* alignedTo64(std::vector<std::byte>& bytes, size_t size_B) {
  bytes.resize(size_B + 64);
  void* p = bytes.data();
  size_t space = bytes.size();
  return static_cast<std::byte*>(std::align(64, size_B, p, space));
}

__attribute__((noreturn)) void leave(abi::ComputeEnv*) {
  std::abort();  // nobody sets the cancel word here
}
uint64_t readClock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}
const abi::RuntimeTable kRuntime = {abi::kShaderAbiVersion, leave, readClock, {}};
const uint32_t kNoCancel = 0;

}  // namespace

Machine::Machine(const Program& program) : program_(program) {
  size_t total = 0;
  const auto part = [&](std::string name, size_t size_B) {
    const size_t at = total + kGuardBytes;
    total = alignUp(at + size_B, 64) + kGuardBytes;
    parts_.push_back({std::move(name), at, size_B});
    return at;
  };
  struct Place {
    size_t slot, element, offset;
  };
  std::vector<Place> places;
  for (size_t s = 0; s < program.slots.size(); s++) {
    for (size_t e = 0; e < program.buffers[s].size(); e++) {
      const BufferInfo& info = program.buffers[s][e];
      places.push_back({s, e, part(fmt::format("slot {}[{}]", s, e), info.size_B + info.dynamicOffset_B)});
    }
  }
  shared_ = part("shared", program.fn->sharedBytes);
  base_ = alignedTo64(memory_, total);
  initial_.resize(total);
  fill(initial_.data(), total, program.seed * 31 + 1);
  std::memset(initial_.data() + shared_, 0, program.fn->sharedBytes);

  for (const Place& p : places) {
    const abi::BindingSlot& slot = program.slots[p.slot];
    const BufferInfo& info = program.buffers[p.slot][p.element];
    std::vector<std::byte>& set = descriptors_[slot.set];
    const size_t at = slot.offset_B + p.element * slot.stride_B;
    if (set.size() < at + sizeof(abi::BufferDescriptor)) set.resize(at + sizeof(abi::BufferDescriptor));
    const abi::BufferDescriptor d{reinterpret_cast<uint64_t>(base_ + p.offset), info.size_B};
    if (!info.isNull) std::memcpy(set.data() + at, &d, sizeof d);
    if (slot.dynamicIndex != abi::kNotDynamic) {
      state_.dynamicOffset_B[slot.dynamicIndex + p.element] = info.dynamicOffset_B;
    }
  }
  for (uint32_t s = 0; s < 2; s++) state_.setAddress[s] = reinterpret_cast<uint64_t>(descriptors_[s].data());
  push_.resize(abi::kMaxPushConstantBytes);
  fill(push_.data(), push_.size(), program.seed * 31 + 2);
}

void Machine::reset(abi::ComputeEnv* env) {
  std::memcpy(base_, initial_.data(), initial_.size());
  env->runtime = &kRuntime;
  env->bindings = &state_;
  env->pushConstants = push_.data();
  env->cancelWord = &kNoCancel;
  env->shared = base_ + shared_;
  for (int i = 0; i < 3; i++) {
    env->groupCount[i] = program_.groupCount[i];
    env->groupBase[i] = program_.groupBase[i];
  }
}

Machine::Outcome Machine::interpret(const ir::Function& fn, uint64_t maxSteps, bool checkRaces) {
  abi::ComputeEnv env{};
  reset(&env);
  Outcome o;
  o.error = ir::interpret(fn, program_.slots, env, program_.groupBegin, program_.groupEnd, {maxSteps, checkRaces});
  o.memory.assign(base_, base_ + initial_.size());
  return o;
}

Machine::Outcome Machine::execute(abi::ComputeEntry entry, uint32_t frameBytes) {
  abi::ComputeEnv env{};
  reset(&env);
  std::vector<std::byte> frame, sink;
  env.frame = alignedTo64(frame, frameBytes);
  env.sink = alignedTo64(sink, abi::kSinkBytes);
  std::fill(frame.begin(), frame.end(), std::byte{0xa5});  // undefined at entry
  entry(&env, program_.groupBegin, program_.groupEnd);
  Outcome o;
  o.memory.assign(base_, base_ + initial_.size());
  return o;
}

std::string Machine::difference(const Outcome& a, const Outcome& b) const {
  const auto d = std::mismatch(a.memory.begin(), a.memory.end(), b.memory.begin()).first;
  if (d == a.memory.end()) return {};
  const auto at = static_cast<size_t>(d - a.memory.begin());
  const size_t word = at / 4 * 4;
  uint32_t wa = 0, wb = 0;
  std::memcpy(&wa, a.memory.data() + word, 4);
  std::memcpy(&wb, b.memory.data() + word, 4);
  for (const Part& p : parts_) {
    if (at + kGuardBytes < p.offset || at >= p.offset + p.size_B + kGuardBytes) continue;
    const bool inGuard = at < p.offset || at >= p.offset + p.size_B;
    return fmt::format("{} byte {}{}: word {:#010x} against {:#010x}", p.name,
                       static_cast<int64_t>(at) - static_cast<int64_t>(p.offset), inGuard ? " (outside of it)" : "", wa,
                       wb);
  }
  return fmt::format("byte {} between the buffers", at);
}

}  // namespace pumice::shader::random
