// From the control-flow graph to the tree, along the dominator tree: a block's code stands where its only way in is,
// or, if several ways lead to it (or it is a declared merge block), behind a Block that its dominator opens and that
// all ways in branch to. Any reducible graph comes out; early returns, breaks out of nested constructs and falling
// through switch cases need no case of their own.
#include <algorithm>
#include <utility>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Construct;
using SC = spv::StorageClass;

namespace {

constexpr uint32_t kMaxCallDepth = 64;
constexpr uint32_t kMaxTreeDepth = 1500;
constexpr uint64_t kMaxWork = 1'000'000;  // instructions after reading calls in place

}  // namespace

const Cfg& Translator::cfgOf(const FunctionDef& fn) {
  if (auto it = cfgs_.find(fn.id); it != cfgs_.end()) return it->second;
  // Constant conditions (specialisation constants, mostly) leave only one way on.
  auto constantOf = [&](uint32_t id) -> Value* {
    const Instr* in = module_.def(id);
    if (!in || in->op < spv::Op::OpConstantTrue || in->op > spv::Op::OpSpecConstantOp) return nullptr;
    const Val v = get(id);
    return v.leaves.size() == 1 && v.leaves[0]->def == Value::Def::kConstant ? v.leaves[0] : nullptr;
  };
  auto successors = [&](const Instr& end, std::vector<uint32_t>& labels) {
    switch (end.op) {
      case spv::Op::OpBranch:
        labels.push_back(end.operand(0));
        break;
      case spv::Op::OpBranchConditional: {
        const Value* c = constantOf(end.operand(0));
        if (!c || c->bits) labels.push_back(end.operand(1));
        if (!c || !c->bits) labels.push_back(end.operand(2));
        break;
      }
      case spv::Op::OpSwitch: {
        const Instr& selector = module_.get(end.operand(0));
        const TypeInfo& t = type(selector.resultType);
        if (!t.scalar.isInt() || t.leaves != 1) failInvalid("switch on something that is no integer");
        const bool wide = t.scalar == ir::kI64;
        const Value* c = constantOf(end.operand(0));
        uint32_t taken = end.operand(1);
        for (uint32_t i = 2; i < end.operandCount(); i += wide ? 3 : 2) {
          const uint64_t literal = scalarLiteral(end, t, end.firstOperand + i);
          const uint32_t label = end.operand(i + (wide ? 2 : 1));
          if (!c) labels.push_back(label);
          if (c && c->bits == (literal & (~0ull >> (64 - ir::kindBits(t.scalar.kind))))) {
            taken = label;
            break;
          }
        }
        labels.push_back(taken);
        break;
      }
      default:
        break;
    }
  };
  return cfgs_.emplace(fn.id, Cfg(fn, successors)).first->second;
}

// -- phis

uint32_t Translator::phiLeafCount(uint32_t typeId) {
  const TypeInfo& t = type(typeId);
  if (t.op == spv::Op::OpTypePointer && t.storage != SC::PhysicalStorageBuffer) {
    if (t.storage == SC::StorageBuffer || t.storage == SC::Uniform) return 2;
    if (t.storage == SC::Workgroup) return 1;
    failUnsupported("a variable pointer to this storage class");
  }
  if (t.leaves == 0 && t.op != spv::Op::OpTypeStruct) failUnsupported("a phi of this type");
  return t.leaves;
}

ir::Type Translator::phiLeafType(uint32_t typeId, uint32_t leaf) {
  const TypeInfo& t = type(typeId);
  if (t.op == spv::Op::OpTypePointer && t.storage != SC::PhysicalStorageBuffer)
    return t.storage != SC::Workgroup && leaf == 0 && !isDescriptorArray(type(t.element)) ? ir::kBufferRef : ir::kI32;
  return leafType(t, leaf);
}

Translator::Leaves Translator::valueForPhi(uint32_t id, uint32_t typeId) {
  const uint32_t n = phiLeafCount(typeId);
  const TypeInfo& t = type(typeId);
  if (t.op == spv::Op::OpTypePointer && t.storage != SC::PhysicalStorageBuffer) {
    const Pointer* p = pointer(id);
    const bool descriptors = isDescriptorArray(type(t.element));
    if (p->kind != (descriptors ? Pointer::Kind::kDescriptors : Pointer::Kind::kMemory) || (descriptors && n != 2))
      failInvalid("a phi of different pointers");
    std::span<Value*> leaves = allocate(n);
    if (n == 2) leaves[0] = descriptors ? descriptorArrayNumber(*p) : p->base;
    leaves[n - 1] = byteOffset(*p);
    if (n == 2 && !leaves[0]) failInvalid("a phi of different pointers");
    return leaves;
  }
  const Val v = get(id);
  if (v.leaves.size() != n) failInvalid("a value of another type is expected");
  return v.leaves;
}

