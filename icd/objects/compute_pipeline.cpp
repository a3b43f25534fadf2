#include "icd/objects/compute_pipeline.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/pipeline_cache.h"
#include "icd/objects/pipeline_layout.h"
#include "icd/objects/pnext.h"
#include "icd/objects/shader_compiler.h"
#include "icd/objects/shader_module.h"
#include "icd/objects/timing.h"

namespace pumice::icd {
namespace {

constexpr uint32_t kDefaultSubgroupSize = 16;

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
  return environmentNumber("PUMICE_SUBGROUP_SIZE", kDefaultSubgroupSize);
}

VkResult failed(const shader::CompileResult& result) {
  static constexpr const char* kReasons[] = {"", "out of memory", "invalid SPIR-V", "unsupported SPIR-V",
                                             "internal error"};
  PUMICE_ERROR("icd", "vkCreateComputePipelines: %s: %s", kReasons[static_cast<uint8_t>(result.status)],
               result.message.c_str());
  // The specification has no code for a module that breaks the rules; this one says "not this pipeline".
  return result.status == shader::CompileStatus::kOutOfHostMemory ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                                  : VK_ERROR_INITIALIZATION_FAILED;
}

void feedBack(const VkPipelineCreationFeedbackCreateInfo& feedback, uint64_t duration_ns, bool cacheHit) {
  VkPipelineCreationFeedback all{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, duration_ns};
  if (cacheHit) all.flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  *feedback.pPipelineCreationFeedback = all;
  for (uint32_t i = 0; i < feedback.pipelineStageCreationFeedbackCount; ++i) {
    feedback.pPipelineStageCreationFeedbacks[i] = all;
  }
}

}  // namespace

ComputePipeline::~ComputePipeline() {
  if (code_) shader::cache::CodeArena::instance().free(code_);
}

VkResult ComputePipeline::init(const VkComputePipelineCreateInfo& info, ObjectCache* cache) {
  const auto* feedback = findInChain<VkPipelineCreationFeedbackCreateInfo>(info.pNext);
  const uint64_t start = feedback != nullptr ? monotonicNow_ns() : 0;
  bool cacheHit = false;
  const VkResult result = build(info, cache, &cacheHit);
  if (feedback != nullptr) feedBack(*feedback, monotonicNow_ns() - start, cacheHit);
  return result;
}

VkResult ComputePipeline::build(const VkComputePipelineCreateInfo& info, ObjectCache* cache, bool* cacheHit) {
  shader::ComputeCompileInfo compile;
  if (const ShaderModule* module = ShaderModule::from(info.stage.module)) {
    compile.spirv = module->code();
  } else if (const auto* inlined = findInChain<VkShaderModuleCreateInfo>(info.stage.pNext)) {
    compile.spirv = {inlined->pCode, inlined->codeSize / sizeof(uint32_t)};
  }
  const std::vector<shader::SpecConstant> constants = specConstants(info.stage.pSpecializationInfo);
  compile.entryPoint = info.stage.pName;
  compile.specConstants = constants;
  compile.bindings = PipelineLayout::from(info.layout)->bindingSlots();
  compile.subgroupSize = subgroupSize(info.stage);
  compile.target = targetOptions();

  const CacheKey key = cacheKey(compile);
  if (cache != nullptr) {
    if (const ObjectCache::Entry entry = cache->find(key)) {
      *cacheHit = true;
      return load(*entry, key);
    }
  }
  if ((info.flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) != 0) return VK_PIPELINE_COMPILE_REQUIRED;
  shader::CompileResult result = compileCompute(compile);
  if (result.status != shader::CompileStatus::kOk) return failed(result);
  const auto object = std::make_shared<shader::CompiledObject>(std::move(result.object));
  if (cache != nullptr) cache->insert(key, object);
  return load(*object, key);
}

VkResult ComputePipeline::load(const shader::CompiledObject& object, const CacheKey& key) {
  shader::cache::LoadResult loaded =
      shader::cache::loadObject(shader::cache::CodeArena::instance(), object.elf, shader::kEntrySymbol);
  if (loaded.status == shader::cache::LoadStatus::kOutOfHostMemory) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (loaded.status != shader::cache::LoadStatus::kOk) {
    PUMICE_ERROR("icd", "vkCreateComputePipelines: the object code cannot be loaded: %s", loaded.message.c_str());
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  code_ = loaded.code.block;
  program_.entry = reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry));
  std::memcpy(program_.localSize, object.info.localSize, sizeof program_.localSize);
  program_.subgroupSize = object.info.subgroupSize;
  program_.sharedBytes = object.info.sharedBytes;
  program_.frameBytes = object.info.frameBytes;
  program_.groupCost_ns = object.info.groupCost_ns != 0 ? object.info.groupCost_ns : 1;
  program_.flags = object.info.flags;
  program_.codeHash = key.low;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice device, VkPipelineCache pipelineCache,
                                                        uint32_t createInfoCount,
                                                        const VkComputePipelineCreateInfo* pCreateInfos,
                                                        const VkAllocationCallbacks* pAllocator,
                                                        VkPipeline* pPipelines) {
  PipelineCache* cache = PipelineCache::from(pipelineCache);
  for (uint32_t i = 0; i < createInfoCount; ++i) pPipelines[i] = VK_NULL_HANDLE;
  // Vulkan 1.3, 10.4: pipelines that can be made are made; what failed is null, and the first failure is the result.
  VkResult first = VK_SUCCESS;
  for (uint32_t i = 0; i < createInfoCount; ++i) {
    const VkResult result = ComputePipeline::create(pAllocator, &pPipelines[i], *Device::from(device), pCreateInfos[i],
                                                    cache != nullptr ? &cache->objects() : nullptr);
    if (result == VK_SUCCESS) continue;
    if (first == VK_SUCCESS || (first > 0 && result < 0)) first = result;
    if ((pCreateInfos[i].flags & VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT) != 0) break;
  }
  return first;
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks* pAllocator) {
  ComputePipeline::destroy(pipeline, pAllocator);
}

}  // namespace pumice::icd
