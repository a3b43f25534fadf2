// IR to object code.
#pragma once

#include <span>
#include <string>

#include "shaders/compiler.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::codegen {

// Generates the stage's entry for `fn`, which has been through all passes (no transcendental operation left).
// fn.subgroupSize is S. `key`: of fragment shaders.
CompileResult generateCode(const ir::Function& fn, std::span<const abi::BindingSlot> bindings,
                           const TargetOptions& target, const FragmentKey* key = nullptr);

// The same code as text, for dumps and tests.
enum class CodeText : uint8_t { kLlvm, kAssembly };
std::string describeCode(const ir::Function& fn, std::span<const abi::BindingSlot> bindings,
                         const TargetOptions& target, CodeText kind, const FragmentKey* key = nullptr);

// The options with every 0 replaced by this machine's choice (CPUID features, never the CPU's name).
TargetOptions resolveTarget(TargetOptions options);

}  // namespace pumice::shader::codegen
