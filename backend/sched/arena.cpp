#include "backend/sched/arena.h"

#include <algorithm>
#include <cstdlib>

#include "backend/abi/memory_map.h"

namespace pumice::sched {
namespace {

std::byte* allocateBlock(uint64_t size_B) {
  const uint64_t padded_B = (size_B + abi::kOverreadBytes + 63) & ~63ull;
  return static_cast<std::byte*>(std::aligned_alloc(64, padded_B));
}

// Replaces the block by a larger one; keeps it when there is no memory.
bool growBlock(std::byte*& block, uint32_t& capacity_B, uint32_t wanted_B) {
  if (block && wanted_B <= capacity_B) return true;
  // At least doubling: a program with ever larger frames does not reallocate each time.
  const uint64_t doubled_B = std::min<uint64_t>(uint64_t{capacity_B} * 2, UINT32_MAX);
  const uint64_t size_B = std::max<uint64_t>({wanted_B, doubled_B, 4096});
  std::byte* larger = allocateBlock(size_B);
  if (!larger) return false;
  std::free(block);
  block = larger;
  capacity_B = static_cast<uint32_t>(size_B);
  return true;
}

}  // namespace

WorkerArena::~WorkerArena() {
  std::free(shared_);
  std::free(frame_);
  std::free(sink_);
}

bool WorkerArena::grow(uint32_t shared_B, uint32_t frame_B) noexcept {
  if (!sink_ && !(sink_ = allocateBlock(abi::kSinkBytes))) return false;
  return growBlock(shared_, sharedCapacity_, shared_B) && growBlock(frame_, frameCapacity_, frame_B);
}

}  // namespace pumice::sched
