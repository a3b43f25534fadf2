#include "shaders/cache/disk_cache.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "backend/trace/log.h"
#include "shaders/cache/disk_cache_eviction.h"

namespace pumice::shader::cache {
namespace {

struct FileHeader {
  char magic[8];
  CodeRecordHeader record;
};
static_assert(sizeof(FileHeader) == 168);
constexpr char kMagic[8] = {'P', 'U', 'M', 'I', 'C', 'E', 'C', '1'};

constexpr int kReadFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;  // non-blocking: it might be a pipe
constexpr uint64_t kPause_ns = 30'000'000'000;
constexpr time_t kUseGranularity_s = 600;  // a file that was used so lately is not marked again

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// Reads both parts to their ends; false when the file is shorter.
bool readAll(int fd, std::span<std::byte> first, std::span<std::byte> second) {
  for (std::span<std::byte> part : {first, second}) {
    while (!part.empty()) {
      const ssize_t got = ::read(fd, part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      part = part.subspan(static_cast<size_t>(got));
    }
  }
  return true;
}

// 0 or an errno.
int writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return 0;
}

// The last two parts of the path, with the rights that the XDG specification asks for. What lies above is not ours to
// make: a home that does not exist has a meaning.
int makeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT) return errno;
  const std::string parent = path.substr(0, path.find_last_of('/', path.find_last_not_of('/')));
  if (parent.empty() || (mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)) return errno;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

class DiskCache::Directory {
 public:
  explicit Directory(int fd) : file_(fd) {}
  int fd() const { return file_.fd(); }

 private:
  File file_;
};

DiskCache::DiskCache(DiskCacheSettings settings) : settings_(std::move(settings)) {}
DiskCache::~DiskCache() = default;

std::string DiskCache::fileName(const CacheKey& key) {
  char name[33];
  std::snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64, key.high, key.low);
  return name;
}

void DiskCache::complain(const char* what, int error) {
  if (complained_.exchange(true, std::memory_order_relaxed)) return;
  PUMICE_WARNING("cache", "%s: %s: %s", settings_.directory.c_str(), what, std::strerror(error));
}

std::shared_ptr<const DiskCache::Directory> DiskCache::directory(bool make) {
  std::lock_guard lock(mutex_);
  if (refused_) return nullptr;
  if (directory_ != nullptr) {
    struct stat now {};
    // It may have been deleted meanwhile. Readers find nothing in it; a writer makes it again.
    if (!make || (fstat(directory_->fd(), &now) == 0 && now.st_nlink > 0)) return directory_;
    directory_ = nullptr;
  }
  const auto open = [&] { return ::open(settings_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); };
  int fd = open();
  if (fd < 0 && errno == ENOENT) {
    if (!make) return nullptr;  // an empty cache
    if (const int error = makeDirectory(settings_.directory); error != 0) {
      complain("the directory cannot be made", error);
      return nullptr;
    }
    fd = open();
  }
  if (fd < 0) {
    complain("the directory cannot be opened", errno);
    return nullptr;
  }
  auto opened = std::make_shared<const Directory>(fd);
  struct stat owner {};
  if (fstat(fd, &owner) != 0 || (owner.st_uid != geteuid() && owner.st_uid != 0) || (owner.st_mode & S_IWOTH) != 0) {
    refused_ = true;
    PUMICE_WARNING("cache", "%s belongs to somebody else or is writable by everybody: nothing is kept on disk",
                   settings_.directory.c_str());
    return nullptr;
  }
  directory_ = opened;
  return opened;
}

