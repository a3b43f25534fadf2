// Emits the LLVM function of one compute entry point. See docs/compiler.md for the shape of the code.
//
// The class is one object per function and lives only while it is emitted; its parts stand in files by subject:
//   entry.cpp         the function's frame: environment, loop over workgroups, loop over gangs
//   emit_stage.cpp    the same of vertex shaders
//   emit_fragment.cpp the same of fragment shaders: the loop over vectors, tests in front and behind, helper
//   invocations emit_primitive.cpp  inputs of fragment shaders, by block and by mix regions.cpp       workgroups with
//   barriers: group-level control flow, runs of gangs between barriers emit_control.cpp  structured control flow of one
//   gang, with masks emit_value.cpp    operations and the machine form of values emit_address.cpp  addresses, ranges,
//   descriptors emit_memory.cpp   loads and stores, gathers and scatters, atomics emit_contiguous.cpp  loads and stores
//   of neighbouring addresses emit_local.cpp    private arrays emit_image.cpp    calls of the texture unit
//   emit_interpolation.cpp  inputs that quick code has a routine interpolate
//   emit_texels.cpp   reads and writes of texels of common formats, without a call
//   emit_sample.cpp   linear filtering of common views, without a call
//   emit_window.cpp, emit_window_texels.cpp  sampling of fragment shaders from 8 x 8 texels in registers
//   texel_values.cpp  texels to numbers and back
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "shaders/codegen/atomics_emit.h"
#include "shaders/codegen/ops_emit.h"
#include "shaders/codegen/output_merger.h"
#include "shaders/codegen/plan.h"
#include "shaders/codegen/subgroup_emit.h"
#include "shaders/codegen/texel_layout.h"
#include "shaders/compiler.h"
#include "shaders/ir/image_access.h"
#include "shaders/passes/uniformity.h"

namespace pumice::shader::codegen {

// The machine form of a value: for each component, one LLVM scalar (uniform and affine: of lane 0 of the gang), k
// scalars (strided: of lane 0 of each part) or k vectors. A buffer reference has two components: address, size.
using Lowered = llvm::SmallVector<llvm::Value*, 4>;

// Which lanes of the gang run. Empty: all P*k.
struct Mask {
  llvm::SmallVector<llvm::Value*, 8> parts;  // k x <P x i1>
  bool all() const { return parts.empty(); }
};

// Where emission stands in the gang's control flow.
struct Flow {
  Mask mask;
  // Depth of the outermost open construct all of whose lanes are here; larger than the innermost depth: none.
  uint32_t full = 0;
  bool nonEmpty = true;  // some lane is certainly active
  bool ended = false;    // control cannot get here
  // A copy for the gangs at an edge only (another one serves those with all lanes on): small code before fast code.
  bool cold = false;
};

// A variable that outlives basic blocks: stack slots (turned into phis by mem2reg), or a place in the worker's frame.
struct Var {
  enum class Place : uint8_t { kNone, kSlots, kFrame } place = Place::kNone;
  llvm::SmallVector<llvm::Value*, 8> slots;  // kSlots: allocas
  uint32_t offset_B = 0, elementBytes = 0;   // kFrame: in the gang's block
  llvm::SmallVector<llvm::Type*, 8> types;
  explicit operator bool() const { return place != Place::kNone; }
};

// Loops that certainly end after so many rounds do not look at the cancel word.
inline constexpr uint64_t kUncheckedTrips = 4096;

class Generator {
 public:
  Generator(const ir::Function& fn, std::span<const abi::BindingSlot> bindings, const TargetOptions& target,
            const TargetFeatures& features, const Plan& plan, const passes::Ranges& ranges,
            const passes::Uniformity& uniformity, const FragmentKey* key, llvm::Module& module);

  // Emits the whole function; afterwards frameBytes() is known.
  llvm::Function* run();
  uint32_t frameBytes() const { return frameBytes_; }
  // Every variable of the function; all can be promoted to registers.
  llvm::ArrayRef<llvm::AllocaInst*> slots() const { return slots_; }

 private:
  using Shape = passes::Shape;

  // How early a value can be computed, and so where it is emitted.
  enum class Level : uint8_t {
    kCall,   // once per call of the entry point
    kGroup,  // once per workgroup
    kRun,    // group-level control flow: in front of the current loop over gangs
    kHere,
  };

