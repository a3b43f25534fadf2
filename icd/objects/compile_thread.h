// How threads that compile are started, and what they set up for themselves.
#pragma once

#include <pthread.h>

#include <cstddef>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "backend/sched/async_signals.h"

namespace pumice::icd {

/// Instruction selection recurses over the expression trees of large shaders: 8 MiB of stack, whatever the system's
/// limit is. False when the system gives no thread.
inline bool startCompileThread(pthread_t* thread, void* (*main)(void*), void* argument) {
  constexpr size_t kStackBytes = 8u << 20;
  const sched::AsyncSignalsBlocked blocked;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = pthread_create(thread, &attributes, main, argument);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

/// First on such a thread: round to nearest, nothing flushed, all exceptions masked, whatever the creator had.
inline void setCompileThreadFloatState() {
#if defined(__x86_64__)
  _mm_setcsr(0x1f80);
#endif
}

}  // namespace pumice::icd
