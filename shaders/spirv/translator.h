// The reader proper: walks one entry point and everything it calls (calls are read in place, so the result has one
// function) and emits IR. Split by subject over translator_*.cpp.
//
// A SPIR-V value of any type is a flat list of scalar IR values, its leaves, in member order; composites cost nothing
// until something is loaded or stored. Logical pointers are compile-time objects (struct Pointer).
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shaders/ir/image_access.h"
#include "shaders/ir/ir.h"
#include "shaders/spirv/cfg.h"
#include "shaders/spirv/emitter.h"
#include "shaders/spirv/module.h"

namespace pumice::shader::spirv {

// A SPIR-V type, prepared for use. `explicitLayout` sizes and offsets come from decorations, natural ones from us.
struct TypeInfo {
  spv::Op op = spv::Op::OpTypeVoid;
  ir::Type scalar;        // of bool, int, float; component type of vectors and matrices
  bool isSigned = false;  // int
  uint32_t id = 0;
  uint32_t element = 0;         // vector, matrix, array: element type id; pointer: pointee
  uint32_t count = 0;           // components, columns, array length; 0 for runtime arrays
  spv::StorageClass storage{};  // pointer
  std::vector<uint32_t> members;
  std::vector<uint32_t> leafStart;      // struct: first leaf of each member
  std::vector<uint32_t> naturalOffset;  // struct
  std::vector<uint32_t> offset;         // struct, decorations; kNoOffset if absent
  uint32_t arrayStride = 0;             // array or pointer, decoration; 0 if absent
  uint32_t leaves = 0;                  // scalars that make up a value
  uint32_t naturalSize = 0, naturalAlign = 1;
  bool unsized = false;  // cannot be an object of private or shared memory
};
inline constexpr uint32_t kNoOffset = ~0u;

// Where a logical or physical pointer points. The byte address is base + index * scale + offset, as in ir::MemRef.
struct Pointer {
  enum class Kind : uint8_t {
    kMemory,       // a place in memory
    kDescriptors,  // (part of) an array of descriptors: indexing selects one
    kBuiltin,      // an input variable
    kResource,     // an image, a sampler or (part of) an array of them
    kTexel,        // one texel of a storage image: `base` is the image, `texelPointer` says which
  };
  Kind kind = Kind::kMemory;
  spv::StorageClass storage = spv::StorageClass::Function;
  ir::Space space = ir::Space::kLocal;
  uint32_t type = 0;  // pointee
  ir::Value* base = nullptr;
  ir::Value* index = nullptr;
  uint32_t scale = 1;
  int64_t offset = 0;
  uint32_t local = 0;
  uint32_t variable = 0;        // kDescriptors, kBuiltin, kResource: the OpVariable
  ir::Value* number = nullptr;  // kDescriptors that were chosen: which of descriptorArrays(numberType), not `variable`
  uint32_t numberType = 0;
  uint32_t texelPointer = 0;       // kTexel: the OpImageTexelPointer
  ir::Value* component = nullptr;  // kBuiltin: dynamic component
  uint32_t align = 0;              // kGlobal: stated by Aligned, 0 = natural
  bool explicitLayout = false;
  bool rowMajor = false;
  bool readOnly = false, isVolatile = false, nonUniform = false;
  uint32_t matrixStride = 0;     // of the matrix that is or contains the pointee
  uint32_t componentStride = 0;  // of a vector pointee; 0 = tight
};

// Locations behind those of the API: clip distances 0 to 3 and 4 to 7, then cull distances, so that fragment shaders
// find them like any other output.
inline constexpr uint32_t kClipDistanceLocation = kMaxLinkedLocations - 4;
inline constexpr uint32_t kCullDistanceLocation = kMaxLinkedLocations - 2;

struct Val {
  uint32_t type = 0;  // 0 = not there
  std::span<ir::Value* const> leaves;
  const Pointer* pointer = nullptr;  // logical pointers; physical ones may have it too
};

class Translator {
 public:
  Translator(const Module& module, const ShaderCompileInfo& info, ir::Stage stage, ir::Function& fn);
  void run();
  // After run().
  const VertexInterface& vertex() const { return vertex_; }
  const FragmentInterface& fragment() const { return fragment_; }

