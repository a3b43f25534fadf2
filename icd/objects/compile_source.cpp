#include "icd/objects/compile_source.h"

#include <cstdlib>
#include <cstring>

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

}  // namespace

CompileSource::CompileSource(const VkComputePipelineCreateInfo& info)
    : entryPoint_(info.stage.pName),
      constants_(specConstants(info.stage.pSpecializationInfo)),
      bindings_(PipelineLayout::from(info.layout)->bindingSlots()),
      dumpDirectory_(pumice::icd::dumpDirectory()) {
  SpirvHash hash{};
  if (const ShaderModule* module = ShaderModule::from(info.stage.module)) {
    spirv_ = module->code();
    hash = module->hash();
  } else if (const auto* inlined = findInChain<VkShaderModuleCreateInfo>(info.stage.pNext)) {
    spirv_ = std::make_shared<const std::vector<uint32_t>>(inlined->pCode,
                                                           inlined->pCode + inlined->codeSize / sizeof(uint32_t));
    hash = spirvHash(*spirv_);
  }
  if (spirv_ != nullptr) compile_.spirv = *spirv_;
  compile_.entryPoint = entryPoint_.c_str();
  compile_.specConstants = constants_;
  compile_.bindings = bindings_;
  compile_.subgroupSize = subgroupSize(info.stage);
  compile_.target = targetOptions();
  key_ = cacheKey(compile_, hash);
}

shader::ComputeCompileInfo CompileSource::of(shader::Tier tier) const {
  shader::ComputeCompileInfo info = compile_;
  info.target.tier = tier;
  return info;
}

}  // namespace pumice::icd
