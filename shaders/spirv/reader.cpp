#include "shaders/spirv/reader.h"

#include <algorithm>
#include <new>

#include "shaders/ir/verifier.h"
#include "shaders/spirv/capabilities.h"
#include "shaders/spirv/translator.h"
#include "shaders/spirv/validate.h"

namespace pumice::shader::spirv {

Translator::Translator(const Module& module, const ShaderCompileInfo& info, ir::Stage stage, ir::Function& fn)
    : module_(module), info_(info), fn_(fn), emitter_(fn), arena_(16 * 1024) {
  values_.resize(module.bound());
  fn_.stage = stage;
}

void Translator::run() {
  constexpr spv::ExecutionModel kModels[] = {spv::ExecutionModel::GLCompute, spv::ExecutionModel::Vertex,
                                             spv::ExecutionModel::Fragment};
  const Module::EntryPoint* entry = module_.entry(kModels[static_cast<size_t>(fn_.stage)], info_.entryPoint);
  if (!entry) failInvalid(std::string("the stage has no entry point named ") + info_.entryPoint);
  fn_.name = entry->name;
  interface_ = entry->interface;
  fn_.subgroupSize = info_.subgroupSize;
  readExecutionModes(entry->function);

  const FunctionDef& fn = module_.function(entry->function);
  if (!fn.params.empty()) failInvalid("the entry point has parameters");
  if (fn_.stage == ir::Stage::kCompute) {
    emitFunction(fn, fn_.body);
  } else {
    emitStage(fn);
  }
  emitter_.finish();
}

void Translator::readExecutionModes(uint32_t function) {
  bool sized = false;
  for (const Instr* mode : module_.executionModes(function)) {
    switch (static_cast<spv::ExecutionMode>(mode->operand(1))) {
      case spv::ExecutionMode::LocalSize:
        for (uint32_t i = 0; i < 3; ++i) fn_.localSize[i] = mode->operand(i + 2);
        sized = true;
        break;
      case spv::ExecutionMode::LocalSizeId:
        for (uint32_t i = 0; i < 3; ++i) fn_.localSize[i] = constantInt(mode->operand(i + 2));
        sized = true;
        break;
      case spv::ExecutionMode::DenormPreserve:
      case spv::ExecutionMode::SignedZeroInfNanPreserve:
      case spv::ExecutionMode::RoundingModeRTE:
        break;
      case spv::ExecutionMode::OriginUpperLeft:
      case spv::ExecutionMode::DepthReplacing:
      // What the shader promises about its depth; nothing here gains by it.
      case spv::ExecutionMode::DepthGreater:
      case spv::ExecutionMode::DepthLess:
      case spv::ExecutionMode::DepthUnchanged:
      case spv::ExecutionMode::StencilRefReplacingEXT:
        break;
      case spv::ExecutionMode::EarlyFragmentTests:
        declaresEarlyTests_ = true;
        break;
      case spv::ExecutionMode::SubgroupSize:
      case spv::ExecutionMode::SubgroupUniformControlFlowKHR:  // reconvergence is maximal for all shaders
        break;
      default:
        failUnsupported("execution mode " + std::to_string(mode->operand(1)));
    }
  }
  if (fn_.stage == ir::Stage::kCompute) readWorkgroupSize(sized);
}

void Translator::readWorkgroupSize(bool sized) {
  // The decorated constant has precedence over both execution modes.
  if (const uint32_t id = module_.workgroupSizeId()) {
    const Val size = get(id);
    if (size.leaves.size() != 3) failInvalid("WorkgroupSize is no vector of three");
    for (uint32_t i = 0; i < 3; ++i) {
      if (size.leaves[i]->def != ir::Value::Def::kConstant) failInvalid("WorkgroupSize is not constant");
      fn_.localSize[i] = static_cast<uint32_t>(size.leaves[i]->bits);
    }
    sized = true;
  }
  if (!sized) failInvalid("the entry point has no workgroup size");
  uint64_t invocations = 1;
  for (uint32_t n : fn_.localSize) {
    if (n == 0 || n > abi::kMaxWorkgroupInvocations) failUnsupported("workgroup size out of range");
    invocations *= n;
  }
  if (invocations > abi::kMaxWorkgroupInvocations) failUnsupported("too many invocations in a workgroup");
}

namespace {

ReadResult translate(const ShaderCompileInfo& info, ir::Stage stage) {
  ReadResult r;
  try {
    const Module module(info.spirv);
    for (spv::Capability c : module.capabilities())
      if (!isSupported(c)) failUnsupported("capability " + std::to_string(static_cast<uint32_t>(c)));
    auto fn = std::make_unique<ir::Function>();
    Translator translator(module, info, stage, *fn);
    translator.run();
    if (std::string fault = ir::verify(*fn); !fault.empty()) {
      // A valid module must not get here; one that slipped through the validator may.
      r.status = CompileStatus::kInternalError;
      r.message = "the reader made a malformed function: " + fault;
      return r;
    }
    r.vertex = translator.vertex();
    r.fragment = translator.fragment();
    r.function = std::move(fn);
    r.status = CompileStatus::kOk;
  } catch (ReadError& error) {
    r.status = error.status;
    r.message = std::move(error.message);
  } catch (const std::bad_alloc&) {
    r.status = CompileStatus::kOutOfHostMemory;
  }
  return r;
}

ReadResult validateAndTranslate(const ShaderCompileInfo& info, ir::Stage stage) {
  ReadResult r;
  try {
    validate(info.spirv);
  } catch (ReadError& error) {
    r.status = error.status;
    r.message = std::move(error.message);
    return r;
  } catch (const std::bad_alloc&) {
    r.status = CompileStatus::kOutOfHostMemory;
    return r;
  }
  return translate(info, stage);
}

}  // namespace

ReadResult readUnvalidated(const ComputeCompileInfo& info) {
  return translate(info, ir::Stage::kCompute);
}

ReadResult readUnvalidated(const FragmentCompileInfo& info) {
  return translate(info, ir::Stage::kFragment);
}

ReadResult readCompute(const ComputeCompileInfo& info) {
  return validateAndTranslate(info, ir::Stage::kCompute);
}

ReadResult readVertex(const VertexCompileInfo& info) {
  return validateAndTranslate(info, ir::Stage::kVertex);
}

ReadResult readFragment(const FragmentCompileInfo& info) {
  return validateAndTranslate(info, ir::Stage::kFragment);
}

}  // namespace pumice::shader::spirv
