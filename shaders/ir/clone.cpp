#include "shaders/ir/clone.h"

#include <vector>

namespace pumice::shader::ir {
namespace {

class Cloner {
 public:
  explicit Cloner(const Function& from)
      : from_(from),
        to_(std::make_unique<Function>()),
        values_(from.valueCount(), nullptr),
        constructs_(from.constructCount(), nullptr) {}

  std::unique_ptr<Function> run() {
    to_->name = from_.name;
    to_->stage = from_.stage;
    for (int i = 0; i < 3; i++) to_->localSize[i] = from_.localSize[i];
    to_->sharedBytes = from_.sharedBytes;
    to_->subgroupSize = from_.subgroupSize;
    to_->zeroShared = from_.zeroShared;
    to_->locals = from_.locals;
    fill(*from_.body, to_->body);
    return std::move(to_);
  }

 private:
  Value* value(const Value* v) {
    Value*& copy = values_[v->id];
    if (copy == nullptr) copy = to_->constant(v->type, v->bits);  // all others are defined before they are used
    return copy;
  }

  void fill(const Construct& from, Construct* to) {
    constructs_[from.id] = to;
    to->unroll = from.unroll;
    to->dontUnroll = from.dontUnroll;
    to->flatten = from.flatten;
    to->dontFlatten = from.dontFlatten;
    if (from.condition != nullptr) to->condition = value(from.condition);
    for (size_t i = 0; i < from.params.size(); i++) {
      values_[from.params[i]->id] = to_->addParam(to, value(from.initial[i]));
    }
    for (const Value* r : from.results) values_[r->id] = to_->addResult(to, r->type);
    region(from.body, to, &to->body);
    region(from.otherwise, to, &to->otherwise);
  }

  void region(const Region& from, Construct* parent, Region* to) {
    for (const Node* node : from.nodes) {
      if (node->tag == Node::Tag::kInst) {
        to->nodes.push_back(inst(*static_cast<const Inst*>(node)));
        continue;
      }
      const auto& c = *static_cast<const Construct*>(node);
      Construct* copy = to_->newConstruct(c.shape, parent);
      to->nodes.push_back(copy);
      fill(c, copy);
    }
  }

  Inst* inst(const Inst& from) {
    Inst* to = to_->newInst(from.op, from.result != nullptr ? from.result->type : kVoid);
    for (const Value* v : from.operands) to->operands.push_back(value(v));
    to->imm = from.imm;
    to->imm2 = from.imm2;
    to->set = from.set;
    to->binding = from.binding;
    to->nonUniform = from.nonUniform;
    to->mem = from.mem;
    to->line = from.line;
    if (from.target != nullptr) to->target = constructs_[from.target->id];
    for (const SwitchCase& c : from.cases) to->cases.push_back({c.value, constructs_[c.target->id]});
    if (from.result != nullptr) values_[from.result->id] = to->result;
    return to;
  }

  const Function& from_;
  std::unique_ptr<Function> to_;
  std::vector<Value*> values_;          // by the original's id
  std::vector<Construct*> constructs_;  // by the original's id
};

}  // namespace

std::unique_ptr<Function> clone(const Function& fn) {
  return Cloner(fn).run();
}

}  // namespace pumice::shader::ir
