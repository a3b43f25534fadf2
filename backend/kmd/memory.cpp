#include "backend/kmd/memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <new>

#include "backend/kmd/shared_door.h"
#include "backend/trace/log.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::kmd {

namespace {

using Place = VaAllocator::Place;
using sched::MutexLock;

constexpr uint64_t kMiB = 1ull << 20;
// TSan walks the shadow of what is mapped and unmapped: 280 ms for the usual reservation.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kDefaultReservation_B = 16ull << 30;
#else
constexpr uint64_t kDefaultReservation_B = abi::kReservationBytes;
#endif

constexpr uint64_t kCgroupLookAge_ns = 50'000'000;
// At or above this size the cgroups are looked at each time.
constexpr uint64_t kCgroupLookSize_B = 64 * kMiB;

constexpr uint64_t roundUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

uint64_t now_ns() {
  using namespace std::chrono;
  return static_cast<uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// Cached pages are memory that others cannot have: a sixteenth of the heap, within reason.
uint64_t cacheLimitFor(uint64_t heap_B) {
  return std::clamp(heap_B / 16, 32 * kMiB, 1024 * kMiB);
}

// The VA allocator counts granules in 32 bits.
uint64_t granuleFor(uint64_t usable_B) {
  uint64_t granule = abi::kResourceAlignBytes;
  while (usable_B / granule > UINT32_MAX) granule *= 2;
  return granule;
}

unsigned long long printable(uint64_t value) {
  return value;
}

constinit std::atomic<uint64_t> gProcessUsage_B{0};

// Takes bytes of the heap for one allocation of whichever device; gives them back unless they were kept.
class HeapCharge {
 public:
  HeapCharge(uint64_t size_B, uint64_t heap_B) : size_B_(size_B) {
    uint64_t used_B = gProcessUsage_B.load(std::memory_order_relaxed);
    do {
      granted_ = (size_B <= heap_B && used_B <= heap_B - size_B) || PUMICE_SEEDED_FAULT("heap-limit");
    } while (granted_ && !gProcessUsage_B.compare_exchange_weak(used_B, used_B + size_B, std::memory_order_relaxed));
  }
  ~HeapCharge() {
    if (granted_) release(size_B_);
  }
  HeapCharge(const HeapCharge&) = delete;
  HeapCharge& operator=(const HeapCharge&) = delete;

  bool granted() const { return granted_; }
  void keep() { granted_ = false; }
  static void release(uint64_t size_B) { gProcessUsage_B.fetch_sub(size_B, std::memory_order_relaxed); }

 private:
  const uint64_t size_B_;
  bool granted_ = false;
};

}  // namespace

uint64_t processHeapUsage_B() {
  return gProcessUsage_B.load(std::memory_order_relaxed);
}

uint64_t systemHeapBytes(uint64_t heapLimit_B) {
  return heapLimit_B != 0 ? heapLimit_B : MemoryLimits().total_B();
}

uint64_t allocationAddress(const Allocation* allocation) {
  return allocation->address();
}
uint64_t allocationSize(const Allocation* allocation) {
  return allocation->size_B();
}
int allocationFile(const Allocation* allocation) {
  return allocation->file();
}
uint64_t allocationCommitted(const Allocation* allocation) {
  return std::min(allocation->size_B(), AddressSpace::resident_B(allocation->address(), allocation->size_B()));
}

Status MemoryManager::open(const DeviceConfig& config, std::unique_ptr<MemoryManager>* out) noexcept {
  try {
    return open(config, MemoryLimits(), out);
  } catch (const std::bad_alloc&) {
    return Status::kOutOfHostMemory;
  }
}

Status MemoryManager::open(const DeviceConfig& config, MemoryLimits limits,
                           std::unique_ptr<MemoryManager>* out) noexcept {
  const uint64_t heap_B = config.heapLimit_B != 0 ? config.heapLimit_B : limits.total_B();
  AddressSpace::Config spaceConfig;
  spaceConfig.reservation_B = config.reservation_B != 0 ? config.reservation_B : kDefaultReservation_B;
  spaceConfig.cacheLimit_B = cacheLimitFor(heap_B);
  std::unique_ptr<AddressSpace> space;
  if (Status status = AddressSpace::reserve(spaceConfig, &space); status != Status::kOk) return status;
  try {
    out->reset(new MemoryManager(std::move(space), std::move(limits), heap_B));
    return Status::kOk;
  } catch (const std::bad_alloc&) {
    return Status::kOutOfHostMemory;
  }
}

MemoryManager::MemoryManager(std::unique_ptr<AddressSpace> space, MemoryLimits limits, uint64_t heap_B)
    : limits_(std::move(limits)),
      heap_B_(heap_B),
      base_(space->base()),
      space_(std::move(space)),
      va_(base_, space_->usable_B(), granuleFor(space_->usable_B())) {}

MemoryManager::~MemoryManager() {
  MutexLock lock(mutex_);
  uint32_t alive = 0;
  for (VaBlock* block = va_.nextUsed(nullptr); block; block = va_.nextUsed(block), ++alive)
    delete static_cast<Allocation*>(block->owner);
  while (Allocation* allocation = outside_) {
    outside_ = allocation->next_;
    releaseOutside(allocation);
    ++alive;
  }
  HeapCharge::release(usage_B_);
  if (alive != 0) PUMICE_DEBUG("kmd", "device: %u allocations were alive at its end", alive);
}

bool MemoryManager::withinCgroupLocked(uint64_t size_B) noexcept {
  const uint64_t now = now_ns();
  if (size_B >= kCgroupLookSize_B || size_B > cgroupCredit_B_ || now - cgroupLookTime_ns_ > kCgroupLookAge_ns) {
    cgroupCredit_B_ = limits_.cgroupAvailable_B();
    cgroupLookTime_ns_ = now;
  }
  if (size_B > cgroupCredit_B_ && space_->cached_B() != 0) {
    space_->dropCache();
    cgroupCredit_B_ = limits_.cgroupAvailable_B();
  }
  if (size_B > cgroupCredit_B_) return false;
  cgroupCredit_B_ -= size_B;
  return true;
}

Status MemoryManager::chargeLocked(uint64_t size_B) noexcept {
  HeapCharge charge(size_B, heap_B_);
  if (!charge.granted()) {
    PUMICE_WARNING("kmd", "device memory: %llu bytes would exceed the heap (%llu of %llu bytes used)",
                   printable(size_B), printable(processHeapUsage_B()), printable(heap_B_));
    return Status::kOutOfDeviceMemory;
  }
  if (size_B != 0 && !withinCgroupLocked(size_B)) {
    PUMICE_WARNING("kmd", "device memory: %llu bytes would exceed the memory cgroup (%llu bytes left)",
                   printable(size_B), printable(cgroupCredit_B_));
    return Status::kOutOfDeviceMemory;
  }
  charge.keep();
  usage_B_ += size_B;
  return Status::kOk;
}

void MemoryManager::unchargeLocked(uint64_t size_B) noexcept {
  usage_B_ -= size_B;
  HeapCharge::release(size_B);
}

// Large allocations and lazy ones own their pages alone: lazy pages are dropped and counted one by one.
Status MemoryManager::placeLocked(const AllocationInfo& info, VaBlock** out) noexcept {
  const bool large = info.size_B >= abi::kSlabLimitBytes;
  const bool wholePages = large || info.lazy;
  const uint64_t align_B = std::max(info.align_B, wholePages ? abi::kPageBytes : abi::kResourceAlignBytes);
  if (info.size_B > space_->usable_B()) return Status::kOutOfDeviceMemory;
  const uint64_t size_B = wholePages ? roundUp(info.size_B, abi::kPageBytes) : info.size_B;
  if (info.fixedAddress != 0) {
    if (info.fixedAddress % align_B != 0) return Status::kInvalidAddress;
    return va_.allocateAt(info.fixedAddress, size_B, out);
  }
  const Place place = large ? Place::kHighest : Place::kLowest;
  Status status = va_.allocate(size_B, large ? std::max(align_B, abi::kHugePageBytes) : align_B, place, out);
  // Better without huge pages than not at all.
  if (status == Status::kOutOfDeviceMemory && large) status = va_.allocate(size_B, align_B, place, out);
  return status;
}

Status MemoryManager::allocate(const AllocationInfo& info, Allocation** out) noexcept {
  std::unique_ptr<Allocation> allocation(new (std::nothrow) Allocation);
  if (!allocation) return Status::kOutOfHostMemory;
  {
    MutexLock lock(mutex_);
    const uint64_t counted_B = info.lazy ? 0 : info.size_B;
    if (Status status = chargeLocked(counted_B); status != Status::kOk) return status;
    VaBlock* block = nullptr;
    if (Status status = placeLocked(info, &block); status != Status::kOk) {
      unchargeLocked(counted_B);
      const VaReport report = va_.report();
      PUMICE_WARNING("kmd", "device memory: no place for %llu bytes at %#llx (free %llu, largest piece %llu)",
                     printable(info.size_B), printable(info.fixedAddress), printable(report.free_B),
                     printable(report.largestFree_B));
      return status;
    }
    allocation->address_ = va_.address(block);
    allocation->size_B_ = info.size_B;
    allocation->range_B_ = va_.size_B(block);
    allocation->block_ = block;
    allocation->lazy_ = info.lazy;
    // Lazy memory wants its pages one by one, not by the two megabytes.
    const bool huge = !info.lazy && info.size_B >= abi::kSlabLimitBytes;
    if (Status status = space_->acquire(allocation->address_, allocation->range_B_, huge); status != Status::kOk) {
      va_.free(block);
      unchargeLocked(counted_B);
      PUMICE_WARNING("kmd", "device memory: the system does not grant %llu bytes", printable(info.size_B));
      return status;
    }
    block->owner = allocation.get();
    allocation->counted_B_ = counted_B;
    lazyCount_ += info.lazy ? 1 : 0;
  }
  // The range is ours now, so the lock is not needed.
  if (info.lazy)
    space_->discard(allocation->address_, roundUp(info.size_B, abi::kPageBytes));
  else if (info.zero)
    space_->clear(allocation->address_, info.size_B);
  *out = allocation.release();
  return Status::kOk;
}

void MemoryManager::free(Allocation* allocation) noexcept {
  if (!allocation) return;
  if (allocation->block_ == nullptr) return freeOutside(allocation);
  std::unique_ptr<Allocation> owned(allocation);
  const uint64_t address = allocation->address_;
  VaBlock* block = allocation->block_;
  const uint64_t range_B = allocation->range_B_;
  if (allocation->lazy_)
    space_->discard(address, range_B);
  else
    space_->prepareRelease(address, range_B);
  MutexLock lock(mutex_);
  space_->release(address, range_B);
  va_.free(block);
  unchargeLocked(allocation->counted_B_);
  lazyCount_ -= allocation->lazy_ ? 1 : 0;
}

HeapBudget MemoryManager::budget() const noexcept {
  // Looks at files: not under the lock.
  const uint64_t available_B = limits_.available_B();
  HeapBudget result{};
  result.size_B = heap_B_;
  MutexLock lock(mutex_);
  if (lazyCount_ != 0) {
    for (VaBlock* block = va_.nextUsed(nullptr); block; block = va_.nextUsed(block)) {
      const auto* allocation = static_cast<const Allocation*>(block->owner);
      if (allocation->lazy_) result.lazy_B += AddressSpace::resident_B(allocation->address_, allocation->size_B_);
    }
  }
  result.usage_B = processHeapUsage_B() + result.lazy_B;
  const uint64_t more_B = std::min(available_B, heap_B_) + space_->cached_B();
  result.budget_B = std::min(heap_B_, result.usage_B + more_B);
  return result;
}

bool MemoryManager::contains(uint64_t address, uint64_t size_B) const noexcept {
  MutexLock lock(mutex_);
  const VaBlock* block = va_.find(address);
  return block ? static_cast<const Allocation*>(block->owner)->contains(address, size_B)
               : outsideContainsLocked(address, size_B);
}

VaReport MemoryManager::report() const noexcept {
  MutexLock lock(mutex_);
  return va_.report();
}

void MemoryManager::visit(void (*visitor)(void* context, const Allocation& allocation), void* context) const {
  MutexLock lock(mutex_);
  for (VaBlock* block = va_.nextUsed(nullptr); block; block = va_.nextUsed(block))
    visitor(context, *static_cast<const Allocation*>(block->owner));
  for (const Allocation* allocation = outside_; allocation; allocation = allocation->next_)
    visitor(context, *allocation);
}

uint64_t MemoryManager::cached_B() const noexcept {
  MutexLock lock(mutex_);
  return space_->cached_B();
}

uint32_t MemoryManager::mappings() const noexcept {
  MutexLock lock(mutex_);
  return space_->mappings();
}

}  // namespace pumice::kmd
