#include "icd/wsi/wayland_library.h"

#include <dlfcn.h>

#include "backend/trace/log.h"

namespace pumice::icd {
namespace {

struct Loaded {
  WaylandLibrary names;
  bool complete = false;

  Loaded() {
    void* library = dlopen("libwayland-client.so.0", RTLD_NOW | RTLD_LOCAL);
    complete = library != nullptr;
#define PUMICE_RESOLVE(name)                                                    \
  if (complete) {                                                               \
    names.name = reinterpret_cast<decltype(names.name)>(dlsym(library, #name)); \
    complete = names.name != nullptr;                                           \
  }
    PUMICE_WAYLAND(PUMICE_RESOLVE)
#undef PUMICE_RESOLVE
    if (!complete) PUMICE_ERROR("wsi", "Wayland surfaces cannot be used: no libwayland-client.so.0 of 1.20 or newer");
  }
};

}  // namespace

const WaylandLibrary* waylandLibrary() {
  static const Loaded loaded;
  return loaded.complete ? &loaded.names : nullptr;
}

}  // namespace pumice::icd
