// What is known of every value across the invocations of a workgroup, and of every construct's control flow.
//
// Code is generated for *gangs*: k vectors ("parts") of P lanes that execute together; a workgroup is a row of gangs.
// Part p of the workgroup holds invocations p*P .. p*P + P-1. The analysis knows P, k and the workgroup's size, so that
// LocalInvocationId.y of a 16x16 workgroup with P = 16 is the same in all lanes of a part.
//
// "Same" always means: in the invocations that are active where the value is defined.
//
// The result refers to the function's values by id and is only valid while the function does not change.
#pragma once

#include <cstdint>
#include <vector>

#include "shaders/ir/ir.h"
#include "shaders/passes/ranges.h"

namespace pumice::shader::passes {

struct GangGeometry {
  uint32_t lanes = 16;   // P
  uint32_t vectors = 1;  // k
  uint32_t gangs = 1;    // of a workgroup

  uint32_t gangLanes() const { return lanes * vectors; }
};

// A lattice from the top down; each kind contains the ones before it.
struct Shape {
  enum class Kind : uint8_t {
    kUniform,  // the same in the whole workgroup: one scalar
    kAffine,   // base + lane * laneStride + part * partStride, one scalar base per gang
    kStrided,  // base + lane * laneStride, one scalar base per part
    kVarying,
  };
  Kind kind = Kind::kUniform;
  int64_t laneStride = 0;  // modulo 2^n, sign-extended; only for integers, 0 for everything else
  int64_t partStride = 0;

  bool operator==(const Shape&) const = default;
  bool isVarying() const { return kind == Kind::kVarying; }
  bool isUniform() const { return kind == Kind::kUniform; }
  bool sameInGang() const { return kind <= Kind::kAffine && laneStride == 0 && partStride == 0; }
  bool sameInPart() const { return kind <= Kind::kStrided && laneStride == 0; }
};

// Of a construct, relative to the lanes that enter it ("all" = those), whatever happens around it.
struct ConstructFacts {
  // Block, If: some lanes may leave it for a construct further out without the others, so behind it fewer run than
  // entered.
  bool losesLanes = false;
  // Loop: lanes may finish an iteration differently, so later iterations run with fewer lanes.
  bool divergent = false;
  // Some branch to it may be taken by only a part of the lanes that entered, or a group-uniform decision is missing.
  bool mergesDivergently = false;
  bool containsBarrier = false;    // a workgroup barrier
  uint32_t branches = 0;           // branch sites that name it
  bool branchInInnerLoop = false;  // Block, If: a site stands in a loop inside it, so it may be taken several times
};

class Uniformity {
 public:
  Uniformity(const ir::Function& fn, const Ranges& ranges, const GangGeometry& geometry);

  const Shape& shape(const ir::Value* v) const { return shapes_[v->id]; }
  const ConstructFacts& facts(const ir::Construct* c) const { return facts_[c->id]; }
  // The same (losesLanes and divergent) for the workgroup as a whole, not one gang.
  const ConstructFacts& groupFacts(const ir::Construct* c) const { return groupFacts_[c->id]; }
  // Trailing zero bits that the value certainly has in lane 0 of every part (and in all lanes if it has no stride).
  uint32_t alignLog2(const ir::Value* v) const;
  uint32_t depth(const ir::Construct* c) const { return depth_[c->id]; }
  const GangGeometry& geometry() const { return geometry_; }

 private:
  // Where control stands: the depth of the outermost construct all of whose lanes are here for certain, from the view
  // of one gang and of the whole workgroup; a number past the innermost construct's depth means none.
  struct Full {
    uint32_t gang = 0, group = 0;
  };
  struct Site {
    const ir::Inst* br;
    Full full;
    bool inInnerLoop;
  };

  void region(const ir::Region& r, const ir::Construct* owner, Full full);
  Full construct(const ir::Construct* c, Full full);
  void inst(const ir::Inst* i);
  void branch(const ir::Inst* br, const ir::Construct* target, const ir::Construct* from, Full full);
  void mergeResults(const ir::Construct* c);
  void mergeParams(const ir::Construct* loop);
  Shape eval(const ir::Inst* i) const;
  Shape evalBuiltin(const ir::Inst* i) const;
  Shape evalBits(const ir::Inst* i) const;
  Shape sum(const Shape& a, const Shape& b, int64_t sign, ir::Type type) const;
  Shape strides(Shape::Kind kind, int64_t lane, int64_t part, ir::Type type) const;
  uint32_t evalAlign(const ir::Inst* i) const;
  Shape normal(Shape s) const;
  Shape join(const Shape& a, const Shape& b) const;
  void raise(const ir::Value* v, const Shape& s);
  template <typename T>
  void set(T& field, const T& value) {
    if (field == value) return;
    field = value;
    changed_ = true;
  }

  const ir::Function& fn_;
  const Ranges& ranges_;
  GangGeometry geometry_;
  std::vector<Shape> shapes_;
  std::vector<uint8_t> seen_;
  std::vector<uint8_t> align_;
  std::vector<ConstructFacts> facts_;
  std::vector<ConstructFacts> groupFacts_;  // losesLanes and divergent from the whole workgroup's view
  std::vector<uint32_t> depth_;
  std::vector<std::vector<Site>> sites_;  // by construct, of the current walk
  bool changed_ = false;
};

}  // namespace pumice::shader::passes
