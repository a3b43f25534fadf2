#include "icd/wsi/xcb_library.h"

#include <dlfcn.h>

#include "backend/trace/log.h"

namespace pumice::icd {
namespace {

template <typename Function>
bool resolve(void* library, const char* name, Function* out) {
  *out = library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  return *out != nullptr;
}

// Either all functions of a part are there, or the last ones are null, which hasShm() and hasRandr() look at.
#define PUMICE_RESOLVE(name) complete = complete && resolve(from, #name, &to->name);

bool resolveCore(void* from, XcbLibrary* to) {
  bool complete = true;
  PUMICE_XCB_CORE(PUMICE_RESOLVE)
  return complete;
}

void resolveShm(void* from, XcbLibrary* to) {
  bool complete = true;
  PUMICE_XCB_SHM(PUMICE_RESOLVE)
}

void resolveRandr(void* from, XcbLibrary* to) {
  bool complete = true;
  PUMICE_XCB_RANDR(PUMICE_RESOLVE)
}

#undef PUMICE_RESOLVE

struct Loaded {
  XcbLibrary functions;
  bool complete = false;

  Loaded() {
    complete = resolveCore(dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL), &functions);
    if (!complete) {
      PUMICE_ERROR("wsi", "X surfaces cannot be used: no libxcb.so.1");
      return;
    }
    resolveShm(dlopen("libxcb-shm.so.0", RTLD_NOW | RTLD_LOCAL), &functions);
    resolveRandr(dlopen("libxcb-randr.so.0", RTLD_NOW | RTLD_LOCAL), &functions);
  }
};

using GetXcbConnection = xcb_connection_t* (*)(Display*);

GetXcbConnection loadGetXcbConnection() {
  GetXcbConnection function = nullptr;
  if (!resolve(dlopen("libX11-xcb.so.1", RTLD_NOW | RTLD_LOCAL), "XGetXCBConnection", &function)) {
    PUMICE_ERROR("wsi", "Xlib surfaces cannot be used: no libX11-xcb.so.1");
  }
  return function;
}

}  // namespace

const XcbLibrary* xcbLibrary() {
  static const Loaded loaded;
  return loaded.complete ? &loaded.functions : nullptr;
}

xcb_connection_t* xcbConnectionOf(Display* display) {
  static const GetXcbConnection function = loadGetXcbConnection();
  return function != nullptr ? function(display) : nullptr;
}

}  // namespace pumice::icd
