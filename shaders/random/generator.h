// The inside of generate(): one Generator makes one program. Split by subject: generator.cpp (program and control
// flow), generator_values.cpp (expressions), generator_memory.cpp (buffers, shared memory, private arrays, atomics).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "shaders/ir/builder.h"
#include "shaders/random/program.h"
#include "shaders/random/rng.h"

namespace pumice::shader::random {

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options);
  Program run();

 private:
  using Value = ir::Value;
  using Construct = ir::Construct;
  using Kind = ir::Kind;
  using Op = ir::Op;
  using Type = ir::Type;

  // A value in scope. `isUniform`: the same in the whole workgroup, in uniform control flow.
  struct Known {
    Value* value;
    bool isUniform;
  };
  static constexpr size_t kKinds = 10;
  // What is in scope, per kind; scalars only.
  struct Pool {
    std::array<std::vector<Known>, kKinds> scalars;
    std::vector<Known> tuples;
    std::vector<Value*> references;
  };
  struct PoolMark {
    std::array<size_t, kKinds> scalars;
    size_t tuples, references;
  };

  // A construct around the current node that may be branched to.
  struct Target {
    Construct* construct;
    Value* counter;      // loops: parameter 0, which every branch to it increments
    bool uniformOnly;    // barriers may follow behind it: only uniform branches
    bool uniformValues;  // its results or parameters are used as uniform values
  };
  struct Flow {
    bool isUniform;  // all invocations of the workgroup are here together
    int depth;
  };

  // -- generator.cpp: control flow
  void chooseShape();
  void prologue();
  void statements(Flow flow, uint32_t count);
  void statement(Flow flow);
  void ifStatement(Flow flow);
  void loopStatement(Flow flow);
  void switchStatement(Flow flow);
  void blockStatement(Flow flow);
  void loopBody(Flow inside, size_t loopTarget, size_t exitTarget, Value* bound, uint32_t shape);
  // Ends the region: most times with a branch to `target` (an index of targets_), else somewhere further out.
  void endRegion(Flow flow, size_t target);
  void jump(size_t target);
  void addResults(Construct* c, bool uniformValues);
  void publishResults(Construct* c, bool uniformValues);
  PoolMark mark() const;
  void release(const PoolMark& m);
  uint32_t someStatements();

  // -- generator_values.cpp
  Kind someKind();
  Kind someIntKind();
  Type someType();
  Value* someConstant(Kind k);
  Value* pick(Kind k, bool uniform = false);
  Value* pickType(Type t, bool uniform = false);
  Value* pickReference();
  bool isKnownUniform(const Value* v) const;
  Value* remember(Value* v, bool isUniform = false);
  void expression(Flow flow);
  Value* intExpression(Kind k, bool uniform);
  Value* floatExpression(Kind k, bool uniform);
  Value* boolExpression(bool uniform);
  Value* transcendental(Kind k, bool uniform);
  Value* convertTo(Kind k, bool uniform);
  void tupleExpression(bool uniform);
  void disguisedUniform();
  void subgroupOperation();
  void observeAll(const PoolMark& since);  // stores a hash of all scalars that came into scope
  Value* hashBits(Value* v);               // a scalar as an I32
  Value* observable(Value* v);             // NaN made canonical; of scalars
  Value* observableTuple(Value* v);
  Value* u32(uint32_t v) { return fn_->constantI32(v); }
  Value* smallIndex(uint32_t limit, bool uniform);  // below `limit`
  Value* add(Value* a, Value* b) { return b_->binary(Op::IAdd, a, b); }

  // -- generator_memory.cpp
  void makeBuffers();
  void finishBuffers();
  Value* reference(uint32_t slot, Value* index = nullptr);
  Type memoryType();
  void loadInput();
  void loadPush(bool uniform);
  void storeOutput();
  void reloadOutput();
  void ownAtomic();
  void commonAtomic(bool shared);
  void privateArray();
  void sharedExchange();  // uniform flow only
  void sharedAccumulate(Flow flow);
  void sharedReduction();
  void accumulatingLoop(bool uniform);
  void barrier();
  Value* inputIndex(uint32_t elements, bool* isUniform);
  Value* nearlyAffine(uint32_t elements);
  struct OwnPlace {
    ir::MemRef mem;
    Value* reference;
    Value* index;
    Type type;
  };
  OwnPlace ownPlace(Type type);
  ir::MemRef place(ir::Space space, uint32_t scale_B, uint32_t offset_B, uint32_t baseAlign_log2 = 6);
  Value* ownIndex();
  Value* maybeOutOfRange(Value* index);

  uint64_t seed_;
  Rng rng_;
  GeneratorOptions options_;
  Program program_;
  ir::Function* fn_ = nullptr;
  std::unique_ptr<ir::Builder> b_;
  Pool pool_;
  std::vector<Target> targets_;
  uint32_t invocations_ = 1;
  uint32_t totalInvocations_ = 1;
  uint32_t budget_ = 0;  // statements left
  bool barriers_ = false;
  bool mayReturn_ = false;

  // Built by the prologue, visible everywhere.
  Value* lane_ = nullptr;
  Value* own_ = nullptr;          // number of the invocation in the dispatch
  std::vector<Value*> ownForms_;  // the same number, computed in other ways
  std::array<Value*, 8> refs_{};  // buffers by slot

  uint32_t columnBytes_ = 0;  // of the column-wise output that are taken
  uint32_t recordBytes_ = 0;  // of an output record that are taken
  uint32_t recordStride_ = 64;
  uint32_t accumulators_ = 0;
  uint32_t sharedExchangeBytes_ = 0;
  std::vector<OwnPlace> ownPlaces_;
};

}  // namespace pumice::shader::random
