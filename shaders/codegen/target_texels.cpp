#include "shaders/codegen/target_texels.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <cstddef>

#include "backend/abi/packets.h"

namespace pumice::shader::codegen {
namespace {

constexpr uint32_t kLanes = 16;
constexpr uint32_t kQuadLanes = 4;

// Texels in memory as elements of at most 64 bits, which masks of loads and stores can have.
struct Elements {
  uint32_t bits, perTexel;
  explicit Elements(uint32_t texelBytes)
      : bits(std::min(8 * texelBytes, 64u)), perTexel(std::max(texelBytes / 8, 1u)) {}
};

llvm::SmallVector<int, 64> everyNth(uint32_t n, uint32_t first) {
  llvm::SmallVector<int, 64> order;
  for (uint32_t lane = 0; lane < kLanes; ++lane) order.push_back(static_cast<int>(lane * n + first));
  return order;
}

}  // namespace

TargetPlane TargetTexels::plane(llvm::Value* surface, llvm::Value* sink, uint32_t elementBytes, uint32_t samples) {
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  const auto field = [&](uint64_t offset_B, llvm::Type* t) {
    return b_.CreateLoad(t, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), surface, offset_B));
  };
  // A row of blocks has less than 2^32 bytes: 32 bits of the pitch are all, and products of 32 bits are one
  // instruction.
  const auto pitch = [&](uint64_t offset_B, llvm::Value* present) {
    return b_.CreateZExt(b_.CreateSelect(present, field(offset_B, i32), b_.getInt32(0)), i64);
  };
  TargetPlane p;
  p.elementBytes = elementBytes;
  llvm::Value* address = field(offsetof(abi::Surface, address), i64);
  p.present = b_.CreateICmpNE(address, b_.getInt64(0));
  // Element bytes, order and samples are side by side.
  static_assert(offsetof(abi::Surface, order) == offsetof(abi::Surface, elementBytes) + 1);
  static_assert(offsetof(abi::Surface, sampleCount) == offsetof(abi::Surface, elementBytes) + 2);
  const uint32_t shape =
      elementBytes | uint32_t{static_cast<uint8_t>(abi::BlockOrder::kQuadMajor4)} << 8 | samples << 16;
  llvm::Value* here = b_.CreateAnd(field(offsetof(abi::Surface, elementBytes), i32), 0xFF'FFFF);
  p.present = b_.CreateAnd(p.present, b_.CreateICmpEQ(here, b_.getInt32(shape)));
  p.address = b_.CreateSelect(p.present, address, b_.CreatePtrToInt(sink, i64));
  p.rowPitch = pitch(offsetof(abi::Surface, rowPitch_B), p.present);
  p.blockPitch = pitch(offsetof(abi::Surface, blockPitch_B), p.present);
  return p;
}

TexelPlaces TargetTexels::places(const TargetPlane& plane, llvm::Value* position, llvm::Value* sample) {
  const bool isMix = position->getType()->isVectorTy();
  const auto splat = [&](llvm::Value* v) { return isMix ? b_.CreateVectorSplat(kQuadLanes, v) : v; };
  llvm::Type* i64 = b_.getInt64Ty();
  if (isMix) i64 = llvm::FixedVectorType::get(i64, kQuadLanes);
  llvm::Value* base = plane.address;
  if (sample) {
    llvm::Value* offset =
        b_.CreateMul(b_.CreateZExt(sample, b_.getInt64Ty()), b_.getInt64(kLanes * plane.elementBytes));
    base = b_.CreateAdd(base, offset);
  }
  llvm::Value* column = b_.CreateZExt(b_.CreateAnd(b_.CreateLShr(position, 2), 0x3FFF), i64);
  llvm::Value* row = b_.CreateZExt(b_.CreateLShr(position, 18), i64);
  llvm::Value* at = b_.CreateAdd(splat(base), b_.CreateAdd(b_.CreateMul(row, splat(plane.rowPitch)),
                                                           b_.CreateMul(column, splat(plane.blockPitch))));
  if (!isMix) return {b_.CreateIntToPtr(at, b_.getPtrTy())};
  // Which quad of its block: bit 0 is bit 1 of x, bit 1 is bit 1 of y.
  llvm::Value* quad =
      b_.CreateOr(b_.CreateAnd(b_.CreateLShr(position, 1), 1), b_.CreateAnd(b_.CreateLShr(position, 16), 2));
  at = b_.CreateAdd(
      at, b_.CreateMul(b_.CreateZExt(quad, i64), splat(b_.getInt64(uint64_t{kQuadLanes} * plane.elementBytes))));
  TexelPlaces out;
  for (uint64_t q = 0; q < kQuadLanes; ++q)
    out.push_back(b_.CreateIntToPtr(b_.CreateExtractElement(at, q), b_.getPtrTy()));
  return out;
}

