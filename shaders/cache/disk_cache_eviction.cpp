#include "shaders/cache/disk_cache_eviction.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backend/trace/log.h"

namespace pumice::shader::cache {
namespace {

constexpr time_t kAbandoned_s = 3600;  // no write takes so long

struct Found {
  std::string name;
  uint64_t bytes;
  timespec used;
};

bool isEntry(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool usedBefore(const Found& a, const Found& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

// All entries; on the way, what was abandoned half-written goes.
std::vector<Found> list(int directory) {
  std::vector<Found> found;
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with a position of its own
  DIR* stream = copy >= 0 ? fdopendir(copy) : nullptr;
  if (stream == nullptr) {
    if (copy >= 0) close(copy);
    return found;
  }
  const time_t now = time(nullptr);
  while (const dirent* at = readdir(stream)) {
    const std::string_view name = at->d_name;
    const bool temporary = name.starts_with(kTemporaryPrefix);
    if (!temporary && !isEntry(name)) continue;
    struct stat status {};
    if (fstatat(directory, at->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    if (!temporary) {
      found.push_back({std::string(name), occupiedBytes(static_cast<uint64_t>(status.st_size)), status.st_mtim});
    } else if (now - status.st_mtim.tv_sec > kAbandoned_s) {
      unlinkat(directory, at->d_name, 0);
    }
  }
  closedir(stream);
  return found;
}

}  // namespace

uint64_t evict(int directory, uint64_t limit_B) {
  std::vector<Found> found = list(directory);
  uint64_t total_B = 0;
  for (const Found& file : found) total_B += file.bytes;
  if (total_B <= limit_B) return total_B;
  std::sort(found.begin(), found.end(), usedBefore);
  size_t deleted = 0;
  for (const Found& file : found) {
    if (total_B <= limit_B - limit_B / 8) break;
    if (unlinkat(directory, file.name.c_str(), 0) == 0) ++deleted;
    total_B -= file.bytes;  // gone, or another process has deleted it
  }
  PUMICE_DEBUG("cache", "%zu of %zu files evicted", deleted, found.size());
  return total_B;
}

}  // namespace pumice::shader::cache