 private:
  using Value = ir::Value;
  using Leaves = std::span<Value* const>;

  // -- the entry point (reader.cpp)
  void readExecutionModes(uint32_t function);
  void readWorkgroupSize(bool sized);

  // -- types and constants (translator_types.cpp)
  const TypeInfo& type(uint32_t id);
  void buildType(TypeInfo& t, const Instr& in);
  ir::Type leafType(const TypeInfo& t, uint32_t leaf);
  uint32_t memberStart(const TypeInfo& t, uint32_t index, uint32_t* memberType);
  uint32_t constantInt(uint32_t id);  // of integer constants and specialised ones
  Val constantValue(const Instr& in);
  Val zeroValue(uint32_t typeId);
  Val undefinedValue(uint32_t typeId);
  uint64_t scalarLiteral(const Instr& in, const TypeInfo& t, uint32_t firstWord);
  uint64_t specOverride(uint32_t id, uint64_t standard);
  std::span<Value*> allocate(size_t n);
  Val make(uint32_t typeId, Leaves leaves);
  Val make(uint32_t typeId, std::initializer_list<Value*> leaves) {
    return make(typeId, Leaves(leaves.begin(), leaves.size()));
  }

  // -- values
  Val get(uint32_t id);
  Val lookup(uint32_t id);
  Value* scalar(uint32_t id);  // exactly one leaf
  void set(uint32_t id, const Val& v);
  void setLeaves(const Instr& in, Leaves leaves) { set(in.result, make(in.resultType, leaves)); }
  void setScalar(const Instr& in, Value* v) { set(in.result, make(in.resultType, {v})); }

  // -- control flow (translator_control.cpp)
  struct Frame {
    const FunctionDef* def = nullptr;
    const Cfg* cfg = nullptr;
    ir::Construct* returnTo = nullptr;
    std::vector<ir::Construct*> blockTarget;  // by block: where a forward branch to it goes, if it has a construct
    std::vector<ir::Construct*> loopTarget;   // by block: its loop
  };
  const Cfg& cfgOf(const FunctionDef& fn);
  void emitFunction(const FunctionDef& fn, ir::Construct* returnTo);
  void emitTree(Frame& f, uint32_t block, Leaves incoming);
  void emitTerminator(Frame& f, uint32_t block, ir::Construct* ifTarget, uint32_t ifBlock);
  void emitIf(Frame& f, uint32_t block, const Instr& end, uint32_t joinBlock);
  void emitSwitch(Frame& f, uint32_t block, const Instr& end);
  void emitEdge(Frame& f, uint32_t from, uint32_t to);
  void declareResults(Frame& f, ir::Construct* c, uint32_t block);
  void bindPhis(Frame& f, uint32_t block, Leaves incoming);
  Leaves phiOperands(Frame& f, uint32_t from, uint32_t to);
  uint32_t phiLeafCount(uint32_t typeId);
  ir::Type phiLeafType(uint32_t typeId, uint32_t leaf);
  Leaves valueForPhi(uint32_t id, uint32_t typeId);
  Val valueFromPhi(uint32_t typeId, Leaves leaves);
  void emitCall(const Instr& in);
  void emitInstr(const Instr& in);

