// What every trampoline does around an entry point: the fork check, the trace hook and the net for exceptions. When
// nothing is special it costs one relaxed load and one predictable branch.
#pragma once

#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>

namespace pumice::icd {

inline constexpr uint32_t kEntryForked = 1u << 0;  // this process is a forked child of one that used the driver
inline constexpr uint32_t kEntryTrace = 1u << 1;   // PUMICE_TRACE_API: every call is logged

extern std::atomic<uint32_t> gEntryFlags;

inline bool isForkedChild() {
  return (gEntryFlags.load(std::memory_order_relaxed) & kEntryForked) != 0;
}

class EntryScope {
 public:
  explicit EntryScope(const char* name) : name_(name), flags_(gEntryFlags.load(std::memory_order_relaxed)) {
    if (flags_ != 0) [[unlikely]]
      enter();
  }
  bool forked() const { return (flags_ & kEntryForked) != 0; }
  void outOfMemory() const;
  void unexpectedException() const;

 private:
  void enter() const;

  const char* name_;
  uint32_t flags_;
};

/// After an exception in a vkCmd* function, which has no result: the recording ends with VK_ERROR_OUT_OF_HOST_MEMORY.
void failRecording(VkCommandBuffer commands);

/// Counts live instances. The threads that serve a device do not exist in a forked child and its locks may be held
/// forever, so a child forked while an instance lives gets device lost from every entry point and touches no lock. A
/// child forked before or after that may use the driver as any process.
void instanceCreated();
void instanceDestroyed();

}  // namespace pumice::icd
