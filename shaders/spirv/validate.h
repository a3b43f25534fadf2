// SPIRV-Tools' validator with the rules of the Vulkan environment.
#pragma once

#include <cstdint>
#include <span>

namespace pumice::shader::spirv {

// Throws ReadError with the validator's first message. Block layouts are not checked: the reader follows whatever
// offsets and strides there are, and relaxed, scalar and standard layouts are all enabled.
void validate(std::span<const uint32_t> words);

}  // namespace pumice::shader::spirv