  // -- entry.cpp
  void emitEntry();
  void emitEnv();
  llvm::AllocaInst* newSlot(llvm::Type* t);
  void beginFrame();
  void endFrame();
  void emitGangs();
  void beginGang();
  void emitZeroShared();
  void emitZero(llvm::Value* pointer, uint32_t bytes);
  Mask baseMask();
  llvm::BasicBlock* emitGang();
  llvm::Value* envField(uint64_t offset_B, llvm::Type* type, const char* name);

  // Moves the builder to the end of a level's block and back.
  class LevelScope {
   public:
    LevelScope(Generator& g, Level level);
    ~LevelScope();
    LevelScope(const LevelScope&) = delete;
    LevelScope& operator=(const LevelScope&) = delete;

   private:
    Generator& g_;
    Level level_, previous_;
    llvm::BasicBlock* saved_;
  };

  // -- emit_stage.cpp
  void emitVertexEntry();
  void emitStageValue(const ir::Inst* i);

  // -- emit_primitive.cpp
  // The four quads of a vector: of one block, or from anywhere (a mix).
  struct Quads {
    bool isBlock = true;
    llvm::Value* position = nullptr;                             // i32 of a block, <4 x i32>
    llvm::SmallVector<llvm::Value*, 4> primitives;               // pointers to PrimitiveRecords: one or four
    llvm::SmallVector<llvm::Value*, abi::kMaxSamples> coverage;  // as rasterised
  };
  Quads quadsOf(bool isBlock);
  void findHead();
  void emitHead();
  void defineHead();
  llvm::Value* invariantLoad(llvm::Type* t, llvm::Value* pointer, uint64_t align);
  llvm::Value* fieldOf(const Quads& q, llvm::ArrayRef<llvm::Value*> rows, uint32_t word);
  llvm::Value* primitiveField(const Quads& q, uint32_t offset_B);
  llvm::Value* vertexField(const Quads& q, uint32_t vertex, uint32_t word);
  llvm::Value* pixelCoordinate(const Quads& q, uint32_t axis);
  llvm::Value* depthAt(const Quads& q, llvm::Value* x, llvm::Value* y);
  void emitPrimitiveValue(const ir::Inst* i);

  // -- emit_interpolation.cpp
  // An input that a routine interpolates, and the instructions that say so in the IR, which are not emitted.
  struct Interpolated {
    const ir::Value *i = nullptr, *j = nullptr;
    uint32_t slot = 0, component = 0;
    llvm::SmallVector<const ir::Inst*, 7> inner;
  };
  std::optional<Interpolated> interpolated(const ir::Inst* i, const std::vector<uint32_t>& uses) const;
  void emitInterpolated(const ir::Inst* i);

  // -- emit_fragment.cpp
  void emitFragmentEntry();
  void emitVector(llvm::BasicBlock* next);
  void emitTests(llvm::BasicBlock* none);
  void emitBody();
  void emitTail();
  void emitLateDepth(const Quads& q, FragmentVector& v);
  llvm::Value* sampleCoverage();
  llvm::Value* sampleDepth(const Quads& q, uint32_t sample);
  bool needsDepth() const;
  FragmentVector vectorOf(const Quads& q);
  FragmentOutputs outputs();
  llvm::Value* quadsWith(llvm::Value* mask);
  Flow withoutHelpers(const Flow& flow);
  Flow insideCoveredQuads(const Flow& flow);
  void emitDemote(const Flow& flow);
  void emitFragment(const ir::Inst* i, const Flow& flow);

  // -- regions.cpp
  void findGroupLevel(const ir::Region& r);
  void findCrossings(const ir::Region& r, uint32_t& run);
  void walkRun(const ir::Node* node, uint32_t run);
  void useIn(const ir::Value* v, uint32_t run);
  void emitGroup();
  bool emitGroupRegion(const ir::Region& r);
  bool emitGroupConstruct(const ir::Construct* c);
  void emitRun(const ir::Region& r, size_t begin, size_t end, const ir::Inst* terminator);
  void gangLoop(llvm::function_ref<void(llvm::BasicBlock* next)> body);
  void finishGroupLevel();
  void openGroupLevel(const ir::Construct* c);
  void defineGroupLevel(const ir::Value* v, const Var& var);
  bool atGroupLevel(const ir::Value* formal, const ir::Value* v) const;
  llvm::Value* groupUniform(const ir::Value* v);
  void emitGroupDivergentIf(const ir::Construct* c);
  llvm::AllocaInst* newFlag();
  void raiseFlag(llvm::AllocaInst* flag, llvm::Value* condition);
  llvm::Value* takeMasks(const Var& from);
  void emitGroupTable(const ir::Inst* i);
  Var frameVar(const ir::Value* v);
  Var frameMaskVar();
  Var inFrame(Var var);
  bool isGroupLevel(const ir::Construct* c) const { return groupMode_ && groupLevel_[c->id]; }
  bool canRecompute(const ir::Value* v, int budget) const;
  const Var& crossingVar(const ir::Value* v);
  const Lowered& crossing(const ir::Value* v);
  void storeCrossing(const ir::Value* v);

