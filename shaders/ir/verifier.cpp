#include "shaders/ir/verifier.h"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "backend/abi/fragment_abi.h"
#include "backend/abi/vertex_abi.h"
#include "shaders/ir/image_access.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::ir {
namespace {

enum class ResultRule : uint8_t { kSame, kBool, kVoid, kGiven };

struct OpRule {
  int operands;  // -1: checked by hand
  ResultRule result;
};

OpRule ruleOf(Op op) {
  static constexpr ResultRule Same = ResultRule::kSame, Bool = ResultRule::kBool, Void = ResultRule::kVoid,
                              Given = ResultRule::kGiven;
  static constexpr OpRule kRules[] = {
#define PUMICE_OP(name, operands, result, semantics) {operands, result},
#include "shaders/ir/ops.def"
#undef PUMICE_OP
  };
  return kRules[static_cast<size_t>(op)];
}

bool isBetween(Op op, Op first, Op last) {
  return op >= first && op <= last;
}
bool isScalar(Type t) {
  return t.components == 1;
}
bool isScalarInt(Type t) {
  return isScalar(t) && t.isInt();
}
bool isScalarFloat(Type t) {
  return isScalar(t) && t.isFloat();
}
bool isScalarBool(Type t) {
  return isScalar(t) && t.isBool();
}
bool isScalarValue(Type t) {
  return isScalarInt(t) || isScalarFloat(t) || isScalarBool(t);
}
bool isMemoryType(Type t) {
  return t.isInt() || t.isFloat();
}

bool isWellFormedType(Type t) {
  if (t.isVoid() || t.components < 1 || t.components > 4) return false;
  return t.kind != Kind::kBufferRef || t.components == 1;
}

class Verifier {
 public:
  explicit Verifier(const Function& fn)
      : fn_(fn), state_(fn.valueCount(), State::kUnseen), constructSeen_(fn.constructCount(), false) {}

  std::string run() {
    const uint64_t lanes = uint64_t{fn_.localSize[0]} * fn_.localSize[1] * fn_.localSize[2];
    if (lanes == 0 || lanes > abi::kMaxWorkgroupInvocations) return fmt::format("{} invocations in a workgroup", lanes);
    if (!std::has_single_bit(fn_.subgroupSize) || fn_.subgroupSize < 4 || fn_.subgroupSize > 32) {
      return fmt::format("subgroup size {}", fn_.subgroupSize);
    }
    if (fn_.body == nullptr || fn_.body->shape != Construct::Shape::kBlock || fn_.body->parent != nullptr ||
        !fn_.body->results.empty()) {
      return "the body is no Block without results and parent";
    }
    construct(*fn_.body, nullptr);
    return std::move(error_);
  }

 private:
  enum class State : uint8_t { kUnseen, kVisible, kGone };

  bool fail(const Inst& inst, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{}: {}", what, printInst(inst));
    return false;
  }
  bool fail(const Construct& c, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{} in construct {}", what, c.id);
    return false;
  }

  // -- values
  bool isVisible(const Value* v) const {
    if (v == nullptr || !isWellFormedType(v->type)) return false;
    if (v->def == Value::Def::kConstant) {
      return isScalarValue(v->type) && (v->bits & ~kindMask(v->type.kind)) == 0;
    }
    return v->id < state_.size() && state_[v->id] == State::kVisible;
  }

  bool define(const Value* v) {
    if (v == nullptr || v->id >= state_.size() || state_[v->id] != State::kUnseen || !isWellFormedType(v->type)) {
      return false;
    }
    state_[v->id] = State::kVisible;
    scope_.push_back(v->id);
    return true;
  }

  void leaveScope(size_t mark) {
    for (size_t i = mark; i < scope_.size(); i++) state_[scope_[i]] = State::kGone;
    scope_.resize(mark);
  }

