// Compiled objects by content: what a VkPipelineCache holds.
//
// A key is a hash over everything that decides about the code: SPIR-V, entry point, specialisation, bindings, subgroup
// size, code generation options, ABI version, build id and CPU features. Thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "shaders/compiler.h"

namespace pumice::icd {

struct CacheKey {
  uint64_t low, high;
  auto operator<=>(const CacheKey&) const = default;
};

/// A hash of the build id (the compiler's sources and settings) and of this CPU's features: object code is only valid
/// for both.
uint64_t compilerIdentity();

CacheKey cacheKey(const shader::ComputeCompileInfo& info);

class ObjectCache {
 public:
  using Entry = std::shared_ptr<const shader::CompiledObject>;

  /// nullptr: not here.
  Entry find(const CacheKey& key) const;
  void insert(const CacheKey& key, Entry entry);
  void merge(const ObjectCache& from);

  /// Records as bytes. Each carries a checksum that covers key, identity and content; a record that does not match, or
  /// a blob that ends early, is left out on reading.
  size_t serializedBytes() const;
  /// Writes whole records while they fit; returns the bytes written.
  size_t serialize(std::span<std::byte> out) const;
  void deserialize(std::span<const std::byte> in);

 private:
  mutable std::mutex lock_;
  std::map<CacheKey, Entry> entries_;
};

}  // namespace pumice::icd
