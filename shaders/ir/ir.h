// The structured IR of shaders.
//
// A Function is one entry point with everything inlined. Its body is a tree: a Region is a list of nodes that ends in a
// terminator; a node is an instruction or a construct with regions of its own. Control flow is WebAssembly's: a branch
// names an enclosing construct.
//
//   Block  { body } -> results    a branch to it continues behind it; the operands are its results
//   If c   { then } { else } -> results    the same, entered on a condition
//   Loop   (params = initial) { body }     a branch to it starts the next iteration; there is no other way on: a loop
//   is left by
//                                           a branch to a construct around it, so its body never falls off
//
// The function's body is itself a Block without results; `return` is a branch to it. Reader recipes: a selection merge
// is a Block or If; `break` is a branch to the Block around the Loop; `continue` a branch to a Block inside the Loop
// around its body, behind which stands the continue construct; a switch is a BrTable inside nested Blocks, one per case
// in order, so that falling through is falling off a Block.
//
// Divergence is explicit in the same shape: lanes that branch to a Block wait at its end; those that branch to a Loop
// wait for its next iteration; a region ends when its last lanes have branched. Hence reconvergence is maximal: behind
// a construct, all lanes that entered it and branched to it run together again.
//
// Values are in SSA form, defined once, visible to everything that the definition dominates structurally: later nodes
// of the same region and the regions inside them. A value that must leave a construct is one of its results (so loops
// are in LCSSA form by construction). Undefined values of SPIR-V are zeros.
//
// Ownership: a Function owns all of its nodes and values; pointers stay valid until it dies. Not thread safe; one
// thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shaders/ir/type.h"

namespace pumice::shader::ir {

enum class Op : uint16_t {
#define PUMICE_OP(name, operands, result, semantics) name,
#include "shaders/ir/ops.def"
#undef PUMICE_OP
  kCount,
};

std::string_view opName(Op op);

enum class ReduceOp : uint8_t { kIAdd, kIMul, kUMin, kUMax, kSMin, kSMax, kAnd, kOr, kXor, kFAdd, kFMul, kFMin, kFMax };

struct Inst;
struct Construct;

// An SSA value: a constant, a result of an instruction, a result of a construct or a parameter of a loop.
struct Value {
  enum class Def : uint8_t { kConstant, kInst, kResult, kParam };
  uint32_t id = 0;  // dense, unique in the function: index for side tables
  Type type;
  Def def = Def::kConstant;
  uint64_t bits = 0;               // kConstant: the bit pattern, zero-extended
  Inst* inst = nullptr;            // kInst
  Construct* construct = nullptr;  // kResult, kParam
  uint32_t index = 0;              // kResult, kParam: which
};

// Address spaces and their address operands. The byte address is
//     base + index * scale_B + offset_B,
// index taken as unsigned for checked spaces (so a negative one is out of range) and as signed for kGlobal. The product
// is exact (at least 64 bits) and does not wrap.
enum class Space : uint8_t {
  kBuffer,  // operands: BufferRef, index I32. Checked against the reference's size.
  kGlobal,  // operands: address I64, index I32 or I64. Not checked: page faults are caught outside.
  kShared,  // operands: index I32. Checked against Function::sharedBytes.
  kPush,    // operands: index I32. Checked against 256 bytes.
  kLocal,   // operands: index I32. Function- or Private-class memory of one invocation: variable `local`; checked
            // against its size. Contents are zero at the start.
};

struct MemRef {
  Space space = Space::kBuffer;
  uint8_t align_log2 = 2;   // of each access, guaranteed
  bool isVolatile = false;  // also coherent/atomic semantics: may not be merged, moved or dropped
  bool readOnly = false;    // nobody writes this memory while the shader runs (uniform buffers, push constants)
  bool nonTemporalHint = false;
  bool everyLane = false;  // kGlobal loads: the addresses of inactive invocations may be read too
  uint32_t local = 0;      // kLocal: index into Function::locals
  uint32_t scale_B = 1;
  uint32_t offset_B = 0;
};

struct Node {
  enum class Tag : uint8_t { kInst, kConstruct };
  Tag tag;
  explicit Node(Tag t) : tag(t) {}
};

struct SwitchCase {
  uint64_t value;  // ignored in the default, which is last
  Construct* target;
};

struct Inst : Node {
  Op op;
  Value* result = nullptr;  // nullptr if Void
  std::vector<Value*> operands;
  uint32_t imm = 0;               // per op, see ops.def
  uint32_t imm2 = 0;              // ReduceOp
  uint32_t set = 0, binding = 0;  // BufferDescriptor, DescriptorAddress
  bool nonUniform = false;        // BufferDescriptor: the index may differ between invocations
  bool noContract = false;        // float arithmetic: may not become part of an FFma (NoContraction)
  MemRef mem;
  Construct* target = nullptr;    // Br
  std::vector<SwitchCase> cases;  // BrTable
  uint32_t line = 0;              // source line of OpLine, 0 = unknown

