#include "shaders/cache/compiler_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "backend/trace/log.h"
#include "shaders/cache/build_id.h"

namespace pumice::shader::cache {
namespace {

constexpr const char* kLibraryName = "libpumice_compiler.so";

// Absolute path of the file that holds this code, from the kernel's list of mappings: the dynamic linker only knows the
// name by which it was asked, which may be relative to a directory that the application has left since. Empty if
// unknown.
std::string ownFile() {
  const auto self = reinterpret_cast<uintptr_t>(&ownFile);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // first-last permissions offset device inode        path
    char* end = nullptr;
    const uintptr_t first = std::strtoull(line.c_str(), &end, 16);
    if (*end != '-') continue;
    const uintptr_t last = std::strtoull(end + 1, nullptr, 16);
    if (self < first || self >= last) continue;
    const size_t path = line.find('/');
    return path == std::string::npos ? std::string{} : line.substr(path);
  }
  return {};
}

std::string libraryPath() {
  if (const char* forced = std::getenv("PUMICE_COMPILER_LIBRARY")) return forced;
  const std::string self = ownFile();
  const size_t slash = self.rfind('/');
  // Not known: the dynamic linker's search path.
  return slash == std::string::npos ? kLibraryName : self.substr(0, slash + 1) + kLibraryName;
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
