#include "shaders/cache/code_record.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "backend/trace/seeded_fault.h"
#include "shaders/cache/compiler_identity.h"

namespace pumice::shader::cache {
namespace {

XXH128_hash_t checksum(const CodeRecordHeader& header, std::span<const std::byte> elf) {
  CodeRecordHeader plain = header;
  plain.checkLow = plain.checkHigh = 0;
  const XXH64_hash_t seed = XXH3_64bits_withSeed(&plain, sizeof plain, compilerIdentity());
  return XXH3_128bits_withSeed(elf.data(), elf.size(), seed);
}

}  // namespace

CodeRecordHeader makeRecordHeader(const CacheKey& key, const CachedCode& code) {
  CodeRecordHeader header{
      key, 0, 0, code.object.elf.size(), code.compile_ns, code.object.info, code.object.vertex, code.object.fragment,
      0};
  const XXH128_hash_t check = checksum(header, code.object.elf);
  header.checkLow = check.low64;
  header.checkHigh = check.high64;
  return header;
}

void readRecordHeader(const CodeRecordHeader& header, CachedCode* code) {
  code->object.info = header.info;
  code->object.vertex = header.vertex;
  code->object.fragment = header.fragment;
  code->compile_ns = header.compile_ns;
}

bool isAuthentic(const CodeRecordHeader& header, std::span<const std::byte> elf) {
  if (header.elfBytes != elf.size()) return false;
  if (PUMICE_SEEDED_FAULT("cache-believes-anything")) return true;
  const XXH128_hash_t check = checksum(header, elf);
  return check.low64 == header.checkLow && check.high64 == header.checkHigh;
}

}  // namespace pumice::shader::cache
