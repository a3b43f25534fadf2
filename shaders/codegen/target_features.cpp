#include "shaders/codegen/target_features.h"

#include <cpuid.h>

namespace pumice::shader::codegen {
namespace {

// CPUID, once. GCC's __builtin_cpu_supports checks XCR0 (the operating system saves the registers) as well.
struct Host {
  bool sse41, ssse3, popcnt;
  bool avx2, fma, f16c, bmi, bmi2, lzcnt;
  bool avx512f, avx512bw, avx512dq, avx512vl;
  bool vnni, vbmi, vbmi2, bitalg, vpopcntdq, gfni;

  Host() {
    __builtin_cpu_init();
    ssse3 = __builtin_cpu_supports("ssse3");
    sse41 = __builtin_cpu_supports("sse4.1");
    popcnt = __builtin_cpu_supports("popcnt");
    avx2 = __builtin_cpu_supports("avx2");
    fma = __builtin_cpu_supports("fma");
    bmi = __builtin_cpu_supports("bmi");
    bmi2 = __builtin_cpu_supports("bmi2");
    avx512f = __builtin_cpu_supports("avx512f");
    avx512bw = __builtin_cpu_supports("avx512bw");
    avx512dq = __builtin_cpu_supports("avx512dq");
    avx512vl = __builtin_cpu_supports("avx512vl");
    vnni = __builtin_cpu_supports("avx512vnni");
    vbmi = __builtin_cpu_supports("avx512vbmi");
    vbmi2 = __builtin_cpu_supports("avx512vbmi2");
    bitalg = __builtin_cpu_supports("avx512bitalg");
    vpopcntdq = __builtin_cpu_supports("avx512vpopcntdq");
    gfni = __builtin_cpu_supports("gfni");
    unsigned a = 0, b = 0, c = 0, d = 0;
    f16c = avx2 && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    lzcnt = __get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
  }
  bool has8() const { return avx2 && fma && f16c && bmi && bmi2 && lzcnt && popcnt; }
  bool has16() const { return has8() && avx512f && avx512bw && avx512dq && avx512vl; }
};

const Host& host() {
  static const Host h;
  return h;
}

}  // namespace

uint32_t hostVectorLanes() {
  const Host& h = host();
  if (h.has16()) return 16;
  if (h.has8()) return 8;
  return h.sse41 && h.ssse3 ? 4 : 0;
}

TargetFeatures targetFeatures(uint32_t vectorLanes) {
  const Host& h = host();
  TargetFeatures f;
  f.vectorLanes = vectorLanes >= 16 ? 16 : vectorLanes >= 8 ? 8 : 4;
  f.llvmFeatures = "+sse,+sse2,+sse3,+ssse3,+sse4.1";
  const auto add = [&f](const char* features) { f.llvmFeatures += features; };
  const auto addIf = [&add](bool present, const char* feature) {
    if (present) add(feature);
  };
  if (f.vectorLanes == 4) {
    addIf(h.popcnt, ",+popcnt");
    return f;
  }
  f.avx2 = f.fma = f.f16c = true;
  add(",+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt");
  if (f.vectorLanes == 8) {
    addIf(h.gfni, ",+gfni");
    return f;
  }
  f.avx512 = true;
  add(",+avx512f,+avx512bw,+avx512dq,+avx512vl");
  if (!h.has16()) return f;
  f.vbmi = h.vbmi;
  addIf(h.vnni, ",+avx512vnni");
  addIf(h.vbmi, ",+avx512vbmi");
  addIf(h.vbmi2, ",+avx512vbmi2");
  addIf(h.bitalg, ",+avx512bitalg");
  addIf(h.vpopcntdq, ",+avx512vpopcntdq");
  addIf(h.gfni, ",+gfni");
  return f;
}

}  // namespace pumice::shader::codegen