  explicit Inst(Op o) : Node(Tag::kInst), op(o) {}
  bool isTerminator() const { return op == Op::Br || op == Op::BrTable || op == Op::Unreachable; }
};

struct Region {
  std::vector<Node*> nodes;
};

struct Construct : Node {
  enum class Shape : uint8_t { kBlock, kIf, kLoop };
  Shape shape;
  uint32_t id = 0;              // dense, unique in the function
  Construct* parent = nullptr;  // nullptr for the body
  Value* condition = nullptr;   // kIf
  std::vector<Value*> params;   // kLoop
  std::vector<Value*> initial;  // kLoop: the parameters' values in the first iteration
  std::vector<Value*> results;  // kBlock, kIf
  Region body;                  // kIf: then
  Region otherwise;             // kIf: else; never empty: at least a Br
  // Hints of SPIR-V's loop and selection control.
  bool unroll = false, dontUnroll = false, flatten = false, dontFlatten = false;

  explicit Construct(Shape s) : Node(Tag::kConstruct), shape(s) {}
};

enum class Stage : uint8_t { kCompute, kVertex, kFragment };

// Of FragmentOutput. Colors: 4 * location + component.
enum FragmentOutputIndex : uint32_t {
  kOutputSecondColor = 32,  // to 35: location 0, index 1
  kOutputDepth = 36,
  kOutputStencil,
  kOutputSampleMask,
  kFragmentOutputs,
};

// How a fragment shader runs.
struct FragmentTraits {
  uint8_t samples_log2 = 0;
  bool earlyTests = false;     // depth and stencil before the shader
  bool sampleShading = false;  // once per sample
};

struct LocalVar {
  uint32_t size_B;
  uint32_t align_B;
  std::string name;
};

class Function {
 public:
  Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  std::string name;
  Stage stage = Stage::kCompute;
  uint32_t localSize[3] = {1, 1, 1};  // kVertex: kVertexBlockLanes, 1, 1; kFragment: 16, 1, 1
  uint32_t sharedBytes = 0;
  uint32_t subgroupSize = 16;  // S: 4, 8, 16 or 32
  bool zeroShared = false;     // workgroup memory is zero at the start of each workgroup
  std::vector<LocalVar> locals;
  FragmentTraits fragment;

  Construct* body;  // a Block without results

  // -- making things (all owned by the function)
  Value* constant(Type type, uint64_t bits);  // uniqued
  Value* constantF32(float v);
  Value* constantF64(double v);
  Value* constantI32(uint32_t v) { return constant(kI32, v); }
  Value* constantBool(bool v) { return constant(kBool, v ? 1 : 0); }
  Value* zero(Type type);             // of any scalar type; tuples are Constructs of zeros
  Inst* newInst(Op op, Type result);  // result kVoid: none
  Construct* newConstruct(Construct::Shape shape, Construct* parent);
  Value* addResult(Construct* c, Type type);
  Value* addParam(Construct* loop, Value* initial);

  uint32_t valueCount() const { return static_cast<uint32_t>(values_.size()); }
  uint32_t constructCount() const { return static_cast<uint32_t>(constructs_.size()); }

 private:
  Value* newValue(Type type, Value::Def def);

  std::deque<Value> values_;
  std::deque<Inst> insts_;
  std::deque<Construct> constructs_;
  std::vector<Value*> constants_;  // open-addressed hash table
  size_t constantCount_ = 0;
};

// How many leading operands of a memory instruction are its address.
constexpr uint32_t addressOperandCount(Space s) {
  return s == Space::kBuffer || s == Space::kGlobal ? 2 : 1;
}
bool isMemoryOp(Op op);  // Load, Store and all Atomic*
bool isAtomicOp(Op op);
bool isImageOp(Op op);  // ImageRead, ImageAccess, ImageWrite
bool isSubgroupOp(Op op);
bool isTranscendental(Op op);  // must be gone after passes/lower_math
bool hasSideEffect(Op op);     // may not be dropped or duplicated

}  // namespace pumice::shader::ir
