#include "shaders/random/machine.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backend/texture/texture.h"
#include "shaders/ir/interpreter.h"
#include "shaders/random/rng.h"

namespace pumice::shader::random {
namespace {

constexpr size_t kPage_B = 4096, kAlign_B = 64;

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

__attribute__((noreturn)) void leave(void*) {
  std::abort();  // nobody sets the cancel word here
}
uint64_t readClock() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}
const abi::RuntimeTable kRuntime = {abi::kShaderAbiVersion, leave, readClock, texture::accessImage, {}};
const uint32_t kNoCancel = 0;

}  // namespace

Machine::Pages::Pages(size_t size_B) : size_B_(alignUp(std::max<size_t>(size_B, 1), kPage_B)) {
  void* p = mmap(nullptr, size_B_ + 2 * kPage_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();
  begin_ = static_cast<std::byte*>(p) + kPage_B;
  if (mprotect(begin_, size_B_, PROT_READ | PROT_WRITE) != 0) std::abort();
}
Machine::Pages::~Pages() {
  if (begin_ != nullptr) munmap(begin_ - kPage_B, size_B_ + 2 * kPage_B);
}
Machine::Pages::Pages(Pages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), size_B_(std::exchange(other.size_B_, 0)) {}

std::byte* Machine::addPart(std::string name, size_t size_B) {
  Pages pages(alignUp(size_B, kAlign_B));
  std::byte* data = pages.begin() + pages.size_B() - alignUp(size_B, kAlign_B);
  std::vector<std::byte> initial(pages.size_B());
  fill(initial.data(), initial.size(), program_.seed * 31 + parts_.size());
  parts_.push_back({std::move(name), std::move(pages), data, size_B, std::move(initial)});
  return data;
}

Machine::Machine(const Program& program) : program_(program) {
  for (size_t s = 0; s < program.slots.size(); s++) {
    const abi::BindingSlot& slot = program.slots[s];
    for (size_t e = 0; e < program.buffers[s].size(); e++) {
      const BufferInfo& info = program.buffers[s][e];
      std::byte* data = addPart(fmt::format("slot {}[{}]", s, e), size_t{info.size_B} + info.dynamicOffset_B);
      std::vector<std::byte>& set = descriptors_[slot.set];
      const size_t at = slot.offset_B + e * slot.stride_B;
      if (set.size() < at + sizeof(abi::BufferDescriptor)) set.resize(at + sizeof(abi::BufferDescriptor));
      const abi::BufferDescriptor d{reinterpret_cast<uint64_t>(data), info.size_B};
      if (!info.isNull) std::memcpy(set.data() + at, &d, sizeof d);
      if (slot.dynamicIndex != abi::kNotDynamic) state_.dynamicOffset_B[slot.dynamicIndex + e] = info.dynamicOffset_B;
    }
  }
  push_ = addPart("push constants", abi::kMaxPushConstantBytes);
  shared_ = addPart("shared", program.fn->sharedBytes);
  std::memset(parts_.back().initial.data(), 0, parts_.back().initial.size());
  for (uint32_t s = 0; s < 2; s++) state_.setAddress[s] = reinterpret_cast<uint64_t>(descriptors_[s].data());
}

void Machine::reset(abi::ComputeEnv* env) {
  for (Part& p : parts_) std::memcpy(p.pages.begin(), p.initial.data(), p.initial.size());
  env->runtime = &kRuntime;
  env->bindings = &state_;
  env->pushConstants = push_;
  env->cancelWord = &kNoCancel;
  env->shared = shared_;
  for (int i = 0; i < 3; i++) {
    env->groupCount[i] = program_.groupCount[i];
    env->groupBase[i] = program_.groupBase[i];
  }
}

Machine::Outcome Machine::snapshot() const {
  Outcome o;
  for (const Part& p : parts_) o.memory.insert(o.memory.end(), p.pages.begin(), p.pages.begin() + p.pages.size_B());
  return o;
}

Machine::Outcome Machine::interpret(const ir::Function& fn, uint64_t maxSteps, bool checkRaces) {
  abi::ComputeEnv env{};
  reset(&env);
  // Where races are looked for the program may be a shrunk one, with any addresses.
  std::vector<ir::AddressRange> ranges;
  for (const Part& p : parts_) {
    if (checkRaces) ranges.push_back({reinterpret_cast<uint64_t>(p.data), p.size_B});
  }
  std::string error =
      ir::interpret(fn, program_.slots, env, program_.groupBegin, program_.groupEnd, {maxSteps, checkRaces, ranges});
  Outcome o = snapshot();
  o.error = std::move(error);
  return o;
}

Machine::Outcome Machine::execute(abi::ComputeEntry entry, uint32_t frameBytes) {
  abi::ComputeEnv env{};
  reset(&env);
  const Pages frame(alignUp(frameBytes, kAlign_B)), sink(abi::kSinkBytes);
  std::memset(frame.begin(), 0xa5, frame.size_B());  // undefined at entry
  env.frame = frame.begin() + frame.size_B() - alignUp(frameBytes, kAlign_B);
  env.sink = sink.begin() + sink.size_B() - abi::kSinkBytes;
  entry(&env, program_.groupBegin, program_.groupEnd);
  return snapshot();
}

std::string Machine::difference(const Outcome& a, const Outcome& b) const {
  const auto d = std::mismatch(a.memory.begin(), a.memory.end(), b.memory.begin()).first;
  if (d == a.memory.end()) return {};
  const auto at = static_cast<size_t>(d - a.memory.begin());
  const size_t word = at / 4 * 4;
  uint32_t wa = 0, wb = 0;
  std::memcpy(&wa, a.memory.data() + word, 4);
  std::memcpy(&wb, b.memory.data() + word, 4);
  size_t start = 0;
  for (const Part& p : parts_) {
    if (at < start + p.pages.size_B()) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(at - start) - (p.data - p.pages.begin());
      const bool isOutside = offset < 0 || offset >= static_cast<std::ptrdiff_t>(p.size_B);
      return fmt::format("{} byte {}{}: word {:#010x} against {:#010x}", p.name, offset,
                         isOutside ? " (outside of it)" : "", wa, wb);
    }
    start += p.pages.size_B();
  }
  return "different sizes";
}

}  // namespace pumice::shader::random
