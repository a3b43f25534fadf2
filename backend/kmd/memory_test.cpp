#include "backend/kmd/memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backend/trace/log.h"
#include "testing/temporary_directory.h"

// Lets the n-th allocation of this thread fail. Everything else behaves as ever.
namespace {
thread_local long tFailAt = -1;  // -1 = never
thread_local long tAllocations = 0;
}  // namespace

// Not inlined: GCC would see free() meet a new expression and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (tFailAt >= 0 && tAllocations++ == tFailAt) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (tFailAt >= 0 && tAllocations++ == tFailAt) return nullptr;
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace pumice::kmd {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kWorkDivisor = 10;
#else
constexpr int kWorkDivisor = 1;
#endif

constexpr uint64_t kMiB = 1ull << 20;

std::unique_ptr<MemoryManager> open(const DeviceConfig& config = {}) {
  std::unique_ptr<MemoryManager> memory;
  EXPECT_EQ(MemoryManager::open(config, &memory), Status::kOk);
  return memory;
}

Allocation* allocate(MemoryManager& memory, const AllocationInfo& info) {
  Allocation* allocation = nullptr;
  EXPECT_EQ(memory.allocate(info, &allocation), Status::kOk) << info.size_B;
  return allocation;
}

char* bytesOf(const Allocation* allocation) {
  return reinterpret_cast<char*>(allocationAddress(allocation));
}

bool allBytesAre(const char* bytes, uint64_t count, char value) {
  return count == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

class Memory : public testing::Test {
 protected:
  void SetUp() override { trace::setLogLevel(trace::LogLevel::kError); }
};

TEST_F(Memory, AllocationFacts) {
  auto memory = open();
  Allocation* a = allocate(*memory, {.size_B = 1000});
  Allocation* b = allocate(*memory, {.size_B = 5 * kMiB, .align_B = 16 * kMiB});
  EXPECT_EQ(allocationSize(a), 1000u);
  EXPECT_EQ(allocationAddress(a) % abi::kResourceAlignBytes, 0u);
  EXPECT_EQ(allocationAddress(b) % (16 * kMiB), 0u);
  for (Allocation* allocation : {a, b}) {
    const uint64_t begin = allocationAddress(allocation), size = allocationSize(allocation);
    EXPECT_TRUE(allBytesAre(bytesOf(allocation), size, 0));
    std::memset(bytesOf(allocation), 7, size);
    EXPECT_TRUE(memory->contains(begin, size));
    EXPECT_TRUE(memory->contains(begin + size - 1, 1));
    EXPECT_FALSE(memory->contains(begin, size + 1));
    EXPECT_FALSE(memory->contains(begin + 1, UINT64_MAX));
    EXPECT_FALSE(memory->contains(begin - 1, 1));
  }
  EXPECT_FALSE(memory->contains(0, 0));
  EXPECT_FALSE(memory->contains(UINT64_MAX, 1));
  EXPECT_EQ(memory->budget().usage_B, 1000 + 5 * kMiB);
  const uint64_t address = allocationAddress(a);
  memory->free(a);
  memory->free(nullptr);
  EXPECT_FALSE(memory->contains(address, 1));
  memory->free(b);
  EXPECT_EQ(memory->budget().usage_B, 0u);
  EXPECT_EQ(memory->report().usedRanges, 0u);
}

TEST_F(Memory, DevicesShareTheHeap) {
  auto first = open({.heapLimit_B = 100 * kMiB});
  auto second = open({.heapLimit_B = 100 * kMiB});
  Allocation* some = allocate(*first, {.size_B = 60 * kMiB});
  Allocation* none = nullptr;
  EXPECT_EQ(second->allocate({.size_B = 40 * kMiB + 64}, &none), Status::kOutOfDeviceMemory);
  Allocation* rest = allocate(*second, {.size_B = 40 * kMiB});
  EXPECT_EQ(first->allocate({.size_B = 64}, &none), Status::kOutOfDeviceMemory);
  for (const auto& each : {first.get(), second.get()}) {
    EXPECT_EQ(each->budget().usage_B, 100 * kMiB);
    EXPECT_EQ(each->budget().budget_B, 100 * kMiB);
  }
  EXPECT_EQ(processHeapUsage_B(), 100 * kMiB);
  first->free(some);
  EXPECT_EQ(second->budget().usage_B, 40 * kMiB);
  allocate(*first, {.size_B = 60 * kMiB});
  second->free(rest);
  first.reset();  // with what is allocated still
  EXPECT_EQ(processHeapUsage_B(), 0u);
}

// Refusals of every kind give back what they had taken of the heap.
TEST_F(Memory, FailedAllocationsCountForNothing) {
  auto memory = open({.heapLimit_B = 1ull << 40, .reservation_B = 64 * kMiB});
  Allocation* none = nullptr;
  EXPECT_NE(memory->allocate({.size_B = 65 * kMiB}, &none), Status::kOk);
  EXPECT_NE(memory->allocate({.size_B = 4096, .fixedAddress = 64}, &none), Status::kOk);
  EXPECT_EQ(processHeapUsage_B(), 0u);
  // Many threads at the limit: never more than the heap, and all of it in the end.
  auto small = open({.heapLimit_B = 64 * 4096});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<Allocation*> mine;
      for (int i = 0; i < 2000; ++i) {
        Allocation* one = nullptr;
        if (small->allocate({.size_B = 4096, .zero = false}, &one) == Status::kOk) mine.push_back(one);
        EXPECT_LE(processHeapUsage_B(), 64u * 4096);
        if (i % 3 == 0 && !mine.empty()) {
          small->free(mine.back());
          mine.pop_back();
        }
      }
      for (Allocation* each : mine) small->free(each);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(processHeapUsage_B(), 0u);
}

TEST_F(Memory, HeapLimitIsExact) {
  auto memory = open({.heapLimit_B = 100 * kMiB});
  const HeapBudget empty = memory->budget();
  EXPECT_EQ(empty.size_B, 100 * kMiB);
  EXPECT_LE(empty.budget_B, empty.size_B);
  EXPECT_GT(empty.budget_B, 0u);
  Allocation* most = allocate(*memory, {.size_B = 100 * kMiB - 64});
  Allocation* rest = nullptr;
  EXPECT_EQ(memory->allocate({.size_B = 65}, &rest), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->allocate({.size_B = UINT64_MAX}, &rest), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->allocate({.size_B = UINT64_MAX - 63, .align_B = 4096}, &rest), Status::kOutOfDeviceMemory);
  rest = allocate(*memory, {.size_B = 64});
  EXPECT_EQ(memory->budget().usage_B, memory->budget().size_B);
  memory->free(most);
  memory->free(rest);
  EXPECT_EQ(systemHeapBytes(12345), 12345u);
  EXPECT_GT(systemHeapBytes(0), 64 * kMiB);
}

TEST_F(Memory, ReservationLimitIsOutOfDeviceMemory) {
  auto memory = open({.heapLimit_B = 1ull << 40, .reservation_B = 64 * kMiB});
  Allocation* allocation = nullptr;
  EXPECT_EQ(memory->allocate({.size_B = 64 * kMiB}, &allocation), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->allocate({.size_B = UINT64_MAX, .lazy = true}, &allocation), Status::kOutOfDeviceMemory);
  // The remaining gap begins off a huge page: large ones fit there only without their usual alignment.
  Allocation* a = allocate(*memory, {.size_B = 4096, .fixedAddress = memory->reservationBase() + kMiB});
  const uint64_t gap = memory->report().largestFree_B;
  EXPECT_EQ(gap, 61 * kMiB - 4096);
  EXPECT_EQ(memory->allocate({.size_B = gap, .align_B = 64 * 1024}, &allocation), Status::kOutOfDeviceMemory);
  Allocation* b = allocate(*memory, {.size_B = gap});
  EXPECT_EQ(allocationAddress(b), memory->reservationBase() + kMiB + 4096);
  memory->free(a);
  memory->free(b);
}

TEST_F(Memory, FixedAddressesReplay) {
  std::vector<uint64_t> captured;
  std::vector<uint64_t> sizes;
  for (int i = 0; i < 40; ++i) sizes.push_back(i % 4 == 0 ? 3 * kMiB + i * 4096u : 100u + 333u * i);
  {
    auto memory = open();
    for (uint64_t size : sizes) captured.push_back(allocationAddress(allocate(*memory, {.size_B = size})));
  }
  auto memory = open();
  // In another order, as a replayer may.
  for (size_t i = sizes.size(); i-- > 0;) {
    Allocation* a = allocate(*memory, {.size_B = sizes[i], .fixedAddress = captured[i]});
    EXPECT_EQ(allocationAddress(a), captured[i]);
    EXPECT_TRUE(allBytesAre(bytesOf(a), sizes[i], 0));
  }
  Allocation* a = nullptr;
  EXPECT_EQ(memory->allocate({.size_B = 64, .fixedAddress = captured[3]}, &a), Status::kInvalidAddress);
  EXPECT_EQ(memory->allocate({.size_B = 64, .fixedAddress = captured[3] + 1}, &a), Status::kInvalidAddress);
  EXPECT_EQ(memory->allocate({.size_B = 64, .align_B = 4096, .fixedAddress = memory->reservationBase() + 64}, &a),
            Status::kInvalidAddress);
  EXPECT_EQ(memory->allocate({.size_B = 64, .fixedAddress = 0x1000}, &a), Status::kInvalidAddress);
  EXPECT_EQ(memory->allocate({.size_B = 64, .fixedAddress = UINT64_MAX - 63}, &a), Status::kInvalidAddress);
}

TEST_F(Memory, MoreLiveAllocationsThanMappings) {
  // Nothing is touched, so sizes do not matter to the machine.
  auto memory = open({.heapLimit_B = 1ull << 40});
  const size_t count = 70'000 / kWorkDivisor;
  std::vector<Allocation*> live;
  live.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) live.push_back(allocate(*memory, {.size_B = 1 + i % 9000}));
  EXPECT_LT(memory->mappings(), 10u);
  // Odd large ones, whose tails are not worth a huge page: as many pieces as they could be, they stay within bounds.
  for (size_t i = 0; i < count / 2; ++i) live.push_back(allocate(*memory, {.size_B = 2 * kMiB + i}));
  EXPECT_LT(memory->mappings(), 20'000u);
  for (size_t i = 0; i < live.size(); i += 7) {
    ASSERT_TRUE(memory->contains(allocationAddress(live[i]), allocationSize(live[i])));
    ASSERT_FALSE(memory->contains(allocationAddress(live[i]), allocationSize(live[i]) + 1)) << i;
  }
  std::shuffle(live.begin(), live.end(), std::mt19937(1));
  for (Allocation* allocation : live) memory->free(allocation);
  EXPECT_EQ(memory->report().freeRanges, 1u);
  EXPECT_EQ(memory->budget().usage_B, 0u);
}

TEST_F(Memory, OverreadIsAlwaysPossible) {
  auto memory = open();
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const uint64_t size = i % 3 == 0 ? 2 * kMiB + 64 * (random() % 70000) : 1 + random() % 200000;
    Allocation* a = allocate(*memory, {.size_B = size});
    volatile const char* end = bytesOf(a) + size;
    for (uint64_t k = 0; k < abi::kOverreadBytes; ++k) (void)end[k];
    if (i % 2) memory->free(a);
  }
}

TEST_F(Memory, LazyMemoryCountsWhenTouched) {
  auto memory = open({.heapLimit_B = 8 * kMiB});
  Allocation* a = allocate(*memory, {.size_B = 64 * kMiB + 1, .lazy = true});
  EXPECT_EQ(memory->budget().usage_B, 0u);
  EXPECT_EQ(allocationCommitted(a), 0u);
  for (uint64_t page : {0, 100, 200}) bytesOf(a)[page * 4096] = 1;
  EXPECT_EQ(allocationCommitted(a), 3u * 4096);
  EXPECT_EQ(memory->budget().usage_B, 3u * 4096);
  const uint64_t address = allocationAddress(a);
  memory->free(a);
  EXPECT_EQ(memory->budget().usage_B, 0u);
  EXPECT_EQ(memory->cached_B(), 0u);
  a = allocate(*memory, {.size_B = 1 * kMiB, .fixedAddress = address});
  EXPECT_EQ(bytesOf(a)[0], 0);
  memory->free(a);
  // Small ones have pages of their own.
  Allocation* small = allocate(*memory, {.size_B = 100});
  Allocation* lazy = allocate(*memory, {.size_B = 100, .lazy = true});
  bytesOf(small)[0] = 5;
  EXPECT_EQ(allocationCommitted(lazy), 0u);
  bytesOf(lazy)[0] = 5;
  EXPECT_EQ(allocationCommitted(lazy), 100u);
  EXPECT_NE(allocationAddress(lazy) / 4096, allocationAddress(small) / 4096);
}

// Random lives and deaths: memory is zero at birth, and nobody else writes to it until it dies.
void lifeAndDeath(MemoryManager& memory, uint32_t seed, int steps) {
  struct Live {
    Allocation* allocation;
    char value;
  };
  std::mt19937 random(seed);
  std::vector<Live> live;
  for (int i = 0; i < steps; ++i) {
    if (live.size() < 60 && random() % 3 != 0) {
      AllocationInfo info;
      const uint32_t kind = random() % 16;
      info.size_B = kind == 0 ? 2 * kMiB + random() % (4 * kMiB) : 1 + random() % (kind < 8 ? 300 : 40000);
      if (random() % 4 == 0) info.align_B = uint64_t{1} << random() % 17;
      info.lazy = random() % 16 == 0;
      Allocation* allocation = nullptr;
      ASSERT_EQ(memory.allocate(info, &allocation), Status::kOk);
      ASSERT_TRUE(allBytesAre(bytesOf(allocation), info.size_B, 0)) << "step " << i << " size " << info.size_B;
      const char value = static_cast<char>(1 + random() % 100);
      // Now and then only a part is touched, or nothing.
      if (random() % 8 != 0)
        std::memset(bytesOf(allocation), value, info.size_B);
      else
        std::memset(bytesOf(allocation), 0, 0);
      live.push_back({allocation, bytesOf(allocation)[0]});
    } else if (!live.empty()) {
      const size_t victim = random() % live.size();
      Allocation* allocation = live[victim].allocation;
      ASSERT_TRUE(allBytesAre(bytesOf(allocation), allocationSize(allocation), live[victim].value)) << "step " << i;
      memory.free(allocation);
      live[victim] = live.back();
      live.pop_back();
    }
  }
  for (const Live& l : live) memory.free(l.allocation);
}

TEST_F(Memory, RandomLivesOfManyThreads) {
  auto memory = open({.heapLimit_B = 2048 * kMiB});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { lifeAndDeath(*memory, t, 6000 / kWorkDivisor); });
  std::thread watcher([&] {
    for (int i = 0; i < 200; ++i) {
      const HeapBudget budget = memory->budget();
      ASSERT_LE(budget.budget_B, budget.size_B);
      memory->contains(memory->reservationBase() + 4096u * i, 1);
    }
  });
  for (auto& thread : threads) thread.join();
  watcher.join();
  EXPECT_EQ(memory->budget().usage_B, 0u);
  EXPECT_EQ(memory->report().freeRanges, 1u);
}

