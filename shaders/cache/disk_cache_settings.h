// Where the disk cache is and how large it may grow: what the environment says.
#pragma once

#include <cstdint>
#include <string>

namespace pumice::shader::cache {

struct DiskCacheSettings {
  std::string directory;  // absolute; empty: there is no disk cache
  uint64_t limit_B = 0;
};

/// PUMICE_CACHE_DIR, or $XDG_CACHE_HOME/pumice, or $HOME/.cache/pumice. None with PUMICE_CACHE=0, PUMICE_CACHE_MIB=0,
/// without a home, and for programs that run with more rights than their user has (setuid, setgid, capabilities). Reads
/// the environment, so the application's threads alone may call it; touches no file.
DiskCacheSettings diskCacheSettings();

/// The same with PUMICE_CACHE_MIB and the like from `lookUp` (nullptr: not set), of a program without extra rights.
DiskCacheSettings diskCacheSettings(const char* (*lookUp)(const char* name));

}  // namespace pumice::shader::cache