  // -- memory (translator_memory.cpp)
  const Pointer* pointer(uint32_t id);
  Val variablePointer(const Instr& in);
  uint64_t explicitSize(const TypeInfo& t, uint32_t matrixStride, bool rowMajor);
  void emitVariable(const Instr& in);
  bool isConstantTable(uint32_t variable);
  bool emitTableStore(const Instr& in);
  bool emitMemory(const Instr& in);
  void addIndex(Pointer& p, uint32_t indexId, uint32_t stride);
  void step(Pointer& p, uint32_t indexId);
  const Pointer* accessChain(const Instr& in, bool byElement);
  void resolveDescriptor(Pointer& p);
  ir::Inst* descriptor(ir::Op op, ir::Type t, const Pointer& p, Value* index);
  Value* descriptorIndex(const Pointer& p);
  Val load(const Pointer& p, uint32_t typeId);
  void loadInto(const Pointer& p, std::span<Value*> out);
  void store(const Pointer& p, Leaves leaves);
  Pointer childPointer(const Pointer& p, uint32_t index);
  struct Access {
    ir::MemRef mem;
    Value* address[2];
    uint32_t addressCount;
  };
  Access access(const Pointer& p, ir::Type t);
  void applyMemoryOperands(const Instr& in, uint32_t first, Pointer& p);
  void emitAtomic(const Instr& in);
  void emitArrayLength(const Instr& in);
  Value* physicalAddress(const Pointer& p);
  Pointer physicalPointer(uint32_t pointerType, Value* address);
  Value* byteOffset(const Pointer& p);
  Val makePointer(uint32_t pointerType, Value* base, Value* offset);
  void inferMatrixLayout(Pointer& p);
  std::vector<Value*> bufferChoices();
  bool isDescriptorArray(const TypeInfo& t);
  std::vector<uint32_t> descriptorArrays(uint32_t typeId);
  Value* descriptorArrayNumber(const Pointer& p);
  void storePointer(const Pointer& to, const Pointer& value);
  Val loadPointer(const Pointer& from, uint32_t pointerType);
  Value* loadBuiltin(spv::BuiltIn b, uint32_t component);
  void emitBarrier(const Instr& in);
  Value* indexValue(uint32_t id, bool wide);
  uint32_t strideOf(const TypeInfo& t, const Pointer& p);

  // -- inputs and outputs of the graphics stages (translator_stage.cpp)
  struct Interpolation {
    bool flat = false, noPerspective = false, centroid = false, sample = false;
  };
  // A scalar of an input or output variable.
  struct IoLeaf {
    uint32_t offset_B = 0;  // in the variable, natural layout
    ir::Type type;
    uint32_t group = 0;  // the block's member, 0 if the variable is no block
    bool isBuiltin = false;
    spv::BuiltIn builtin{};
    uint32_t builtinIndex = 0;             // number of the scalar in the built-in variable
    uint32_t location = 0, component = 0;  // component: 32-bit rows; 64-bit scalars take two
    uint32_t index = 0;                    // of dual-source blending
    Interpolation interpolation;
  };
  struct IoVariable {
    uint32_t variable = 0;
    uint32_t local = 0;  // where its value is kept while the shader runs
    std::vector<IoLeaf> leaves;
    std::vector<bool> written;  // outputs: by group
  };
  Pointer stageVariable(const Instr& in, Pointer p);
  void collectIo(const TypeInfo& t, uint32_t offset_B, IoLeaf at, uint32_t& location, uint32_t& builtinIndex,
                 std::vector<IoLeaf>& out);
  void decorateIo(uint32_t id, uint32_t member, IoLeaf& leaf, uint32_t& location);
  void markWritten(const Pointer& p);
  void storeLocal(uint32_t local, uint32_t offset_B, Value* v);
  Value* loadLocal(uint32_t local, uint32_t offset_B, ir::Type t);
  void emitStage(const FunctionDef& fn);
  Value* stageAddress(ir::Op op);
  Value* loadGlobal(ir::Type t, Value* base, Value* index, uint32_t scale_B, uint32_t offset_B);
  Value* stageBuiltin(spv::BuiltIn b, uint32_t component);
  // -- vertex (translator_vertex.cpp)
  Value* vertexInput(const IoLeaf& leaf);
  Value* vertexBuiltin(spv::BuiltIn b);
  uint32_t vertexInputSlot(uint32_t location);
  void emitVertexOutputs();
  void storeRow(uint32_t row, Value* v);

