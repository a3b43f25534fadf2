// One object of a process for what has threads: made at the first use, never destroyed (its threads may be at work when
// the process ends), and made anew in a forked child, which has neither those threads nor a say over their locks.
// (Entry points end a child of a process with a live instance; one without may use the driver as any process.)
#pragma once

#include <unistd.h>

#include <atomic>

namespace pumice::icd {

/// T's constructor starts no thread. Any thread.
template <typename T>
T& processInstance() {
  struct Node {
    pid_t process = getpid();
    T object;
  };
  static std::atomic<Node*> current{nullptr};
  Node* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->process != getpid()) {
    Node* made = new Node;
    if (current.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made->object;
    delete made;  // another thread was first
  }
  return known->object;
}

}  // namespace pumice::icd
