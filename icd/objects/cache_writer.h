// Writes compiled code to the disk cache in the background, so that no pipeline waits for a disk.
//
// One writer serves the process; its one thread, of low priority, starts with the first entry. It is a thread of its
// own because those that compile must wait for no disk, and what is written for no compile. The end of a device waits
// for what it has put in, but not for long: a disk that hangs costs the cache an entry, not the application its end.
#pragma once

#include <pthread.h>

#include <atomic>
#include <deque>
#include <memory>

#include "backend/sched/thread_annotations.h"
#include "shaders/cache/disk_cache.h"

namespace pumice::icd {

class CacheWriter {
 public:
  CacheWriter() = default;
  /// Only for one that nobody has used, and for tests: waits for the entry that is being written, drops the others.
  ~CacheWriter();
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  static CacheWriter& instance();

  /// Any thread. Nothing is written when memory or threads run out, or when too much waits already.
  void write(std::shared_ptr<shader::cache::DiskCache> cache, const shader::cache::CacheKey& key,
             shader::cache::DiskCache::Entry code) noexcept PUMICE_EXCLUDES(mutex_);

  /// Waits until all that was put in for `cache` has been dealt with. False: not within `timeout_ns`.
  bool flush(const shader::cache::DiskCache& cache, uint64_t timeout_ns) PUMICE_EXCLUDES(mutex_);

 private:
  struct Item {
    std::shared_ptr<shader::cache::DiskCache> cache;
    shader::cache::CacheKey key;
    shader::cache::DiskCache::Entry code;
  };
  static void* threadMain(void* self);
  void run() PUMICE_EXCLUDES(mutex_);
  bool startLocked() PUMICE_REQUIRES(mutex_);
  bool isBusyWithLocked(const shader::cache::DiskCache& cache) const PUMICE_REQUIRES(mutex_);

  std::atomic<uint32_t> putCount_{0};   // the futex word of the thread
  std::atomic<uint32_t> doneCount_{0};  // and of those that flush
  std::atomic<bool> stopping_{false};

  sched::Mutex mutex_;
  std::deque<Item> waiting_ PUMICE_GUARDED_BY(mutex_);
  uint64_t waiting_B_ PUMICE_GUARDED_BY(mutex_) = 0;
  const shader::cache::DiskCache* current_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // being written to
  bool started_ PUMICE_GUARDED_BY(mutex_) = false;
  pthread_t thread_{};
};

}  // namespace pumice::icd
