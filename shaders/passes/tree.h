// Small helpers that passes share for walking and changing the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// Calls f(Inst&) for every instruction of a region or function, in order.
template <typename F>
void forEachInst(const ir::Region& region, F&& f);

template <typename F>
void forEachInst(const ir::Construct& c, F&& f) {
  forEachInst(c.body, f);
  forEachInst(c.otherwise, f);
}

template <typename F>
void forEachInst(const ir::Region& region, F&& f) {
  for (ir::Node* node : region.nodes) {
    if (node->tag == ir::Node::Tag::kInst)
      f(*static_cast<ir::Inst*>(node));
    else
      forEachInst(*static_cast<ir::Construct*>(node), f);
  }
}

template <typename F>
void forEachConstruct(const ir::Region& region, F&& f) {
  for (ir::Node* node : region.nodes)
    if (node->tag == ir::Node::Tag::kConstruct) {
      auto& c = *static_cast<ir::Construct*>(node);
      f(c);
      forEachConstruct(c.body, f);
      forEachConstruct(c.otherwise, f);
    }
}

// All Br by target, by construct id. BrTables are counted only.
struct BranchIndex {
  explicit BranchIndex(const ir::Function& fn);
  std::vector<std::vector<ir::Inst*>> to;
  std::vector<uint32_t> tables;
};

// A value may stand for another one; kept by value id, resolved when it is read.
class Replacements {
 public:
  void set(const ir::Value* v, ir::Value* by);
  ir::Value* get(ir::Value* v) const;
  void apply(ir::Function& fn) const;  // to all operands
  bool empty() const { return !any_; }

 private:
  std::vector<ir::Value*> by_;
  bool any_ = false;
};

// Sets the parent of the constructs that stand directly in a region.
void reparent(ir::Region& region, ir::Construct* parent);

// Removes all results (or parameters) i of c with !keep[i], and the operands of branches to c.
void removeResults(ir::Construct& c, const std::vector<bool>& keep, const std::vector<ir::Inst*>& branches);
void removeParams(ir::Construct& loop, const std::vector<bool>& keep, const std::vector<ir::Inst*>& branches);

// True if nobody but the memory order of volatile accesses keeps the instruction from being merged with an equal one
// or dropped: no side effect, no convergent operation, no dependence on memory that may change.
bool isPure(const ir::Inst& inst);

}  // namespace pumice::shader::passes
