// Whose code it is: object code is valid only for the build that made it and for a CPU with the same features.
#pragma once

#include <cstdint>

namespace pumice::shader::cache {

/// A hash of the build id (sources, settings and LLVM's version) and of what CPUID says about instruction sets. Part of
/// every cache key, of every record's checksum and of pipelineCacheUUID. Any thread.
uint64_t compilerIdentity();

}  // namespace pumice::shader::cache
