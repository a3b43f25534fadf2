// The boundary of libpumice_compiler.so: SPIR-V in, object code out. The driver opens the library (RTLD_LOCAL) at the
// first miss of its code cache and fetches one table; nothing else is exported. Both libraries come from one build
// (checked by buildId), so C++ types may cross.
//
// Thread safe: any number of threads may compile at once, each call works in an LLVM context of its own. A call may
// need 8 MiB of stack. No call throws.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/abi/descriptor.h"
#include "backend/abi/fragment_abi.h"
#include "backend/abi/shader_abi.h"
#include "backend/abi/vertex_abi.h"

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

// What every stage is compiled from. Part of every cache key.
struct ShaderCompileInfo {
  std::span<const uint32_t> spirv;
  const char* entryPoint = "main";
  std::span<const SpecConstant> specConstants;
  std::span<const abi::BindingSlot> bindings;
  uint32_t subgroupSize = 16;  // S: 4, 8, 16 or 32
  TargetOptions target;
};

struct ComputeCompileInfo : ShaderCompileInfo {};

// A color attachment of the pipeline. Enumerations are Vulkan's, in bytes, so that a key has no padding.
struct ColorTarget {
  VkFormat format;    // VK_FORMAT_UNDEFINED: nothing is written
  uint8_t writeMask;  // VkColorComponentFlags
  uint8_t blendEnable;
  uint8_t srcColorFactor, dstColorFactor, colorOp;
  uint8_t srcAlphaFactor, dstAlphaFactor, alphaOp;
};
static_assert(sizeof(ColorTarget) == 12);

enum FragmentKeyFlags : uint8_t {
  kKeySampleShading = 1,  // by the pipeline's state; the shader may ask for it too
  kKeyAlphaToCoverage = 2,
  kKeyAlphaToOne = 4,
  kKeyLogicOp = 8,
};

// What fragment code reads of abi::FragmentState instead of having it compiled in. Blend constants, depth bounds,
// sample mask, stencil reference and masks are always read.
enum FragmentDynamicState : uint8_t {
  kDynamicDepthFlags = 1,  // which tests are on: those of FragmentKey::depthFlags at most
  kDynamicDepthCompare = 2,
  kDynamicStencilOps = 4,
  kDynamicColorWrite = 8,
  kDynamicLogicOp = 16,  // with kKeyLogicOp
};

struct StencilOps {
  uint8_t compareOp, failOp, passOp, depthFailOp;
};

inline constexpr uint32_t kMaxLinkedLocations = 64;
inline constexpr uint8_t kNotLinked = 0xff;

// State that fragment code is compiled for.
struct FragmentKey {
  ColorTarget color[abi::kMaxColorAttachments];
  VkFormat depthFormat, stencilFormat;  // of the planes; VK_FORMAT_UNDEFINED: there is none
  uint8_t samples_log2;
  uint8_t flags;       // FragmentKeyFlags
  uint8_t depthFlags;  // abi::DepthFlags
  uint8_t dynamic;     // FragmentDynamicState
  uint8_t depthCompareOp;
  uint8_t logicOp;
  uint8_t reserved[2];
  StencilOps front, back;
  uint8_t varyingSlot[kMaxLinkedLocations];  // of each location of the vertex stage's outputs; kNotLinked: it reads 0
};
static_assert(sizeof(FragmentKey) == 96 + 8 + 8 + 8 + 64);

struct FragmentCompileInfo : ShaderCompileInfo {
  FragmentKey key{};
};

// What vertex code reads and writes; goes into abi::VertexProgram.
struct VertexInterface {
  uint32_t flags;  // abi::VertexProgramFlags
  uint8_t inputSlotCount;
  uint8_t varyingSlotCount;
  uint8_t clipDistanceCount;
  uint8_t cullDistanceCount;
  uint8_t inputLocation[abi::kMaxVertexAttributes];  // of each slot
  uint8_t varyingLocation[abi::kMaxVaryingSlots];    // of each slot: how fragment code finds its inputs
};

// Learns a vertex shader's interface as soon as its module is read, long before its code is there. On the thread that
// compiles. Not told of a module that cannot be read.
class VertexInterfaceListener {
 public:
  virtual void onVertexInterface(const VertexInterface& interface) noexcept = 0;

 protected:
  ~VertexInterfaceListener() = default;
};

// The code does not depend on vertex formats, strides or divisors: the machine fetches (docs/graphics.md).
struct VertexCompileInfo : ShaderCompileInfo {
  VertexInterfaceListener* listener = nullptr;  // may be null
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

// What the machine must know of fragment code; goes into abi::FragmentProgram.
struct FragmentInterface {
  uint32_t flags;  // abi::FragmentProgramFlags
};

struct CompiledObject {
  // Of all stages. A "group" is a vertex block, or a vector of a fragment run, in those stages.
  ComputeCodeInfo info{};
  VertexInterface vertex{};      // vertex code alone
  FragmentInterface fragment{};  // fragment code alone
  std::vector<std::byte> elf;    // relocatable ELF of position-independent code; one global symbol, kEntrySymbol
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
  CompileResult (*compileVertex)(const VertexCompileInfo& info) noexcept;
  CompileResult (*compileFragment)(const FragmentCompileInfo& info) noexcept;
  // Text of the IR after the reader and after all passes, for dumps (PUMICE_DUMP_SHADERS).
  std::string (*describe)(const ComputeCompileInfo& info) noexcept;
};
inline constexpr uint32_t kCompilerTableVersion = 4;
inline constexpr const char* kCompilerTableSymbol = "pumiceCompilerTable";  // const CompilerTable* (*)()

}  // namespace pumice::shader
