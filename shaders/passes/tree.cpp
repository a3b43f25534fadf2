#include "shaders/passes/tree.h"

#include <algorithm>

namespace pumice::shader::passes {

using ir::Construct;
using ir::Inst;
using ir::Op;
using ir::Value;

BranchIndex::BranchIndex(const ir::Function& fn) : to(fn.constructCount()), tables(fn.constructCount()) {
  forEachInst(*fn.body, [&](Inst& i) {
    if (i.op == Op::Br) to[i.target->id].push_back(&i);
    for (const ir::SwitchCase& c : i.cases) ++tables[c.target->id];
  });
}

void Replacements::set(const Value* v, Value* by) {
  if (by_.size() <= v->id) by_.resize(std::max<size_t>(v->id + 1, by_.size() * 2));
  by_[v->id] = by;
  any_ = true;
}

Value* Replacements::get(Value* v) const {
  while (v->id < by_.size() && by_[v->id]) v = by_[v->id];
  return v;
}

void Replacements::apply(ir::Function& fn) const {
  if (!any_) return;
  forEachInst(*fn.body, [&](Inst& i) {
    for (Value*& v : i.operands) v = get(v);
  });
  forEachConstruct(fn.body->body, [&](Construct& c) {
    if (c.condition) c.condition = get(c.condition);
    for (Value*& v : c.initial) v = get(v);
  });
}

void reparent(ir::Region& region, Construct* parent) {
  for (ir::Node* node : region.nodes)
    if (node->tag == ir::Node::Tag::kConstruct) static_cast<Construct*>(node)->parent = parent;
}

namespace {

void keepOnly(std::vector<Value*>& values, const std::vector<bool>& keep) {
  size_t n = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (keep[i]) values[n++] = values[i];
  values.resize(n);
}

void renumber(std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) values[i]->index = static_cast<uint32_t>(i);
}

}  // namespace

void removeResults(Construct& c, const std::vector<bool>& keep, const std::vector<Inst*>& branches) {
  keepOnly(c.results, keep);
  renumber(c.results);
  for (Inst* b : branches) keepOnly(b->operands, keep);
}

void removeParams(Construct& loop, const std::vector<bool>& keep, const std::vector<Inst*>& branches) {
  keepOnly(loop.params, keep);
  keepOnly(loop.initial, keep);
  renumber(loop.params);
  for (Inst* b : branches) keepOnly(b->operands, keep);
}

bool isPure(const Inst& inst) {
  if (ir::hasSideEffect(inst.op) || ir::isSubgroupOp(inst.op)) return false;
  if (inst.op == Op::Load) return inst.mem.readOnly && !inst.mem.isVolatile;
  return true;
}

}  // namespace pumice::shader::passes
