// Compiled code in files, one a key, for all processes of a user.
//
// A file is written under another name and renamed when it is whole, so that a reader sees a whole file or none; every
// process may read, write and evict at any time without a lock. Files are read with care all the same: one that was
// cut, damaged or made by somebody else is a miss. No failure of the file system is an error: reading is a miss,
// writing is not done, and the log says so once. Not a defence against whoever may write into the directory: the
// directory must belong to the user (or root) and not be writable by everybody.
//
// Any thread. find() blocks for as long as reading the file takes; store() is for a thread that may wait (the cache's
// writer, icd/objects/cache_writer.h).
#pragma once

#include <time.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "shaders/cache/code_record.h"
#include "shaders/cache/disk_cache_settings.h"

namespace pumice::shader::cache {

class DiskCache {
 public:
  using Entry = std::shared_ptr<const CachedCode>;

  /// Touches no file. The directory is opened at the first find(), made at the first store().
  explicit DiskCache(DiskCacheSettings settings);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// nullptr: not here, or not to be trusted. Marks the file as used.
  Entry find(const CacheKey& key);
  /// Quick code never takes the place of anything. Evicts what has not been used for longest when there is too much.
  void store(const CacheKey& key, const CachedCode& code);

  /// The file's name in the directory.
  static std::string fileName(const CacheKey& key);

 private:
  class Directory;
  std::shared_ptr<const Directory> directory(bool make);
  Entry read(int fd, const CacheKey& key, time_t* used_s) const;
  int write(const Directory& directory, const std::string& name, const CodeRecordHeader& header,
            const CachedCode& code);
  void account(const Directory& directory, uint64_t bytes);
  void complain(const char* what, int error);

  const DiskCacheSettings settings_;

  std::mutex mutex_;  // of the next two
  std::shared_ptr<const Directory> directory_;
  bool refused_ = false;  // the directory is not to be trusted

  std::atomic<bool> complained_{false};
  std::atomic<uint64_t> pausedUntil_ns_{0};  // after a failure nothing is written for a while

  std::mutex accountMutex_;  // of the next three
  bool counted_ = false;
  uint64_t total_B_ = 0;    // in the directory, when it was counted, and what was written since
  uint64_t written_B_ = 0;  // since it was counted
};

}  // namespace pumice::shader::cache