TEST_F(Memory, SmallReservationUnderPressure) {
  // So tight that placements fail, the cache is evicted and large ones lose their alignment.
  auto memory = open({.heapLimit_B = 2048 * kMiB, .reservation_B = 40 * kMiB});
  std::mt19937 random(9);
  std::vector<Allocation*> live;
  int failures = 0;
  for (int i = 0; i < 20000 / kWorkDivisor; ++i) {
    if (random() % 2) {
      const uint64_t size = random() % 8 ? 1 + random() % (900 << 10) : 2 * kMiB + random() % (4 * kMiB);
      Allocation* allocation = nullptr;
      const Status status = memory->allocate({.size_B = size}, &allocation);
      if (status == Status::kOk) {
        ASSERT_EQ(bytesOf(allocation)[0], 0);
        ASSERT_EQ(bytesOf(allocation)[size - 1], 0);
        bytesOf(allocation)[0] = bytesOf(allocation)[size - 1] = 1;
        live.push_back(allocation);
      } else {
        ASSERT_EQ(status, Status::kOutOfDeviceMemory);
        ++failures;
      }
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      memory->free(live.back());
      live.pop_back();
    }
  }
  EXPECT_GT(failures, 0);
}

TEST_F(Memory, CgroupLimitIsChecked) {
  namespace fs = std::filesystem;
  const TemporaryDirectory directory;
  const fs::path& root = directory.path();
  fs::create_directories(root / "proc/self");
  fs::create_directories(root / "cgroup/app");
  const auto write = [&](const char* path, const std::string& text) { std::ofstream(root / path) << text; };
  write("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 4000000 kB\n");
  write("proc/self/cgroup", "0::/app\n");
  write("cgroup/app/memory.max", std::to_string(1000 * kMiB));
  write("cgroup/app/memory.current", std::to_string(800 * kMiB));
  std::unique_ptr<MemoryManager> memory;
  ASSERT_EQ(MemoryManager::open({}, MemoryLimits(root / "proc", root / "cgroup"), &memory), Status::kOk);
  EXPECT_EQ(memory->budget().size_B, 1000 * kMiB);
  EXPECT_EQ(memory->budget().budget_B, 200 * kMiB);
  Allocation* a = nullptr;
  EXPECT_EQ(memory->allocate({.size_B = 201 * kMiB}, &a), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->budget().usage_B, 0u);
  EXPECT_EQ(memory->allocate({.size_B = 200 * kMiB}, &a), Status::kOk);
  // Others in the group fill it up: seen at once for large ones.
  write("cgroup/app/memory.current", std::to_string(1000 * kMiB));
  Allocation* b = nullptr;
  EXPECT_EQ(memory->allocate({.size_B = 64 * kMiB}, &b), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->allocate({.size_B = 1}, &b), Status::kOutOfDeviceMemory);
  write("cgroup/app/memory.current", std::to_string(0));
  EXPECT_EQ(memory->allocate({.size_B = 1}, &b), Status::kOk);
  memory->free(a);
  memory->free(b);
  memory.reset();
}

