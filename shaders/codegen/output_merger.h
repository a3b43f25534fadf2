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
};

}  // namespace pumice::shader::codegen