  // -- emit_control.cpp
  struct Open {
    const ir::Construct* c = nullptr;
    Flow entry;
    llvm::BasicBlock* end = nullptr;        // Block, If: behind it; Loop: where the next iteration is decided
    llvm::BasicBlock* groupNext = nullptr;  // the same at group level, with dynamic masks
    llvm::BasicBlock* next = nullptr;       // where control goes when no lane is left in the region being emitted
    Var pending;                            // lanes that wait: at the end, or for the next iteration
    llvm::SmallVector<Var, 4> values;       // results or parameters
  };
  Flow emitNodes(const ir::Region& r, size_t begin, size_t end, Flow flow);
  Flow emitConstruct(const ir::Construct* c, Flow flow);
  Flow emitBlock(const ir::Construct* c, Flow flow);
  Flow emitIf(const ir::Construct* c, Flow flow);
  Flow emitUniformIf(const ir::Construct* c, Flow flow);
  Flow emitDivergentIf(const ir::Construct* c, Flow flow);
  static bool isLocalTo(const ir::Value* v, const ir::Region& r);
  void emitEarly(const ir::Region& r);
  llvm::Value* allInRange(const ir::Region& r);
  void emitMaskedSides(const ir::Construct* c, const Flow& flow, const Mask& condition);
  void emitLoop(const ir::Construct* c, Flow flow);
  void emitSide(const ir::Region& r, const Flow& flow, llvm::BasicBlock* next);
  void emitBranch(const ir::Construct* target, std::span<ir::Value* const> values, const Flow& flow);
  void emitBranchTable(const ir::Inst* i, const Flow& flow);
  void addTableMasks(const ir::Inst* i, const Flow& flow);
  void leave(const Flow& flow);
  Flow finish(const ir::Construct* c, const Flow& before);
  Open& open(const ir::Construct* c, const Flow& flow);
  Lowered formsLike(const ir::Value* v, const ir::Value* like);
  void assignValues(Open& target, std::span<ir::Value* const> values, const Flow& flow, bool uniform);
  void emitCancelCheck();
  llvm::BasicBlock* leaveBlock();
  struct LaneTest {
    llvm::Value* all;
    llvm::Value* none;
  };
  bool scalarTest(const ir::Value* condition, LaneTest& test);
  Mask conditionMask(const ir::Value* condition, const Mask& within, bool truth);
  llvm::Value* anyLane(const Mask& mask);
  llvm::Value* allLanes(const Mask& mask);
  bool cheapSide(const ir::Region& r) const;
  bool worthFastCopy(const ir::Region& r) const;

  // -- variables
  Var newVar(const ir::Value* v);
  Var newMaskVar();
  llvm::Value* varPointer(const Var& var, size_t i);
  llvm::Value* loadMask(llvm::Value* pointer);
  void storeMask(llvm::Value* mask, llvm::Value* pointer);
  Lowered readVar(const Var& var);
  void writeVar(const Var& var, std::span<llvm::Value* const> values);
  void zeroVar(const Var& var);
  Mask readMask(const Var& var);
  void writeMask(const Var& var, const Mask& mask);
  void addMask(const Var& var, const Mask& mask);
  void zeroMask(const Var& var);

