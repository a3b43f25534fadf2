// Objects whose memory stays valid after destruction, until the pool itself goes: a worker that has just signalled a
// timeline may still look at its list of waiters when the application, woken by that very signal, destroys it. A late
// look at a recycled object is harmless by T's design, a look at freed memory never is.
//
// Threads: all functions from any thread; a short lock.
#pragma once

#include <memory>
#include <vector>

#include "backend/sched/thread_annotations.h"

namespace pumice::kmd {

// T is default-constructible once per slot and has `T* nextFree`.
template <typename T>
class StablePool {
 public:
  // Throws std::bad_alloc, changing nothing.
  T* acquire() PUMICE_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    if (!free_) addSlabLocked();
    T* object = free_;
    free_ = object->nextFree;
    object->nextFree = nullptr;
    return object;
  }

  void release(T* object) PUMICE_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    object->nextFree = free_;
    free_ = object;
  }

  // Calls visit(T&) for every slot, live or not.
  template <typename Visit>
  void forEach(Visit visit) PUMICE_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    for (const auto& slab : slabs_)
      for (size_t i = 0; i < kSlabObjects; ++i) visit(slab[i]);
  }

 private:
  static constexpr size_t kSlabObjects = 64;

  void addSlabLocked() PUMICE_REQUIRES(mutex_) {
    slabs_.push_back(std::make_unique<T[]>(kSlabObjects));
    for (size_t i = kSlabObjects; i-- > 0;) {
      slabs_.back()[i].nextFree = free_;
      free_ = &slabs_.back()[i];
    }
  }

  sched::Mutex mutex_;
  std::vector<std::unique_ptr<T[]>> slabs_ PUMICE_GUARDED_BY(mutex_);
  T* free_ PUMICE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace pumice::kmd
