#include "icd/objects/stage_build.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backend/trace/log.h"
#include "icd/objects/cache_writer.h"
#include "icd/objects/shader_compiler.h"
#include "icd/objects/timing.h"

namespace pumice::icd {
namespace {

using shader::cache::CachedCode;
using shader::cache::CodeArena;
using shader::cache::LoadStatus;

const char* stageName(VkShaderStageFlagBits stage) {
  return stage == VK_SHADER_STAGE_VERTEX_BIT     ? "vertex"
         : stage == VK_SHADER_STAGE_FRAGMENT_BIT ? "fragment"
                                                 : "compute";
}

void logFailure(const char* what, const CompileSource& source, const shader::CompileResult& result) {
  static constexpr const char* kReasons[] = {"", "out of memory", "invalid SPIR-V", "unsupported SPIR-V",
                                             "internal error"};
  PUMICE_ERROR("icd", "%s of a %s shader: %s: %s", what, stageName(source.stage()),
               kReasons[static_cast<uint8_t>(result.status)], result.message.c_str());
}

std::shared_ptr<const CachedCode> codeOf(TimedCompile compiled) {
  return std::make_shared<const CachedCode>(CachedCode{std::move(compiled.result.object), compiled.cpu_ns});
}

// On the hot tier's thread.
BetterCode makeBetter(const CompileSource& source, const std::weak_ptr<ObjectCache>& cache,
                      const std::shared_ptr<shader::cache::DiskCache>& disk) {
  TimedCompile compiled = compileHere(source, shader::Tier::kBetter);
  if (compiled.result.status != shader::CompileStatus::kOk) {
    logFailure("better code", source, compiled.result);
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
  return {loaded.code.block, loaded.code.entry, code->object.info.frameBytes};
}

// Adds the time between its construction and its end.
class Stopwatch {
 public:
  explicit Stopwatch(uint64_t* sum_ns) : sum_ns_(sum_ns), start_ns_(monotonicNow_ns()) {}
  ~Stopwatch() { *sum_ns_ += monotonicNow_ns() - start_ns_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  uint64_t* sum_ns_;
  uint64_t start_ns_;
};

}  // namespace

BuildTiers buildTiers(VkPipelineCreateFlags flags) {
  if (const char* text = std::getenv("PUMICE_TIER")) {
    if (std::strcmp(text, "quick") == 0) return {shader::Tier::kQuick, false, true};
    if (std::strcmp(text, "better") == 0) return {shader::Tier::kBetter, false, true};
  }
  return {shader::Tier::kQuick, (flags & VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT) == 0, false};
}

StageBuild::StageBuild(const StageRequest& request, const CodeCaches& caches, const BuildTiers& tiers)
    : caches_(caches), tiers_(tiers) {
  const Stopwatch stopwatch(&spent_ns_);
  source_ = std::make_shared<CompileSource>(request);
}

StageBuild::StageBuild(std::shared_ptr<CompileSource> source, Code known, const CodeCaches& caches,
                       const BuildTiers& tiers)
    : caches_(caches), tiers_(tiers), source_(std::move(source)), known_(std::move(known)) {}

StageBuild::~StageBuild() {
  if (loaded_.block) CodeArena::instance().free(loaded_.block);
}

bool StageBuild::find() {
  const Stopwatch stopwatch(&spent_ns_);
  return findCode();
}

bool StageBuild::findCode() {
  if (take(known_)) return true;
  if (caches_.application != nullptr && take(caches_.application->find(key()))) {
    applicationHit_ = true;
    return true;
  }
  // Whoever wants to see what is compiled wants it compiled.
  if (caches_.disk == nullptr || !source_->dumpDirectory().empty()) return false;
  if (!take(caches_.disk->find(key()))) return false;
  if (caches_.application != nullptr) caches_.application->insert(key(), code_);
  return true;
}

// Whether the code serves; what cannot be loaded is as good as not there.
bool StageBuild::take(Code code) {
  if (code == nullptr) return false;
  if (tiers_.forced && code->isQuick() != (tiers_.first == shader::Tier::kQuick)) return false;
  const VkResult loaded = load(*code);
  if (loaded == VK_ERROR_INITIALIZATION_FAILED) return false;
  result_ = loaded;
  code_ = std::move(code);
  return true;
}

VkResult StageBuild::load(const CachedCode& code) {
  shader::cache::LoadResult loaded = loadObject(CodeArena::instance(), code.object.elf, shader::kEntrySymbol);
  if (loaded.status == LoadStatus::kOutOfHostMemory) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (loaded.status != LoadStatus::kOk) {
    PUMICE_ERROR("icd", "the object code of a %s shader cannot be loaded: %s", stageName(source_->stage()),
                 loaded.message.c_str());
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  loaded_ = loaded.code;
  return VK_SUCCESS;
}

VkResult StageBuild::compile(shader::VertexInterfaceListener* listener) {
  const Stopwatch stopwatch(&spent_ns_);
  return result_ = compileCode(listener);
}

VkResult StageBuild::compileCode(shader::VertexInterfaceListener* listener) {
  TimedCompile compiled = compileHere(*source_, tiers_.first, listener);
  if (compiled.result.status != shader::CompileStatus::kOk) {
    logFailure("creation", *source_, compiled.result);
    // The specification has no code for a module that breaks the rules; this one says "not this pipeline".
    return compiled.result.status == shader::CompileStatus::kOutOfHostMemory ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                                             : VK_ERROR_INITIALIZATION_FAILED;
  }
  Code code = codeOf(std::move(compiled));
  if (const VkResult result = load(*code); result != VK_SUCCESS) return result;
  code_ = std::move(code);
  if (caches_.application != nullptr) caches_.application->insert(key(), code_);
  if (caches_.disk != nullptr) CacheWriter::instance().write(caches_.disk, key(), code_);
  return VK_SUCCESS;
}

VkPipelineCreationFeedback StageBuild::feedback() const {
  VkPipelineCreationFeedback out{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, spent_ns_};
  if (applicationHit_) out.flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  return out;
}

shader::cache::CodeBlock StageBuild::takeBlock() {
  return std::exchange(loaded_.block, {});
}

bool StageBuild::mayImprove() const {
  return tiers_.mayImprove && code_->isQuick();
}

// A program is worth better code, which takes two to three times as long to make, when it has run for as long as its
// quick code took to make: at worst a small multiple of that is spent in vain, in the background.
uint64_t StageBuild::hotLimit_ns() const {
  constexpr uint64_t kLeast_ns = 1'000'000, kMost_ns = 50'000'000;
  return std::clamp(code_->compile_ns, kLeast_ns, kMost_ns);
}

HotProgram::Compile StageBuild::betterCompile() const {
  const std::shared_ptr<const CompileSource> source = source_;
  const std::weak_ptr<ObjectCache> application = caches_.application;
  return [source, application, disk = caches_.disk] { return makeBetter(*source, application, disk); };
}

StageCode::~StageCode() {
  hot_.reset();
  if (block_) shader::cache::CodeArena::instance().free(block_);
}

}  // namespace pumice::icd
