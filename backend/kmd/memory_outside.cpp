// Allocations outside the reservation: shared files, and what the application or somebody else has allocated. There are
// few of them, so they are a list.
#include <unistd.h>

#include <new>

#include "backend/kmd/memory.h"
#include "backend/kmd/shared_memory.h"
#include "backend/trace/log.h"

namespace pumice::kmd {

using sched::MutexLock;

Status MemoryManager::allocateShared(const AllocationInfo& info, Allocation** out) noexcept {
  std::unique_ptr<Allocation> allocation(new (std::nothrow) Allocation);
  if (!allocation) return Status::kOutOfHostMemory;
  if (info.size_B > heap_B_) return Status::kOutOfDeviceMemory;  // before sizes are rounded up
  if (info.fixedAddress % abi::kPageBytes != 0) return Status::kInvalidAddress;
  allocation->size_B_ = allocation->range_B_ = info.size_B;
  Status status = createSharedFile(info.size_B, &allocation->file_);
  if (status != Status::kOk) return status;
  status = mapSharedFile(allocation->file_, info.size_B, info.fixedAddress, &allocation->address_);
  if (status == Status::kOk) {
    MutexLock lock(mutex_);
    status = chargeLocked(info.size_B);
    if (status == Status::kOk) {
      allocation->counted_B_ = info.size_B;
      keepOutsideLocked(*out = allocation.release());
      return status;
    }
  }
  PUMICE_WARNING("kmd", "device memory: %llu bytes to be shared cannot be had",
                 static_cast<unsigned long long>(info.size_B));
  if (allocation->address_ != 0)
    releaseOutside(allocation.release());
  else
    close(allocation->file_);
  return status;
}

Status MemoryManager::importFile(int file, uint64_t size_B, Allocation** out) noexcept {
  if (!isSharedFile(file, size_B)) {
    PUMICE_WARNING("kmd", "device memory: file %d is none to import %llu bytes from", file,
                   static_cast<unsigned long long>(size_B));
    return Status::kInvalidAddress;
  }
  std::unique_ptr<Allocation> allocation(new (std::nothrow) Allocation);
  if (!allocation) return Status::kOutOfHostMemory;
  if (Status status = mapSharedFile(file, size_B, 0, &allocation->address_); status != Status::kOk) return status;
  allocation->size_B_ = allocation->range_B_ = size_B;
  allocation->file_ = file;
  MutexLock lock(mutex_);
  keepOutsideLocked(*out = allocation.release());
  return Status::kOk;
}

Status MemoryManager::importHost(void* memory, uint64_t size_B, Allocation** out) noexcept {
  const auto address = reinterpret_cast<uint64_t>(memory);
  if (address == 0 || address % abi::kResourceAlignBytes != 0) return Status::kInvalidAddress;
  auto* allocation = new (std::nothrow) Allocation;
  if (!allocation) return Status::kOutOfHostMemory;
  allocation->address_ = address;
  allocation->size_B_ = allocation->range_B_ = size_B;
  MutexLock lock(mutex_);
  keepOutsideLocked(*out = allocation);
  return Status::kOk;
}

void MemoryManager::freeOutside(Allocation* allocation) noexcept {
  {
    MutexLock lock(mutex_);
    (allocation->previous_ ? allocation->previous_->next_ : outside_) = allocation->next_;
    if (allocation->next_) allocation->next_->previous_ = allocation->previous_;
    unchargeLocked(allocation->counted_B_);
  }
  releaseOutside(allocation);
}

void MemoryManager::keepOutsideLocked(Allocation* allocation) noexcept {
  allocation->next_ = outside_;
  if (outside_) outside_->previous_ = allocation;
  outside_ = allocation;
}

bool MemoryManager::outsideContainsLocked(uint64_t address, uint64_t size_B) const noexcept {
  for (const Allocation* allocation = outside_; allocation; allocation = allocation->next_)
    if (allocation->contains(address, size_B)) return true;
  return false;
}

void MemoryManager::releaseOutside(Allocation* allocation) noexcept {
  if (allocation->file_ >= 0) {
    unmapSharedFile(allocation->address_, allocation->size_B_);
    close(allocation->file_);
  }
  delete allocation;
}

}  // namespace pumice::kmd