Val Translator::valueFromPhi(uint32_t typeId, Leaves leaves) {
  const TypeInfo& t = type(typeId);
  if (t.op != spv::Op::OpTypePointer || t.storage == SC::PhysicalStorageBuffer) return make(typeId, leaves);
  return makePointer(typeId, leaves.size() == 2 ? leaves[0] : nullptr, leaves.back());
}

// The operands of all phis of `to` for the way from `from`.
Translator::Leaves Translator::phiOperands(Frame& f, uint32_t from, uint32_t to) {
  const uint32_t label = f.cfg->blocks[from].def->label;
  std::vector<Value*> all;
  for (const Instr& in : f.cfg->blocks[to].def->instrs) {
    if (in.op == spv::Op::OpLine || in.op == spv::Op::OpNoLine) continue;
    if (in.op != spv::Op::OpPhi) break;
    bool found = false;
    for (uint32_t i = 0; i + 1 < in.operandCount() && !found; i += 2)
      if (in.operand(i + 1) == label) {
        const Leaves l = valueForPhi(in.operand(i), in.resultType);
        for (uint32_t k = 0; k < l.size(); ++k)
          if (!l[k] || l[k]->type != phiLeafType(in.resultType, k)) failInvalid("a phi operand has a wrong type");
        all.insert(all.end(), l.begin(), l.end());
        found = true;
      }
    if (!found) failInvalid("a phi has no operand for a way that leads to it");
  }
  std::span<Value*> copy = allocate(all.size());
  std::copy(all.begin(), all.end(), copy.begin());
  return copy;
}

void Translator::declareResults(Frame& f, Construct* c, uint32_t block) {
  for (const Instr& in : f.cfg->blocks[block].def->instrs) {
    if (in.op == spv::Op::OpLine || in.op == spv::Op::OpNoLine) continue;
    if (in.op != spv::Op::OpPhi) break;
    const uint32_t n = phiLeafCount(in.resultType);
    for (uint32_t i = 0; i < n; ++i) e().addResult(c, phiLeafType(in.resultType, i));
  }
}

void Translator::bindPhis(Frame& f, uint32_t block, Leaves incoming) {
  size_t next = 0;
  for (const Instr& in : f.cfg->blocks[block].def->instrs) {
    if (in.op == spv::Op::OpLine || in.op == spv::Op::OpNoLine) continue;
    if (in.op != spv::Op::OpPhi) break;
    const uint32_t n = phiLeafCount(in.resultType);
    if (next + n > incoming.size()) failInvalid("a phi in a block that nothing branches to");
    set(in.result, valueFromPhi(in.resultType, incoming.subspan(next, n)));
    next += n;
  }
}

// -- the tree