  // -- emit_value.cpp
  void emitInst(const ir::Inst* i, const Flow& flow);
  void emitOperation(const ir::Inst* i, const Flow& flow);
  void emitPlain(const ir::Inst* i);
  void emitBuiltin(const ir::Inst* i);
  void emitSubgroup(const ir::Inst* i, const Flow& flow);
  void emitDescriptor(const ir::Inst* i);
  const abi::BindingSlot* bindingSlot(const ir::Inst* i) const;  // nullptr: there is none
  llvm::Value* invocation(uint32_t part);                        // LocalInvocationIndex of lane 0 of a part: i32
  llvm::Value* invocations(uint32_t part);                       // <P x i32>
  const Shape& shape(const ir::Value* v) const { return uniformity_.shape(v); }
  Level level(const ir::Value* v) const;
  void define(const ir::Value* v, Lowered lowered, Level level);
  const Lowered& lowered(const ir::Value* v);
  uint32_t formCount(const ir::Value* v) const;  // scalars or vectors per component: 1 or k
  uint32_t componentsOf(const ir::Value* v) const {
    return v->type.kind == ir::Kind::kBufferRef ? 2 : v->type.components;
  }
  llvm::Type* formType(const ir::Value* v);                                            // of one element of its Lowered
  llvm::Value* scalar(const ir::Value* v, uint32_t component = 0);                     // same in the gang (or lane 0's)
  llvm::Value* partScalar(const ir::Value* v, uint32_t part, uint32_t component = 0);  // lane 0 of the part
  llvm::Value* vector(const ir::Value* v, uint32_t part, uint32_t component = 0);
  llvm::Value* splat(llvm::Value* s) { return b_.CreateVectorSplat(lanes_, s); }
  llvm::Constant* laneRamp(llvm::Type* element, int64_t stride);
  llvm::Value* partMask(const Mask& mask, uint32_t part);
  llvm::Value* andMask(llvm::Value* a, llvm::Value* b);

  // -- emit_address.cpp
  struct Address {
    const ir::Inst* inst;
    const ir::MemRef* mem;
    ir::Kind kind;
    uint32_t components, bytes;  // of one component
    const ir::Value* base;       // BufferRef or global address, else nullptr
    const ir::Value* index;
    bool baseInGang, checked;
    bool provenActive, provenAll;  // in range for the active lanes, for every lane
    llvm::Value* pointer;          // ptr, if baseInGang (kGlobal: inttoptr of a scalar address)
    int64_t laneStride_B;          // meaningful if both base and index are strided
  };
  Address resolve(const ir::Inst* i);
  // How many indices reach `component` in range: i64, at most 2^32. Only with baseInGang && checked.
  llvm::Value* indexLimit(const Address& a, uint32_t component);
  llvm::Value* offsetOf(const Address& a, llvm::Value* index64, uint32_t component);  // byte offset, i64
  llvm::Value* index64(const Address& a, llvm::Value* index);                         // extended as the space asks
  llvm::Value* laneAddresses(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component);  // <P x i64>
  // Of lane 0 of a part, checked: i1.
  llvm::Value* partInRange(const Address& a, uint32_t part, uint32_t component);
  // Lanes whose component is in range: nullptr = all.
  llvm::Value* laneRange(const Address& a, uint32_t part, uint32_t component);
  llvm::Value* indexRange(const Address& a, llvm::Value* indices, uint32_t component);  // baseInGang && checked
  llvm::Align alignOf(const Address& a) const;

  // -- emit_memory.cpp
  void emitLoad(const ir::Inst* i, const Flow& flow);
  void emitStore(const ir::Inst* i, const Flow& flow);
  void emitAtomic(const ir::Inst* i, const Flow& flow);
  llvm::Value* loadScalar(const Address& a, uint32_t part, uint32_t component, llvm::Value* inRange);
  Lowered loadScalars(const Address& a, uint32_t part);
  void loadGather(const Address& a, const Flow& flow, Lowered& out);
  llvm::Value* gatherMask(const Address& a, const Flow& flow, uint32_t part, uint32_t component);
  void loadGatherParts(const Address& a, const Flow& flow, Lowered& out);
  void loadGatherPairs(const Address& a, const Flow& flow, Lowered& out);
  void storeScatter(const Address& a, const ir::Value* value, const Flow& flow);
  bool storeSingle(const Address& a, const ir::Value* value, const Flow& flow);
  llvm::Value* gather(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component, llvm::Value* mask);
  void scatter(const Address& a, llvm::Value* indices, uint32_t part, uint32_t component, llvm::Value* value,
               llvm::Value* mask);
  llvm::Value* gatherAddresses(llvm::Value* addresses, ir::Kind kind, llvm::Value* mask);
  void scatterAddresses(llvm::Value* addresses, llvm::Value* value, ir::Kind kind, llvm::Value* mask);

