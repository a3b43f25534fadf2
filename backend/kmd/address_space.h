// One reserved range of addresses, and which of its pages may be touched. Who owns which address is not decided here
// (va_allocator.h); this class makes owned ranges accessible, remembers what freed ranges left behind, and keeps some
// of their pages for the next owner, because a fresh page costs far more than a cleared one.
//
// Books are kept per 2 MiB chunk: how many allocations lie in it, whether it is committed (accessible), and which of
// its 4 KiB pages are dirty, i.e. may hold something else than zeros. Small allocations share chunks, so that their
// number is not limited by the number of mappings; the number of mappings is bounded in any case.
//
// Threads: the owner locks, except where a function says that it wants no lock because it only touches a range that the
// caller owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/abi/memory_map.h"
#include "backend/kmd/status.h"

namespace pumice::kmd {

class AddressSpace {
 public:
  struct Config {
    uint64_t reservation_B = abi::kReservationBytes;  // rounded up to chunks; halved until the system grants it
    uint64_t cacheLimit_B = 256ull << 20;             // dirty pages of free chunks that are kept
    uint32_t maxMappings = 16384;                     // of a process's 65,530 (vm.max_map_count)
  };

  // kOutOfDeviceMemory: not even abi::kMinReservationBytes (or what was asked, if that is less) can be had.
  static Status reserve(const Config& config, std::unique_ptr<AddressSpace>* out) noexcept;
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  uint64_t base() const { return base_; }
  // For allocations. One more chunk follows, so that over-reading the last allocation stays inside the reservation.
  uint64_t usable_B() const { return uint64_t{chunkCount_ - 1} * kChunkBytes; }

  // Makes [address, address + size + abi::kOverreadBytes) accessible. `huge` asks for huge pages where whole chunks are
  // covered. kOutOfDeviceMemory: the system refuses; nothing has changed.
  Status acquire(uint64_t address, uint64_t size_B, bool huge) noexcept;

  // No lock. Zeroes what earlier owners left in the acquired range.
  void clear(uint64_t address, uint64_t size_B) noexcept;
  // No lock. Gives the range's pages back to the system; whole pages only, owned by the caller alone.
  void discard(uint64_t address, uint64_t size_B) noexcept;

  // Giving back, in two steps. No lock for the first, which finds out what the owner has touched and may take long...
  void prepareRelease(uint64_t address, uint64_t size_B) noexcept;
  // ... and the second, with the lock. Chunks that are free now go to the cache.
  void release(uint64_t address, uint64_t size_B) noexcept;

  // Returns all cached pages to the system.
  void dropCache() noexcept { evictUntil(0); }
  uint64_t cached_B() const { return cached_B_; }
  // Mappings of the process that the reservation is split into, about.
  uint32_t mappings() const { return transitions_ + 1; }

  // No lock. Bytes of the range that have physical pages now; page granular.
  static uint64_t resident_B(uint64_t address, uint64_t size_B) noexcept;

 private:
  static constexpr uint64_t kChunkBytes = abi::kHugePageBytes;
  static constexpr uint32_t kPagesPerChunk = kChunkBytes / abi::kPageBytes;
  static constexpr uint32_t kNone = UINT32_MAX;

  // All zero at first: one lazily populated array for the whole reservation, mapped by itself. (calloc takes it from
  // what an earlier device gave back, and then has to clear all of it.)
  struct Chunk {
    uint32_t live;          // allocations with bytes in it
    uint32_t overread;      // allocations that end so near that an over-read may touch it
    uint32_t newer, older;  // neighbours in the cache's list
    bool committed;
    bool huge;
    bool cached;
    uint64_t dirty[kPagesPerChunk / 64];  // via std::atomic_ref: owners of one chunk may clear and release at once
  };
  struct Unmap {
    uint64_t size_B;
    void operator()(void* memory) const;
  };

  AddressSpace() = default;

  uint32_t chunkOf(uint64_t address) const { return static_cast<uint32_t>((address - base_) / kChunkBytes); }
  uint64_t addressOf(uint32_t chunk) const { return base_ + uint64_t{chunk} * kChunkBytes; }
  static uint32_t dirtyPages(const Chunk& chunk);
  static void setAllDirty(Chunk& chunk, bool dirty);
  void markDirty(uint64_t address, uint64_t size_B);
  void dropPages(uint32_t first, uint32_t end);

  bool protect(uint32_t first, uint32_t end, bool accessible);
  void setState(uint32_t first, uint32_t end, bool committed, bool huge);
  uint32_t transitionsIn(uint32_t first, uint32_t end) const;
  bool commit(uint32_t first, uint32_t end);
  void decommitIdle(uint32_t first, uint32_t end);
  void adviseHuge(uint32_t first, uint32_t end);

  void pushCached(uint32_t chunk);
  void removeCached(uint32_t chunk);
  void evictUntil(uint64_t limit_B);

  uint64_t base_ = 0;
  uint32_t chunkCount_ = 0;
  uint64_t cacheLimit_B_ = 0;
  uint32_t maxTransitions_ = 0;
  uint32_t transitions_ = 0;  // neighbouring chunks whose mappings differ
  uint64_t cached_B_ = 0;
  uint32_t newest_ = kNone, oldest_ = kNone;
  std::unique_ptr<Chunk[], Unmap> chunks_;
};

}  // namespace pumice::kmd
