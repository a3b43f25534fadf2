// How much a program has run: what the machine tells a compiler that makes better code in the background. Part of a
// program whose code may be replaced (ComputeProgram::heat); owned by whoever made the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace pumice::abi {

struct Heat {
  std::atomic<uint64_t> ran_ns{0};  // workers' time, measured or estimated
  std::atomic<bool> told{false};
  uint64_t limit_ns = 0;  // hot from here on
  // Called once, on the thread of the worker that crossed the limit, while it holds workgroups of a dispatch. Takes no
  // lock, allocates nothing, does not throw.
  void (*onHot)(Heat& heat) = nullptr;
};

// Any worker, after it has run workgroups of the program and before they count as finished.
inline void addHeat(Heat& heat, uint64_t time_ns) {
  if (heat.told.load(std::memory_order_relaxed)) return;
  if (heat.ran_ns.fetch_add(time_ns, std::memory_order_relaxed) + time_ns < heat.limit_ns) return;
  if (!heat.told.exchange(true, std::memory_order_relaxed)) heat.onHot(heat);
}

}  // namespace pumice::abi
