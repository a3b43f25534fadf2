// SPIR-V to the structured IR.
#pragma once

#include <memory>
#include <string>

#include "shaders/compiler.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::spirv {

struct ReadResult {
  CompileStatus status = CompileStatus::kInvalidSpirv;
  std::string message;
  std::unique_ptr<ir::Function> function;  // verified
  VertexInterface vertex{};                // vertex shaders
  FragmentInterface fragment{};            // fragment shaders
};

// Validates (SPIRV-Tools) and reads one entry point, specialised and with all calls in place. Malformed input
// of any kind gives kInvalidSpirv, never a crash.
ReadResult readCompute(const ComputeCompileInfo& info);
ReadResult readVertex(const VertexCompileInfo& info);
ReadResult readFragment(const FragmentCompileInfo& info);

// The same without the validator, for tests: the reader by itself must not crash on anything either (it may accept more
// and may call its own fault what the validator would have rejected).
ReadResult readUnvalidated(const ComputeCompileInfo& info);
ReadResult readUnvalidated(const FragmentCompileInfo& info);

}  // namespace pumice::shader::spirv
