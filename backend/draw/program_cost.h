// What programs of the stages cost: measured while they run, now and then, and told to the compiler that makes better
// code of what runs much (abi/heat.h).
//
// Programs are shared by all workers; racing refinements lose one, which is harmless. A sampler is one worker's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/abi/heat.h"
#include "backend/sched/futex.h"

namespace pumice::draw {

class CostSampler {
 public:
  /// Around a call of `program` that shades so many blocks of vertices or vectors of fragments.
  template <typename Program, typename Call>
  void run(const Program& program, uint32_t blocks, Call&& call) {
    // Once the compiler has been told, nothing is counted any more.
    abi::Heat* heat = program.heat && !program.heat->told.load(std::memory_order_relaxed) ? program.heat : nullptr;
    const bool known = __atomic_load_n(&program.measured, __ATOMIC_RELAXED) != 0;
    if (known && ++untimed_ < kSampleEvery) [[likely]] {
      call();
      if (heat) abi::addHeat(*heat, uint64_t{blocks} * __atomic_load_n(&program.blockCost_ns, __ATOMIC_RELAXED));
      return;
    }
    untimed_ = 0;
    const uint64_t start_ns = sched::monotonicNow_ns();
    call();
    const uint64_t elapsed_ns = sched::monotonicNow_ns() - start_ns;
    refine(program, blocks, elapsed_ns);
    if (heat) abi::addHeat(*heat, elapsed_ns);
  }

 private:
  static constexpr uint32_t kSampleEvery = 16;

  template <typename Program>
  static void refine(const Program& program, uint32_t blocks, uint64_t elapsed_ns) {
    const uint64_t old = std::max(1u, __atomic_load_n(&program.blockCost_ns, __ATOMIC_RELAXED));
    // One measurement may have been interrupted by another process: it counts for 16 times the old value at most.
    const uint64_t measured = std::clamp<uint64_t>(elapsed_ns / std::max(blocks, 1u), 1, 16 * old);
    const uint64_t refined = std::clamp<uint64_t>((3 * old + measured + 2) / 4, 1, UINT32_MAX);
    if (refined != old) __atomic_store_n(&program.blockCost_ns, static_cast<uint32_t>(refined), __ATOMIC_RELAXED);
    if (!__atomic_load_n(&program.measured, __ATOMIC_RELAXED)) __atomic_store_n(&program.measured, 1, __ATOMIC_RELAXED);
  }

  uint32_t untimed_ = 0;
};

}  // namespace pumice::draw