  // -- fragment (translator_fragment.cpp)
  // A place in the pixel, from its upper left corner, in pixels.
  struct PixelPlace {
    Value *x, *y;
  };
  // Weights of the second and third vertex at a place.
  struct Weights {
    Value *i, *j;
  };
  const FragmentKey& fragmentKey() const { return static_cast<const FragmentCompileInfo&>(info_).key; }
  bool isFragment() const { return fn_.stage == ir::Stage::kFragment; }
  void beginFragment();
  void emitFragmentOutputs();
  bool occludes() const;
  bool readsPerSample();
  Value* fragmentWord(ir::Op op, ir::Type t, uint32_t imm, uint32_t imm2 = 0);
  Value* primitiveField(uint32_t offset_B, ir::Type t) { return fragmentWord(ir::Op::PrimitiveField, t, offset_B); }
  Value* fragmentInput(const IoLeaf& leaf);
  Value* fragmentBuiltin(spv::BuiltIn b, uint32_t component);
  Value* sampleMaskIn();
  Value* input(Value* v);
  Value* pixelPosition(uint32_t axis);
  Value* pixelCoordinate(uint32_t axis);
  PixelPlace centerPlace();
  PixelPlace samplePlace(Value* sample);
  PixelPlace centroidPlace();
  bool shadesSamplesByState();
  PixelPlace placeOf(const Interpolation& how);
  Value* screenPlane(uint32_t offset_B, const PixelPlace& at);
  Weights weights(const PixelPlace& at, bool perspective);
  Value* interpolate(const IoLeaf& leaf, const PixelPlace& at);
  Value* interpolateAt(const Pointer& p, uint32_t component, const PixelPlace& at);
  void emitInterpolateAt(const Instr& in, const Pointer& p, PixelPlace at);
  bool emitInterpolation(const Instr& in);
  Value* fragmentEnv(uint32_t offset_B);
  Value* quadShuffle(Value* v, uint32_t selector);
  Value* derivative(Value* v, bool vertical, bool fine);
  bool emitDerivative(const Instr& in);
  bool emitFragment(const Instr& in);
  void demote();
  bool isHelperVariable(uint32_t id) const;

  // -- images (translator_image.cpp)
  struct ImageType {
    spv::Dim dim{};
    bool arrayed = false, multisampled = false, storage = false;
    uint8_t spatial = 0;  // coordinates without the layer
    uint8_t format = 0;   // spv::ImageFormat
    ir::Type texel;       // kF32, kI32 or kI64
  };
  struct ImageArguments {
    ir::ImageAccess access;
    Value* image = nullptr;
    Value* sampler = nullptr;
    Leaves coordinates;  // with the layer
    Value* lod = nullptr;
    Value* minLod = nullptr;
    Value* reference = nullptr;
    Leaves ddx, ddy, offset, gatherOffsets, values;
  };
  bool emitImage(const Instr& in);
  ImageType imageType(uint32_t typeId);
  Val loadResource(const Pointer& p, uint32_t typeId);
  Value* descriptorField(Value* descriptor, uint64_t offset_B, ir::Type t);
  ImageArguments imageOperands(const Instr& in, uint32_t first);
  Value* floatOperand(Value* v);
  void implicitGradients(ImageArguments& a);
  void texelCoordinates(const ImageType& image, uint32_t coordinateId, ImageArguments& a);
  void sampleCoordinates(const ImageType& image, uint32_t coordinateId, bool projected, ImageArguments& a);
  Value* emitAccess(ir::Op op, ir::Type result, const ImageArguments& a);
  void emitSample(const Instr& in, abi::ImageOp op, bool explicitLod, bool reference, bool projected);
  void setTexel(const Instr& in, Value* tuple);
  void emitImageRead(const Instr& in);
  void emitImageWrite(const Instr& in);
  Value* emitImageAtomic(const Pointer& p, ir::Op op, ir::Type t, Leaves values);
  void emitQueryLod(const Instr& in);
  void emitQuerySize(const Instr& in, Value* lod);

