#include "backend/kmd/memory_limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pumice::kmd {

namespace {

constexpr uint64_t kUnlimited = UINT64_MAX;

// Whole small files; the kernel makes them at the moment of reading, so one read sees one state.
struct SmallFile {
  explicit SmallFile(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    size_t used = 0;
    for (ssize_t n; used < sizeof text - 1 && (n = ::read(fd, text + used, sizeof text - 1 - used)) > 0;)
      used += static_cast<size_t>(n);
    ::close(fd);
    text[used] = '\0';
    size = used;
  }
  std::string_view view() const { return {text, size}; }
  char text[8192];
  size_t size = 0;
};

bool accessible(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

uint64_t numberIn(const std::string& path, uint64_t otherwise) {
  const SmallFile file(path.c_str());
  if (file.size == 0) return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(file.text, &end, 10);
  return end == file.text ? otherwise : value;  // "max" is no number
}

// The number after a line's first word; `key` includes what separates it ("MemTotal:", "inactive_file ").
uint64_t valueOf(std::string_view text, std::string_view key) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) return std::strtoull(line.data() + key.size(), nullptr, 10);
    at = end + 1;
  }
  return 0;
}

// Whether a list separated by commas names the controller.
bool names(std::string_view list, std::string_view controller) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == controller) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

MemoryLimits::MemoryLimits(const std::string& procRoot, const std::string& cgroupRoot)
    : meminfoPath_(procRoot + "/meminfo") {
  // Lines "number:controllers:path"; number 0 with no controllers is version 2.
  const SmallFile file((procRoot + "/self/cgroup").c_str());
  std::string_view text = file.view();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      addLevels(cgroupRoot, path, false);
      addLevels(cgroupRoot + "/unified", path, false);  // hybrid mode
    } else if (names(controllers, "memory")) {
      addLevels(cgroupRoot + "/memory", path, true);
    }
  }
}

// The group and its ancestors, up to the mount. In a container the path may be seen from outside and not exist below
// the mount; then the walk ends at the mount, which is the container's own group.
void MemoryLimits::addLevels(const std::string& mount, std::string path, bool version1) {
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    const std::string folder = mount + path;
    Level level;
    level.version1 = version1;
    level.limitPath = folder + (version1 ? "/memory.limit_in_bytes" : "/memory.max");
    level.usagePath = folder + (version1 ? "/memory.usage_in_bytes" : "/memory.current");
    level.statPath = folder + "/memory.stat";
    if (accessible(level.limitPath)) levels_.push_back(std::move(level));
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

uint64_t MemoryLimits::limitOf(const Level& level) const {
  const uint64_t limit = numberIn(level.limitPath, kUnlimited);
  // Version 1 writes "no limit" as the largest multiple of a page.
  return level.version1 && limit >= (uint64_t{1} << 62) ? kUnlimited : limit;
}

uint64_t MemoryLimits::total_B() const {
  const SmallFile meminfo(meminfoPath_.c_str());
  uint64_t total = valueOf(meminfo.view(), "MemTotal:") * 1024;
  if (total == 0) total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const Level& level : levels_) total = std::min(total, limitOf(level));
  return total;
}

uint64_t MemoryLimits::cgroupAvailable_B() const {
  uint64_t available = kUnlimited;
  for (const Level& level : levels_) {
    const uint64_t limit = limitOf(level);
    if (limit == kUnlimited) continue;
    const uint64_t usage = numberIn(level.usagePath, 0);
    const SmallFile stat(level.statPath.c_str());
    const char* inactive = level.version1 ? "total_inactive_file " : "inactive_file ";
    const char* active = level.version1 ? "total_active_file " : "active_file ";
    const uint64_t reclaimable = std::min(usage, valueOf(stat.view(), inactive) + valueOf(stat.view(), active));
    const uint64_t held = usage - reclaimable;
    available = std::min(available, limit > held ? limit - held : 0);
  }
  return available;
}

uint64_t MemoryLimits::available_B() const {
  const SmallFile meminfo(meminfoPath_.c_str());
  const uint64_t machine = valueOf(meminfo.view(), "MemAvailable:") * 1024;
  const uint64_t cgroups = cgroupAvailable_B();
  return machine == 0 ? cgroups : std::min(machine, cgroups);
}

}  // namespace pumice::kmd
