// What follows the body of a fragment shader: sample mask, depth and stencil tests, alpha to coverage, blending, logic
// operations and stores to attachments. Emitted into the fragment function, a vector of sixteen lanes at a time.
// docs/graphics.md has the whole; Vulkan specification: "Fragment Operations", "The Framebuffer".
//
//   output_merger.cpp       state, what is asked in which order, counters
//   target_texels.cpp       places of a vector's texels, loads and stores of planes
//   texel_pack.cpp          texels of every attachment format to numbers and back
//   depth_stencil_emit.cpp  the tests
//   blend_emit.cpp          blending and logic operations
//
// For each vector of a run, in this order:
//   maskSamples; earlyTests, if the program tests early; the shader's body; lateTests; write.
// Vectors have to be stored in order, blocks before mixes (fragment_abi.h says why). Attachments are read in earlyTests
// (depth and stencil), lateTests and write, and written at their ends.
//
// One object per LLVM function, one thread.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include "backend/abi/fragment_abi.h"
#include "shaders/codegen/ops_emit.h"
#include "shaders/codegen/target_features.h"
#include "shaders/codegen/target_texels.h"
#include "shaders/codegen/texel_pack.h"
#include "shaders/compiler.h"

namespace pumice::shader::codegen {

inline constexpr uint32_t kFragmentLanes = 16;

// One vector of a run: what the function knows of it. Samples: all of the pipeline's, or one (sample shading).
struct FragmentVector {
  bool isBlock = true;
  // Of the upper left pixel, x | y << 16: a block's i32, or <4 x i32>, one per quad of a mix.
  llvm::Value* position = nullptr;
  // <16 x i1>. nullptr: all front; only asked for if needsFacing().
  llvm::Value* backFacing = nullptr;
  // A block's i32, or <4 x i32> of a mix; below abi::kMaxViewports. Only asked for if needsViewport().
  llvm::Value* viewport = nullptr;
  // nullptr: `coverage` and `depth` have an entry per sample of the pipeline. Else the number (i32, may be the index of
  // a loop) of the one sample that they have an entry of.
  llvm::Value* sample = nullptr;
  // <16 x i1>. In: what is rasterised; the functions below take away what is lost. It is what should be stored.
  llvm::SmallVector<llvm::Value*, abi::kMaxSamples> coverage;
  // <16 x float>, with bias, not clamped; only asked for if needsDepth().
  llvm::SmallVector<llvm::Value*, abi::kMaxSamples> depth;
  bool tested = false;  // earlyTests has been here: lateTests leaves depth, stencil and counters alone
};

// What the shader writes; nullptr: it does not. Values in lanes without coverage do not matter, but must not be poison.
struct FragmentOutputs {
  // <16 x float>, or <16 x i32> where the attachment is of integers.
  llvm::Value* color[abi::kMaxColorAttachments][4] = {};
  llvm::Value* secondColor[4] = {};         // location 0, index 1
  llvm::Value* depth = nullptr;             // FragDepth, <16 x float>: replaces the depth of every sample
  llvm::Value* stencilReference = nullptr;  // FragStencilRefEXT, <16 x i32>
  llvm::Value* sampleMask = nullptr;        // SampleMask, <16 x i32>
};

class OutputMerger {
 public:
  // env: abi::FragmentEnv. All of them outlive the object.
  OutputMerger(llvm::IRBuilder<>& builder, const TargetFeatures& features, const FragmentKey& key, llvm::Value* env);

  // What the pipeline's state alone asks of a FragmentVector. (Depth is not needed where the shader writes it.)
  bool needsDepth() const;
  bool needsFacing() const;
  bool needsViewport() const;

  // Once per call, where the entry block dominates all that follows: loads state and surfaces.
  void begin();

  // The functions below may add blocks and leave the builder in another one than they found it in, which the first
  // dominates and which all paths reach.

  // The pipeline's sample mask.
  void maskSamples(FragmentVector& v);
  // Depth bounds, stencil and depth with their writes, and counters, before the shader.
  void earlyTests(FragmentVector& v);
  // Alpha to coverage, the shader's sample mask, and the tests if they were not early.
  void lateTests(FragmentVector& v, const FragmentOutputs& o);
  // Blending, packing and stores of color.
  void write(const FragmentVector& v, const FragmentOutputs& o);

 private:
  // A VkCompareOp: its number, or the vectors (<16 x i1>) of its three bits.
  struct Compare {
    uint8_t op = 0;
    llvm::Value *less = nullptr, *equal = nullptr, *greater = nullptr;  // nullptr: `op` counts
  };
  // A VkStencilOp: its number, or what s becomes: saturated ((((s & keep) | (reference & replace)) ^ invert) + add).
  struct StencilOp {
    uint8_t op = 0;
    llvm::Value *keep = nullptr, *replace = nullptr, *invert = nullptr, *add = nullptr;  // <16 x i8>; nullptr: `op`
    llvm::Value *up = nullptr, *down = nullptr;                                          // added with saturation
  };
  struct Face {
    llvm::Value *reference = nullptr, *compareMask = nullptr, *writeMask = nullptr;  // <16 x i8>
    Compare compare;
    StencilOp fail, pass, depthFail;
  };

