#include "shaders/cache/build_id.h"

#include "pumice_build_id.h"  // generated

namespace pumice::shader::cache {

const char* buildId() {
  return PUMICE_BUILD_ID;
}

}  // namespace pumice::shader::cache
