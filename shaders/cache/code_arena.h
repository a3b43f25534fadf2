// Executable memory. One arena of a process holds all compiled code: memfd pages mapped twice, writable (never
// executable) and executable (never writable). Blocks are first-fit with coalescing; the arena grows by chunks and
// never shrinks before it dies. Thread safe: every call takes the arena's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace pumice::shader::cache {

struct CodeBlock {
  std::byte* write = nullptr;       // fill through this view …
  const std::byte* exec = nullptr;  // … run through this one
  size_t size_B = 0;                // as allocated (rounded up)
  explicit operator bool() const { return write != nullptr; }
};

class CodeArena {
 public:
  static constexpr size_t kAlign_B = 64;  // of every block
  static constexpr size_t kChunk_B = 1 << 20;

  CodeArena() = default;
  ~CodeArena();
  CodeArena(const CodeArena&) = delete;
  CodeArena& operator=(const CodeArena&) = delete;

  // The process-wide arena. Never destroyed: code may run while static destructors do.
  static CodeArena& instance();

  // An empty block if the system gives no more memory. The content is undefined.
  CodeBlock allocate(size_t size_B);
  // The code must not be running and not be reachable any more.
  void free(const CodeBlock& block);

  size_t usedBytes() const;
  size_t reservedBytes() const;

 private:
  struct Chunk {
    std::byte* write;
    std::byte* exec;
    size_t size_B;
    std::map<size_t, size_t> freeRanges;  // offset -> size, never two adjacent ones
  };
  bool growLocked(size_t size_B);

  mutable std::mutex mutex_;
  std::vector<Chunk> chunks_;  // guarded by mutex_
  size_t used_B_ = 0;          // guarded by mutex_
};

}  // namespace pumice::shader::cache
