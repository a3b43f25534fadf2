// Text of a function, for people, dumps and shrunk test cases: stable, one line per instruction.
#pragma once

#include <string>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

std::string print(const Function& fn);

}  // namespace pumice::shader::ir