DiskCache::Entry DiskCache::find(const CacheKey& key) {
  const auto directory = this->directory(false);
  if (directory == nullptr) return nullptr;
  const std::string name = fileName(key);
  const File file(openat(directory->fd(), name.c_str(), kReadFlags));
  if (file.fd() < 0 && errno == ENOENT) return nullptr;
  if (file.fd() < 0 && errno != ELOOP) {  // a symbolic link is not followed, but replaced
    complain("a file cannot be opened", errno);
    return nullptr;
  }
  time_t used_s = 0;
  Entry code = file.fd() >= 0 ? read(file.fd(), key, &used_s) : nullptr;
  if (code == nullptr) {
    PUMICE_WARNING("cache", "%s/%s is damaged: it is made again", settings_.directory.c_str(), name.c_str());
    unlinkat(directory->fd(), name.c_str(), 0);  // where that is forbidden, it stays a miss
    return nullptr;
  }
  // Eviction goes by the time of modification, as most systems keep no exact time of access.
  if (time(nullptr) - used_s > kUseGranularity_s) futimens(file.fd(), nullptr);
  return code;
}

DiskCache::Entry DiskCache::read(int fd, const CacheKey& key, time_t* used_s) const {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  *used_s = status.st_mtim.tv_sec;
  const auto size = static_cast<uint64_t>(status.st_size);
  FileHeader header;
  if (size <= sizeof header || size > settings_.limit_B) return nullptr;
  auto code = std::make_shared<CachedCode>();
  code->object.elf.resize(size - sizeof header);
  if (!readAll(fd, std::as_writable_bytes(std::span(&header, 1)), code->object.elf)) return nullptr;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.record.key != key) return nullptr;
  if (!isAuthentic(header.record, code->object.elf)) return nullptr;
  readRecordHeader(header.record, code.get());
  return code;
}

void DiskCache::store(const CacheKey& key, const CachedCode& code) {
  const uint64_t bytes = sizeof(FileHeader) + code.object.elf.size();
  if (bytes > settings_.limit_B / 4 || now_ns() < pausedUntil_ns_.load(std::memory_order_relaxed)) return;
  const auto directory = this->directory(true);
  int error = 0;
  if (directory != nullptr) {
    const std::string name = fileName(key);
    // Another process may have had better code. (One that writes it between these lines makes it again one day.)
    if (code.isQuick() && faccessat(directory->fd(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return;
    error = write(*directory, name, makeRecordHeader(key, code), code);
    if (error != 0) complain("a file cannot be written", error);
  }
  if (directory == nullptr || error != 0) {
    pausedUntil_ns_.store(now_ns() + kPause_ns, std::memory_order_relaxed);
    return;
  }
  account(*directory, bytes);
}

int DiskCache::write(const Directory& directory, const std::string& name, const CodeRecordHeader& header,
                     const CachedCode& code) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) random = now_ns();
  char temporary[sizeof kTemporaryPrefix + 16];
  std::snprintf(temporary, sizeof temporary, "%s%016" PRIx64, kTemporaryPrefix, random);
  FileHeader start{};
  std::memcpy(start.magic, kMagic, sizeof kMagic);
  start.record = header;
  File file(openat(directory.fd(), temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.fd() < 0) return errno;
  int error = writeAll(file.fd(), std::as_bytes(std::span(&start, 1)));
  if (error == 0) error = writeAll(file.fd(), code.object.elf);
  if (file.close() != 0 && error == 0) error = errno;  // where network file systems and quotas tell
  if (error == 0 && renameat(directory.fd(), temporary, directory.fd(), name.c_str()) != 0) error = errno;
  if (error != 0) unlinkat(directory.fd(), temporary, 0);
  return error;
}

void DiskCache::account(const Directory& directory, uint64_t bytes) {
  std::lock_guard lock(accountMutex_);
  const uint64_t taken = occupiedBytes(bytes);
  total_B_ += taken;
  written_B_ += taken;
  // Other processes write too, so the directory is counted again after every sixteenth of the limit.
  if (counted_ && total_B_ <= settings_.limit_B && written_B_ < settings_.limit_B / 16) return;
  total_B_ = evict(directory.fd(), settings_.limit_B);
  counted_ = true;
  written_B_ = 0;
}

}  // namespace pumice::shader::cache