  // -- emit_contiguous.cpp
  bool contiguous(const Address& a, bool* wholeGang) const;
  void loadContiguous(const Address& a, bool wholeGang, const Flow& flow, const ir::Value* result, Lowered& out);
  bool loadStrided(const ir::Inst* i, const Address& a, const Flow& flow, Lowered& out);
  void storeContiguous(const Address& a, bool wholeGang, const ir::Value* value, const Flow& flow);
  bool mayBeConsecutive(const Address& a, const Flow& flow) const;
  llvm::SmallVector<llvm::Value*, 8> tupleRanges(const Address& a, const Flow& flow);  // whole tuples; nullptr: proved
  bool loadConsecutive(const Address& a, const Flow& flow, const ir::Value* result, Lowered& out);
  bool storeConsecutive(const Address& a, const ir::Value* value, const Flow& flow);
  llvm::Value* consecutiveTest(const Address& a, llvm::ArrayRef<llvm::Value*> ranges);
  llvm::Value* contiguousRange(const Address& a, uint32_t firstPart, uint32_t parts);  // i1: all lanes in range
  llvm::Value* contiguousRanges(const Address& a, uint32_t step);
  llvm::Value* contiguousPointer(const Address& a, uint32_t part);
  // Of lane 0 at this index (i32 or i64). `wrapAware`: some lanes are out of range, and those in front of the wrap of a
  // "negative" index lie below the base, so that the ones behind it (in range, at 0, 1 ..) come out right.
  llvm::Value* pointerAt(const Address& a, uint32_t part, llvm::Value* index, bool wrapAware, uint32_t parts = 1);
  void loadSlowly(const Address& a, uint32_t first, uint32_t parts, llvm::SmallVector<llvm::Value*, 8>& out);
  llvm::Value* interleave(llvm::ArrayRef<llvm::Value*> components);
  // A loop over parts at run time, for code that is rarely reached. Gives body the part's number (i32, from 0 on).
  void partLoop(uint32_t parts, llvm::function_ref<void(llvm::Value* part)> body);
  llvm::Value* scratch(uint32_t slot, uint32_t vectors, llvm::Type* t);  // stack memory, an array of t
  llvm::Align scratchAlign(llvm::Type* t) const;

  // -- emit_image.cpp
  void emitDescriptorAddress(const ir::Inst* i);
  llvm::Constant* nullDescriptor();
  void emitImage(const ir::Inst* i, const Flow& flow);
  void storeImageCall(const ir::Inst* i, const ir::ImageAccess& a, const Flow& flow, uint32_t part, uint32_t first,
                      uint32_t lanes);
  void emitImageCalls(const ir::Inst* i, const ir::ImageAccess& a, const Flow& flow, Lowered& out);
  llvm::Value* loadTexel(const ir::ImageAccess& a, ir::Kind kind, uint32_t component, uint32_t lanes);

  // -- emit_texels.cpp
  // A view with plain rows (abi::plainRows), as its descriptor says: scalars.
  struct RowView {
    llvm::Value* texels;                 // i64
    llvm::Value* pitch_B;                // i64
    llvm::Value *width, *height;         // i32
    llvm::Value *widthF, *heightF;       // the same as floats
    llvm::Value* runEnd;                 // i32: columns where a run of lanes may begin: width - (lanes - 1), or 0
    llvm::Value *layers, *layerPitch_B;  // i32, i64
    llvm::Value* layout;                 // i32: which of the likely layouts it has, from 1 on; 0: none
  };
  // Where the lanes of a part are.
  struct TexelPlaces {
    llvm::SmallVector<llvm::Value*, 4> column, row;  // of each run's first texel: i32; i64: address of the row
    llvm::Value* plain = nullptr;                    // i1: every run lies in its row, side by side
  };
  // Texels between memory and numbers (TexelLayout::units): vectors of P lanes.
  using Units = llvm::SmallVector<llvm::Value*, 4>;
  bool emitTexels(const ir::Inst* i, const ir::ImageAccess& a, const Flow& flow);
  void emitTexelWrite(const ir::Inst* i, const Flow& flow, const TexelLayout& t, const RowView& view,
                      llvm::ArrayRef<TexelPlaces> places, llvm::Value* plain);
  void emitByLayout(const ir::Inst* i, const Flow& flow, llvm::ArrayRef<TexelLayout> layouts, llvm::Value* layout,
                    llvm::Value* plain, llvm::function_ref<Units(const TexelLayout& t, uint32_t part, bool rows)> fetch,
                    llvm::function_ref<Lowered(const TexelLayout& t, uint32_t part, const Units& units)> decode);
  llvm::SmallVector<llvm::BasicBlock*, 4> chooseLayout(llvm::ArrayRef<TexelLayout> layouts, llvm::Value* layout,
                                                       llvm::BasicBlock* otherwise);
  RowView rowView(const ir::Value* descriptor, llvm::ArrayRef<TexelLayout> layouts);
  uint32_t runLanes() const;
  llvm::Value* layerAddress(const RowView& view, const ir::Value* layer, uint32_t part);
  TexelPlaces texelPlaces(const ir::Inst* i, const RowView& view, uint32_t part);
  llvm::Value* runsSideBySide(llvm::Value* xs, llvm::Value* ys);
  llvm::Value* texelsInside(const ir::Inst* i, const RowView& view, uint32_t part);
  llvm::Value* byteOffsets(const ir::Inst* i, const RowView& view, const TexelLayout& t, uint32_t part);
  Units loadRow(const TexelLayout& t, const TexelPlaces& at);
  Units gatherTexels(const ir::Inst* i, const RowView& view, const TexelLayout& t, uint32_t part);
  Units gatherTexels(const TexelLayout& t, llvm::Value* texels, llvm::Value* offsets, llvm::Value* inside);
  void storeRow(const TexelLayout& t, const TexelPlaces& at, const Units& units, llvm::Value* mask);
  void scatterTexels(const ir::Inst* i, const RowView& view, const TexelLayout& t, uint32_t part, const Units& units,
                     llvm::Value* mask);

