#include "shaders/cache/compiler_identity.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shaders/cache/build_id.h"

namespace pumice::shader::cache {
namespace {

// The compiler may use any of them.
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

uint64_t findIdentity() {
  const CpuFeatures features = cpuFeatures();
  const XXH64_hash_t build = XXH3_64bits(buildId(), std::strlen(buildId()));
  uint64_t identity = XXH3_64bits_withSeed(&features, sizeof features, build);
#ifdef PUMICE_SEEDED_FAULTS
  // A fault in the compiler must not be met again when another one is seeded.
  if (const char* fault = std::getenv("PUMICE_SEEDED_FAULT")) {
    identity = XXH3_64bits_withSeed(fault, std::strlen(fault), identity);
  }
#endif
  return identity;
}

}  // namespace

uint64_t compilerIdentity() {
  static const uint64_t identity = findIdentity();
  return identity;
}

}  // namespace pumice::shader::cache
