#include "icd/objects/compute_build.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "backend/trace/log.h"
#include "icd/objects/cache_writer.h"
#include "icd/objects/pnext.h"
#include "icd/objects/shader_compiler.h"
#include "icd/objects/timing.h"

namespace pumice::icd {
namespace {

using shader::cache::CachedCode;
using shader::cache::CodeArena;
using shader::cache::LoadStatus;

BuildTiers tiersOf(const VkComputePipelineCreateInfo& info) {
  if (const char* text = std::getenv("PUMICE_TIER")) {
    if (std::strcmp(text, "quick") == 0) return {shader::Tier::kQuick, false, true};
    if (std::strcmp(text, "better") == 0) return {shader::Tier::kBetter, false, true};
  }
  return {shader::Tier::kQuick, (info.flags & VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT) == 0, false};
}

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

abi::ComputeEntry asFunction(const std::byte* entry) {
  return reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(entry));  // data to code pointer
}

std::shared_ptr<const CachedCode> codeOf(TimedCompile compiled) {
  return std::make_shared<const CachedCode>(CachedCode{std::move(compiled.result.object), compiled.cpu_ns});
}

// On the hot tier's thread.
BetterCode makeBetter(const CompileSource& source, const std::weak_ptr<ObjectCache>& cache,
                      const std::shared_ptr<shader::cache::DiskCache>& disk) {
  TimedCompile compiled = compileComputeHere(source.of(shader::Tier::kBetter), source.dumpDirectory());
  if (compiled.result.status != shader::CompileStatus::kOk) {
    logFailure("better code", compiled.result);
    return {};
  }
  const auto code = codeOf(std::move(compiled));
  if (const auto alive = cache.lock()) alive->insertLate(source.key(), code);
  if (disk != nullptr) CacheWriter::instance().write(disk, source.key(), code);
  const shader::cache::LoadResult loaded = loadObject(CodeArena::instance(), code->object.elf, shader::kEntrySymbol);
  if (loaded.status != LoadStatus::kOk) {
    PUMICE_ERROR("icd", "better code cannot be loaded: %s", loaded.message.c_str());
    return {};
  }
  return {loaded.code.block, asFunction(loaded.code.entry), code->object.info.frameBytes};
}

// All of a compute pipeline is its one stage.
void write(const VkComputePipelineCreateInfo& info, const VkPipelineCreationFeedback& all) {
  const auto* feedback = findInChain<VkPipelineCreationFeedbackCreateInfo>(info.pNext);
  if (feedback == nullptr) return;
  *feedback->pPipelineCreationFeedback = all;
  for (uint32_t i = 0; i < feedback->pipelineStageCreationFeedbackCount; ++i) {
    feedback->pPipelineStageCreationFeedbacks[i] = all;
  }
}

}  // namespace

ComputeBuild::ComputeBuild(const VkComputePipelineCreateInfo& info, Caches caches)
    : info_(info), caches_(std::move(caches)), tiers_(tiersOf(info)) {
  const uint64_t start_ns = monotonicNow_ns();
  source_ = std::make_shared<const CompileSource>(info);
  find();
  if (code_ == nullptr) {
    needsCompile_ = (info.flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) == 0;
    if (!needsCompile_) result_ = VK_PIPELINE_COMPILE_REQUIRED;
  }
  spent_ns_ = monotonicNow_ns() - start_ns;
}

ComputeBuild::~ComputeBuild() {
  if (loaded_.block) CodeArena::instance().free(loaded_.block);
}

void ComputeBuild::find() {
  const shader::cache::CacheKey& key = source_->key();
  if (caches_.application != nullptr && take(caches_.application->find(key))) {
    applicationHit_ = true;
    return;
  }
  // Whoever wants to see what is compiled wants it compiled.
  if (caches_.disk == nullptr || !source_->dumpDirectory().empty()) return;
  if (take(caches_.disk->find(key)) && caches_.application != nullptr) caches_.application->insert(key, code_);
}

// Whether the code serves; what cannot be loaded is as good as not there.
bool ComputeBuild::take(Code code) {
  if (code == nullptr) return false;
  if (tiers_.forced && code->isQuick() != (tiers_.first == shader::Tier::kQuick)) return false;
  const VkResult loaded = load(*code);
  if (loaded == VK_ERROR_INITIALIZATION_FAILED) return false;
  result_ = loaded;
  code_ = std::move(code);
  return true;
}

VkResult ComputeBuild::load(const CachedCode& code) {
  shader::cache::LoadResult loaded = loadObject(CodeArena::instance(), code.object.elf, shader::kEntrySymbol);
  if (loaded.status == LoadStatus::kOutOfHostMemory) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (loaded.status != LoadStatus::kOk) {
    PUMICE_ERROR("icd", "vkCreateComputePipelines: the object code cannot be loaded: %s", loaded.message.c_str());
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  loaded_ = loaded.code;
  return VK_SUCCESS;
}

void ComputeBuild::run() noexcept {
  const uint64_t start_ns = monotonicNow_ns();
  try {
    result_ = compile();
  } catch (const std::bad_alloc&) {
    result_ = VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  spent_ns_ += monotonicNow_ns() - start_ns;
}

VkResult ComputeBuild::compile() {
  TimedCompile compiled = compileComputeHere(source_->of(tiers_.first), source_->dumpDirectory());
  if (compiled.result.status != shader::CompileStatus::kOk) return failed(compiled.result);
  code_ = codeOf(std::move(compiled));
  if (const VkResult result = load(*code_); result != VK_SUCCESS) return result;
  if (caches_.application != nullptr) caches_.application->insert(source_->key(), code_);
  if (caches_.disk != nullptr) CacheWriter::instance().write(caches_.disk, source_->key(), code_);
  return VK_SUCCESS;
}

void ComputeBuild::feedBack() const {
  VkPipelineCreationFeedback all{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, spent_ns_};
  if (applicationHit_) all.flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  write(info_, all);
}

void ComputeBuild::feedBackNothing(const VkComputePipelineCreateInfo& info) {
  write(info, {});  // not valid
}

abi::ComputeEntry ComputeBuild::entry() const {
  return asFunction(loaded_.entry);
}

shader::cache::CodeBlock ComputeBuild::takeBlock() {
  return std::exchange(loaded_.block, {});
}

bool ComputeBuild::mayImprove() const {
  return tiers_.mayImprove && code_->isQuick();
}

// A program is worth better code, which takes two to three times as long to make, when it has run for as long as its
// quick code took to make: at worst a small multiple of that is spent in vain, in the background.
uint64_t ComputeBuild::hotLimit_ns() const {
  constexpr uint64_t kLeast_ns = 1'000'000, kMost_ns = 50'000'000;
  return std::clamp(code_->compile_ns, kLeast_ns, kMost_ns);
}

HotProgram::Compile ComputeBuild::betterCompile() const {
  const std::weak_ptr<ObjectCache> application = caches_.application;
  return [source = source_, application, disk = caches_.disk] { return makeBetter(*source, application, disk); };
}

}  // namespace pumice::icd