// Emits `block` and all that it dominates into the current region, which ends in a terminator afterwards. `incoming`
// are the values of the block's phis.
void Translator::emitTree(Frame& f, uint32_t block, Leaves incoming) {
  if (++treeDepth_ > kMaxTreeDepth) failUnsupported("control flow is nested too deeply");
  while (true) {
    const CfgBlock& b = f.cfg->blocks[block];
    // Joins of a loop header that are not part of the loop stand outside it.
    std::vector<uint32_t> outside, inside;
    for (uint32_t j : b.joins) (b.isLoopHeader && !f.cfg->inLoop(block, j) ? outside : inside).push_back(j);
    auto openFor = [&](uint32_t join) {
      Construct* c = e().openBlock();
      declareResults(f, c, join);
      f.blockTarget[join] = c;
      return c;
    };
    std::vector<Construct*> outsideBlocks, insideBlocks;
    for (uint32_t j : outside) outsideBlocks.push_back(openFor(j));
    Construct* loop = nullptr;
    if (b.isLoopHeader) {
      loop = e().openLoop(incoming);
      loop->unroll = b.control & static_cast<uint32_t>(spv::LoopControlMask::Unroll);
      loop->dontUnroll = b.control & static_cast<uint32_t>(spv::LoopControlMask::DontUnroll);
      f.loopTarget[block] = loop;
      incoming = Leaves(loop->params);
    }
    bindPhis(f, block, incoming);
    const auto instrs = b.def->instrs;
    for (const Instr& in : instrs.first(instrs.size() - 1)) {
      if (in.op == spv::Op::OpSelectionMerge || in.op == spv::Op::OpLoopMerge || in.op == spv::Op::OpPhi) continue;
      emitInstr(in);
    }
    // The innermost join of a two-way branch needs no Block: the If itself can be branched to.
    const Instr& end = instrs.back();
    const bool twoWay = end.op == spv::Op::OpBranchConditional && b.succs.size() == 2;
    const bool useIf = twoWay && !inside.empty();
    for (size_t i = 0; i + (useIf ? 1 : 0) < inside.size(); ++i) insideBlocks.push_back(openFor(inside[i]));

    if (twoWay) {
      emitIf(f, block, end, useIf ? inside.back() : kNoBlock);
    } else if (end.op == spv::Op::OpSwitch && b.succs.size() > 1) {
      emitSwitch(f, block, end);
    } else if (!b.succs.empty()) {
      const uint32_t next = b.succs[0];
      const CfgBlock& n = f.cfg->blocks[next];
      if (inside.empty() && !loop && !n.needsBlock && n.order > b.order) {
        incoming = phiOperands(f, block, next);
        block = next;
        continue;
      }
      emitEdge(f, block, next);
    } else if (end.op == spv::Op::OpReturn) {
      e().br(f.returnTo, {});
    } else if (end.op == spv::Op::OpReturnValue) {
      e().br(f.returnTo, valueForPhi(end.operand(0), f.def->returnType));
    } else if (isFragment() && (end.op == spv::Op::OpKill || end.op == spv::Op::OpTerminateInvocation)) {
      demote();
      e().br(shader_, {});
    } else if (end.op == spv::Op::OpUnreachable) {
      e().unreachable();
    } else {
      failUnsupported("block terminator " + std::to_string(static_cast<uint32_t>(end.op)));
    }

    // Close from the inside out; the code of each join follows its Block. The last one continues in this very region.
    uint32_t tail = kNoBlock;
    Leaves tailIncoming;
    auto continueBehind = [&](Construct* c, uint32_t join, bool last) {
      if (last) {
        tail = join;
        tailIncoming = make(0, Leaves(c->results)).leaves;
      } else {
        emitTree(f, join, make(0, Leaves(c->results)).leaves);
      }
    };
    if (useIf) {
      // emitIf has closed it already.
      continueBehind(f.blockTarget[inside.back()], inside.back(), insideBlocks.empty() && !loop);
    }
    for (size_t i = insideBlocks.size(); i-- > 0;) {
      e().close(insideBlocks[i]);
      continueBehind(insideBlocks[i], inside[i], i == 0 && !loop);
    }
    if (loop) {
      e().close(loop);
      e().unreachable();
      for (size_t i = outsideBlocks.size(); i-- > 0;) {
        e().close(outsideBlocks[i]);
        continueBehind(outsideBlocks[i], outside[i], i == 0);
      }
    }
    if (tail == kNoBlock) break;
    block = tail;
    incoming = tailIncoming;
  }
  --treeDepth_;
}

void Translator::emitIf(Frame& f, uint32_t block, const Instr& end, uint32_t joinBlock) {
  Value* condition = scalar(end.operand(0));
  if (!condition->type.isBool()) failInvalid("a branch condition is no boolean");
  Construct* c = e().openIf(condition);
  const uint32_t control = f.cfg->blocks[block].control;
  if (!f.cfg->blocks[block].isLoopHeader) {
    c->flatten = control & static_cast<uint32_t>(spv::SelectionControlMask::Flatten);
    c->dontFlatten = control & static_cast<uint32_t>(spv::SelectionControlMask::DontFlatten);
  }
  if (joinBlock != kNoBlock) {
    declareResults(f, c, joinBlock);
    f.blockTarget[joinBlock] = c;
  }
  emitEdge(f, block, f.cfg->blockOf(end.operand(1)));
  e().openElse();
  emitEdge(f, block, f.cfg->blockOf(end.operand(2)));
  e().close(c);
  if (joinBlock == kNoBlock) e().unreachable();
}

// Every target gets a Block without results around the table; behind it stands the way to the target.
void Translator::emitSwitch(Frame& f, uint32_t block, const Instr& end) {
  const TypeInfo& t = type(module_.get(end.operand(0)).resultType);
  const bool wide = t.scalar == ir::kI64;
  const std::vector<uint32_t>& targets = f.cfg->blocks[block].succs;
  Value* selector = scalar(end.operand(0));
  std::vector<Construct*> ways(targets.size());
  for (size_t i = targets.size(); i-- > 0;) ways[i] = e().openBlock();
  auto wayTo = [&](uint32_t label) {
    const uint32_t to = f.cfg->blockOf(label);
    return ways[static_cast<size_t>(std::find(targets.begin(), targets.end(), to) - targets.begin())];
  };
  std::vector<ir::SwitchCase> cases;
  for (uint32_t i = 2; i < end.operandCount(); i += wide ? 3 : 2) {
    const uint64_t mask = ~0ull >> (64 - ir::kindBits(t.scalar.kind));
    cases.push_back({scalarLiteral(end, t, end.firstOperand + i) & mask, wayTo(end.operand(i + (wide ? 2 : 1)))});
  }
  cases.push_back({0, wayTo(end.operand(1))});
  e().brTable(selector, cases);
  for (size_t i = 0; i < targets.size(); ++i) {
    e().close(ways[i]);
    emitEdge(f, block, targets[i]);
  }
}

