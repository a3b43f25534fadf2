// What the system lets this process use: RAM, and the memory cgroups (version 1 or 2) that it lives in, with all their
// ancestors. Reads /proc and /sys at each call; keeps only paths. Const functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pumice::kmd {

class MemoryLimits {
 public:
  // The roots are parameters for tests. Throws std::bad_alloc.
  explicit MemoryLimits(const std::string& procRoot = "/proc", const std::string& cgroupRoot = "/sys/fs/cgroup");

  // min(RAM, every cgroup's limit).
  uint64_t total_B() const;
  // What the cgroups still allow: the least of limit - usage, where file cache counts as free, since the kernel drops
  // it before it fails. UINT64_MAX without a limit.
  uint64_t cgroupAvailable_B() const;
  // The same and what the kernel thinks the whole machine can give without swapping.
  uint64_t available_B() const;

 private:
  struct Level {
    std::string limitPath, usagePath, statPath;
    bool version1;
  };
  void addLevels(const std::string& mount, std::string path, bool version1);
  uint64_t limitOf(const Level& level) const;

  std::string meminfoPath_;
  std::vector<Level> levels_;
};

}  // namespace pumice::kmd
