#include "icd/objects/compute_pipeline.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/pipeline_cache.h"
#include "icd/objects/pipeline_layout.h"
#include "icd/objects/pnext.h"
#include "icd/objects/shader_compiler.h"
#include "icd/objects/shader_dump.h"
#include "icd/objects/shader_module.h"
#include "icd/objects/timing.h"

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

// Which code a pipeline is created with, and whether better code may follow.
struct Tiers {
  shader::Tier first = shader::Tier::kQuick;
  bool mayImprove = true;
  bool forced = false;
};

Tiers tiersOf(const VkComputePipelineCreateInfo& info) {
  if (const char* text = std::getenv("PUMICE_TIER")) {
    if (std::strcmp(text, "quick") == 0) return {shader::Tier::kQuick, false, true};
    if (std::strcmp(text, "better") == 0) return {shader::Tier::kBetter, false, true};
  }
  return {shader::Tier::kQuick, (info.flags & VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT) == 0, false};
}

shader::Tier tierOf(const shader::CompiledObject& object) {
  return (object.info.flags & shader::kCodeIsQuick) != 0 ? shader::Tier::kQuick : shader::Tier::kBetter;
}

// A program is worth better code, which takes two to three times as long to make, when it has run for as long as its
// quick code took to make: at worst a small multiple of that is spent in vain, in the background.
uint64_t hotLimit_ns(uint64_t quickCompile_ns) {
  constexpr uint64_t kLeast_ns = 1'000'000, kMost_ns = 50'000'000;
  return std::clamp(quickCompile_ns, kLeast_ns, kMost_ns);
}

uint32_t subgroupSize(const VkPipelineShaderStageCreateInfo& stage) {
  if (const auto* required = findInChain<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(stage.pNext)) {
    return required->requiredSubgroupSize;
  }
  return defaultSubgroupSize();
}

// All that a compile reads, by value: better code may be made when the application's structures are gone.
class CompileSource {
 public:
  explicit CompileSource(const VkComputePipelineCreateInfo& info)
      : entryPoint_(info.stage.pName),
        constants_(specConstants(info.stage.pSpecializationInfo)),
        bindings_(PipelineLayout::from(info.layout)->bindingSlots()) {
    if (const ShaderModule* module = ShaderModule::from(info.stage.module)) {
      spirv_ = module->code();
    } else if (const auto* inlined = findInChain<VkShaderModuleCreateInfo>(info.stage.pNext)) {
      spirv_ = std::make_shared<const std::vector<uint32_t>>(inlined->pCode,
                                                             inlined->pCode + inlined->codeSize / sizeof(uint32_t));
    }
    if (spirv_ != nullptr) compile_.spirv = *spirv_;
    compile_.entryPoint = entryPoint_.c_str();
    compile_.specConstants = constants_;
    compile_.bindings = bindings_;
    compile_.subgroupSize = subgroupSize(info.stage);
    compile_.target = targetOptions();
  }
  CompileSource(const CompileSource&) = delete;
  CompileSource& operator=(const CompileSource&) = delete;

  const std::string& dumpDirectory() const { return dumpDirectory_; }

  /// Valid as long as this object.
  shader::ComputeCompileInfo of(shader::Tier tier) const {
    shader::ComputeCompileInfo info = compile_;
    info.target.tier = tier;
    return info;
  }

 private:
  std::shared_ptr<const std::vector<uint32_t>> spirv_;
  std::string entryPoint_;
  std::vector<shader::SpecConstant> constants_;
  std::vector<abi::BindingSlot> bindings_;
  std::string dumpDirectory_ = pumice::icd::dumpDirectory();
  shader::ComputeCompileInfo compile_;  // of the above
};

void logFailure(const char* what, const shader::CompileResult& result) {
  static constexpr const char* kReasons[] = {"", "out of memory", "invalid SPIR-V", "unsupported SPIR-V",
                                             "internal error"};
  PUMICE_ERROR("icd", "%s: %s: %s", what, kReasons[static_cast<uint8_t>(result.status)], result.message.c_str());
}

VkResult failed(const shader::CompileResult& result) {
  logFailure("vkCreateComputePipelines", result);
  // The specification has no code for a module that breaks the rules; this one says "not this pipeline".
  return result.status == shader::CompileStatus::kOutOfHostMemory ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                                  : VK_ERROR_INITIALIZATION_FAILED;
}

abi::ComputeEntry entryOf(const shader::cache::LoadedCode& code) {
  return reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(code.entry));  // data to code pointer
}

