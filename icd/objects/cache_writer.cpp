#include "icd/objects/cache_writer.h"

#include <sys/resource.h>

#include <new>
#include <utility>

#include "backend/sched/async_signals.h"
#include "backend/sched/futex.h"
#include "backend/trace/log.h"
#include "icd/objects/process_instance.h"

namespace pumice::icd {
namespace {

constexpr uint64_t kMostWaiting_B = 64u << 20;  // a disk that hangs must not eat the memory
constexpr int kNice = 10;

}  // namespace

CacheWriter& CacheWriter::instance() {
  return processInstance<CacheWriter>();
}

CacheWriter::~CacheWriter() {
  stopping_.store(true, std::memory_order_relaxed);
  putCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(putCount_);
  sched::MutexLock lock(mutex_);
  const bool started = started_;
  lock.unlock();
  if (started) pthread_join(thread_, nullptr);
}

bool CacheWriter::startLocked() {
  if (started_) return true;
  const sched::AsyncSignalsBlocked blocked;
  started_ = pthread_create(&thread_, nullptr, threadMain, this) == 0;
  if (!started_) PUMICE_WARNING("cache", "no thread that writes: nothing is kept on disk");
  return started_;
}

void CacheWriter::write(std::shared_ptr<shader::cache::DiskCache> cache, const shader::cache::CacheKey& key,
                        shader::cache::DiskCache::Entry code) noexcept {
  try {
    const uint64_t bytes = code->object.elf.size();
    sched::MutexLock lock(mutex_);
    if (waiting_B_ + bytes > kMostWaiting_B || !startLocked()) return;
    waiting_.push_back({std::move(cache), key, std::move(code)});
    waiting_B_ += bytes;
  } catch (const std::bad_alloc&) {
    return;  // a cache may forget
  }
  putCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(putCount_);
}

bool CacheWriter::isBusyWithLocked(const shader::cache::DiskCache& cache) const {
  if (current_ == &cache) return true;
  for (const Item& item : waiting_) {
    if (item.cache.get() == &cache) return true;
  }
  return false;
}

bool CacheWriter::flush(const shader::cache::DiskCache& cache, uint64_t timeout_ns) {
  const uint64_t deadline_ns = sched::monotonicNow_ns() + timeout_ns;
  for (;;) {
    const uint32_t seen = doneCount_.load(std::memory_order_acquire);
    sched::MutexLock lock(mutex_);
    if (!isBusyWithLocked(cache)) return true;
    lock.unlock();
    if (!sched::futexWait(doneCount_, seen, deadline_ns)) return false;
  }
}

void* CacheWriter::threadMain(void* self) {
  pthread_setname_np(pthread_self(), "pumice-cache");
  // Of this thread alone, on Linux.
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  static_cast<CacheWriter*>(self)->run();
  return nullptr;
}

void CacheWriter::run() {
  sched::MutexLock lock(mutex_);
  for (;;) {
    const uint32_t seen = putCount_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    if (waiting_.empty()) {
      lock.unlock();
      sched::futexWait(putCount_, seen);
      lock.lock();
      continue;
    }
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_B_ -= item.code->object.elf.size();
    current_ = item.cache.get();
    lock.unlock();
    try {
      item.cache->store(item.key, *item.code);
    } catch (const std::bad_alloc&) {  // not kept
    }
    lock.lock();
    current_ = nullptr;
    lock.unlock();
    doneCount_.fetch_add(1, std::memory_order_release);
    sched::futexWake(doneCount_);
    item = {};  // the device may be gone: then the cache ends here
    lock.lock();
  }
}

}  // namespace pumice::icd