// Every host allocation in turn fails; nothing is left behind.
TEST_F(Memory, HostOutOfMemoryLeavesNoTrace) {
  long needed = 0;
  for (long n = 0;; ++n) {
    std::unique_ptr<MemoryManager> memory;
    tAllocations = 0;
    tFailAt = n;
    const Status status = MemoryManager::open({}, &memory);
    tFailAt = -1;
    if (status == Status::kOk) break;
    EXPECT_EQ(status, Status::kOutOfHostMemory);
    EXPECT_EQ(memory, nullptr);
    ++needed;
  }
  EXPECT_GT(needed, 2);

  auto memory = open();
  EXPECT_EQ(memory->reservationBase(), abi::kReservationBase);  // failed attempts gave theirs back
  int failures = 0;
  std::vector<Allocation*> live;
  for (int i = 0; i < 500; ++i) {
    for (long n = 0;; ++n) {
      const VaReport before = memory->report();
      const uint64_t usage = memory->budget().usage_B;
      Allocation* allocation = nullptr;
      tAllocations = 0;
      tFailAt = n;
      const Status status = memory->allocate({.size_B = 100}, &allocation);
      tFailAt = -1;
      if (status == Status::kOk) {
        live.push_back(allocation);
        break;
      }
      ++failures;
      ASSERT_EQ(status, Status::kOutOfHostMemory);
      ASSERT_EQ(memory->report().used_B, before.used_B);
      ASSERT_EQ(memory->report().usedRanges, before.usedRanges);
      ASSERT_EQ(memory->budget().usage_B, usage);
    }
    // Freeing never needs memory.
    if (i % 3 == 0) {
      tAllocations = 0;
      tFailAt = 0;
      memory->free(live.back());
      tFailAt = -1;
      live.pop_back();
    }
  }
  EXPECT_GT(failures, 500);
}