  // -- output_merger.cpp
  bool hasDepthPlane() const { return key_.depthFormat != VK_FORMAT_UNDEFINED; }
  bool testsDepth() const { return hasDepthPlane() && (key_.depthFlags & abi::kDepthTest) != 0; }
  bool testsBounds() const { return hasDepthPlane() && (key_.depthFlags & abi::kDepthBounds) != 0; }
  bool testsStencil() const;
  bool comparesDepth() const;
  bool isDynamic(FragmentDynamicState state) const { return (key_.dynamic & state) != 0; }
  bool isWritten(uint32_t attachment) const;
  uint32_t samples(const FragmentVector& v) const { return static_cast<uint32_t>(v.coverage.size()); }
  llvm::Value* envPointer(uint64_t offset_B);
  llvm::Value* load(llvm::Value* base, uint64_t offset_B, llvm::Type* type);
  llvm::Value* splat(llvm::Value* scalar) { return b_.CreateVectorSplat(kFragmentLanes, scalar); }
  llvm::Constant* allLanes(bool on);
  llvm::Value* anyLane(llvm::ArrayRef<llvm::Value*> masks);
  llvm::Value* sampleBit(llvm::Value* mask, llvm::Value* sample);
  void branchOver(llvm::Value* condition, llvm::function_ref<void()> body);
  void alphaToCoverage(FragmentVector& v, llvm::Value* alpha);
  void countSamples(const FragmentVector& v);

  // -- depth_stencil_emit.cpp
  void beginTests();
  llvm::Value* flag(abi::DepthFlags which, llvm::Value* present);
  Face face(uint64_t offset_B, const StencilOps& ops);
  Compare compareState(uint8_t op, llvm::Value* dynamic);
  StencilOp stencilOp(uint8_t op, llvm::Value* dynamic);
  void tests(FragmentVector& v, llvm::Value* shaderDepth, llvm::Value* stencilReference);
  llvm::Value* compare(const Compare& how, llvm::Value* a, llvm::Value* b);
  llvm::Value* depthCode(const FragmentVector& v, llvm::Value* depth);
  llvm::Value* storedDepth(llvm::Value* word);
  llvm::Value* boundsTest(llvm::Value* stored);
  void depthRange(const FragmentVector& v, llvm::Value** low, llvm::Value** high);
  llvm::Value* applyStencil(const StencilOp& op, llvm::Value* stored, llvm::Value* reference);
  llvm::Value* byFace(const FragmentVector& v, llvm::Value* front, llvm::Value* back);

  // -- blend_emit.cpp
  void beginBlending();
  void writeTarget(uint32_t attachment, const FragmentVector& v, const FragmentOutputs& o);
  void writeSamples(uint32_t attachment, const FragmentVector& v, const FragmentOutputs& o);
  bool blends(uint32_t attachment) const;
  bool usesLogicOp(uint32_t attachment) const;
  void blend(uint32_t attachment, llvm::Value* const* source, llvm::Value* const* second, llvm::Value* const* stored,
             llvm::Value** result);
  llvm::Value* dynamicLogic(llvm::Value* s, llvm::Value* d);
  llvm::Value* staticLogic(llvm::Value* s, llvm::Value* d);
  TexelWords logic(const TargetFormat& format, const TexelWords& source, const TexelWords& stored);

  llvm::IRBuilder<>& b_;
  const TargetFeatures& features_;
  const FragmentKey& key_;
  llvm::Value* env_;
  OpsEmitter ops_;
  TargetTexels texels_;
  TexelPack pack_;

  // Of the call.
  llvm::Value *state_ = nullptr, *counters_ = nullptr, *sampleMask_ = nullptr;
  llvm::SmallVector<llvm::Value*, abi::kMaxSamples> sampleLanes_;  // <16 x i1>, of sampleMask_
  TargetPlane depth_, stencil_;
  TargetPlane color_[abi::kMaxColorAttachments];
  llvm::Value* blendConstant_[4] = {};       // float
  llvm::Value* colorWriteEnable_ = nullptr;  // i8
  llvm::Value* logicOp_ = nullptr;           // i8, dynamic alone
  // <16 x i1>, or nullptr: known to be on. Tests that are off, writes that are on.
  llvm::Value *depthOff_ = nullptr, *boundsOff_ = nullptr, *stencilOff_ = nullptr, *depthWrites_ = nullptr;
  llvm::Value* clampsDepth_ = nullptr;  // i1, dynamic alone
  Compare depthCompare_;
  Face front_, back_;
};

}  // namespace pumice::shader::codegen
