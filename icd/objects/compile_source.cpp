#include "icd/objects/compile_source.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "icd/objects/capabilities.h"
#include "icd/objects/pipeline_layout.h"
#include "icd/objects/pnext.h"
#include "icd/objects/shader_dump.h"
#include "icd/objects/shader_module.h"

namespace pumice::icd {
namespace {

uint32_t environmentNumber(const char* name, uint32_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 0)) : fallback;
}

std::vector<shader::SpecConstant> specConstants(const VkSpecializationInfo* info) {
  std::vector<shader::SpecConstant> out;
  for (uint32_t i = 0; info != nullptr && i < info->mapEntryCount; ++i) {
    const VkSpecializationMapEntry& entry = info->pMapEntries[i];
    shader::SpecConstant c{entry.constantID, static_cast<uint32_t>(entry.size), 0};
    if (entry.size > sizeof c.bits) continue;  // no scalar is wider; the validation layer reports it
    std::memcpy(&c.bits, static_cast<const std::byte*>(info->pData) + entry.offset, entry.size);
    out.push_back(c);
  }
  return out;
}

shader::TargetOptions targetOptions() {
  shader::TargetOptions target;
  target.vectorLanes = environmentNumber("PUMICE_VECTOR_LANES", 0);
  target.gangVectors = environmentNumber("PUMICE_GANG_VECTORS", 0);
  target.boundsChecks = environmentNumber("PUMICE_UNSAFE_NO_BOUNDS_CHECKS", 0) == 0;
  return target;
}

uint32_t subgroupSize(const VkPipelineShaderStageCreateInfo& stage) {
  if (const auto* required = findInChain<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(stage.pNext)) {
    return required->requiredSubgroupSize;
  }
  return defaultSubgroupSize();
}

// void main() {}, of a pipeline that has no fragment shader.
constexpr uint32_t kNoFragmentShader[] = {
    0x07230203,     0x00010000, 0, 5,          0,  // header: SPIR-V 1.0, five identifiers
    2u << 16 | 17,  1,                             // OpCapability Shader
    3u << 16 | 14,  0,          1,                 // OpMemoryModel Logical GLSL450
    5u << 16 | 15,  4,          1, 0x6e69616d, 0,  // OpEntryPoint Fragment %1 "main"
    3u << 16 | 16,  1,          7,                 // OpExecutionMode %1 OriginUpperLeft
    2u << 16 | 19,  2,                             // %2 = OpTypeVoid
    3u << 16 | 33,  3,          2,                 // %3 = OpTypeFunction %2
    5u << 16 | 54,  2,          1, 0,          3,  // %1 = OpFunction %2 None %3
    2u << 16 | 248, 4,                             // %4 = OpLabel
    1u << 16 | 253,                                // OpReturn
    1u << 16 | 56,                                 // OpFunctionEnd
};

}  // namespace

CompileSource::CompileSource(const StageRequest& request)
    : stage_(request.stage), dumpDirectory_(pumice::icd::dumpDirectory()) {
  if (request.layout != nullptr) bindings_ = request.layout->bindingSlots();
  compile_.subgroupSize = defaultSubgroupSize();
  // A vector of fragments has sixteen; more can only be wished for by PUMICE_SUBGROUP_SIZE.
  if (stage_ == VK_SHADER_STAGE_FRAGMENT_BIT) compile_.subgroupSize = std::min(compile_.subgroupSize, 16u);
  const VkPipelineShaderStageCreateInfo* info = request.info;
  if (info == nullptr) {
    spirv_ = std::make_shared<const std::vector<uint32_t>>(std::begin(kNoFragmentShader), std::end(kNoFragmentShader));
    spirvHash_ = spirvHash(*spirv_);
  } else {
    entryPoint_ = info->pName;
    constants_ = specConstants(info->pSpecializationInfo);
    if (stage_ == VK_SHADER_STAGE_COMPUTE_BIT) compile_.subgroupSize = subgroupSize(*info);
    if (const ShaderModule* module = ShaderModule::from(info->module)) {
      spirv_ = module->code();
      spirvHash_ = module->hash();
    } else if (const auto* inlined = findInChain<VkShaderModuleCreateInfo>(info->pNext)) {
      spirv_ = std::make_shared<const std::vector<uint32_t>>(inlined->pCode,
                                                             inlined->pCode + inlined->codeSize / sizeof(uint32_t));
      spirvHash_ = spirvHash(*spirv_);
    }
  }
  compile_.target = targetOptions();
  refer();
}

CompileSource::CompileSource(const CompileSource& from, const PipelineLayout* layout)
    : stage_(from.stage_),
      spirv_(from.spirv_),
      spirvHash_(from.spirvHash_),
      entryPoint_(from.entryPoint_),
      constants_(from.constants_),
      bindings_(layout != nullptr ? layout->bindingSlots() : from.bindings_),
      dumpDirectory_(from.dumpDirectory_),
      compile_(from.compile_) {
  refer();
}

void CompileSource::refer() {
  if (spirv_ != nullptr) compile_.spirv = *spirv_;
  compile_.entryPoint = entryPoint_.c_str();
  compile_.specConstants = constants_;
  compile_.bindings = bindings_;
  if (stage_ != VK_SHADER_STAGE_FRAGMENT_BIT) makeKey();
}

bool CompileSource::fits(const PipelineLayout& layout) const {
  const std::vector<abi::BindingSlot>& slots = layout.bindingSlots();
  static_assert(std::has_unique_object_representations_v<abi::BindingSlot>);
  return slots.size() == bindings_.size() &&
         (slots.empty() || std::memcmp(slots.data(), bindings_.data(), slots.size() * sizeof slots[0]) == 0);
}

void CompileSource::link(const shader::FragmentKey& key) {
  fragmentKey_ = key;
  makeKey();
}

void CompileSource::makeKey() {
  key_ = cacheKey(stage_, compile_, spirvHash_, stage_ == VK_SHADER_STAGE_FRAGMENT_BIT ? &fragmentKey_ : nullptr);
}

shader::CompileResult CompileSource::compile(const shader::CompilerTable& table, shader::Tier tier,
                                             shader::VertexInterfaceListener* listener) const {
  switch (stage_) {
    case VK_SHADER_STAGE_COMPUTE_BIT:
      return table.compileCompute({of(tier)});
    case VK_SHADER_STAGE_VERTEX_BIT:
      return table.compileVertex({of(tier), listener});
    case VK_SHADER_STAGE_FRAGMENT_BIT:
      return table.compileFragment({of(tier), fragmentKey_});
    default:
      break;
  }
  shader::CompileResult none;
  none.status = shader::CompileStatus::kUnsupported;
  none.message = "shader stage";
  return none;
}

shader::ShaderCompileInfo CompileSource::of(shader::Tier tier) const {
  shader::ShaderCompileInfo info = compile_;
  info.target.tier = tier;
  return info;
}

}  // namespace pumice::icd
