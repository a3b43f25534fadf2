// Device memory: implements the memory functions of kmd::Device (door.h, where they are specified). The device owns
// one.
//
// Small allocations are packed from the bottom of the reservation upwards and share pages and huge pages; large ones
// come from the top downwards, aligned to huge pages. Addresses depend on the order of calls alone, so that a replayed
// program finds its captured addresses free.
//
// Shared allocations and imported ones lie outside the reservation, where the system or the application put them.
//
// Threads: all functions from any thread, none from a GPU worker. The lock is held for bookkeeping only; zeroing and
// the return of pages happen outside it.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/kmd/address_space.h"
#include "backend/kmd/door.h"
#include "backend/kmd/memory_limits.h"
#include "backend/kmd/va_allocator.h"
#include "backend/sched/thread_annotations.h"

namespace pumice::kmd {

class Allocation {
 public:
  uint64_t address() const { return address_; }
  uint64_t size_B() const { return size_B_; }
  int file() const { return file_; }
  bool contains(uint64_t address, uint64_t size_B) const {
    const uint64_t offset = address - address_;
    return offset <= size_B_ && size_B <= size_B_ - offset;
  }

 private:
  friend class MemoryManager;
  uint64_t address_ = 0;
  uint64_t size_B_ = 0;       // as asked
  uint64_t range_B_ = 0;      // as kept in the books: rounded up
  VaBlock* block_ = nullptr;  // nullptr: outside the reservation
  uint64_t counted_B_ = 0;    // of the heap
  bool lazy_ = false;
  // Outside the reservation: the file whose mapping it is (-1: the application's memory), neighbours in the list.
  int file_ = -1;
  Allocation* previous_ = nullptr;
  Allocation* next_ = nullptr;
};

class MemoryManager {
 public:
  // Uses heapLimit_B and reservation_B.
  static Status open(const DeviceConfig& config, std::unique_ptr<MemoryManager>* out) noexcept;
  // With the limits of another place than this process's: for tests.
  static Status open(const DeviceConfig& config, MemoryLimits limits, std::unique_ptr<MemoryManager>* out) noexcept;
  // Releases everything, live allocations included.
  ~MemoryManager();
  MemoryManager(const MemoryManager&) = delete;
  MemoryManager& operator=(const MemoryManager&) = delete;

  Status allocate(const AllocationInfo& info, Allocation** out) noexcept PUMICE_EXCLUDES(mutex_);
  void free(Allocation* allocation) noexcept PUMICE_EXCLUDES(mutex_);
  // What shared_door.h has.
  Status allocateShared(const AllocationInfo& info, Allocation** out) noexcept PUMICE_EXCLUDES(mutex_);
  Status importFile(int file, uint64_t size_B, Allocation** out) noexcept PUMICE_EXCLUDES(mutex_);
  Status importHost(void* memory, uint64_t size_B, Allocation** out) noexcept PUMICE_EXCLUDES(mutex_);
  HeapBudget budget() const noexcept PUMICE_EXCLUDES(mutex_);
  bool contains(uint64_t address, uint64_t size_B) const noexcept PUMICE_EXCLUDES(mutex_);

  // Addresses: use and fragmentation. For logs and dumps.
  VaReport report() const noexcept PUMICE_EXCLUDES(mutex_);
  // Calls visitor(context, allocation) for each allocation, those in the reservation in address order and then the
  // others, under the lock: for crash dumps.
  void visit(void (*visitor)(void* context, const Allocation& allocation), void* context) const PUMICE_EXCLUDES(mutex_);

  uint64_t reservationBase() const { return base_; }
  uint64_t cached_B() const noexcept PUMICE_EXCLUDES(mutex_);
  uint32_t mappings() const noexcept PUMICE_EXCLUDES(mutex_);

 private:
  MemoryManager(std::unique_ptr<AddressSpace> space, MemoryLimits limits, uint64_t heap_B);

  Status chargeLocked(uint64_t size_B) noexcept PUMICE_REQUIRES(mutex_);
  void unchargeLocked(uint64_t size_B) noexcept PUMICE_REQUIRES(mutex_);
  void keepOutsideLocked(Allocation* allocation) noexcept PUMICE_REQUIRES(mutex_);
  void freeOutside(Allocation* allocation) noexcept PUMICE_EXCLUDES(mutex_);
  // The application's memory may be imported more than once, in pieces that overlap.
  bool outsideContainsLocked(uint64_t address, uint64_t size_B) const noexcept PUMICE_REQUIRES(mutex_);
  static void releaseOutside(Allocation* allocation) noexcept;
  Status placeLocked(const AllocationInfo& info, VaBlock** out) noexcept PUMICE_REQUIRES(mutex_);
  bool withinCgroupLocked(uint64_t size_B) noexcept PUMICE_REQUIRES(mutex_);

  const MemoryLimits limits_;
  const uint64_t heap_B_;
  const uint64_t base_;

  mutable sched::Mutex mutex_;
  // The pointer is constant; the functions that want no lock are called without it.
  const std::unique_ptr<AddressSpace> space_;
  VaAllocator va_ PUMICE_GUARDED_BY(mutex_);
  uint64_t usage_B_ PUMICE_GUARDED_BY(mutex_) = 0;  // of this device, in what the process uses of the heap
  uint32_t lazyCount_ PUMICE_GUARDED_BY(mutex_) = 0;
  Allocation* outside_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // list of what lies outside the reservation
  // What the cgroups allowed at the last look, less what was allocated since: a look costs some 50 us.
  uint64_t cgroupCredit_B_ PUMICE_GUARDED_BY(mutex_) = 0;
  uint64_t cgroupLookTime_ns_ PUMICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace pumice::kmd
