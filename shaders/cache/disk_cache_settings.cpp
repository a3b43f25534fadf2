#include "shaders/cache/disk_cache_settings.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>

#include "backend/trace/log.h"

namespace pumice::shader::cache {
namespace {

constexpr uint64_t kDefaultLimit_MiB = 512;
constexpr uint64_t kMostLimit_MiB = uint64_t{1} << 30;  // a pebibyte: bytes fit into 64 bits

bool isAbsolute(const char* path) {
  return path != nullptr && path[0] == '/';
}

std::string directoryFrom(const char* (*lookUp)(const char*)) {
  if (const char* chosen = lookUp("PUMICE_CACHE_DIR"); chosen != nullptr && chosen[0] != '\0') {
    if (isAbsolute(chosen)) return chosen;
    PUMICE_WARNING("cache", "PUMICE_CACHE_DIR is no absolute path: %s. Nothing is kept on disk", chosen);
    return {};
  }
  // XDG Base Directory Specification: paths in these variables that are not absolute are to be ignored.
  if (const char* xdg = lookUp("XDG_CACHE_HOME"); isAbsolute(xdg)) return std::string(xdg) + "/pumice";
  if (const char* home = lookUp("HOME"); isAbsolute(home)) return std::string(home) + "/.cache/pumice";
  return {};
}

}  // namespace

DiskCacheSettings diskCacheSettings(const char* (*lookUp)(const char* name)) {
  DiskCacheSettings settings;
  if (const char* wish = lookUp("PUMICE_CACHE"); wish != nullptr && std::strcmp(wish, "0") == 0) return settings;
  uint64_t limit_MiB = kDefaultLimit_MiB;
  if (const char* text = lookUp("PUMICE_CACHE_MIB"); text != nullptr) {
    char* end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    if (end != text && *end == '\0') {
      limit_MiB = number < kMostLimit_MiB ? number : kMostLimit_MiB;
    } else {
      PUMICE_WARNING("cache", "PUMICE_CACHE_MIB is no number: %s", text);
    }
  }
  if (limit_MiB == 0) return settings;
  settings.limit_B = limit_MiB << 20;
  settings.directory = directoryFrom(lookUp);
  return settings;
}

DiskCacheSettings diskCacheSettings() {
  // Such a program must neither run code from nor write into a directory that its user chose.
  if (getauxval(AT_SECURE) != 0) return {};
  return diskCacheSettings([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace pumice::shader::cache
