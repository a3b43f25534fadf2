#include "shaders/cache/code_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

namespace pumice::shader::cache {
namespace {

constexpr size_t roundUp(size_t v, size_t align) {
  return (v + align - 1) / align * align;
}

}  // namespace

CodeArena& CodeArena::instance() {
  static CodeArena* const arena = new CodeArena;
  return *arena;
}

CodeArena::~CodeArena() {
  for (const Chunk& c : chunks_) {
    munmap(c.write, c.size_B);
    munmap(c.exec, c.size_B);
  }
}

bool CodeArena::growLocked(size_t size_B) {
  const size_t bytes = roundUp(size_B, kChunk_B);
  const int fd = memfd_create("pumice-code", MFD_CLOEXEC);
  if (fd < 0) return false;
  void* write = MAP_FAILED;
  void* exec = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    write = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    exec = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
  }
  close(fd);  // the mappings keep the pages
  if (write == MAP_FAILED || exec == MAP_FAILED) {
    if (write != MAP_FAILED) munmap(write, bytes);
    if (exec != MAP_FAILED) munmap(exec, bytes);
    return false;
  }
  chunks_.push_back({static_cast<std::byte*>(write), static_cast<std::byte*>(exec), bytes, {{0, bytes}}});
  return true;
}

CodeBlock CodeArena::allocate(size_t size_B) {
  // Far below what would wrap; a larger object is malformed.
  if (size_B == 0 || size_B > (size_t{1} << 31)) return {};
  const size_t bytes = roundUp(size_B, kAlign_B);
  const std::lock_guard lock(mutex_);
  for (int attempt = 0; attempt < 2; attempt++) {
    for (Chunk& c : chunks_) {
      const auto range =
          std::find_if(c.freeRanges.begin(), c.freeRanges.end(), [&](const auto& r) { return r.second >= bytes; });
      if (range == c.freeRanges.end()) continue;
      const auto [offset, available] = *range;
      c.freeRanges.erase(range);
      if (available > bytes) c.freeRanges.emplace(offset + bytes, available - bytes);
      used_B_ += bytes;
      return {c.write + offset, c.exec + offset, bytes};
    }
    if (attempt == 0 && !growLocked(bytes)) return {};
  }
  return {};
}

void CodeArena::free(const CodeBlock& block) {
  if (!block) return;
  const std::lock_guard lock(mutex_);
  for (Chunk& c : chunks_) {
    if (block.write < c.write || block.write >= c.write + c.size_B) continue;
    size_t offset = static_cast<size_t>(block.write - c.write);
    size_t size = block.size_B;
    used_B_ -= size;
    const auto next = c.freeRanges.lower_bound(offset);
    if (next != c.freeRanges.begin()) {
      const auto previous = std::prev(next);
      assert(previous->first + previous->second <= offset && "freed twice");
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        size += previous->second;
        c.freeRanges.erase(previous);
      }
    }
    if (next != c.freeRanges.end() && next->first == offset + size) {
      size += next->second;
      c.freeRanges.erase(next);
    }
    c.freeRanges.emplace(offset, size);
    return;
  }
  assert(false && "block of another arena");
}

size_t CodeArena::usedBytes() const {
  const std::lock_guard lock(mutex_);
  return used_B_;
}

size_t CodeArena::reservedBytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const Chunk& c : chunks_) sum += c.size_B;
  return sum;
}

}  // namespace pumice::shader::cache
