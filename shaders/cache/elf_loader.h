// Places a compiled object (relocatable x86-64 ELF) in the code arena. Needs no LLVM: warm starts use it alone. The
// bytes may come from a cache file, so every offset is checked: malformed input is an error, never a crash.
//
// Accepted: allocated PROGBITS/NOBITS sections that are not writable, relocations R_X86_64_{64, PC32, PLT32, PC64,
// GOTPCREL, GOTPCRELX, REX_GOTPCRELX} against symbols of the object itself. Anything undefined is an error.
// Thread safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shaders/cache/code_arena.h"

namespace pumice::shader::cache {

struct LoadedCode {
  CodeBlock block;                   // the caller's: give back with CodeArena::free
  const std::byte* entry = nullptr;  // address of the symbol asked for, in the executable view
};

enum class LoadStatus : uint8_t { kOk, kOutOfHostMemory, kMalformed };

struct LoadResult {
  LoadStatus status = LoadStatus::kMalformed;
  std::string message;
  LoadedCode code;
};

LoadResult loadObject(CodeArena& arena, std::span<const std::byte> elf, std::string_view entrySymbol);

}  // namespace pumice::shader::cache
