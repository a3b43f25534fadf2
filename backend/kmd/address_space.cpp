#include "backend/kmd/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "backend/trace/log.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::kmd {

namespace {

constexpr uint64_t roundUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}
constexpr uint64_t roundDown(uint64_t value, uint64_t align) {
  return value / align * align;
}

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// At the documented base, else anywhere, aligned to chunks. 0 = refused.
uint64_t reserveRange(uint64_t size_B, uint64_t align_B) {
  void* wanted = pointer(abi::kReservationBase);
  void* got = mmap(wanted, size_B, PROT_NONE, kReserveFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return abi::kReservationBase;
  // A kernel before 4.17 does not know the flag and maps somewhere.
  if (got != MAP_FAILED) munmap(got, size_B);

  got = mmap(nullptr, size_B + align_B, PROT_NONE, kReserveFlags, -1, 0);
  if (got == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<uint64_t>(got);
  const uint64_t aligned = roundUp(begin, align_B);
  if (aligned != begin) munmap(got, aligned - begin);
  const uint64_t tail = align_B - (aligned - begin);
  if (tail != 0) munmap(pointer(aligned + size_B), tail);
  return aligned;
}

std::atomic_ref<uint64_t> atomicWord(uint64_t& word) {
  return std::atomic_ref<uint64_t>(word);
}

}  // namespace

Status AddressSpace::reserve(const Config& config, std::unique_ptr<AddressSpace>* out) noexcept {
  uint64_t size = roundUp(std::max(config.reservation_B, 2 * kChunkBytes), kChunkBytes);
  const uint64_t least = std::min(size, abi::kMinReservationBytes);
  std::unique_ptr<AddressSpace> space(new (std::nothrow) AddressSpace);
  if (!space) return Status::kOutOfHostMemory;
  while ((space->base_ = reserveRange(size, kChunkBytes)) == 0) {
    if (size / 2 < least) {
      PUMICE_ERROR("kmd", "device: cannot reserve %llu MiB of addresses: %s",
                   static_cast<unsigned long long>(size >> 20), std::strerror(errno));
      return Status::kOutOfDeviceMemory;
    }
    size = roundUp(size / 2, kChunkBytes);
  }
  space->chunkCount_ = static_cast<uint32_t>(size / kChunkBytes);
  space->cacheLimit_B_ = config.cacheLimit_B;
  space->maxTransitions_ = std::max(config.maxMappings, 2u) - 1;
  const uint64_t books_B = space->chunkCount_ * sizeof(Chunk);
  void* const books = mmap(nullptr, books_B, PROT_READ | PROT_WRITE, kReserveFlags, -1, 0);
  if (books == MAP_FAILED) return Status::kOutOfHostMemory;
  space->chunks_ = {static_cast<Chunk*>(books), Unmap{books_B}};
  PUMICE_DEBUG("kmd", "device: reserved %llu MiB at %#llx%s", static_cast<unsigned long long>(size >> 20),
               static_cast<unsigned long long>(space->base_),
               space->base_ == abi::kReservationBase ? "" : " (not the documented base: no capture/replay)");
  *out = std::move(space);
  return Status::kOk;
}

void AddressSpace::Unmap::operator()(void* memory) const {
  munmap(memory, size_B);
}

AddressSpace::~AddressSpace() {
  if (base_ != 0) munmap(pointer(base_), uint64_t{chunkCount_} * kChunkBytes);
}

// ---- Dirty pages --------------------------------------------------------------------------------------------------

uint32_t AddressSpace::dirtyPages(const Chunk& chunk) {
  uint32_t pages = 0;
  for (uint64_t word : chunk.dirty) pages += static_cast<uint32_t>(std::popcount(word));
  return pages;
}

void AddressSpace::setAllDirty(Chunk& chunk, bool dirty) {
  for (uint64_t& word : chunk.dirty) atomicWord(word).store(dirty ? ~uint64_t{0} : 0, std::memory_order_relaxed);
}

void AddressSpace::markDirty(uint64_t address, uint64_t size_B) {
  const uint64_t firstPage = (address - base_) / abi::kPageBytes;
  const uint64_t lastPage = (address + size_B - 1 - base_) / abi::kPageBytes;
  for (uint64_t page = firstPage; page <= lastPage;) {
    Chunk& chunk = chunks_[page / kPagesPerChunk];
    const uint64_t bit = page % 64;
    const uint64_t count = std::min(64 - bit, lastPage - page + 1);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit;
    atomicWord(chunk.dirty[page % kPagesPerChunk / 64]).fetch_or(mask, std::memory_order_relaxed);
    page += count;
  }
}

void AddressSpace::clear(uint64_t address, uint64_t size_B) noexcept {
  if (PUMICE_SEEDED_FAULT("memory-stale")) return;
  constexpr uint64_t kWordBytes = 64 * abi::kPageBytes;
  const uint64_t end = address + size_B;
  uint64_t run = 0;  // start of the dirty run before `at`; 0 = none
  for (uint64_t at = address; at < end;) {
    const uint64_t page = (at - base_) / abi::kPageBytes;
    const uint64_t word =
        atomicWord(chunks_[page / kPagesPerChunk].dirty[page % kPagesPerChunk / 64]).load(std::memory_order_relaxed);
    // 64 pages that are all alike are one step.
    const bool uniform = word == 0 || word == ~uint64_t{0};
    const uint64_t step_B = uniform ? kWordBytes : abi::kPageBytes;
    if ((word >> (page % 64) & 1) != 0) {
      if (run == 0) run = at;
    } else if (run != 0) {
      std::memset(pointer(run), 0, at - run);
      run = 0;
    }
    at = base_ + roundDown(at - base_, step_B) + step_B;
  }
  if (run != 0) std::memset(pointer(run), 0, end - run);
}

void AddressSpace::discard(uint64_t address, uint64_t size_B) noexcept {
  madvise(pointer(address), size_B, MADV_DONTNEED);
  const uint64_t firstPage = (address - base_) / abi::kPageBytes;
  for (uint64_t page = firstPage; page < firstPage + size_B / abi::kPageBytes; ++page) {
    uint64_t& word = chunks_[page / kPagesPerChunk].dirty[page % kPagesPerChunk / 64];
    atomicWord(word).fetch_and(~(uint64_t{1} << (page % 64)), std::memory_order_relaxed);
  }
}

void AddressSpace::dropPages(uint32_t first, uint32_t end) {
  if (first == end) return;
  madvise(pointer(addressOf(first)), uint64_t{end - first} * kChunkBytes, MADV_DONTNEED);
  for (uint32_t i = first; i < end; ++i) setAllDirty(chunks_[i], false);
}

uint64_t AddressSpace::resident_B(uint64_t address, uint64_t size_B) noexcept {
  if (size_B == 0) return 0;
  uint64_t pages = 0;
  unsigned char residency[4096];
  const uint64_t end = roundUp(address + size_B, abi::kPageBytes);
  for (uint64_t at = roundDown(address, abi::kPageBytes); at < end;) {
    const uint64_t bytes = std::min<uint64_t>(end - at, sizeof residency * abi::kPageBytes);
    if (mincore(pointer(at), bytes, residency) != 0) return 0;
    for (uint64_t i = 0; i < bytes / abi::kPageBytes; ++i) pages += residency[i] & 1;
    at += bytes;
  }
  return pages * abi::kPageBytes;
}

// ---- Committing ---------------------------------------------------------------------------------------------------

bool AddressSpace::protect(uint32_t first, uint32_t end, bool accessible) {
  return mprotect(pointer(addressOf(first)), uint64_t{end - first} * kChunkBytes,
                  accessible ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

// Neighbours among [first - 1, end] that differ.
uint32_t AddressSpace::transitionsIn(uint32_t first, uint32_t end) const {
  uint32_t count = 0;
  for (uint32_t i = std::max(first, 1u); i <= std::min(end, chunkCount_ - 1); ++i)
    count += chunks_[i].committed != chunks_[i - 1].committed || chunks_[i].huge != chunks_[i - 1].huge;
  return count;
}

void AddressSpace::setState(uint32_t first, uint32_t end, bool committed, bool huge) {
  const uint32_t before = transitionsIn(first, end);
  for (uint32_t i = first; i < end; ++i) {
    chunks_[i].committed = committed;
    chunks_[i].huge = huge;
  }
  transitions_ = transitions_ - before + transitionsIn(first, end);
}

// Makes [first, end) accessible, run by run. False: the system refuses; what it granted before stays, unused.
bool AddressSpace::commit(uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end;) {
    if (chunks_[i].committed) {
      ++i;
      continue;
    }
    uint32_t runEnd = i + 1;
    while (runEnd < end && !chunks_[runEnd].committed) ++runEnd;
    uint32_t runBegin = i;
    // Too many pieces: bridge the gap to the next committed chunk below instead of making one piece more. That costs no
    // memory, only the chance to catch a stray access to the gap.
    if (transitions_ + 2 > maxTransitions_)
      while (runBegin > 0 && !chunks_[runBegin - 1].committed) --runBegin;
    if (!protect(runBegin, runEnd, true)) return false;
    for (uint32_t k = runBegin; k < runEnd; ++k) setState(k, k + 1, true, chunks_[k].huge);
    i = runEnd;
  }
  return true;
}

// Takes accessibility from those of [first, end) that nobody needs and that hold nothing.
void AddressSpace::decommitIdle(uint32_t first, uint32_t end) {
  const auto idle = [&](uint32_t i) {
    const Chunk& c = chunks_[i];
    return c.committed && c.live == 0 && c.overread == 0 && !c.cached;
  };
  for (uint32_t i = first; i < end;) {
    if (!idle(i)) {
      ++i;
      continue;
    }
    uint32_t runEnd = i + 1;
    while (runEnd < end && idle(runEnd)) ++runEnd;
    if (transitions_ + 2 > maxTransitions_) return;
    // A refusal (no mapping left to split) leaves the chunks accessible: nothing depends on it.
    if (protect(i, runEnd, false))
      for (uint32_t k = i; k < runEnd; ++k) setState(k, k + 1, false, chunks_[k].huge);
    i = runEnd;
  }
}

void AddressSpace::adviseHuge(uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end;) {
    if (chunks_[i].huge) {
      ++i;
      continue;
    }
    uint32_t runEnd = i + 1;
    while (runEnd < end && !chunks_[runEnd].huge) ++runEnd;
    if (transitions_ + 2 > maxTransitions_) return;
    if (madvise(pointer(addressOf(i)), uint64_t{runEnd - i} * kChunkBytes, MADV_HUGEPAGE) != 0) return;
    for (uint32_t k = i; k < runEnd; ++k) setState(k, k + 1, chunks_[k].committed, true);
    i = runEnd;
  }
}

Status AddressSpace::acquire(uint64_t address, uint64_t size_B, bool huge) noexcept {
  const uint32_t first = chunkOf(address);
  const uint32_t end = chunkOf(address + size_B - 1) + 1;
  const uint32_t overreadEnd = chunkOf(address + size_B + abi::kOverreadBytes - 1) + 1;
  if (!commit(first, overreadEnd)) {
    decommitIdle(first, overreadEnd);
    return Status::kOutOfDeviceMemory;
  }
  if (huge) {
    const uint32_t wholeFirst = chunkOf(roundUp(address, kChunkBytes));
    const uint32_t wholeEnd = chunkOf(roundDown(address + size_B, kChunkBytes));
    if (wholeFirst < wholeEnd) adviseHuge(wholeFirst, wholeEnd);
  }
  for (uint32_t i = first; i < end; ++i) {
    ++chunks_[i].live;
    if (chunks_[i].cached) removeCached(i);
  }
  for (uint32_t i = end; i < overreadEnd; ++i) ++chunks_[i].overread;
  return Status::kOk;
}

void AddressSpace::prepareRelease(uint64_t address, uint64_t size_B) noexcept {
  const uint64_t end = address + size_B;
  const uint64_t wholeBegin = std::min(roundUp(address, kChunkBytes), end);
  const uint64_t wholeEnd = std::max(roundDown(end, kChunkBytes), wholeBegin);
  if (address < wholeBegin) markDirty(address, wholeBegin - address);
  if (wholeEnd < end) markDirty(wholeEnd, end - wholeEnd);
  if (wholeBegin == wholeEnd) return;

  // Whole chunks are the caller's alone. Those that were never touched stay clean; so do those that the cache would
  // throw out at once. "Not resident" may mean swapped out, therefore the pages are dropped in either case.
  const uint32_t first = chunkOf(wholeBegin);
  const uint32_t last = chunkOf(wholeEnd);
  uint64_t kept = 0;
  uint32_t dropFrom = first;
  for (uint32_t i = first; i < last; ++i) {
    if (kept + kChunkBytes <= cacheLimit_B_ && resident_B(addressOf(i), kChunkBytes) != 0) {
      dropPages(dropFrom, i);
      dropFrom = i + 1;
      setAllDirty(chunks_[i], true);
      kept += kChunkBytes;
    }
  }
  dropPages(dropFrom, last);
}

void AddressSpace::release(uint64_t address, uint64_t size_B) noexcept {
  const uint32_t first = chunkOf(address);
  const uint32_t end = chunkOf(address + size_B - 1) + 1;
  const uint32_t overreadEnd = chunkOf(address + size_B + abi::kOverreadBytes - 1) + 1;
  for (uint32_t i = end; i < overreadEnd; ++i) --chunks_[i].overread;
  for (uint32_t i = first; i < end; ++i) {
    if (--chunks_[i].live == 0 && dirtyPages(chunks_[i]) != 0) pushCached(i);
  }
  evictUntil(cacheLimit_B_);
  decommitIdle(first, overreadEnd);
}

// ---- The cache of dirty, free chunks ------------------------------------------------------------------------------

void AddressSpace::pushCached(uint32_t chunk) {
  Chunk& c = chunks_[chunk];
  c.cached = true;
  c.newer = kNone;
  c.older = newest_;
  (newest_ == kNone ? oldest_ : chunks_[newest_].newer) = chunk;
  newest_ = chunk;
  cached_B_ += dirtyPages(c) * abi::kPageBytes;
}

void AddressSpace::removeCached(uint32_t chunk) {
  Chunk& c = chunks_[chunk];
  c.cached = false;
  (c.newer == kNone ? newest_ : chunks_[c.newer].older) = c.older;
  (c.older == kNone ? oldest_ : chunks_[c.older].newer) = c.newer;
  cached_B_ -= dirtyPages(c) * abi::kPageBytes;
}

// The oldest go first, each together with the cached chunks that follow it in memory: one system call for all of them.
void AddressSpace::evictUntil(uint64_t limit_B) {
  while (cached_B_ > limit_B) {
    const uint32_t first = oldest_;
    uint32_t end = first;
    do {
      removeCached(end);
      ++end;
    } while (cached_B_ > limit_B && end < chunkCount_ && chunks_[end].cached);
    dropPages(first, end);
    decommitIdle(first, end);
  }
}

}  // namespace pumice::kmd
