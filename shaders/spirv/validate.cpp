#include "shaders/spirv/validate.h"

#include <spirv-tools/libspirv.h>

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shaders/spirv/module.h"

namespace pumice::shader::spirv {
namespace {

// Modules that were found valid, by a hash of 128 bits: pipelines that differ in constants or entry point, and better
// code for a hot one, need not validate again. Thread safe; never destroyed.
class ValidModules {
 public:
  using Hash = std::pair<uint64_t, uint64_t>;

  static ValidModules& instance() {
    static auto* const modules = new ValidModules;
    return *modules;
  }
  static Hash hash(std::span<const uint32_t> words) {
    const XXH128_hash_t h = XXH3_128bits(words.data(), words.size_bytes());
    return {h.low64, h.high64};
  }
  bool has(const Hash& hash) {
    const std::lock_guard lock(mutex_);
    return known_.count(hash) != 0;
  }
  void add(const Hash& hash) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.insert(hash);
  }

 private:
  static constexpr size_t kMost = 4096;
  std::mutex mutex_;
  std::set<Hash> known_;
};

}  // namespace

void validate(std::span<const uint32_t> words) {
  if (words.empty()) failInvalid("no SPIR-V");
  const ValidModules::Hash hash = ValidModules::hash(words);
  if (ValidModules::instance().has(hash)) return;
  struct Free {
    void operator()(spv_context c) const { spvContextDestroy(c); }
    void operator()(spv_validator_options o) const { spvValidatorOptionsDestroy(o); }
    void operator()(spv_diagnostic d) const { spvDiagnosticDestroy(d); }
  };
  const std::unique_ptr<spv_context_t, Free> context(spvContextCreate(SPV_ENV_VULKAN_1_3));
  const std::unique_ptr<spv_validator_options_t, Free> options(spvValidatorOptionsCreate());
  if (!context || !options) throw std::bad_alloc();
  spvValidatorOptionsSetSkipBlockLayout(options.get(), true);
  spvValidatorOptionsSetAllowLocalSizeId(options.get(), true);
  spvValidatorOptionsSetFriendlyNames(options.get(), false);
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic raw = nullptr;
  const spv_result_t result = spvValidateWithOptions(context.get(), options.get(), &binary, &raw);
  const std::unique_ptr<spv_diagnostic_t, Free> diagnostic(raw);
  if (result == SPV_SUCCESS) {
    ValidModules::instance().add(hash);
    return;
  }
  if (result == SPV_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  std::string message = diagnostic && diagnostic->error ? diagnostic->error : "rejected by the validator";
  if (result == SPV_UNSUPPORTED) failUnsupported(std::move(message));
  failInvalid(std::move(message));
}

}  // namespace pumice::shader::spirv
