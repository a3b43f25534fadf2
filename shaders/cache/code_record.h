// Compiled code as bytes: the records of VkPipelineCache data and of the files of the disk cache.
//
//   CodeRecordHeader, then the ELF object
//
// The header's checksum covers key, facts, code and compilerIdentity(): a record that was cut, changed, or written by
// another build or for another CPU is not taken. It guards against accidents; whoever can write the bytes on purpose
// can also compute the checksum. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "shaders/compiler.h"

namespace pumice::shader::cache {

/// A hash over everything that decides about code but its tier.
struct CacheKey {
  uint64_t low, high;
  auto operator<=>(const CacheKey&) const = default;
};

/// Immutable once it is in a cache.
struct CachedCode {
  CompiledObject object;
  uint64_t compile_ns = 0;  // processor time that making it took

  bool isQuick() const { return (object.info.flags & kCodeIsQuick) != 0; }
};

struct CodeRecordHeader {
  CacheKey key;
  uint64_t checkLow, checkHigh;
  uint64_t elfBytes;
  uint64_t compile_ns;
  ComputeCodeInfo info;
  VertexInterface vertex;
  FragmentInterface fragment;
  uint32_t reserved;
};
static_assert(sizeof(CodeRecordHeader) == 160);  // no padding: it is hashed

CodeRecordHeader makeRecordHeader(const CacheKey& key, const CachedCode& code);

/// The other way: all but the ELF object.
void readRecordHeader(const CodeRecordHeader& header, CachedCode* code);

/// Whether `elf` is what the header was made for, by this build on such a CPU.
bool isAuthentic(const CodeRecordHeader& header, std::span<const std::byte> elf);

}  // namespace pumice::shader::cache
