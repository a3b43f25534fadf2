#include "icd/entry/entry_guard.h"

#include <pthread.h>

#include <cstdlib>

#include "backend/trace/log.h"
#include "icd/objects/command_buffer.h"

namespace pumice::icd {

constinit std::atomic<uint32_t> gEntryFlags{0};

namespace {

constinit std::atomic<uint32_t> gLiveInstances{0};
constinit std::atomic<bool> gHandlerSet{false};

// Runs in the child with only async-signal-safe things allowed: two atomics.
void inForkedChild() {
  if (gLiveInstances.load(std::memory_order_relaxed) != 0) {
    gEntryFlags.fetch_or(kEntryForked, std::memory_order_relaxed);
  }
}

}  // namespace

void EntryScope::enter() const {
  if ((flags_ & kEntryForked) != 0) return;
  PUMICE_DEBUG("api", "%s", name_);
}

void EntryScope::outOfMemory() const {
  PUMICE_ERROR("api", "%s: out of host memory", name_);
}

void EntryScope::unexpectedException() const {
  PUMICE_ERROR("api", "%s: unexpected exception (a driver bug)", name_);
}

void failRecording(VkCommandBuffer commands) {
  CommandBuffer::from(commands)->stream().fail();
}

void instanceCreated() {
  if (!gHandlerSet.exchange(true)) {
    pthread_atfork(nullptr, nullptr, inForkedChild);
    if (std::getenv("PUMICE_TRACE_API") != nullptr) gEntryFlags.fetch_or(kEntryTrace, std::memory_order_relaxed);
  }
  gLiveInstances.fetch_add(1, std::memory_order_relaxed);
}

void instanceDestroyed() {
  gLiveInstances.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace pumice::icd
