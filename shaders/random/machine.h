// The memory and environment of one random program, and the runs of it: interpreter and compiled code see the same
// addresses and the same content at the start, and are compared by what they leave there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/abi/shader_abi.h"
#include "shaders/random/program.h"

namespace pumice::shader::random {

class Machine {
 public:
  explicit Machine(const Program& program);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  struct Outcome {
    std::string error;  // of the interpreter
    std::vector<std::byte> memory;
  };
  // `fn` is the program's own function or a transformed copy of it.
  Outcome interpret(const ir::Function& fn, uint64_t maxSteps, bool checkRaces = false);
  // Runs compiled code; a fault or an endless loop is the caller's to catch.
  Outcome execute(abi::ComputeEntry entry, uint32_t frameBytes);

  // Where two runs differ first, as text; empty if nowhere.
  std::string difference(const Outcome& a, const Outcome& b) const;

  static constexpr uint32_t kGuardBytes = 128;  // around each buffer; nobody may write there

 private:
  struct Part {
    std::string name;
    size_t offset, size_B;  // in memory_, guards included
  };
  void reset(abi::ComputeEnv* env);

  const Program& program_;
  std::vector<Part> parts_;
  size_t shared_ = 0;              // offset in memory_
  std::vector<std::byte> memory_;  // all buffers and shared memory; 64-byte aligned from base_ on
  std::byte* base_ = nullptr;
  std::vector<std::byte> initial_;
  std::vector<std::byte> descriptors_[2];
  std::vector<std::byte> push_;
  abi::BindingState state_{};
};

}  // namespace pumice::shader::random
