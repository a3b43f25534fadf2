#include "shaders/spirv/emitter.h"

#include <bit>

#include "shaders/ir/semantics.h"
#include "shaders/spirv/module.h"

namespace pumice::shader::spirv {

using ir::Construct;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {
constexpr uint32_t kMaxNesting = 600;  // bounds the recursion of everything that walks the tree
constexpr uint32_t kMaxExportDepth = 2000;
}  // namespace

Emitter::Emitter(ir::Function& fn) : fn_(fn), at_{fn.body, 0}, region_(&fn.body->body) {
  infos_.resize(fn.constructCount());
}

void Emitter::setPlace(const Value* v, Place p) {
  if (places_.size() <= v->id) places_.resize(std::max<size_t>(v->id + 1, places_.size() * 2));
  places_[v->id] = p;
}

Value* Emitter::visible(Value* v, Place from) {
  if (v->def == Value::Def::kConstant) return v;
  Place def = placeOf(v);
  if (def.construct == from.construct && def.side == from.side) return v;
  Place use = from;
  Construct* left = nullptr;  // the last construct that the way up from the definition leaves
  while (info(use.construct).depth > info(def.construct).depth) use = info(use.construct).parent;
  while (info(def.construct).depth > info(use.construct).depth) {
    left = def.construct;
    def = info(def.construct).parent;
  }
  while (def.construct != use.construct) {
    left = def.construct;
    def = info(def.construct).parent;
    use = info(use.construct).parent;
  }
  if (def.side != use.side) failInvalid("a value is used where its definition does not dominate");
  return left ? exportFrom(left, v) : v;
}

Value* Emitter::exportFrom(Construct* c, Value* v) {
  // Nothing runs behind a loop: it is left by branches to constructs around it only.
  if (c->shape == Construct::Shape::kLoop) failInvalid("a value is used where its definition does not dominate");
  if (auto it = info(c).exported.find(v); it != info(c).exported.end()) return it->second;
  if (exportDepth_ > kMaxExportDepth) failUnsupported("control flow is nested too deeply");
  ++exportDepth_;
  Value* result = addResult(c, v->type);
  info(c).exported.emplace(v, result);
  // Branches are complete: c is closed. Taken by index, because infos_ and the list stay as they are but the walk may
  // add results to other constructs.
  for (size_t i = 0; i < info(c).branches.size(); ++i) {
    const Branch b = info(c).branches[i];
    if (b.inst->op == Op::BrTable) failInvalid("a value is used where its definition does not dominate");
    Value* operand = visible(v, b.place);
    b.inst->operands.push_back(operand);
  }
  --exportDepth_;
  return result;
}

Inst* Emitter::inst(Op op, Type result, std::span<Value* const> operands) {
  Inst* i = fn_.newInst(op, result);
  i->operands.reserve(operands.size());
  for (Value* v : operands) i->operands.push_back(visible(v, at_));
  i->line = line;
  i->noContract = noContract;
  if (i->result) setPlace(i->result, at_);
  append(i);
  return i;
}

namespace {

// The folded value or nullptr. Select has a rule of its own.
Value* fold(ir::Function& fn, Op op, Type result, std::initializer_list<Value*> operands) {
  uint64_t bits[3];
  size_t n = 0;
  for (const Value* v : operands) {
    if (v->def != Value::Def::kConstant) return nullptr;
    bits[n++] = v->bits;
  }
  const auto r = ir::evaluate(op, (*operands.begin())->type.kind, result.kind, std::span(bits, n));
  return r ? fn.constant(result, *r) : nullptr;
}

}  // namespace

Value* Emitter::unary(Op op, Value* a) {
  if (Value* c = fold(fn_, op, a->type, {a})) return c;
  return inst(op, a->type, {a})->result;
}

Value* Emitter::binary(Op op, Value* a, Value* b) {
  if (Value* c = fold(fn_, op, a->type, {a, b})) return c;
  return inst(op, a->type, {a, b})->result;
}

Value* Emitter::ternary(Op op, Value* a, Value* b, Value* c) {
  if (Value* k = fold(fn_, op, a->type, {a, b, c})) return k;
  return inst(op, a->type, {a, b, c})->result;
}

Value* Emitter::compare(Op op, Value* a, Value* b) {
  if (Value* c = fold(fn_, op, ir::kBool, {a, b})) return c;
  return inst(op, ir::kBool, {a, b})->result;
}

Value* Emitter::convert(Op op, Type to, Value* a) {
  if (Value* c = fold(fn_, op, to, {a})) return c;
  return inst(op, to, {a})->result;
}

Value* Emitter::select(Value* cond, Value* a, Value* b) {
  if (cond->def == Value::Def::kConstant) return cond->bits ? a : b;
  if (a == b) return a;
  return inst(Op::Select, a->type, {cond, a, b})->result;
}

Value* Emitter::bitcast(Type to, Value* a) {
  return a->type == to ? a : convert(Op::Bitcast, to, a);
}

Value* Emitter::extract(Value* tuple, uint32_t component) {
  if (tuple->type.components == 1) return tuple;
  Inst* i = inst(Op::Extract, tuple->type.scalar(), {tuple});
  i->imm = component;
  return i->result;
}

Value* Emitter::tuple(std::span<Value* const> scalars) {
  if (scalars.size() == 1) return scalars[0];
  return inst(Op::Construct, Type{scalars[0]->type.kind, static_cast<uint8_t>(scalars.size())}, scalars)->result;
}

Value* Emitter::real(Type type, double v) {
  return fn_.constant(type, ir::fromDouble(type.kind, v));
}

Construct* Emitter::open(Construct::Shape shape) {
  const uint32_t depth = info(at_.construct).depth + 1;
  if (depth > kMaxNesting) failUnsupported("control flow is nested too deeply");
  Construct* c = fn_.newConstruct(shape, at_.construct);
  infos_.resize(fn_.constructCount());
  info(c).parent = at_;
  info(c).depth = depth;
  append(c);
  return c;
}

Construct* Emitter::openBlock() {
  Construct* c = open(Construct::Shape::kBlock);
  at_ = {c, 0};
  region_ = &c->body;
  return c;
}

Construct* Emitter::openIf(Value* condition) {
  Value* shown = visible(condition, at_);
  Construct* c = open(Construct::Shape::kIf);
  c->condition = shown;
  at_ = {c, 0};
  region_ = &c->body;
  return c;
}

void Emitter::openElse() {
  at_.side = 1;
  region_ = &at_.construct->otherwise;
}

Construct* Emitter::openLoop(std::span<Value* const> initial) {
  std::vector<Value*> shown;
  for (Value* v : initial) shown.push_back(visible(v, at_));
  Construct* c = open(Construct::Shape::kLoop);
  at_ = {c, 0};
  region_ = &c->body;
  for (Value* v : shown) setPlace(fn_.addParam(c, v), at_);
  return c;
}

void Emitter::close(Construct* c) {
  at_ = info(c).parent;
  region_ = at_.side ? &at_.construct->otherwise : &at_.construct->body;
}

Value* Emitter::addResult(Construct* c, Type type) {
  Value* v = fn_.addResult(c, type);
  setPlace(v, info(c).parent);
  return v;
}

void Emitter::br(Construct* target, std::span<Value* const> values) {
  Inst* i = inst(Op::Br, ir::kVoid, values);
  i->target = target;
  info(target).branches.push_back({i, at_});
}

void Emitter::brTable(Value* selector, std::span<const ir::SwitchCase> cases) {
  Inst* i = inst(Op::BrTable, ir::kVoid, {selector});
  i->cases.assign(cases.begin(), cases.end());
  for (const ir::SwitchCase& c : cases) info(c.target).branches.push_back({i, at_});
}

void Emitter::unreachable() {
  inst(Op::Unreachable, ir::kVoid, {});
}

void Emitter::finish() {
  auto& nodes = fn_.body->body.nodes;
  nodes.insert(nodes.begin(), prologue_.nodes.begin(), prologue_.nodes.end());
  prologue_.nodes.clear();
}

}  // namespace pumice::shader::spirv