TEST_F(Memory, ManyRoundsLeaveNoMappingBehind) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto round = [] {
    auto memory = open();
    for (uint64_t size : {100ull, 3ull << 20, 70000ull}) bytesOf(allocate(*memory, {.size_B = size}))[0] = 1;
  };
  for (int i = 0; i < 3; ++i) round();
  const auto before = mappings();
  for (int i = 0; i < 1000 / kWorkDivisor; ++i) round();
  EXPECT_LE(mappings(), before + 10);  // a sanitizer maps a little for itself
}

// ---- Outside the reservation ----------------------------------------------------------------------------------------

Allocation* share(MemoryManager& memory, const AllocationInfo& info) {
  Allocation* allocation = nullptr;
  EXPECT_EQ(memory.allocateShared(info, &allocation), Status::kOk) << info.size_B;
  return allocation;
}

TEST_F(Memory, SharedAllocationsLieInAFile) {
  const auto memory = open();
  Allocation* first = share(*memory, {.size_B = 5000});
  ASSERT_NE(first, nullptr);
  EXPECT_GE(first->file(), 0);
  EXPECT_EQ(first->address() % abi::kPageBytes, 0u);
  auto* bytes = reinterpret_cast<unsigned char*>(first->address());
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(bytes[i], 0) << i;
  bytes[4999] = 7;

  const int file = dup(first->file());
  Allocation* second = nullptr;
  ASSERT_EQ(memory->importFile(file, 5000, &second), Status::kOk);
  EXPECT_NE(second->address(), first->address());
  EXPECT_EQ(reinterpret_cast<unsigned char*>(second->address())[4999], 7);
  EXPECT_TRUE(memory->contains(first->address(), 5000));
  EXPECT_TRUE(memory->contains(second->address() + 4999, 1));
  EXPECT_FALSE(memory->contains(second->address() + 4999, 2));
  EXPECT_EQ(processHeapUsage_B(), 5000u) << "what was imported counts where it was made";
  memory->free(first);
  EXPECT_EQ(processHeapUsage_B(), 0u);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(second->address())[4999], 7);
  // Behind the whole pages of the file is one more that can be read.
  EXPECT_EQ(reinterpret_cast<volatile unsigned char*>(second->address())[2 * abi::kPageBytes], 0);
  memory->free(second);
  EXPECT_EQ(fcntl(file, F_GETFD), -1) << "the descriptor went with the allocation";
}

