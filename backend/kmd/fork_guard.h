// Tells a forked child from the process that opened the device. The child inherits objects whose worker threads are not
// there and whose locks may be held for ever, so every entry point of the driver asks inForkedChild() first and returns
// device lost without touching a lock.
//
// Only fork() and what calls its handlers is seen; vfork and raw clone are followed by exec, or are on their own.
#pragma once

#include <atomic>

namespace pumice::kmd {

namespace detail {
extern std::atomic<bool> forkedChild;
}

// Called when the first device opens (any thread, any number of times; cheap after the first). A process that forks
// before it opens a device is not concerned: its child may open one of its own.
void armForkGuard() noexcept;

// One relaxed load. True for ever in a child of a process that had armed the guard, and in that child's children.
inline bool inForkedChild() noexcept {
  return detail::forkedChild.load(std::memory_order_relaxed);
}

}  // namespace pumice::kmd