  // -- structure
  bool construct(const Construct& c, const Construct* parent) {
    if (c.id >= constructSeen_.size() || constructSeen_[c.id]) return fail(c, "a construct stands in the tree twice");
    constructSeen_[c.id] = true;
    if (c.parent != parent) return fail(c, "wrong parent");
    const bool isLoop = c.shape == Construct::Shape::kLoop;
    if (isLoop ? !c.results.empty() : !c.params.empty() || !c.initial.empty()) {
      return fail(c, "a Loop has no results, the others have no parameters");
    }
    if ((c.shape == Construct::Shape::kIf) != (c.condition != nullptr)) return fail(c, "condition of an If only");
    if (c.condition != nullptr && (!isVisible(c.condition) || !isScalarBool(c.condition->type))) {
      return fail(c, "the condition is no visible Bool");
    }
    if (c.params.size() != c.initial.size()) return fail(c, "parameters and initial values differ in number");
    for (size_t i = 0; i < c.initial.size(); i++) {
      if (!isVisible(c.initial[i])) return fail(c, "an initial value is not visible");
      if (c.params[i] == nullptr || c.params[i]->type != c.initial[i]->type) {
        return fail(c, "parameter and initial value differ in type");
      }
    }
    open_.push_back(&c);
    const size_t mark = scope_.size();
    for (size_t i = 0; i < c.params.size(); i++) {
      const Value* p = c.params[i];
      if (!define(p) || p->def != Value::Def::kParam || p->construct != &c || p->index != i) {
        return fail(c, "bad parameter");
      }
    }
    if (!region(c, c.body)) return false;
    if (c.shape == Construct::Shape::kIf ? !region(c, c.otherwise) : !c.otherwise.nodes.empty()) {
      return fail(c, "bad else region");
    }
    leaveScope(mark);
    open_.pop_back();
    for (size_t i = 0; i < c.results.size(); i++) {
      const Value* r = c.results[i];
      if (!define(r) || r->def != Value::Def::kResult || r->construct != &c || r->index != i) {
        return fail(c, "bad result");
      }
    }
    return true;
  }

  bool region(const Construct& c, const Region& r) {
    const size_t mark = scope_.size();
    for (size_t i = 0; i < r.nodes.size(); i++) {
      const Node* node = r.nodes[i];
      if (node == nullptr) return fail(c, "null node");
      const bool isLast = i + 1 == r.nodes.size();
      if (node->tag == Node::Tag::kConstruct) {
        if (isLast) return fail(c, "a region without terminator");
        if (!construct(*static_cast<const Construct*>(node), &c)) return false;
        continue;
      }
      const Inst& inst = *static_cast<const Inst*>(node);
      if (inst.isTerminator() != isLast) return fail(inst, "a region ends in its only terminator");
      if (!instruction(inst)) return false;
    }
    if (r.nodes.empty()) return fail(c, "an empty region");
    leaveScope(mark);
    return true;
  }

  // -- instructions
  bool instruction(const Inst& inst) {
    if (inst.op >= Op::kCount) return fail(inst, "unknown operation");
    for (const Value* v : inst.operands) {
      if (!isVisible(v)) return fail(inst, "an operand is not visible here or malformed");
    }
    const OpRule rule = ruleOf(inst.op);
    if (rule.operands >= 0 && inst.operands.size() != static_cast<size_t>(rule.operands)) {
      return fail(inst, "wrong number of operands");
    }
    if ((rule.result == ResultRule::kVoid) != (inst.result == nullptr)) return fail(inst, "result or none");
    if (rule.result == ResultRule::kSame && inst.result->type != inst.operands[0]->type) {
      return fail(inst, "the result has another type than operand 0");
    }
    if (rule.result == ResultRule::kBool && inst.result->type != kBool) return fail(inst, "the result is no Bool");
    if (!types(inst)) return fail(inst, "types or parameters against ops.def");
    if (inst.result != nullptr &&
        (!define(inst.result) || inst.result->def != Value::Def::kInst || inst.result->inst != &inst)) {
      return fail(inst, "bad result value");
    }
    return true;
  }

  bool allSame(const Inst& inst) const {
    for (const Value* v : inst.operands) {
      if (v->type != inst.operands[0]->type) return false;
    }
    return true;
  }

