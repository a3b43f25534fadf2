#include "backend/kmd/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "backend/kmd/fault.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PUMICE_TEST_SANITIZED 1
#else
#define PUMICE_TEST_SANITIZED 0
#endif

namespace pumice::kmd {
namespace {

constexpr uint64_t kChunk = abi::kHugePageBytes;

std::unique_ptr<AddressSpace> reserve(const AddressSpace::Config& config) {
  std::unique_ptr<AddressSpace> space;
  EXPECT_EQ(AddressSpace::reserve(config, &space), Status::kOk);
  return space;
}

__attribute__((no_sanitize("address", "thread"), noinline)) void touch(void* address) {
  volatile char* byte = static_cast<volatile char*>(address);
  *byte = *byte;
}

bool accessible(uint64_t address) {
  return runGuarded(touch, reinterpret_cast<void*>(address), nullptr) == GuardedExit::kReturned;
}

char* at(uint64_t address) {
  return reinterpret_cast<char*>(address);
}

// The kernel's own count of mappings that lie in [begin, end).
int mappingsIn(uint64_t begin, uint64_t end) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    const uint64_t start = std::stoull(line, nullptr, 16);
    count += start >= begin && start < end;
  }
  return count;
}

class AddressSpaceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { installFaultHandler(); }
  void giveBack(AddressSpace& space, uint64_t address, uint64_t size) {
    space.prepareRelease(address, size);
    space.release(address, size);
  }
};

TEST_F(AddressSpaceTest, FirstGetsTheDocumentedBaseTheSecondAnother) {
  auto first = reserve({});
  EXPECT_EQ(first->base(), abi::kReservationBase);
  EXPECT_EQ(first->usable_B(), abi::kReservationBytes - kChunk);
  auto second = reserve({});
  EXPECT_NE(second->base(), first->base());
  EXPECT_EQ(second->base() % kChunk, 0u);
  first.reset();
  EXPECT_EQ(reserve({})->base(), abi::kReservationBase);
}

TEST_F(AddressSpaceTest, OnlyAcquiredRangesCanBeTouched) {
  auto space = reserve({.reservation_B = 1ull << 30});
  const uint64_t base = space->base();
  EXPECT_FALSE(accessible(base));
  ASSERT_EQ(space->acquire(base + kChunk, 2 * kChunk, true), Status::kOk);
  EXPECT_FALSE(accessible(base + kChunk - 1));
  EXPECT_TRUE(accessible(base + kChunk));
  EXPECT_TRUE(accessible(base + 3 * kChunk - 1));
  EXPECT_TRUE(accessible(base + 3 * kChunk + abi::kOverreadBytes - 1));
  EXPECT_FALSE(accessible(base + 4 * kChunk));
  giveBack(*space, base + kChunk, 2 * kChunk);
  space->dropCache();
  for (uint64_t chunk = 0; chunk < 5; ++chunk) EXPECT_FALSE(accessible(base + chunk * kChunk));
  EXPECT_EQ(space->mappings(), 1u + 2u);  // the middle keeps its advice for huge pages
}

TEST_F(AddressSpaceTest, OverreadKeepsTheNextChunkOfAFreedNeighbour) {
  auto space = reserve({.reservation_B = 1ull << 30, .cacheLimit_B = 0});
  const uint64_t base = space->base();
  ASSERT_EQ(space->acquire(base, kChunk, false), Status::kOk);
  ASSERT_EQ(space->acquire(base + kChunk, kChunk, false), Status::kOk);
  giveBack(*space, base + kChunk, kChunk);
  EXPECT_TRUE(accessible(base + kChunk));
  EXPECT_FALSE(accessible(base + 2 * kChunk));
  giveBack(*space, base, kChunk);
  EXPECT_FALSE(accessible(base + kChunk));
}

TEST_F(AddressSpaceTest, RecycledPagesAreClearedAndOthersNotTouched) {
  auto space = reserve({.reservation_B = 1ull << 30});
  const uint64_t base = space->base();
  // Three owners share a page; the middle one goes, its successor clears only its own bytes.
  for (int i = 0; i < 3; ++i) ASSERT_EQ(space->acquire(base + 1024u * i, 1024, false), Status::kOk);
  std::memset(at(base), 0x11, 3072);
  giveBack(*space, base + 1024, 1024);
  ASSERT_EQ(space->acquire(base + 1024, 512, false), Status::kOk);
  space->clear(base + 1024, 512);
  EXPECT_EQ(at(base)[1023], 0x11);
  EXPECT_EQ(at(base)[1024], 0);
  EXPECT_EQ(at(base)[1535], 0);
  EXPECT_EQ(at(base)[1536], 0x11);
  EXPECT_EQ(at(base)[2048], 0x11);
  // Clean pages are not written to: nothing of this range gets memory.
  ASSERT_EQ(space->acquire(base + 16 * kChunk, 64 * kChunk, true), Status::kOk);
  space->clear(base + 16 * kChunk, 64 * kChunk);
  EXPECT_EQ(AddressSpace::resident_B(base + 16 * kChunk, 64 * kChunk), 0u);
}

