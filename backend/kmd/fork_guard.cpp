#include "backend/kmd/fork_guard.h"

#include <pthread.h>

namespace pumice::kmd {

namespace detail {
constinit std::atomic<bool> forkedChild{false};
}

namespace {

constinit std::atomic<bool> g_armed{false};

void onForkInChild() {
  detail::forkedChild.store(true, std::memory_order_relaxed);
}

}  // namespace

void armForkGuard() noexcept {
  if (g_armed.exchange(true, std::memory_order_acq_rel)) return;
  // ENOMEM leaves the guard off; the next device tries again.
  if (pthread_atfork(nullptr, nullptr, onForkInChild) != 0) g_armed.store(false, std::memory_order_release);
}

}  // namespace pumice::kmd
