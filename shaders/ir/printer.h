// Text of a function, for people, dumps and shrunk test cases: stable, one line per instruction.
#pragma once

#include <string>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

std::string print(const Function& fn);

// Parts of it, for messages. `printValue` is how an operand looks: %id, or the constant itself.
std::string printType(Type type);
std::string printValue(const Value* value);
std::string printInst(const Inst& inst);

}  // namespace pumice::shader::ir