TEST_F(AddressSpaceTest, CacheKeepsTouchedChunksUpToItsLimit) {
  auto space = reserve({.reservation_B = 1ull << 30, .cacheLimit_B = 4 * kChunk});
  const uint64_t base = space->base();
  ASSERT_EQ(space->acquire(base, 16 * kChunk, true), Status::kOk);
  for (int i = 0; i < 3; ++i) std::memset(at(base + 5u * i * kChunk), 0x5a, 4096);
  giveBack(*space, base, 16 * kChunk);
  EXPECT_EQ(space->cached_B(), 3 * kChunk);  // chunks 0, 5, 10
  EXPECT_GT(AddressSpace::resident_B(base, 4096), 0u);
  // Untouched chunks are not cached, and not accessible any more.
  EXPECT_FALSE(accessible(base + kChunk));

  // The next owner finds zeros.
  ASSERT_EQ(space->acquire(base, 16 * kChunk, true), Status::kOk);
  EXPECT_EQ(space->cached_B(), 0u);
  space->clear(base, 16 * kChunk);
  for (uint64_t i = 0; i < 16 * kChunk; i += 512) ASSERT_EQ(at(base)[i], 0);
  for (int i = 0; i < 16; ++i) *at(base + static_cast<uint64_t>(i) * kChunk) = 1;
  giveBack(*space, base, 16 * kChunk);
  EXPECT_EQ(space->cached_B(), 4 * kChunk);
  space->dropCache();
  EXPECT_EQ(space->cached_B(), 0u);
  EXPECT_FALSE(accessible(base));
}

TEST_F(AddressSpaceTest, OldestLeaveTheCacheFirst) {
  auto space = reserve({.reservation_B = 1ull << 30, .cacheLimit_B = 2 * kChunk});
  const uint64_t base = space->base();
  for (uint64_t i : {0, 4, 8}) ASSERT_EQ(space->acquire(base + i * kChunk, kChunk, false), Status::kOk);
  for (uint64_t i : {0, 4, 8}) *at(base + i * kChunk) = 1;
  for (uint64_t i : {4, 0, 8}) giveBack(*space, base + i * kChunk, kChunk);
  EXPECT_TRUE(accessible(base));
  EXPECT_FALSE(accessible(base + 4 * kChunk));
  EXPECT_TRUE(accessible(base + 8 * kChunk));
}

TEST_F(AddressSpaceTest, MappingsStayBounded) {
  auto space = reserve({.reservation_B = 4ull << 30, .cacheLimit_B = 0, .maxMappings = 100});
  const uint64_t base = space->base();
  // Every fourth chunk, alternately with and without advice for huge pages: four mappings each if nobody cared.
  for (uint64_t i = 0; i < 500; ++i) {
    ASSERT_EQ(space->acquire(base + 4 * i * kChunk, kChunk, i % 2 == 0), Status::kOk);
    *at(base + 4 * i * kChunk) = 1;
  }
  EXPECT_LE(space->mappings(), 101u);
  EXPECT_LE(mappingsIn(base, base + (4ull << 30)), 110);
  for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(*at(base + 4 * i * kChunk), 1);
  for (uint64_t i = 0; i < 500; ++i) giveBack(*space, base + 4 * i * kChunk, kChunk);
  EXPECT_LE(mappingsIn(base, base + (4ull << 30)), 110);
  EXPECT_EQ(AddressSpace::resident_B(base, 4ull << 30), 0u);
}

TEST_F(AddressSpaceTest, DiscardedPagesAreZeroAndHaveNoMemory) {
  auto space = reserve({.reservation_B = 1ull << 30});
  const uint64_t base = space->base();
  ASSERT_EQ(space->acquire(base, 8 * 4096, false), Status::kOk);
  std::memset(at(base), 1, 8 * 4096);
  EXPECT_EQ(AddressSpace::resident_B(base, 8 * 4096), 8u * 4096);
  space->discard(base + 4096, 2 * 4096);
  EXPECT_EQ(AddressSpace::resident_B(base, 8 * 4096), 6u * 4096);
  EXPECT_EQ(at(base)[4095], 1);
  EXPECT_EQ(at(base)[4096], 0);
  EXPECT_EQ(at(base)[3 * 4096], 1);
}

// Runs in a child with an address space that has room for `room` more bytes. Gives the usable bytes, 0 if refused.
uint64_t usableWithin(uint64_t room) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    uint64_t vmPages = 0;
    std::ifstream("/proc/self/statm") >> vmPages;
    const rlimit limit{vmPages * 4096 + room, vmPages * 4096 + room};
    setrlimit(RLIMIT_AS, &limit);
    std::unique_ptr<AddressSpace> space;
    uint64_t usable = 0;
    if (AddressSpace::reserve({}, &space) == Status::kOk) usable = space->usable_B();
    _exit(write(channel[1], &usable, sizeof usable) == sizeof usable ? 0 : 1);
  }
  uint64_t usable = ~uint64_t{0};
  EXPECT_EQ(read(channel[0], &usable, sizeof usable), static_cast<ssize_t>(sizeof usable));
  close(channel[0]);
  close(channel[1]);
  waitpid(pid, nullptr, 0);
  return usable;
}

TEST_F(AddressSpaceTest, HalvesUntilTheSystemGrants) {
  if (PUMICE_TEST_SANITIZED) GTEST_SKIP() << "sanitizers need more address space than such a limit leaves";
  EXPECT_EQ(usableWithin(3ull << 30), (2ull << 30) - kChunk);
  EXPECT_EQ(usableWithin(40ull << 30), (32ull << 30) - kChunk);
  EXPECT_EQ(usableWithin(512ull << 20), 0u);
}

}  // namespace
}  // namespace pumice::kmd
