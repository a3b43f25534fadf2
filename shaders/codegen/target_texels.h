// Where the texels of a fragment vector lie in attachments, and how they are loaded and stored: whole 4x4 blocks, or
// four quads (backend/abi/image_layout.h).
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include "shaders/codegen/target_features.h"

namespace pumice::shader::codegen {

// Sixteen texels as <16 x i8>, <16 x i16>, or <16 x i32> for each 32-bit word of a texel.
using TexelWords = llvm::SmallVector<llvm::Value*, 4>;

struct LoadedTexels {
  llvm::Value* whole = nullptr;  // as in memory
  TexelWords words;
};

// A plane of the call: the surface of an attachment. One that is not there, or has another shape than the code is for
// (an error of the application), becomes memory that nobody reads, the same for every texel: code needs no branch for
// it.
struct TargetPlane {
  uint32_t elementBytes = 0;        // 1, 2, 4, 8, 16
  llvm::Value* address = nullptr;   // i64
  llvm::Value* rowPitch = nullptr;  // i64, below 2^32
  llvm::Value* blockPitch = nullptr;
  llvm::Value* present = nullptr;  // i1
};

// Of a vector: its block, or the quads of a mix; sample 0, or the one sample that is meant.
using TexelPlaces = llvm::SmallVector<llvm::Value*, 4>;

class TargetTexels {
 public:
  TargetTexels(llvm::IRBuilder<>& builder, const TargetFeatures& features) : b_(builder), features_(features) {}

  // surface: address of an abi::Surface; sink: of memory for texels of no surface, kSinkBytes.
  TargetPlane plane(llvm::Value* surface, llvm::Value* sink, uint32_t elementBytes, uint32_t samples);

  // position: i32 for a block, <4 x i32> for a mix, see FragmentVector. sample: i32, or nullptr for sample 0.
  TexelPlaces places(const TargetPlane& plane, llvm::Value* position, llvm::Value* sample);

  // `sample` counts from that of the places.
  LoadedTexels load(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample);
  // mask: <16 x i1>. old: what load gave before, or nullptr. Texels outside of the mask may be read and written back.
  void store(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample, const TexelWords& words,
             llvm::Value* mask, const LoadedTexels* old);

 private:
  llvm::Value* pointer(const TargetPlane& plane, const TexelPlaces& places, size_t piece, uint32_t sample);
  llvm::Value* loadWhole(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample);
  TexelWords split(const TargetPlane& plane, llvm::Value* whole);
  llvm::Value* join(const TargetPlane& plane, const TexelWords& words);

  llvm::IRBuilder<>& b_;
  const TargetFeatures& features_;
};

}  // namespace pumice::shader::codegen
