#include "backend/kmd/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "backend/abi/memory_map.h"

namespace pumice::kmd {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

uint64_t wholePages(uint64_t size_B) {
  return (size_B + abi::kPageBytes - 1) / abi::kPageBytes * abi::kPageBytes;
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

Status createSharedFile(uint64_t size_B, int* file) noexcept {
  const int made = memfd_create("pumice-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0)
    return errno == ENOMEM ? Status::kOutOfDeviceMemory : Status::kOutOfHostMemory;  // or no descriptor left
  if (ftruncate(made, static_cast<off_t>(wholePages(size_B))) != 0 || fcntl(made, F_ADD_SEALS, kSeals) != 0) {
    close(made);
    return Status::kOutOfDeviceMemory;
  }
  *file = made;
  return Status::kOk;
}

bool isSharedFile(int file, uint64_t size_B) noexcept {
  const int seals = fcntl(file, F_GET_SEALS);  // fails for everything but memfds
  const int flags = fcntl(file, F_GETFL);
  struct stat facts {};
  return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && seals >= 0 && (seals & kSeals) == kSeals &&
         (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0 && fstat(file, &facts) == 0 &&
         static_cast<uint64_t>(facts.st_size) >= size_B;
}

Status mapSharedFile(int file, uint64_t size_B, uint64_t address, uint64_t* out) noexcept {
  // The page behind is a mapping of its own: reading beyond the end of a file's mapping is a signal.
  const uint64_t file_B = wholePages(size_B);
  const int place = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* range = mmap(pointer(address), file_B + abi::kPageBytes, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | place, -1, 0);
  if (range == MAP_FAILED) return errno == EEXIST ? Status::kInvalidAddress : Status::kOutOfDeviceMemory;
  const auto at = reinterpret_cast<uint64_t>(range);
  // Kernels that do not know the flag take the address for a hint.
  const Status refused =
      address != 0 && at != address
          ? Status::kInvalidAddress
          : (mmap(range, file_B, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED
                 ? Status::kOutOfDeviceMemory
                 : Status::kOk);
  if (refused != Status::kOk) {
    munmap(range, file_B + abi::kPageBytes);
    return refused;
  }
  *out = at;
  return Status::kOk;
}

void unmapSharedFile(uint64_t address, uint64_t size_B) noexcept {
  munmap(pointer(address), wholePages(size_B) + abi::kPageBytes);
}

}  // namespace pumice::kmd