  // -- arithmetic (translator_alu.cpp, translator_composite.cpp, translator_matrix.cpp)
  bool emitAlu(spv::Op op, const Instr& in, uint32_t firstOperand);
  bool emitComposite(spv::Op op, const Instr& in, uint32_t firstOperand);
  bool emitMatrix(spv::Op op, const Instr& in, uint32_t firstOperand);
  bool emitIntegerDot(spv::Op op, const Instr& in, uint32_t firstOperand);
  void emitBitcast(const Instr& in, uint32_t firstOperand);
  Value* resizeInt(Value* v, ir::Type to, bool isSigned);
  Value* shiftAmount(Value* v, ir::Type to) { return resizeInt(v, to, false); }
  Value* bitFieldMask(Value* count, ir::Type t);
  Value* signedMod(Value* a, Value* b);
  Value* quantizeToF16(Value* a);
  Value* boolToInt(Value* b);
  Value* intToBool(Value* i);
  Value* dot(Leaves a, Leaves b);
  void negateAll(const Instr& in, Leaves a);

  // -- GLSL.std.450 (translator_glsl.cpp)
  void emitGlsl(const Instr& in);
  Value* fclamp(Value* x, Value* lo, Value* hi);
  Value* nmin(Value* a, Value* b);
  Value* nmax(Value* a, Value* b);
  Value* findUMsb(Value* x);
  Value* determinant(Leaves m, uint32_t n);
  void inverse(Leaves m, uint32_t n, std::span<Value*> out);
  Value* packNorm(Leaves v, uint32_t bits, bool isSigned);
  void unpackNorm(Value* word, uint32_t bits, bool isSigned, std::span<Value*> out);

  // -- subgroups (translator_subgroup.cpp)
  bool emitSubgroup(const Instr& in);
  void checkSubgroupScope(uint32_t scopeId);
  Value* subgroupMask(spv::BuiltIn b);
  Value* lanesMask();

  Emitter& e() { return emitter_; }

  const Module& module_;
  const ShaderCompileInfo& info_;
  ir::Function& fn_;
  Emitter emitter_;
  std::pmr::monotonic_buffer_resource arena_;
  std::vector<Val> values_;
  std::unordered_map<uint32_t, TypeInfo> types_;
  std::unordered_map<uint32_t, Cfg> cfgs_;
  std::unordered_map<uint64_t, Value*> builtins_;     // builtin and component
  std::unordered_map<uint32_t, Value*> descriptors_;  // variable -> its only descriptor
  std::unordered_map<uint32_t, bool> tables_;         // variable -> is it a constant table; absent: not looked at yet
  std::unordered_set<uint32_t> filledTables_;
  std::vector<IoVariable> inputs_, outputs_;
  VertexInterface vertex_{};
  FragmentInterface fragment_{};
  std::span<const uint32_t> interface_;  // variables of the entry point
  ir::Construct* shader_ = nullptr;      // fragment: where a lane goes that ends early
  bool discards_ = false, readsTarget_ = false, declaresEarlyTests_ = false;
  uint32_t written_ = 0;      // components of colors, bit 4 * location + component
  bool sideEffects_ = false;  // writes memory that others see
  uint32_t constantDepth_ = 0, typeDepth_ = 0, callDepth_ = 0, treeDepth_ = 0;
  const FunctionDef* function_ = nullptr;  // that is being read
  uint64_t work_ = 0;                      // instructions read, calls counted as often as they are read in place
};

}  // namespace pumice::shader::spirv