  // -- emit_sample.cpp
  // Of one part: the four texels of a linear filter.
  struct Footprint {
    llvm::Value *column, *row;    // <P x i32>: of the upper left texel
    llvm::Value* weight[2];       // <P x float>: of the right and of the lower texels
    llvm::Value *inside, *plain;  // i1: all texels of all lanes are in the image; runs lie side by side
  };
  bool emitSample(const ir::Inst* i, const ir::ImageAccess& a, const Flow& flow);
  llvm::Value* plainLinear(const ir::Value* descriptor, const ir::Value* sampler);
  Footprint footprint(const ir::Inst* i, const RowView& view, uint32_t part);
  Units loadFootprint(const TexelLayout& t, const RowView& view, const Footprint& f, bool rows);
  Lowered filterFootprint(const TexelLayout& t, const Footprint& f, const Units& units);

  // -- emit_window.cpp, emit_window_texels.cpp
  // Views and samplers whose texels can be taken from a window (fragment shaders): scalars.
  struct WindowView {
    llvm::Value* ok;                                      // i1: they are such
    llvm::Value *address, *levelTable;                    // i64
    llvm::Value *width, *height, *levels;                 // i32: of the base level; how many
    llvm::Value *quadMajor, *isBytes, *swapped;           // i1: order of texels; 8-bit channels, B first
    llvm::Value* alignMask;                               // i32: and-mask of a window's first column and row
    llvm::Value *linear, *linearLevels;                   // i1: filters within and between levels
    llvm::Value* linearMask;                              // i32: all bits if `linear`
    llvm::Value* half;                                    // float: 0.5 if `linear`, else 0
    llvm::Value* repeatMask[2];                           // i32: all bits where the axis repeats
    llvm::Value* compareOp;                               // i32: VkCompareOp
    llvm::Value *lodBias, *minLod, *maxLod, *viewMinLod;  // float
    llvm::Value* parts[2];                                // <16 x i32>: what a column and a row in the window
                                                          // add to a texel's number in the registers
  };
  struct WindowLevels {
    llvm::Value* number;      // i32
    llvm::Value *same, *two;  // i1: of all lanes; the next level counts too
    llvm::Value* weight;      // <P x float>: of the next level
  };
  struct WindowAxis {
    llvm::Value* index[2];
    llvm::Value* weight;
  };
  struct Window {
    llvm::Value* entry;  // ptr: the ImageLevel
    WindowAxis axis[2];
    llvm::Value* first[2];     // i32
    llvm::Value* place[2][2];  // <P x i32>: by axis and texel of the footprint: counted from `first`
    llvm::Value* inside;       // i1: all lanes' texels are in the window
  };
  bool emitWindowSample(const ir::Inst* i, const ir::ImageAccess& a, const Flow& flow);
  WindowView windowView(const ir::Value* descriptor, const ir::Value* sampler, bool compares);
  llvm::Value* windowLambda(const ir::Inst* i, const ir::ImageAccess& a, const WindowView& view);
  WindowLevels windowLevels(llvm::Value* lambda, const WindowView& view);
  WindowAxis windowAxis(const WindowView& view, llvm::Value* repeatMask, llvm::Value* coordinate, llvm::Value* size);
  Window windowOf(const WindowView& view, llvm::Value* number, llvm::ArrayRef<llvm::Value*> coordinates);
  Units loadWindow(const WindowView& view, const Window& w);
  Units windowTexels(const WindowView& view, const Window& w, const Units& registers, uint32_t count);
  Units compareWindow(const WindowView& view, llvm::Value* reference, const Units& texels);
  Lowered filterWindow(const WindowView& view, const Window& w, llvm::Value* reference);
  llvm::Value* smallestPair(llvm::Value* x, llvm::Value* y);
  llvm::Value* logarithm2(llvm::Value* value);
  llvm::Value* clampReal(llvm::Value* v, llvm::Value* low, llvm::Value* high);
  llvm::Value* realSplat(float v);
  llvm::Constant* realScalar(float v);
  static uint16_t windowClass(VkFormat format);

