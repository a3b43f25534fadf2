#include "icd/objects/object_cache.h"

#include <cstring>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "icd/objects/capabilities.h"
#include "shaders/cache/compiler_identity.h"

namespace pumice::icd {
namespace {

using shader::cache::CodeRecordHeader;

size_t recordBytes(const shader::cache::CachedCode& code) {
  return sizeof(CodeRecordHeader) + ((code.object.elf.size() + 7) & ~size_t{7});
}

}  // namespace

SpirvHash spirvHash(std::span<const uint32_t> spirv) {
  const XXH128_hash_t hash = XXH3_128bits(spirv.data(), spirv.size_bytes());
  return {hash.low64, hash.high64, spirv.size()};
}

CacheKey cacheKey(VkShaderStageFlagBits stage, const shader::ShaderCompileInfo& info, const SpirvHash& spirv,
                  const shader::FragmentKey* fragment) {
  // A member that is not hashed below is a bug: code would be taken for what it is not.
  static_assert(sizeof(shader::ShaderCompileInfo) == 72 && sizeof(shader::TargetOptions) == 12);
  XXH3_state_t state;
  XXH3_128bits_reset_withSeed(&state, shader::cache::compilerIdentity());
  const auto add = [&](const auto& value) { XXH3_128bits_update(&state, &value, sizeof value); };
  add(abi::kShaderAbiVersion);
  add(stage);
  add(hostInfo().vectorLanes);
  add(info.subgroupSize);
  add(info.target.vectorLanes);
  add(info.target.gangVectors);
  add(info.target.boundsChecks);
  add(spirv);
  XXH3_128bits_update(&state, info.entryPoint, std::strlen(info.entryPoint) + 1);
  add(info.specConstants.size());  // or the bindings might be taken for some more
  for (const shader::SpecConstant& c : info.specConstants) {
    add(c.id);
    add(c.size_B);
    add(c.bits);
  }
  XXH3_128bits_update(&state, info.bindings.data(), info.bindings.size_bytes());
  static_assert(std::has_unique_object_representations_v<shader::FragmentKey>);  // no padding
  if (fragment != nullptr) add(*fragment);
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return {hash.low64, hash.high64};
}

ObjectCache::Entry ObjectCache::find(const CacheKey& key) const {
  std::lock_guard lock(lock_);
  const auto at = entries_.find(key);
  return at != entries_.end() ? at->second.best() : nullptr;
}

void ObjectCache::insertLocked(const CacheKey& key, Entry entry) {
  Slot& slot = entries_[key];
  if (slot.best() && (!slot.best()->isQuick() || entry->isQuick())) return;
  slot = {std::move(entry), nullptr};
}

void ObjectCache::insert(const CacheKey& key, Entry entry) {
  std::lock_guard lock(lock_);
  insertLocked(key, std::move(entry));
}

void ObjectCache::insertLate(const CacheKey& key, Entry entry) {
  std::lock_guard lock(lock_);
  entries_[key].late = std::move(entry);
}

void ObjectCache::merge(const ObjectCache& from) {
  std::scoped_lock lock(lock_, from.lock_);
  for (const auto& [key, slot] : from.entries_) insertLocked(key, slot.best());
}

size_t ObjectCache::serializedBytes() {
  std::lock_guard lock(lock_);
  size_t bytes = 0;
  for (auto& [key, slot] : entries_) {
    slot = {slot.best(), nullptr};
    bytes += recordBytes(*slot.entry);
  }
  return bytes;
}

ObjectCache::Written ObjectCache::serialize(std::span<std::byte> out) const {
  std::lock_guard lock(lock_);
  size_t wanted = 0;
  for (const auto& [key, slot] : entries_) wanted += recordBytes(*slot.best());
  const bool lateFit = wanted <= out.size();
  Written written;
  for (const auto& [key, slot] : entries_) {
    const Entry& entry = lateFit ? slot.best() : slot.entry;
    if (!entry) continue;
    const size_t bytes = recordBytes(*entry);
    if (out.size() - written.bytes < bytes) {
      written.complete = false;
      continue;
    }
    const CodeRecordHeader header = makeRecordHeader(key, *entry);
    const std::vector<std::byte>& elf = entry->object.elf;
    std::byte* at = out.data() + written.bytes;
    std::memset(at, 0, bytes);
    std::memcpy(at, &header, sizeof header);
    std::memcpy(at + sizeof header, elf.data(), elf.size());
    written.bytes += bytes;
  }
  return written;
}

void ObjectCache::deserialize(std::span<const std::byte> in) {
  while (in.size() >= sizeof(CodeRecordHeader)) {
    CodeRecordHeader header;
    std::memcpy(&header, in.data(), sizeof header);
    in = in.subspan(sizeof header);
    if (header.elfBytes > in.size()) return;
    const std::span<const std::byte> elf = in.first(header.elfBytes);
    if (isAuthentic(header, elf)) {
      auto code = std::make_shared<shader::cache::CachedCode>();
      readRecordHeader(header, code.get());
      code->object.elf.assign(elf.begin(), elf.end());
      insert(header.key, std::move(code));
    }
    const size_t padded = (header.elfBytes + 7) & ~size_t{7};
    in = in.subspan(padded < in.size() ? padded : in.size());
  }
}

}  // namespace pumice::icd
