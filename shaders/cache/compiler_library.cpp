#include "shaders/cache/compiler_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "backend/trace/log.h"
#include "shaders/cache/build_id.h"

namespace pumice::shader::cache {
namespace {

constexpr const char* kLibraryName = "libpumice_compiler.so";

// Beside the library (or program) that this code is linked into.
std::string libraryPath() {
  if (const char* forced = std::getenv("PUMICE_COMPILER_LIBRARY")) return forced;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(&libraryPath)), &info) == 0 ||
      info.dli_fname == nullptr) {
    return kLibraryName;
  }
  const std::string_view self = info.dli_fname;
  const size_t slash = self.rfind('/');
  // Without a slash it is a program found through PATH: leave the search to the dynamic linker.
  return slash == std::string_view::npos ? kLibraryName : std::string(self.substr(0, slash + 1)) + kLibraryName;
}

CompilerLibrary open() {
  CompilerLibrary result;
  const auto fail = [&result](std::string message) {
    result.message = std::move(message);
    PUMICE_ERROR("compiler", "%s", result.message.c_str());
    return result;
  };
  const std::string path = libraryPath();
  // RTLD_LOCAL keeps LLVM out of the application's symbol scope. Never closed: see the header.
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return fail(reason != nullptr ? reason : path + " cannot be opened");
  }
  const auto getTable =
      reinterpret_cast<const CompilerTable* (*)()>(reinterpret_cast<uintptr_t>(dlsym(handle, kCompilerTableSymbol)));
  const CompilerTable* table = getTable != nullptr ? getTable() : nullptr;
  if (table == nullptr) return fail(path + " is no shader compiler");
  if (table->version != kCompilerTableVersion || std::strcmp(table->buildId, buildId()) != 0) {
    return fail(path + " belongs to another build of the driver");
  }
  result.table = table;
  return result;
}

}  // namespace

const CompilerLibrary& compilerLibrary() {
  static const CompilerLibrary* const library = new CompilerLibrary(open());
  return *library;
}

}  // namespace pumice::shader::cache
