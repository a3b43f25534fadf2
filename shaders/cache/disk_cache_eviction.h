// Keeps the directory of a disk cache below its limit. Several processes may do so at once.
#pragma once

#include <cstdint>

namespace pumice::shader::cache {

/// Names of files that are being written start with it.
inline constexpr char kTemporaryPrefix[] = ".writing-";

/// What a file of that many bytes takes of the limit: whole pages.
inline constexpr uint64_t occupiedBytes(uint64_t bytes) {
  return (bytes + 4095) & ~uint64_t{4095};
}

/// Counts the cache's files in the directory. If they take more than `limit_B`, those that were not used for longest
/// are deleted until an eighth of the limit is free. Deletes what processes that died have left half-written. Files
/// with other names are left alone and not counted. Returns the bytes that remain. Blocks for milliseconds.
uint64_t evict(int directory, uint64_t limit_B);

}  // namespace pumice::shader::cache