TEST_F(Memory, SharedAllocationsMayHaveAFixedAddress) {
  const auto memory = open();
  Allocation* first = share(*memory, {.size_B = 100});
  const uint64_t address = first->address();
  Allocation* second = nullptr;
  EXPECT_EQ(memory->allocateShared({.size_B = 100, .fixedAddress = address}, &second), Status::kInvalidAddress);
  EXPECT_EQ(memory->allocateShared({.size_B = 100, .fixedAddress = address + 64}, &second), Status::kInvalidAddress);
  memory->free(first);
  ASSERT_EQ(memory->allocateShared({.size_B = 100, .fixedAddress = address}, &second), Status::kOk);
  EXPECT_EQ(second->address(), address);
  memory->free(second);
}

TEST_F(Memory, SharedAllocationsKeepToTheHeap) {
  const auto memory = open({.heapLimit_B = 4 * kMiB});
  Allocation* first = share(*memory, {.size_B = 3 * kMiB});
  Allocation* second = nullptr;
  EXPECT_EQ(memory->allocateShared({.size_B = 2 * kMiB}, &second), Status::kOutOfDeviceMemory);
  EXPECT_EQ(memory->allocateShared({.size_B = UINT64_MAX - 5}, &second), Status::kOutOfDeviceMemory);
  EXPECT_EQ(processHeapUsage_B(), 3 * kMiB);
  memory->free(first);
}

