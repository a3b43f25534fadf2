// What the generated code may use: decided by vector width and CPUID features, never by the CPU's name. One plain value
// object that everything in codegen/ passes around; cheap to copy, no ownership, thread safe.
#pragma once

#include <cstdint>
#include <string>

namespace pumice::shader::codegen {

struct TargetFeatures {
  uint32_t vectorLanes = 4;  // V: 32-bit lanes of a machine vector: 4 (SSE4.1), 8 (AVX2), 16 (AVX-512)
  bool fma = false;          // vfmadd*: always with 8 and 16 lanes
  bool f16c = false;         // vcvtph2ps, vcvtps2ph: always with 8 and 16 lanes
  bool avx2 = false;
  bool avx512 = false;       // F, BW, DQ, VL
  bool vbmi = false;         // vpermb
  std::string llvmFeatures;  // "+sse4.1,+avx2,...": for TargetMachine and the "target-features" attribute
};

// The widest V of which this CPU (and operating system) has all features: 4, 8 or 16; 0 if not even SSE4.1 is there.
uint32_t hostVectorLanes();

// The features used for a width. Any width may be asked for on any machine (the code may just not run there); optional
// extensions beyond the width's base (VNNI, VBMI, VPOPCNTDQ …) are on when this CPU has them.
TargetFeatures targetFeatures(uint32_t vectorLanes);

}  // namespace pumice::shader::codegen
