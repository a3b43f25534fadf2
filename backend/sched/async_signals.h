// While it exists, the calling thread takes no signal but those that a fault raises synchronously. Threads of the
// driver are started inside one and inherit the mask: the application's signal handlers must not run on them.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace pumice::sched {

class AsyncSignalsBlocked {
 public:
  AsyncSignalsBlocked() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~AsyncSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AsyncSignalsBlocked(const AsyncSignalsBlocked&) = delete;
  AsyncSignalsBlocked& operator=(const AsyncSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace pumice::sched
