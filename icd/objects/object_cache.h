// Compiled code by content: what a VkPipelineCache holds.
//
// An entry is the code of one shader stage. A key is a hash over everything that decides about the code but its tier:
// stage, SPIR-V, entry point, specialisation, bindings, subgroup size, the state that fragment code is compiled for,
// code generation options, ABI version, build id, LLVM version and CPU features. Of two tiers the better one stays.
// Thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "shaders/cache/code_record.h"
#include "shaders/compiler.h"

namespace pumice::icd {

using shader::cache::CacheKey;

/// Of the words of a module. Made once a module, as it reads all of it.
struct SpirvHash {
  uint64_t low, high, words;
};
SpirvHash spirvHash(std::span<const uint32_t> spirv);

/// `fragment` of fragment stages, else nullptr.
CacheKey cacheKey(VkShaderStageFlagBits stage, const shader::ShaderCompileInfo& info, const SpirvHash& spirv,
                  const shader::FragmentKey* fragment);

class ObjectCache {
 public:
  using Entry = std::shared_ptr<const shader::cache::CachedCode>;

  /// The best there is; nullptr: not here.
  Entry find(const CacheKey& key) const;
  void insert(const CacheKey& key, Entry entry);
  /// Better code that the background made, for later calls of find(). An application that has asked for the size of the
  /// data expects them to fit when it asks for the data: bytes get it only with the next question for the size, or if
  /// there is room.
  void insertLate(const CacheKey& key, Entry entry);
  void merge(const ObjectCache& from);

  /// Records as bytes. Each carries a checksum that covers key, identity and content; a record that does not match, or
  /// a blob that ends early, is left out on reading.
  size_t serializedBytes();
  struct Written {
    size_t bytes = 0;
    bool complete = true;
  };
  /// Writes whole records while they fit.
  Written serialize(std::span<std::byte> out) const;
  void deserialize(std::span<const std::byte> in);

 private:
  struct Slot {
    Entry entry;
    Entry late;  // takes the place of `entry`
    const Entry& best() const { return late ? late : entry; }
  };
  void insertLocked(const CacheKey& key, Entry entry);

  mutable std::mutex lock_;
  std::map<CacheKey, Slot> entries_;
};

}  // namespace pumice::icd