  // -- texel_values.cpp
  // kLater: unsigned fixed point stays whole numbers, which scaleUnorm() takes to [0, 1].
  enum class Scale : uint8_t { kNow, kLater };
  Lowered decodeTexels(const TexelLayout& t, const Units& units, Scale scale = Scale::kNow);  // four vectors of P lanes
  llvm::Value* scaleUnorm(const TexelLayout& t, llvm::Value* number, bool whole);
  Units encodeTexels(const TexelLayout& t, llvm::ArrayRef<llvm::Value*> components);

  // -- emit_local.cpp
  void emitLocalLoad(const ir::Inst* i, const Flow& flow);
  void emitLocalStore(const ir::Inst* i, const Flow& flow);
  struct LocalPlace {
    bool scalar = false;             // one index for the part: `pointer`, else `element`
    llvm::Value* pointer = nullptr;  // of lane 0
    llvm::Value* element = nullptr;  // <P x i32>: double words from the gang's block on
    llvm::Value* inRange = nullptr;  // i1 or <P x i1>; nullptr: proved
    llvm::Value* shift = nullptr;    // bits, for accesses below 4 bytes; nullptr: 0
  };
  LocalPlace localPlace(const ir::Inst* i, uint32_t part, uint32_t byteInAccess, uint32_t bytes);
  llvm::Value* loadLocalDword(const LocalPlace& at);
  void emitZeroLocals();
  uint32_t localBytes() const;

  llvm::Type* type(ir::Kind kind, uint32_t lanes = 0) { return llvmType(b_.getContext(), kind, lanes); }
  llvm::BasicBlock* block(const char* name);
  void enter(llvm::BasicBlock* b) { b_.SetInsertPoint(b); }
  llvm::Value* bytePointer(llvm::Value* base, llvm::Value* offset64) {
    return b_.CreateGEP(b_.getInt8Ty(), base, offset64);
  }

  const ir::Function& fn_;
  std::span<const abi::BindingSlot> bindings_;
  const TargetOptions& target_;
  const TargetFeatures& features_;
  const Plan& plan_;
  const passes::Ranges& ranges_;
  const passes::Uniformity& uniformity_;
  llvm::Module& module_;
  uint32_t lanes_, k_;

  llvm::IRBuilder<> b_;
  OpsEmitter ops_;
  SubgroupEmitter subgroups_;
  AtomicsEmitter atomics_;

  llvm::Function* llvmFn_ = nullptr;
  llvm::BasicBlock* allocaBlock_ = nullptr;
  llvm::BasicBlock* levelBlocks_[3] = {};
  std::vector<llvm::AllocaInst*> slots_;
  llvm::Value* env_ = nullptr;
  llvm::Value* shared_ = nullptr;
  llvm::Value* push_ = nullptr;
  llvm::Value* frame_ = nullptr;
  llvm::Value* sink_ = nullptr;
  llvm::Value* cancelWord_ = nullptr;
  llvm::Value* bindingState_ = nullptr;
  llvm::Value* groupCount_[3] = {};
  llvm::Value* groupId_[3] = {};
  llvm::AllocaInst* cancelCounter_ = nullptr;
  llvm::BasicBlock* leaveBlock_ = nullptr;  // nullptr: not needed so far
  llvm::AllocaInst* imageCall_ = nullptr;
  llvm::Constant* nullDescriptor_ = nullptr;
  llvm::Value* item_ = nullptr;       // graphics: the VertexBlock or FragmentRun
  llvm::Value* itemLanes_ = nullptr;  // vertex: i32, invocations of the block; nullptr: all
  llvm::Value* gang_ = nullptr;       // i32, of the gang being emitted
  llvm::Value* gangFrame_ = nullptr;  // its block in the frame
  std::map<std::pair<const ir::Value*, std::vector<uint16_t>>, RowView> rowViews_;  // by descriptor and view classes

