// For tests: reads a module, binds buffers and runs the result in the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/passes/tree.h"
#include "shaders/spirv/reader.h"

namespace pumice::shader::spirv {

using Words = std::vector<uint32_t>;

inline Words floatWords(std::initializer_list<float> values) {
  Words w;
  for (float v : values) w.push_back(std::bit_cast<uint32_t>(v));
  return w;
}

class TestMachine {
 public:
  // Array elements of (set 0, binding). Sizes in bytes are those of the vectors.
  std::map<uint32_t, std::vector<Words>> buffers;
  std::array<uint32_t, 64> push{};
  std::vector<SpecConstant> spec;
  uint32_t subgroupSize = 16;
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::unique_ptr<ir::Function> fn;

  Words& buffer(uint32_t binding) {
    if (buffers[binding].empty()) buffers[binding].resize(1);
    return buffers[binding][0];
  }
  float asFloat(uint32_t binding, size_t i) { return std::bit_cast<float>(buffer(binding).at(i)); }

  ReadResult read(std::span<const uint32_t> words) const {
    ComputeCompileInfo info;
    info.spirv = words;
    info.specConstants = spec;
    info.subgroupSize = subgroupSize;
    return readCompute(info);
  }

  // Empty, or what went wrong.
  std::string load(std::span<const uint32_t> words) {
    ReadResult r = read(words);
    fn = std::move(r.function);
    return r.message;
  }

  std::string run() {
    if (!fn) return "nothing is loaded";
    std::vector<abi::BufferDescriptor> set;
    std::vector<abi::BindingSlot> slots;
    for (auto& [binding, elements] : buffers) {
      slots.push_back({0, binding, static_cast<uint32_t>(elements.size()), static_cast<uint32_t>(set.size() * 16), 16,
                       abi::kNotDynamic});
      for (Words& w : elements) set.push_back({reinterpret_cast<uint64_t>(w.data()), w.size() * 4});
    }
    abi::BindingState state{};
    state.setAddress[0] = reinterpret_cast<uint64_t>(set.data());
    std::vector<uint64_t> shared(fn->sharedBytes / 8 + 1, 0xdddd'dddd'dddd'ddddull);
    abi::ComputeEnv env{};
    env.bindings = &state;
    env.pushConstants = reinterpret_cast<const std::byte*>(push.data());
    env.shared = reinterpret_cast<std::byte*>(shared.data());
    for (int i = 0; i < 3; ++i) env.groupCount[i] = groups[static_cast<size_t>(i)];
    return ir::interpret(*fn, slots, env, 0, uint64_t{groups[0]} * groups[1] * groups[2]);
  }

  // Runs the function as it was read and again after the passes; both must leave the same. `restore` puts memory that
  // the machine does not own back as it was.
  std::string loadAndRun(std::span<const uint32_t> words, const std::function<void()>& restore = {}) {
    if (std::string fault = load(words); !fault.empty()) return fault;
    passes::lowerMath(*fn);  // the interpreter has no transcendental operations
    const auto initial = buffers;
    if (std::string fault = run(); !fault.empty()) return fault;
    const auto plain = std::exchange(buffers, initial);
    if (restore) restore();
    // Contraction may change bits; everything else may not.
    passes::forEachInst(*fn->body, [](ir::Inst& i) { i.noContract = true; });
    passes::runPasses(*fn, Tier::kBetter);
    if (std::string fault = ir::verify(*fn); !fault.empty())
      return "after the passes: " + fault + "\n" + ir::print(*fn);
    if (std::string fault = run(); !fault.empty()) return "after the passes: " + fault;
    return buffers == plain ? "" : "the passes change what the shader does:\n" + ir::print(*fn);
  }
};

}  // namespace pumice::shader::spirv
