#include "shaders/passes/fold_addresses.h"

#include "shaders/passes/ranges.h"
#include "shaders/passes/tree.h"

namespace pumice::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Value;

void foldAddresses(ir::Function& fn) {
  const Ranges ranges(fn);
  constexpr uint64_t kMax = 0xffff'ffffu;
  forEachInst(*fn.body, [&](Inst& i) {
    if (!ir::isMemoryOp(i.op)) return;
    Value*& index = i.operands[ir::addressOperandCount(i.mem.space) - 1];
    // Indices of kGlobal are signed: half the range.
    const uint64_t limit = i.mem.space == ir::Space::kGlobal ? kMax / 2 : kMax;
    while (index->type == ir::kI32 && index->def == Value::Def::kInst && index->inst->operands.size() == 2 &&
           index->inst->operands[1]->def == Value::Def::kConstant) {
      Value* x = index->inst->operands[0];
      const uint64_t c = index->inst->operands[1]->bits;
      const uint64_t top = ranges.max(x);
      uint64_t scale = i.mem.scale_B, offset = i.mem.offset_B;
      if (index->inst->op == Op::IAdd && top + c <= limit) {
        offset += c * scale;
      } else if (index->inst->op == Op::IMul && c != 0 && top <= limit / c) {
        scale *= c;
      } else if (index->inst->op == Op::Shl && c < 32 && top <= limit >> c) {
        scale <<= c;
      } else {
        return;
      }
      if (scale > kMax || offset > kMax) return;
      i.mem.scale_B = static_cast<uint32_t>(scale);
      i.mem.offset_B = static_cast<uint32_t>(offset);
      index = x;
    }
  });
}

}  // namespace pumice::shader::passes
