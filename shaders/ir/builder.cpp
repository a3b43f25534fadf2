#include "shaders/ir/builder.h"

#include <cassert>

namespace pumice::shader::ir {

namespace {

enum class ResultRule : uint8_t { kSame, kBool, kVoid, kGiven };

ResultRule resultRule(Op op) {
  static constexpr ResultRule Same = ResultRule::kSame, Bool = ResultRule::kBool, Void = ResultRule::kVoid,
                              Given = ResultRule::kGiven;
  static constexpr ResultRule kRules[] = {
#define PUMICE_OP(name, operands, result, semantics) result,
#include "shaders/ir/ops.def"
#undef PUMICE_OP
  };
  return kRules[static_cast<size_t>(op)];
}

Type resultType(Op op, Type operand) {
  switch (resultRule(op)) {
    case ResultRule::kSame:
      return operand;
    case ResultRule::kBool:
      return kBool;
    case ResultRule::kVoid:
      return kVoid;
    case ResultRule::kGiven:
      break;
  }
  assert(!"the operation's result type must be given");
  return kVoid;
}

}  // namespace

Inst* Builder::inst(Op op, Type result, std::span<Value* const> operands) {
  assert(region_ && "no region is open");
  Inst* i = fn_->newInst(op, result);
  i->operands.assign(operands.begin(), operands.end());
  i->line = line;
  region_->nodes.push_back(i);
  return i;
}

Value* Builder::unary(Op op, Value* a) {
  return inst(op, resultType(op, a->type), {a})->result;
}

Value* Builder::binary(Op op, Value* a, Value* b) {
  assert(a->type == b->type || op == Op::FLdexp || op == Op::SubgroupShuffle || op == Op::SubgroupShuffleXor ||
         op == Op::SubgroupShuffleUp || op == Op::SubgroupShuffleDown);
  return inst(op, resultType(op, a->type), {a, b})->result;
}

Value* Builder::ternary(Op op, Value* a, Value* b, Value* c) {
  assert(a->type == b->type && b->type == c->type);
  return inst(op, resultType(op, a->type), {a, b, c})->result;
}

Value* Builder::convert(Op op, Type to, Value* a) {
  return inst(op, to, {a})->result;
}

Value* Builder::select(Value* cond, Value* a, Value* b) {
  assert(cond->type == kBool && a->type == b->type);
  return inst(Op::Select, a->type, {cond, a, b})->result;
}

Value* Builder::construct(std::span<Value* const> scalars) {
  assert(!scalars.empty() && scalars.size() <= 4);
  if (scalars.size() == 1) return scalars[0];
  return inst(Op::Construct, Type{scalars[0]->type.kind, static_cast<uint8_t>(scalars.size())}, scalars)->result;
}

Value* Builder::extract(Value* tuple, uint32_t component) {
  assert(component < tuple->type.components);
  if (tuple->type.components == 1) return tuple;
  Inst* i = inst(Op::Extract, tuple->type.scalar(), {tuple});
  i->imm = component;
  return i->result;
}

Value* Builder::builtin(Op op, uint32_t component) {
  assert(op >= Op::WorkgroupId && op <= Op::SubgroupSize && component < 3);
  Inst* i = inst(op, kI32, {});
  i->imm = component;
  return i->result;
}

Value* Builder::load(Type type, const MemRef& mem, std::initializer_list<Value*> address) {
  assert(address.size() == addressOperandCount(mem.space));
  Inst* i = inst(Op::Load, type, address);
  i->mem = mem;
  return i->result;
}

void Builder::store(const MemRef& mem, std::initializer_list<Value*> address, Value* value) {
  assert(address.size() == addressOperandCount(mem.space));
  Inst* i = inst(Op::Store, kVoid, address);
  i->operands.push_back(value);
  i->mem = mem;
}

Construct* Builder::openBlock() {
  Construct* c = fn_->newConstruct(Construct::Shape::kBlock, construct_);
  region_->nodes.push_back(c);
  stack_.push_back({construct_, region_});
  construct_ = c;
  region_ = &c->body;
  return c;
}

Construct* Builder::openIf(Value* condition) {
  assert(condition->type == kBool);
  Construct* c = fn_->newConstruct(Construct::Shape::kIf, construct_);
  c->condition = condition;
  region_->nodes.push_back(c);
  stack_.push_back({construct_, region_});
  construct_ = c;
  region_ = &c->body;
  return c;
}

void Builder::openElse() {
  assert(construct_->shape == Construct::Shape::kIf && region_ == &construct_->body);
  region_ = &construct_->otherwise;
}

Construct* Builder::openLoop(std::initializer_list<Value*> initial) {
  Construct* c = fn_->newConstruct(Construct::Shape::kLoop, construct_);
  for (Value* v : initial) fn_->addParam(c, v);
  region_->nodes.push_back(c);
  stack_.push_back({construct_, region_});
  construct_ = c;
  region_ = &c->body;
  return c;
}

void Builder::close() {
  assert(!stack_.empty());
  construct_ = stack_.back().construct;
  region_ = stack_.back().region;
  stack_.pop_back();
}

void Builder::br(Construct* target, std::initializer_list<Value*> values) {
  assert(values.size() == (target->shape == Construct::Shape::kLoop ? target->params : target->results).size());
  inst(Op::Br, kVoid, values)->target = target;
}

void Builder::brTable(Value* selector, std::span<const SwitchCase> cases) {
  assert(!cases.empty());
  inst(Op::BrTable, kVoid, {selector})->cases.assign(cases.begin(), cases.end());
}

void Builder::unreachable() {
  inst(Op::Unreachable, kVoid, {});
}

}  // namespace pumice::shader::ir
