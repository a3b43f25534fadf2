// The expansions of transcendental operations into basic ones; see docs/math.md for methods and measured errors. Each
// appends to the builder of its operand, straight-line, and returns the result. Operands are F32 unless said otherwise.
#pragma once

#include "shaders/passes/math_builder.h"

namespace pumice::shader::passes {

// math_exp_log.cpp
Num expandExp2(Num x);
Num expandExp(Num x);
Num expandLog2(Num x);
Num expandLog(Num x);
Num expandPow(Num x, Num y);
Num expandSinh(Num x);
Num expandCosh(Num x);
Num expandTanh(Num x);
Num expandAsinh(Num x);
Num expandAcosh(Num x);
Num expandAtanh(Num x);

// math_trig.cpp
Num expandSin(Num x);
Num expandCos(Num x);
Num expandTan(Num x);
Num expandAsin(Num x);
Num expandAcos(Num x);
Num expandAtan(Num x);
Num expandAtan2(Num y, Num x);

// math_bits.cpp; F32 or F64
Num expandInverseSqrt(Num x);
Num expandLdexp(Num x, Num exponent);  // exponent: I32
Num expandFrexpSig(Num x);
Num expandFrexpExp(Num x);  // I32
Num expandRem(Num a, Num b);
Num expandMod(Num a, Num b);

}  // namespace pumice::shader::passes
