// A worker's memory for shaders: shared memory of the workgroup, frame (values across barriers, private arrays) and the
// sink of out-of-range stores. Owned by the worker and used by that thread alone. It grows between shaders, never while
// one runs, and does not shrink: the sizes are bounded by the ABI and by the compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/shader_abi.h"

namespace pumice::sched {

class WorkerArena {
 public:
  WorkerArena() = default;
  ~WorkerArena();
  WorkerArena(const WorkerArena&) = delete;
  WorkerArena& operator=(const WorkerArena&) = delete;

  // After success shared(), frame() and sink() point to at least that many bytes (and abi::kOverreadBytes behind them),
  // aligned to 64; their content is undefined. False when the system has no memory: the old blocks are kept.
  bool reserve(uint32_t shared_B, uint32_t frame_B) noexcept {
    if (sink_ && shared_B <= sharedCapacity_ && frame_B <= frameCapacity_) [[likely]]
      return true;
    return grow(shared_B, frame_B);
  }

  std::byte* shared() const noexcept { return shared_; }
  std::byte* frame() const noexcept { return frame_; }
  std::byte* sink() const noexcept { return sink_; }

 private:
  bool grow(uint32_t shared_B, uint32_t frame_B) noexcept;

  std::byte* shared_ = nullptr;
  std::byte* frame_ = nullptr;
  std::byte* sink_ = nullptr;
  uint32_t sharedCapacity_ = 0;
  uint32_t frameCapacity_ = 0;
};

}  // namespace pumice::sched