  std::vector<Lowered> values_;
  std::vector<Level> levels_;
  std::vector<uint32_t> epochs_;  // of the definition in values_; see crossing()
  uint32_t epoch_ = 0;
  std::vector<Open> open_;  // by depth
  uint32_t fastCopyBudget_;
  llvm::DenseSet<const ir::Inst*> emitted_;  // in front of the region they stand in
  llvm::DenseSet<const ir::Inst*> inRange_;  // accesses whose range was checked in front of the copy being emitted
  std::vector<uint8_t> used_;                // by value id: somebody reads it
  llvm::MDNode* likely_ = nullptr;

  struct Cached {
    llvm::BasicBlock* block;
    llvm::Value* value;
  };
  // Splats and ramps of scalars: by (base, (lane stride, first)), valid in the block where they were made.
  llvm::DenseMap<std::pair<llvm::Value*, std::pair<int64_t, int64_t>>, Cached> vectors_;
  // Tuples as they came from memory, components interleaved: one vector of P * components elements a part.
  llvm::DenseMap<const ir::Value*, llvm::SmallVector<llvm::Value*, 8>> interleaved_;
  std::map<std::pair<uint32_t, uint32_t>, llvm::AllocaInst*> scratch_;  // by slot and bytes
  std::map<std::tuple<const ir::Value*, uint32_t, uint32_t, uint32_t>, llvm::Value*> limits_;

  // Fragment shaders.
  const FragmentKey* key_ = nullptr;
  std::optional<OutputMerger> merger_;
  llvm::Value* run_ = nullptr;
  llvm::Value* primitives_ = nullptr;
  llvm::Value* varyings_ = nullptr;
  llvm::Value* blockCount_ = nullptr;
  llvm::Value* vector_ = nullptr;           // i32: number of the vector in the run, blocks first
  llvm::Value* isBlock_ = nullptr;          // i1
  llvm::Value* sample_ = nullptr;           // i32: of sample shading, else nullptr
  llvm::BasicBlock* vectorDone_ = nullptr;  // where control goes when nothing is left of the vector (or its sample)
  Quads quads_;                             // of the head that is being emitted; in the body: in the form of a mix
  llvm::SmallVector<llvm::AllocaInst*, abi::kMaxSamples> coverage_,
      depth_;  // by sample: what is left; depth_ may be empty
  bool discards_ = false;
  llvm::AllocaInst* live_ = nullptr;          // invocations that are no helpers
  llvm::AllocaInst* coveredQuads_ = nullptr;  // all invocations of quads that have one; nullptr: nobody asks
  llvm::SmallVector<llvm::AllocaInst*, 4> bodyPrimitives_;  // pointers, by quad; empty: nobody asks
  std::map<uint32_t, llvm::AllocaInst*> outputs_;           // by FragmentOutputIndex
  std::vector<const ir::Inst*> head_;  // computed in front of the body, once for blocks and once for mixes
  llvm::DenseSet<const ir::Inst*> inHead_;
  llvm::DenseMap<const ir::Inst*, Interpolated> interpolated_;              // quick code's, of head_
  std::vector<std::pair<const ir::Value*, llvm::AllocaInst*>> headValues_;  // that the body uses

  // Group mode: more than one gang and barriers.
  bool groupMode_ = false;
  bool dynamicMasks_ = false;        // lanes may be lost at group level: masks live in the frame
  std::vector<uint8_t> groupLevel_;  // by construct id
  std::vector<uint32_t> definedIn_;  // run by value id
  std::vector<uint8_t> crosses_;     // by value id: used in another run
  std::vector<Var> crossingVars_;    // by value id
  Var currentMask_;
  llvm::BasicBlock* runEntry_ = nullptr;  // of the current run: values from other runs are fetched here
  llvm::AllocaInst* gangCounter_ = nullptr;
  uint32_t gangFrameBytes_ = 0;
  uint32_t frameBytes_ = 0;
  llvm::Instruction* gangFrameStride_ = nullptr;  // placeholder until the frame's size is known
  Level at_ = Level::kHere;
};

}  // namespace pumice::shader::codegen