  bool types(const Inst& inst) const {
    const Op op = inst.op;
    const auto operand = [&](size_t i) { return inst.operands[i]->type; };
    if (isMemoryOp(op)) return memory(inst);
    if (isSubgroupOp(op)) return subgroup(inst);
    switch (op) {
      case Op::And:
      case Op::Or:
      case Op::Xor:
      case Op::Not:
      case Op::IEq:
      case Op::INe:
        return (isScalarInt(operand(0)) || isScalarBool(operand(0))) && allSame(inst);
      case Op::Select:
        return isScalarBool(operand(0)) && operand(1) == operand(2) && operand(1) == inst.result->type;
      case Op::FScale:
        return operand(0) == kF32 && allSame(inst);
      case Op::FLdexp:
        return isScalarFloat(operand(0)) && operand(1) == kI32;
      case Op::FFrexpExp:
        return isScalarFloat(operand(0)) && inst.result->type == kI32;
      case Op::Construct: {
        const Type t = inst.result->type;
        return !inst.operands.empty() && inst.operands.size() == t.components && isScalarValue(operand(0)) &&
               allSame(inst) && operand(0) == t.scalar();
      }
      case Op::Extract:
        return inst.imm < operand(0).components && inst.result->type == operand(0).scalar() &&
               operand(0).kind != Kind::kBufferRef;
      case Op::BufferDescriptor:
        return inst.operands.size() <= 1 && (inst.operands.empty() || operand(0) == kI32) &&
               inst.result->type == kBufferRef;
      case Op::DescriptorAddress:
        return inst.operands.size() <= 1 && (inst.operands.empty() || operand(0) == kI32) && inst.imm <= 1 &&
               inst.result->type == kI64;
      case Op::ImageRead:
      case Op::ImageAccess:
      case Op::ImageWrite:
        return image(inst);
      case Op::BufferSize:
        return operand(0) == kBufferRef && inst.result->type == kI32;
      case Op::BufferAddress:
        return operand(0) == kBufferRef && inst.result->type == kI64;
      case Op::MemoryBarrier:
        return true;
      case Op::ControlBarrier:
        return inst.imm <= 1;
      case Op::EnvAddress:
        return fn_.stage != Stage::kCompute && inst.result->type == kI64;
      case Op::ItemAddress:
        return fn_.stage == Stage::kVertex && inst.result->type == kI64;
      case Op::ReadClock:
        return inst.result->type == kI64;
      case Op::Br:
      case Op::BrTable:
      case Op::Unreachable:
        return terminator(inst);
      default:
        break;
    }
    if (isBetween(op, Op::FragmentPosition, Op::Demote)) return fragment(inst);
    if (isBetween(op, Op::SExt, Op::Bitcast)) return conversion(op, operand(0), inst.result->type);
    if (isBetween(op, Op::WorkgroupId, Op::SubgroupSize)) {
      const bool isVector = op <= Op::LocalInvocationId;
      return inst.result->type == kI32 && inst.imm < (isVector ? 3u : 1u);
    }
    if (isBetween(op, Op::IAdd, Op::CountTrailingZeros) || isBetween(op, Op::ULt, Op::SLe)) {
      return isScalarInt(operand(0)) && allSame(inst);
    }
    // All that is left are comparisons, arithmetic and functions of floats.
    return isScalarFloat(operand(0)) && allSame(inst);
  }

  bool fragment(const Inst& inst) const {
    if (fn_.stage != Stage::kFragment) return false;
    const bool outside = open_.size() == 1;
    const auto is32 = [](const Value* v) { return v->type == kF32 || v->type == kI32; };
    switch (inst.op) {
      case Op::FragmentPosition:
        return outside && inst.result->type == kI32 && inst.imm < 2;
      case Op::FragmentCoverage:
        return outside && inst.imm < 1u << fn_.fragment.samples_log2;
      case Op::FragmentSample:
        return inst.result->type == kI32;
      case Op::PrimitiveField:
        return is32(inst.result) && inst.imm % 4 == 0 && inst.imm < sizeof(abi::PrimitiveRecord);
      case Op::VertexField:
        return is32(inst.result) && inst.imm < 4 && inst.imm2 < 4 * abi::kMaxVaryingSlots;
      case Op::FragmentInput:
        return outside && isScalarValue(inst.operands[0]->type);
      case Op::FragmentOutput:
        return is32(inst.operands[0]) && inst.imm < kFragmentOutputs;
      default:
        return true;
    }
  }

