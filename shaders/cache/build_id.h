// Identity of the shader toolchain: a hash over its sources, the shader ABI and the build's settings. The driver and
// libpumice_compiler.so must agree on it (C++ types cross between them), and it is part of every cache key.
#pragma once

namespace pumice::shader::cache {

const char* buildId();  // 40 hexadecimal digits, static

}  // namespace pumice::shader::cache