// The way from a block to a successor: a branch, or the successor's code itself.
void Translator::emitEdge(Frame& f, uint32_t from, uint32_t to) {
  const CfgBlock& target = f.cfg->blocks[to];
  const Leaves values = phiOperands(f, from, to);
  if (target.order <= f.cfg->blocks[from].order) {
    if (!f.loopTarget[to]) failInvalid("control flow is irreducible");
    e().br(f.loopTarget[to], values);
  } else if (target.needsBlock) {
    if (!f.blockTarget[to]) failInvalid("control flow is not structured");
    e().br(f.blockTarget[to], values);
  } else {
    emitTree(f, to, values);
  }
}

// -- functions

void Translator::emitFunction(const FunctionDef& fn, Construct* returnTo) {
  Frame f;
  f.def = &fn;
  f.cfg = &cfgOf(fn);
  f.returnTo = returnTo;
  f.blockTarget.resize(f.cfg->blocks.size());
  f.loopTarget.resize(f.cfg->blocks.size());
  const FunctionDef* const caller = std::exchange(function_, &fn);
  emitTree(f, 0, {});
  function_ = caller;
}

void Translator::emitCall(const Instr& in) {
  const FunctionDef& fn = module_.function(in.operand(0));
  if (fn.params.size() + 1 != in.operandCount()) failInvalid("call with a wrong number of arguments");
  if (++callDepth_ > kMaxCallDepth) failUnsupported("calls are nested too deeply or recursive");
  for (size_t i = 0; i < fn.params.size(); ++i) {
    Val argument = lookup(in.operand(static_cast<uint32_t>(i) + 1));
    if (argument.type != module_.get(fn.params[i]).resultType) failInvalid("an argument has a wrong type");
    set(fn.params[i], argument);
  }
  Construct* c = e().openBlock();
  const bool hasValue = type(fn.returnType).op != spv::Op::OpTypeVoid;
  if (hasValue)
    for (uint32_t i = 0; i < phiLeafCount(fn.returnType); ++i) e().addResult(c, phiLeafType(fn.returnType, i));
  const uint32_t line = e().line;
  emitFunction(fn, c);
  e().line = line;
  e().close(c);
  --callDepth_;
  if (hasValue) {
    set(in.result, valueFromPhi(in.resultType, make(0, Leaves(c->results).first(phiLeafCount(fn.returnType))).leaves));
  } else {
    set(in.result, {in.resultType, {}, nullptr});
  }
}

void Translator::emitInstr(const Instr& in) {
  if (++work_ > kMaxWork) failUnsupported("the shader is too large once its calls are expanded");
  emitter_.noContract = in.result && module_.has(in.result, spv::Decoration::NoContraction);
  switch (in.op) {
    case spv::Op::OpNop:
    case spv::Op::OpNoLine:
      if (in.op == spv::Op::OpNoLine) e().line = 0;
      return;
    case spv::Op::OpLine:
      e().line = in.operand(1);
      return;
    case spv::Op::OpFunctionCall:
      emitCall(in);
      return;
    case spv::Op::OpUndef:
      set(in.result, undefinedValue(in.resultType));
      return;
    case spv::Op::OpExtInst:
      switch (module_.extSet(in.operand(0))) {
        case ExtSet::kGlslStd450:
          emitGlsl(in);
          return;
        case ExtSet::kNonSemantic:
          return;
        default:
          failUnsupported("extended instruction set");
      }
    default:
      break;
  }
  if (emitMemory(in) || emitImage(in) || emitAlu(in.op, in, in.firstOperand) ||
      emitComposite(in.op, in, in.firstOperand) || emitMatrix(in.op, in, in.firstOperand) ||
      emitIntegerDot(in.op, in, in.firstOperand) || emitSubgroup(in) || emitFragment(in))
    return;
  failUnsupported("opcode " + std::to_string(static_cast<uint32_t>(in.op)));
}

}  // namespace pumice::shader::spirv
