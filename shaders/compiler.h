// The boundary of libpumice_compiler.so: SPIR-V in, object code out. The driver opens the library (RTLD_LOCAL) at the
// first miss of its code cache and fetches one table; nothing else is exported. Both libraries come from one build
// (checked by buildId), so C++ types may cross.
//
// Thread safe: any number of threads may compile at once, each call works in an LLVM context of its own. A call may
// need 8 MiB of stack. No call throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/abi/descriptor.h"
#include "backend/abi/shader_abi.h"

namespace pumice::shader {

struct SpecConstant {
  uint32_t id;      // SpecId decoration
  uint32_t size_B;  // 1, 2, 4, 8; booleans are 4
  uint64_t bits;
};

enum class Tier : uint8_t {
  kQuick,   // few operations: k = 1, no unrolling, cheap code generation
  kBetter,  // jammed vectors, unrolling, our own LICM
};

// What code is generated for. Part of every cache key.
struct TargetOptions {
  uint32_t vectorLanes = 0;  // V: 32-bit lanes of a machine vector: 4, 8 or 16; 0 = the best of this CPU's features
  uint32_t gangVectors = 0;  // k: vectors jammed together; 0 = by register pressure
  Tier tier = Tier::kBetter;
  bool boundsChecks = true;  // off only by PUMICE_UNSAFE_NO_BOUNDS_CHECKS
};

struct ComputeCompileInfo {
  std::span<const uint32_t> spirv;
  const char* entryPoint = "main";
  std::span<const SpecConstant> specConstants;
  std::span<const abi::BindingSlot> bindings;
  uint32_t subgroupSize = 16;  // S: 4, 8, 16 or 32
  TargetOptions target;
};

enum class CompileStatus : uint8_t {
  kOk,
  kOutOfHostMemory,
  kInvalidSpirv,   // truncated, random, or against a rule that the reader relies on
  kUnsupported,    // valid, but uses a capability that is not advertised
  kInternalError,  // a driver bug: the verifier or code generation failed
};

// Facts of compiled code; goes into abi::ComputeProgram. Plain data, stored in caches as it is.
struct ComputeCodeInfo {
  uint32_t localSize[3];
  uint32_t subgroupSize;
  uint32_t sharedBytes;
  uint32_t frameBytes;
  uint32_t groupCost_ns;
  uint32_t flags;  // kCode…
};
inline constexpr uint32_t kCodeIsQuick = 1;  // of Tier::kQuick

struct CompiledObject {
  ComputeCodeInfo info{};
  std::vector<std::byte> elf;  // relocatable ELF of position-independent code; one global symbol, kEntrySymbol
};
inline constexpr const char* kEntrySymbol = "pumice_entry";

struct CompileResult {
  CompileStatus status = CompileStatus::kInternalError;
  std::string message;  // for the log; empty if kOk
  CompiledObject object;
};

struct CompilerTable {
  uint32_t version;     // kCompilerTableVersion
  const char* buildId;  // equal to the driver's
  CompileResult (*compileCompute)(const ComputeCompileInfo& info) noexcept;
  // Text of the IR after the reader and after all passes, for dumps (PUMICE_DUMP_SHADERS).
  std::string (*describe)(const ComputeCompileInfo& info) noexcept;
};
inline constexpr uint32_t kCompilerTableVersion = 1;
inline constexpr const char* kCompilerTableSymbol = "pumiceCompilerTable";  // const CompilerTable* (*)()

}  // namespace pumice::shader
