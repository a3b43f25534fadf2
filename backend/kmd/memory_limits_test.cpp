#include "backend/kmd/memory_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_directory.h"

namespace pumice::kmd {
namespace {

namespace fs = std::filesystem;

class MemoryLimitsTest : public testing::Test {
 protected:
  MemoryLimitsTest() { write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    800 kB\n"); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  MemoryLimits limits() const { return MemoryLimits(root_ / "proc", root_ / "cgroup"); }

  const TemporaryDirectory directory_;
  const fs::path root_ = directory_.path();
};

TEST_F(MemoryLimitsTest, NoCgroup) {
  EXPECT_EQ(limits().total_B(), 1000u * 1024);
  EXPECT_EQ(limits().cgroupAvailable_B(), UINT64_MAX);
  EXPECT_EQ(limits().available_B(), 800u * 1024);
}

TEST_F(MemoryLimitsTest, Version2TakesTheTightestAncestor) {
  write("proc/self/cgroup", "0::/user/app\n");
  write("cgroup/user/app/memory.max", "max\n");
  write("cgroup/user/app/memory.current", "100000\n");
  write("cgroup/user/memory.max", "500000\n");
  write("cgroup/user/memory.current", "400000\n");
  write("cgroup/user/memory.stat", "anon 1\ninactive_file 30000\nactive_file 20000\n");
  EXPECT_EQ(limits().total_B(), 500000u);
  EXPECT_EQ(limits().cgroupAvailable_B(), 500000u - 400000 + 50000);
  // Values are read at each call.
  const MemoryLimits kept = limits();
  write("cgroup/user/memory.current", "600000\n");
  EXPECT_EQ(kept.cgroupAvailable_B(), 0u);
  write("cgroup/user/app/memory.max", "1000\n");
  EXPECT_EQ(kept.total_B(), 1000u);
}

TEST_F(MemoryLimitsTest, Version1WithLimitAndWithout) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n");
  write("cgroup/memory/x/memory.limit_in_bytes", "300000\n");
  write("cgroup/memory/x/memory.usage_in_bytes", "200000\n");
  write("cgroup/memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 5000\ntotal_active_file 0\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/memory.usage_in_bytes", "200000000\n");
  EXPECT_EQ(limits().total_B(), 300000u);
  EXPECT_EQ(limits().cgroupAvailable_B(), 105000u);
  write("cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits().cgroupAvailable_B(), UINT64_MAX);
}

TEST_F(MemoryLimitsTest, PathFromOutsideTheContainer) {
  write("proc/self/cgroup", "0::/docker/0123\n");
  write("cgroup/memory.max", "4096\n");
  write("cgroup/memory.current", "96\n");
  EXPECT_EQ(limits().total_B(), 4096u);
  EXPECT_EQ(limits().cgroupAvailable_B(), 4000u);
}

TEST_F(MemoryLimitsTest, ThisMachine) {
  const MemoryLimits here;
  EXPECT_GT(here.total_B(), 64u << 20);
  EXPECT_GT(here.available_B(), 0u);
}

}  // namespace
}  // namespace pumice::kmd
