#include "shaders/spirv/validate.h"

#include <spirv-tools/libspirv.h>
#include <memory>

#include "shaders/spirv/module.h"

namespace pumice::shader::spirv {

void validate(std::span<const uint32_t> words) {
  if (words.empty()) failInvalid("no SPIR-V");
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
  if (result == SPV_SUCCESS) return;
  if (result == SPV_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  std::string message = diagnostic && diagnostic->error ? diagnostic->error : "rejected by the validator";
  if (result == SPV_UNSUPPORTED) failUnsupported(std::move(message));
  failInvalid(std::move(message));
}

}  // namespace pumice::shader::spirv
