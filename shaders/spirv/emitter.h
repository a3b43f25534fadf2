// Appends IR for the reader: like ir::Builder, but folds constants and repairs SSA form.
//
// The reader names values that dominate their use in the control-flow graph. In the tree they may lie inside a
// construct that is closed already (a value computed in a loop body and used behind the loop); the emitter then passes
// them out as results of that construct and of those in between, and through all branches that leave it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include "shaders/ir/ir.h"

namespace pumice::shader::spirv {

class Emitter {
 public:
  explicit Emitter(ir::Function& fn);

  ir::Function& fn() { return fn_; }
  uint32_t line = 0;
  bool noContract = false;

  // -- values; operands are made visible here and pure operations on constants fold
  ir::Value* unary(ir::Op op, ir::Value* a);
  ir::Value* binary(ir::Op op, ir::Value* a, ir::Value* b);
  ir::Value* ternary(ir::Op op, ir::Value* a, ir::Value* b, ir::Value* c);
  ir::Value* compare(ir::Op op, ir::Value* a, ir::Value* b);
  ir::Value* convert(ir::Op op, ir::Type to, ir::Value* a);
  ir::Value* select(ir::Value* cond, ir::Value* a, ir::Value* b);
  ir::Value* bitcast(ir::Type to, ir::Value* a);  // `a` itself if the type is the same
  ir::Value* extract(ir::Value* tuple, uint32_t component);
  ir::Value* tuple(std::span<ir::Value* const> scalars);
  ir::Inst* inst(ir::Op op, ir::Type result, std::span<ir::Value* const> operands);
  ir::Inst* inst(ir::Op op, ir::Type result, std::initializer_list<ir::Value*> operands) {
    return inst(op, result, std::span(operands.begin(), operands.size()));
  }

  ir::Value* i32(uint32_t v) { return fn_.constantI32(v); }
  ir::Value* integer(ir::Type type, uint64_t v) { return fn_.constant(type, v); }
  ir::Value* real(ir::Type type, double v);
  ir::Value* boolean(bool v) { return fn_.constantBool(v); }

  // -- control flow
  ir::Construct* openBlock();
  ir::Construct* openIf(ir::Value* condition);
  void openElse();
  ir::Construct* openLoop(std::span<ir::Value* const> initial);
  void close(ir::Construct* c);  // the region that is left must end in a terminator
  ir::Value* addResult(ir::Construct* c, ir::Type type);
  void br(ir::Construct* target, std::span<ir::Value* const> values);
  void brTable(ir::Value* selector, std::span<const ir::SwitchCase> cases);
  void unreachable();

  // Until it dies, instructions go to the prologue: the start of the function's body, visible everywhere.
  class Prologue {
   public:
    explicit Prologue(Emitter& e) : e_(e), saved_(e.at_), savedRegion_(e.region_) {
      e.at_ = {e.fn_.body, 0};
      e.region_ = &e.prologue_;
    }
    ~Prologue() {
      e_.at_ = saved_;
      e_.region_ = savedRegion_;
    }
    Prologue(const Prologue&) = delete;
    Prologue& operator=(const Prologue&) = delete;

   private:
    Emitter& e_;
    struct Place {
      ir::Construct* construct = nullptr;
      uint8_t side = 0;
    };
    friend class Emitter;
    Place saved_;
    ir::Region* savedRegion_;
  };

  // Puts the prologue in place. Last call.
  void finish();

 private:
  using Place = Prologue::Place;  // a region: the construct and 0 = body, 1 = otherwise
  struct Branch {
    ir::Inst* inst;
    Place place;
  };
  struct Info {  // per construct
    Place parent;
    uint32_t depth = 0;
    std::vector<Branch> branches;
    std::unordered_map<ir::Value*, ir::Value*> exported;
  };

  ir::Construct* open(ir::Construct::Shape shape);
  void append(ir::Node* node) { region_->nodes.push_back(node); }
  void setPlace(const ir::Value* v, Place p);
  Place placeOf(const ir::Value* v) const { return places_[v->id]; }
  ir::Value* visible(ir::Value* v, Place from);
  ir::Value* exportFrom(ir::Construct* c, ir::Value* v);
  Info& info(const ir::Construct* c) { return infos_[c->id]; }

  ir::Function& fn_;
  Place at_;
  ir::Region* region_;
  ir::Region prologue_;
  std::vector<Place> places_;  // by value id
  std::vector<Info> infos_;    // by construct id
  uint32_t exportDepth_ = 0;
};

}  // namespace pumice::shader::spirv
