// The capabilities that compute shaders may declare.
#pragma once

#include <spirv/unified1/spirv.hpp11>

namespace pumice::shader::spirv {

bool isSupported(spv::Capability c);

}  // namespace pumice::shader::spirv
