// Clang's thread-safety annotations, and a mutex that carries them (std::mutex of libstdc++ does not). With GCC the
// annotations are empty; with Clang -Wthread-safety proves that guarded members are touched under their lock only.
//
// Functions whose name ends in Locked are annotated PUMICE_REQUIRES(mutex).
#pragma once

#include <mutex>

#if defined(__clang__)
#define PUMICE_TSA(x) __attribute__((x))
#else
#define PUMICE_TSA(x)
#endif

#define PUMICE_CAPABILITY(name) PUMICE_TSA(capability(name))
#define PUMICE_SCOPED_CAPABILITY PUMICE_TSA(scoped_lockable)
#define PUMICE_GUARDED_BY(mutex) PUMICE_TSA(guarded_by(mutex))
#define PUMICE_PT_GUARDED_BY(mutex) PUMICE_TSA(pt_guarded_by(mutex))
#define PUMICE_REQUIRES(...) PUMICE_TSA(requires_capability(__VA_ARGS__))
#define PUMICE_EXCLUDES(...) PUMICE_TSA(locks_excluded(__VA_ARGS__))
#define PUMICE_ACQUIRE(...) PUMICE_TSA(acquire_capability(__VA_ARGS__))
#define PUMICE_RELEASE(...) PUMICE_TSA(release_capability(__VA_ARGS__))
#define PUMICE_TRY_ACQUIRE(...) PUMICE_TSA(try_acquire_capability(__VA_ARGS__))
#define PUMICE_NO_THREAD_SAFETY_ANALYSIS PUMICE_TSA(no_thread_safety_analysis)

namespace pumice::sched {

class PUMICE_CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() PUMICE_ACQUIRE() { mutex_.lock(); }
  void unlock() PUMICE_RELEASE() { mutex_.unlock(); }
  bool tryLock() PUMICE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

  // For std::condition_variable and std::unique_lock, which the analysis cannot follow.
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

// Holds the mutex for its scope; may be unlocked early, and locked again.
class PUMICE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PUMICE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() PUMICE_RELEASE() {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() PUMICE_RELEASE() {
    mutex_.unlock();
    held_ = false;
  }
  void lock() PUMICE_ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

}  // namespace pumice::sched
