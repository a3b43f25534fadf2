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

  // Each buffer ends at the end of a page (its size rounded up to the 64 bytes to which buffers are aligned), and an
  // inaccessible page follows: reads that leave a buffer fault, writes before it are seen as differences.
 private:
  // Anonymous pages with inaccessible ones around them.
  class Pages {
   public:
    explicit Pages(size_t size_B);
    ~Pages();
    Pages(Pages&& other) noexcept;
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::byte* begin() const { return begin_; }
    size_t size_B() const { return size_B_; }

   private:
    std::byte* begin_ = nullptr;
    size_t size_B_ = 0;
  };
  struct Part {
    std::string name;
    Pages pages;
    std::byte* data;
    size_t size_B;
    std::vector<std::byte> initial;  // of all its pages
  };
  std::byte* addPart(std::string name, size_t size_B);
  void reset(abi::ComputeEnv* env);
  Outcome snapshot() const;

  const Program& program_;
  std::vector<Part> parts_;
  std::byte* shared_ = nullptr;
  std::byte* push_ = nullptr;
  std::vector<std::byte> descriptors_[2];
  abi::BindingState state_{};
};

}  // namespace pumice::shader::random