llvm::Value* TargetTexels::pointer(const TargetPlane& plane, const TexelPlaces& places, size_t piece, uint32_t sample) {
  const uint64_t offset_B = uint64_t{sample} * kLanes * plane.elementBytes;
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), places[piece], offset_B);
}

// As <16 x perTexel elements>, in memory's order.
llvm::Value* TargetTexels::loadWhole(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample) {
  const Elements e(plane.elementBytes);
  const auto lanes = static_cast<unsigned>(kLanes / places.size() * e.perTexel);
  llvm::Type* type = llvm::FixedVectorType::get(b_.getIntNTy(e.bits), lanes);
  llvm::SmallVector<llvm::Value*, 4> pieces;
  for (size_t i = 0; i < places.size(); ++i)
    pieces.push_back(b_.CreateAlignedLoad(type, pointer(plane, places, i, sample), llvm::Align(1)));
  return llvm::concatenateVectors(b_, pieces);
}

TexelWords TargetTexels::split(const TargetPlane& plane, llvm::Value* whole) {
  const uint32_t words = plane.elementBytes / 4;
  if (words <= 1) return {whole};
  whole = b_.CreateBitCast(whole, llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes * words));
  TexelWords out;
  for (uint32_t w = 0; w < words; ++w) out.push_back(b_.CreateShuffleVector(whole, everyNth(words, w)));
  return out;
}

llvm::Value* TargetTexels::join(const TargetPlane& plane, const TexelWords& words) {
  if (words.size() == 1) return words[0];
  const Elements e(plane.elementBytes);
  const auto count = static_cast<unsigned>(words.size());
  llvm::SmallVector<int, 64> order;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned w = 0; w < count; ++w) order.push_back(static_cast<int>(w * kLanes + lane));
  llvm::Value* joined = b_.CreateShuffleVector(llvm::concatenateVectors(b_, words), order);
  return b_.CreateBitCast(joined, llvm::FixedVectorType::get(b_.getIntNTy(e.bits), kLanes * e.perTexel));
}

LoadedTexels TargetTexels::load(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample) {
  llvm::Value* whole = loadWhole(plane, places, sample);
  return {whole, split(plane, whole)};
}

void TargetTexels::store(const TargetPlane& plane, const TexelPlaces& places, uint32_t sample, const TexelWords& words,
                         llvm::Value* mask, const LoadedTexels* old) {
  const Elements e(plane.elementBytes);
  llvm::Value* whole = join(plane, words);
  if (e.perTexel > 1) mask = b_.CreateShuffleVector(mask, llvm::createReplicatedMask(e.perTexel, kLanes));
  // With AVX-512 stores have masks for elements of every size.
  if (!features_.avx512) {
    whole = b_.CreateSelect(mask, whole, old ? old->whole : loadWhole(plane, places, sample));
    mask = nullptr;
  }
  const auto lanes = static_cast<unsigned>(kLanes / places.size() * e.perTexel);
  // From last to first: quads that fill up a mix stand where its first quad does, and write back what was there before.
  for (size_t i = places.size(); i-- > 0;) {
    const auto piece = [&](llvm::Value* v) {
      if (places.size() == 1) return v;
      return b_.CreateShuffleVector(v, llvm::createSequentialMask(static_cast<unsigned>(i) * lanes, lanes, 0));
    };
    llvm::Value* at = pointer(plane, places, i, sample);
    if (mask)
      b_.CreateMaskedStore(piece(whole), at, llvm::Align(1), piece(mask));
    else
      b_.CreateAlignedStore(piece(whole), at, llvm::Align(1));
  }
}

}  // namespace pumice::shader::codegen