  static bool conversion(Op op, Type from, Type to) {
    const uint32_t fromBits = kindBits(from.kind), toBits = kindBits(to.kind);
    switch (op) {
      case Op::SExt:
      case Op::ZExt:
        return isScalarInt(from) && isScalarInt(to) && fromBits < toBits;
      case Op::Trunc:
        return isScalarInt(from) && isScalarInt(to) && fromBits > toBits;
      case Op::FToS:
      case Op::FToU:
        return isScalarFloat(from) && isScalarInt(to);
      case Op::SToF:
      case Op::UToF:
        return isScalarInt(from) && isScalarFloat(to);
      case Op::FConvert:
      case Op::FConvertRtz:
        return isScalarFloat(from) && isScalarFloat(to) && fromBits != toBits;
      default:  // Bitcast
        return isScalar(from) && isScalar(to) && isMemoryType(from) && isMemoryType(to) && fromBits == toBits;
    }
  }

  static bool image(const Inst& inst) {
    const ImageAccess a = imageAccess(inst);
    const ImageOperands at = imageOperands(a);
    if (a.op > abi::ImageOp::kQueryLod || a.spatial < 1 || a.spatial > 3 || inst.operands.size() != at.count)
      return false;
    const auto are = [&](uint32_t first, uint32_t end, Type t) {
      for (uint32_t i = first; i < end; ++i)
        if (inst.operands[i]->type != t) return false;
      return true;
    };
    const bool sampling = a.hasSampler();
    if (!are(0, at.coordinates, kI64) || !are(at.coordinates, at.lod, sampling ? kF32 : kI32)) return false;
    if (!are(at.lod, at.minLod, sampling ? kF32 : kI32) || !are(at.minLod, at.offsets, kF32)) return false;
    if (!are(at.offsets, at.values, kI32)) return false;
    const bool isWrite = a.op == abi::ImageOp::kWrite;
    if (isWrite != (inst.op == Op::ImageWrite) || (a.isAtomic() && inst.op != Op::ImageAccess)) return false;
    const Kind kind = isWrite ? inst.operands[at.values]->type.kind : inst.result->type.kind;
    if (kind != Kind::kF32 && kind != (a.has(abi::kImage64) ? Kind::kI64 : Kind::kI32)) return false;
    if (!are(at.values, at.count, {kind})) return false;
    return isWrite || inst.result->type == (a.isAtomic() ? Type{kind} : Type{kind, 4});
  }

  bool memory(const Inst& inst) const {
    const MemRef& m = inst.mem;
    if (m.space > Space::kLocal || m.align_log2 > 16) return false;
    const size_t addressOperands = addressOperandCount(m.space);
    size_t values = 1;
    if (inst.op == Op::Load || inst.op == Op::AtomicLoad) values = 0;
    if (inst.op == Op::AtomicCompareExchange) values = 2;
    if (inst.operands.size() != addressOperands + values) return false;

    const Type index = inst.operands[addressOperands - 1]->type;
    switch (m.space) {
      case Space::kBuffer:
        if (inst.operands[0]->type != kBufferRef || index != kI32) return false;
        break;
      case Space::kGlobal:
        if (inst.operands[0]->type != kI64 || (index != kI32 && index != kI64)) return false;
        break;
      case Space::kLocal:
        if (m.local >= fn_.locals.size() || index != kI32) return false;
        break;
      case Space::kShared:
      case Space::kPush:
        if (index != kI32) return false;
        break;
    }
    const bool writes = inst.op != Op::Load && inst.op != Op::AtomicLoad;
    if (writes && (m.readOnly || m.space == Space::kPush)) return false;

    const Type type = inst.result != nullptr ? inst.result->type : inst.operands[addressOperands]->type;
    for (size_t i = addressOperands; i < inst.operands.size(); i++) {
      if (inst.operands[i]->type != type) return false;
    }
    if (inst.op == Op::Load || inst.op == Op::Store) return isMemoryType(type);

    if (m.space == Space::kLocal || m.space == Space::kPush) return false;
    const bool is32or64 = isScalar(type) && kindBits(type.kind) >= 32;
    if (inst.op >= Op::AtomicFAdd && inst.op <= Op::AtomicFMax) return is32or64 && type.isFloat();
    if (inst.op == Op::AtomicLoad || inst.op == Op::AtomicStore || inst.op == Op::AtomicExchange) {
      return is32or64 && isMemoryType(type);
    }
    return is32or64 && type.isInt();
  }

