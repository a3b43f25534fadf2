// FMA contraction: a * b + c becomes FFma where SPIR-V allows it (NoContraction on neither operation) and the product
// has no other use. The same on every machine, so results do not depend on what the CPU offers. Only F32 and F64.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

void contract(ir::Function& fn);

}  // namespace pumice::shader::passes