shader::cache::LoadResult loadCode(const shader::CompiledObject& object) {
  return shader::cache::loadObject(shader::cache::CodeArena::instance(), object.elf, shader::kEntrySymbol);
}

// On the hot tier's thread.
BetterCode makeBetter(const CompileSource& source, const std::weak_ptr<ObjectCache>& cache, const CacheKey& key) {
  TimedCompile compiled = compileComputeHere(source.of(shader::Tier::kBetter), source.dumpDirectory());
  if (compiled.result.status != shader::CompileStatus::kOk) {
    logFailure("better code", compiled.result);
    return {};
  }
  const auto object = std::make_shared<const shader::CompiledObject>(std::move(compiled.result.object));
  if (const auto alive = cache.lock()) alive->insertLate(key, object);
  const shader::cache::LoadResult loaded = loadCode(*object);
  if (loaded.status != shader::cache::LoadStatus::kOk) {
    PUMICE_ERROR("icd", "better code cannot be loaded: %s", loaded.message.c_str());
    return {};
  }
  return {loaded.code.block, entryOf(loaded.code), object->info.frameBytes};
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
  hot_.reset();
  if (code_) shader::cache::CodeArena::instance().free(code_);
}

VkResult ComputePipeline::init(const VkComputePipelineCreateInfo& info, const std::shared_ptr<ObjectCache>& cache) {
  const auto* feedback = findInChain<VkPipelineCreationFeedbackCreateInfo>(info.pNext);
  const uint64_t start = feedback != nullptr ? monotonicNow_ns() : 0;
  bool cacheHit = false;
  const VkResult result = build(info, cache, &cacheHit);
  if (feedback != nullptr) feedBack(*feedback, monotonicNow_ns() - start, cacheHit);
  return result;
}

VkResult ComputePipeline::build(const VkComputePipelineCreateInfo& info, const std::shared_ptr<ObjectCache>& cache,
                                bool* cacheHit) {
  const Tiers tiers = tiersOf(info);
  const auto source = std::make_shared<const CompileSource>(info);
  const CacheKey key = cacheKey(source->of(tiers.first));
  ObjectCache::Entry object = cache != nullptr ? cache->find(key) : nullptr;
  if (object != nullptr && tiers.forced && tierOf(*object) != tiers.first) object = nullptr;
  *cacheHit = object != nullptr;
  uint64_t compile_ns = 0;
  if (object == nullptr) {
    if ((info.flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) != 0) {
      return VK_PIPELINE_COMPILE_REQUIRED;
    }
    TimedCompile compiled = compileCompute(source->of(tiers.first), source->dumpDirectory());
    if (compiled.result.status != shader::CompileStatus::kOk) return failed(compiled.result);
    compile_ns = compiled.cpu_ns;
    object = std::make_shared<const shader::CompiledObject>(std::move(compiled.result.object));
    if (cache != nullptr) cache->insert(key, object);
  }
  if (const VkResult result = load(*object, key); result != VK_SUCCESS) return result;
  if (tiers.mayImprove && tierOf(*object) == shader::Tier::kQuick) {
    const std::weak_ptr<ObjectCache> later = cache;
    hot_.emplace(HotTier::instance(), program_, hotLimit_ns(compile_ns),
                 [source, later, key] { return makeBetter(*source, later, key); });
  }
  return VK_SUCCESS;
}

VkResult ComputePipeline::load(const shader::CompiledObject& object, const CacheKey& key) {
  const shader::cache::LoadResult loaded = loadCode(object);
  if (loaded.status == shader::cache::LoadStatus::kOutOfHostMemory) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (loaded.status != shader::cache::LoadStatus::kOk) {
    PUMICE_ERROR("icd", "vkCreateComputePipelines: the object code cannot be loaded: %s", loaded.message.c_str());
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  code_ = loaded.code.block;
  program_.entry = entryOf(loaded.code);
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
  const PipelineCache* cache = PipelineCache::from(pipelineCache);
  for (uint32_t i = 0; i < createInfoCount; ++i) pPipelines[i] = VK_NULL_HANDLE;
  // Vulkan 1.3, 10.4: pipelines that can be made are made; what failed is null, and the first failure is the result.
  VkResult first = VK_SUCCESS;
  for (uint32_t i = 0; i < createInfoCount; ++i) {
    const VkResult result = ComputePipeline::create(pAllocator, &pPipelines[i], *Device::from(device), pCreateInfos[i],
                                                    cache != nullptr ? cache->objects() : nullptr);
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
