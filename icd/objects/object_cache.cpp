#include "icd/objects/object_cache.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "icd/objects/capabilities.h"
#include "pumice_build_id.h"

namespace pumice::icd {
namespace {

struct RecordHeader {
  CacheKey key;
  uint64_t checkLow, checkHigh;
  uint64_t elfBytes;
  shader::ComputeCodeInfo info;
};
static_assert(sizeof(RecordHeader) == 72);

XXH128_hash_t checksum(const RecordHeader& header, std::span<const std::byte> elf) {
  RecordHeader plain = header;
  plain.checkLow = plain.checkHigh = 0;
  const XXH64_hash_t seed = XXH3_64bits_withSeed(&plain, sizeof plain, compilerIdentity());
  return XXH3_128bits_withSeed(elf.data(), elf.size(), seed);
}

size_t recordBytes(const shader::CompiledObject& object) {
  return sizeof(RecordHeader) + ((object.elf.size() + 7) & ~7ull);
}

bool isQuick(const shader::CompiledObject& object) {
  return (object.info.flags & shader::kCodeIsQuick) != 0;
}

// What CPUID says about instruction sets; the compiler may use any of them.
struct CpuFeatures {
  uint32_t words[8] = {};
};

CpuFeatures cpuFeatures() {
  CpuFeatures f;
#if defined(__x86_64__)
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    f.words[0] = c & ~(1u << 27);  // all but OSXSAVE, which is no instruction set
    f.words[1] = d;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    f.words[2] = b;
    f.words[3] = c;
    f.words[4] = d;
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) f.words[5] = a;
#endif
  return f;
}

}  // namespace

uint64_t compilerIdentity() {
  static const uint64_t identity = [] {
    const CpuFeatures features = cpuFeatures();
    const XXH64_hash_t build = XXH3_64bits(PUMICE_BUILD_ID, sizeof PUMICE_BUILD_ID);
    return XXH3_64bits_withSeed(&features, sizeof features, build);
  }();
  return identity;
}

CacheKey cacheKey(const shader::ComputeCompileInfo& info) {
  XXH3_state_t state;
  XXH3_128bits_reset_withSeed(&state, compilerIdentity());
  const auto add = [&](const auto& value) { XXH3_128bits_update(&state, &value, sizeof value); };
  add(abi::kShaderAbiVersion);
  add(hostInfo().vectorLanes);
  add(info.subgroupSize);
  add(info.target.vectorLanes);
  add(info.target.gangVectors);
  add(info.target.boundsChecks);
  add(info.spirv.size());
  XXH3_128bits_update(&state, info.spirv.data(), info.spirv.size_bytes());
  XXH3_128bits_update(&state, info.entryPoint, std::strlen(info.entryPoint) + 1);
  add(info.specConstants.size());  // or the bindings might be taken for some more
  for (const shader::SpecConstant& c : info.specConstants) {
    add(c.id);
    add(c.size_B);
    add(c.bits);
  }
  XXH3_128bits_update(&state, info.bindings.data(), info.bindings.size_bytes());
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
  if (slot.best() && !isQuick(*slot.best())) return;
  if (slot.best() && isQuick(*entry)) return;
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
    RecordHeader header{key, 0, 0, entry->elf.size(), entry->info};
    const XXH128_hash_t check = checksum(header, entry->elf);
    header.checkLow = check.low64;
    header.checkHigh = check.high64;
    std::byte* at = out.data() + written.bytes;
    std::memset(at, 0, bytes);
    std::memcpy(at, &header, sizeof header);
    std::memcpy(at + sizeof header, entry->elf.data(), entry->elf.size());
    written.bytes += bytes;
  }
  return written;
}

void ObjectCache::deserialize(std::span<const std::byte> in) {
  while (in.size() >= sizeof(RecordHeader)) {
    RecordHeader header;
    std::memcpy(&header, in.data(), sizeof header);
    in = in.subspan(sizeof header);
    if (header.elfBytes > in.size()) return;
    const std::span<const std::byte> elf = in.first(header.elfBytes);
    const XXH128_hash_t check = checksum(header, elf);
    if (check.low64 == header.checkLow && check.high64 == header.checkHigh) {
      auto object = std::make_shared<shader::CompiledObject>();
      object->info = header.info;
      object->elf.assign(elf.begin(), elf.end());
      insert(header.key, std::move(object));
    }
    const size_t padded = (header.elfBytes + 7) & ~size_t{7};
    in = in.subspan(padded < in.size() ? padded : in.size());
  }
}

}  // namespace pumice::icd