TEST_F(Memory, OnlySealedFilesAreImported) {
  const auto memory = open();
  Allocation* none = nullptr;
  EXPECT_EQ(memory->importFile(-1, 1, &none), Status::kInvalidAddress);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(memory->importFile(ends[0], 1, &none), Status::kInvalidAddress);
  close(ends[0]);
  close(ends[1]);
  Allocation* shared = share(*memory, {.size_B = 4096});
  EXPECT_EQ(memory->importFile(shared->file(), 4097, &none), Status::kInvalidAddress);
  memory->free(shared);
}

TEST_F(Memory, HostMemoryIsUsedWhereItLies) {
  const auto memory = open();
  alignas(64) unsigned char bytes[256] = {};
  Allocation* allocation = nullptr;
  EXPECT_EQ(memory->importHost(nullptr, 64, &allocation), Status::kInvalidAddress);
  EXPECT_EQ(memory->importHost(bytes + 4, 64, &allocation), Status::kInvalidAddress);
  ASSERT_EQ(memory->importHost(bytes, sizeof bytes, &allocation), Status::kOk);
  EXPECT_EQ(allocation->address(), reinterpret_cast<uint64_t>(&bytes[0]));
  EXPECT_EQ(allocation->file(), -1);
  EXPECT_EQ(processHeapUsage_B(), 0u);
  EXPECT_TRUE(memory->contains(allocation->address() + 255, 1));
  uint32_t seen = 0;
  memory->visit([](void* count, const Allocation&) { ++*static_cast<uint32_t*>(count); }, &seen);
  EXPECT_EQ(seen, 1u);
  // A part of it once more: the whole is still there.
  Allocation* part = nullptr;
  ASSERT_EQ(memory->importHost(bytes, 64, &part), Status::kOk);
  EXPECT_TRUE(memory->contains(allocation->address(), 256));
  memory->free(allocation);
  EXPECT_FALSE(memory->contains(reinterpret_cast<uint64_t>(&bytes[0]), 256));
  EXPECT_TRUE(memory->contains(reinterpret_cast<uint64_t>(&bytes[0]), 64));
  memory->free(part);
  EXPECT_FALSE(memory->contains(reinterpret_cast<uint64_t>(&bytes[0]), 1));
  // What is alive at the end goes with the device.
  ASSERT_EQ(memory->importHost(bytes, sizeof bytes, &allocation), Status::kOk);
}

}  // namespace
}  // namespace pumice::kmd