  bool subgroup(const Inst& inst) const {
    switch (inst.op) {
      case Op::SubgroupElect:
        return true;
      case Op::QuadShuffle:
        return isScalarValue(inst.operands[0]->type) && inst.imm < 256;
      case Op::IsHelper:
        return fn_.stage == Stage::kFragment;
      case Op::SubgroupAll:
      case Op::SubgroupAny:
        return isScalarBool(inst.operands[0]->type);
      case Op::SubgroupBallot:
        return isScalarBool(inst.operands[0]->type) && inst.result->type == kI32;
      case Op::SubgroupAllEqual:
      case Op::SubgroupBroadcastFirst:
        return isScalarValue(inst.operands[0]->type);
      case Op::SubgroupReduce:
      case Op::SubgroupInclusiveScan:
      case Op::SubgroupExclusiveScan: {
        const Type t = inst.operands[0]->type;
        if (inst.imm2 > static_cast<uint32_t>(ReduceOp::kFMax) || !isScalarValue(t)) return false;
        if (!reduceAccepts(static_cast<ReduceOp>(inst.imm2), t.kind)) return false;
        if (inst.imm == 0 || inst.imm == fn_.subgroupSize) return true;
        return inst.op == Op::SubgroupReduce && std::has_single_bit(inst.imm) && inst.imm < fn_.subgroupSize;
      }
      default:  // shuffles
        return isScalarValue(inst.operands[0]->type) && inst.operands[1]->type == kI32;
    }
  }

  bool isOpen(const Construct* c) const {
    for (const Construct* o : open_) {
      if (o == c) return true;
    }
    return false;
  }

  bool terminator(const Inst& inst) const {
    if (inst.op == Op::Unreachable) return inst.operands.empty();
    if (inst.op == Op::Br) {
      if (inst.target == nullptr || !isOpen(inst.target)) return false;
      const auto& to = inst.target->shape == Construct::Shape::kLoop ? inst.target->params : inst.target->results;
      if (to.size() != inst.operands.size()) return false;
      for (size_t i = 0; i < to.size(); i++) {
        if (to[i] == nullptr || to[i]->type != inst.operands[i]->type) return false;
      }
      return true;
    }
    if (inst.operands.size() != 1 || !isScalarInt(inst.operands[0]->type) || inst.cases.empty()) return false;
    for (const SwitchCase& c : inst.cases) {
      if (c.target == nullptr || !isOpen(c.target) || c.target->shape != Construct::Shape::kBlock ||
          !c.target->results.empty()) {
        return false;
      }
      if (&c != &inst.cases.back() && (c.value & ~kindMask(inst.operands[0]->type.kind)) != 0) return false;
    }
    return true;
  }

  const Function& fn_;
  std::string error_;
  std::vector<State> state_;
  std::vector<bool> constructSeen_;
  std::vector<uint32_t> scope_;         // ids of the visible values, innermost last
  std::vector<const Construct*> open_;  // the constructs around the current node
};

}  // namespace

std::string verify(const Function& fn) {
  return Verifier(fn).run();
}

}  // namespace pumice::shader::ir
