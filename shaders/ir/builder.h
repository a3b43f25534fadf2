// Appends nodes to a region. A thin convenience over Function: it checks types (assert), folds nothing.
#pragma once

#include <initializer_list>
#include <span>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

class Builder {
 public:
  Builder(Function& fn, Construct* construct, Region* region) : fn_(&fn), construct_(construct), region_(region) {}
  explicit Builder(Function& fn) : Builder(fn, fn.body, &fn.body->body) {}

  Function& function() { return *fn_; }
  Construct* construct() { return construct_; }  // the innermost construct that is being filled
  Region* region() { return region_; }
  uint32_t line = 0;  // given to every new instruction

  // -- values. Result type by the rule in ops.def (Same, Bool).
  Value* unary(Op op, Value* a);
  Value* binary(Op op, Value* a, Value* b);
  Value* ternary(Op op, Value* a, Value* b, Value* c);
  Value* convert(Op op, Type to, Value* a);
  Value* select(Value* cond, Value* a, Value* b);
  Value* construct(std::span<Value* const> scalars);  // one scalar: itself
  Value* extract(Value* tuple, uint32_t component);   // a scalar's component 0: itself
  Value* builtin(Op op, uint32_t component = 0);      // WorkgroupId .. SubgroupSize
  Inst* inst(Op op, Type result, std::span<Value* const> operands);
  Inst* inst(Op op, Type result, std::initializer_list<Value*> operands) {
    return inst(op, result, std::span<Value* const>(operands.begin(), operands.size()));
  }

  // -- memory; `address` as Space asks
  Value* load(Type type, const MemRef& mem, std::initializer_list<Value*> address);
  void store(const MemRef& mem, std::initializer_list<Value*> address, Value* value);

  // -- control flow: open* appends the construct and moves into its (first) region; close() moves back out, behind it.
  // The region that is left must end in a terminator.
  Construct* openBlock();
  Construct* openIf(Value* condition);
  void openElse();  // from the then region to the else region of the innermost If
  Construct* openLoop(std::initializer_list<Value*> initial);
  void close();
  Value* result(Construct* c, Type type) { return fn_->addResult(c, type); }  // declare before the first branch to c
  void br(Construct* target, std::initializer_list<Value*> values = {});
  void brTable(Value* selector, std::span<const SwitchCase> cases);
  void unreachable();

 private:
  Function* fn_;
  Construct* construct_;
  Region* region_;
  struct Open {
    Construct* construct;
    Region* region;
  };
  std::vector<Open> stack_;
};

}  // namespace pumice::shader::ir
