// Linear filtering without a call, of 2D views of one level with plain rows: where all lanes' footprints lie inside the
// image, so that the address modes do not matter (but for borders, which make the texture unit filter in another
// order). Products and sums are those of the texture unit (backend/texture/hot_plane.inl), none of them fused, so the
// bits are the same.
#include <cstddef>

#include "backend/abi/descriptor.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using abi::ImageDescriptor;
using abi::SamplerDescriptor;
using ir::Inst;
using ir::Kind;
using ir::Value;

// i1: the sampler filters linearly whatever the level of detail, and there is but one level.
llvm::Value* Generator::plainLinear(const Value* descriptor, const Value* sampler) {
  LevelScope scope(*this, std::max(level(descriptor), level(sampler)));
  const auto field = [&](const Value* of, uint64_t offset_B, llvm::Type* t) {
    llvm::Value* address = b_.CreateIntToPtr(scalar(of), b_.getPtrTy());
    return b_.CreateLoad(t, bytePointer(address, b_.getInt64(offset_B)));
  };
  constexpr uint16_t kFilters = abi::makeSamplerClass(3, 3, 0, 0, 0, 0),
                     kLinear = abi::makeSamplerClass(1, 1, 0, 0, 0, 0);
  constexpr uint16_t kOther =
      abi::kSamplerUnnormalized | abi::kSamplerAnisotropic | abi::kSamplerReduceMin | abi::kSamplerReduceMax;
  llvm::Value* samplerClass = field(sampler, offsetof(SamplerDescriptor, samplerClass), b_.getInt16Ty());
  llvm::Value* filters = b_.CreateAnd(samplerClass, kFilters);
  llvm::Value* flags = b_.CreateAnd(field(sampler, offsetof(SamplerDescriptor, flags), b_.getInt16Ty()), kOther);
  const auto hasBorder = [&](uint16_t mask, uint16_t border) {
    return b_.CreateICmpEQ(b_.CreateAnd(samplerClass, mask & 0x7FFFu), b_.getInt16(border & 0x7FFFu));
  };
  constexpr uint32_t kBorder = 3;  // VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER
  llvm::Value* border =
      b_.CreateOr(hasBorder(abi::makeSamplerClass(0, 0, 0, 7, 0, 0), abi::makeSamplerClass(0, 0, 0, kBorder, 0, 0)),
                  hasBorder(abi::makeSamplerClass(0, 0, 0, 0, 7, 0), abi::makeSamplerClass(0, 0, 0, 0, kBorder, 0)));
  llvm::Value* levels = field(descriptor, offsetof(ImageDescriptor, levelCount), b_.getInt8Ty());
  llvm::Value* ok = b_.CreateAnd(b_.CreateICmpEQ(filters, b_.getInt16(kLinear)), b_.CreateIsNull(flags));
  ok = b_.CreateAnd(ok, b_.CreateNot(border));
  return b_.CreateAnd(ok, b_.CreateICmpEQ(levels, b_.getInt8(1)));
}

Generator::Footprint Generator::footprint(const Inst* i, const RowView& view, uint32_t part) {
  const ir::ImageOperands at = ir::imageOperands(ir::imageAccess(*i));
  const auto real = [&](float v) { return ops_.constant(Kind::kF32, std::bit_cast<uint32_t>(v), lanes_); };
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Value* extents[] = {view.widthF, view.heightF};
  llvm::Value* texel[2];
  llvm::Value* inside = nullptr;
  Footprint f;
  for (uint32_t d = 0; d < 2; ++d) {
    llvm::Value* extent = splat(extents[d]);
    llvm::Value* position =
        b_.CreateFSub(b_.CreateFMul(vector(i->operands[at.coordinates + d], part), extent), real(0.5f));
    llvm::Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, position);
    f.weight[d] = b_.CreateFSub(position, whole);
    // False for NaN.
    llvm::Value* in =
        b_.CreateAnd(b_.CreateFCmpOGE(whole, real(0)), b_.CreateFCmpOLE(whole, b_.CreateFSub(extent, real(2))));
    inside = inside ? b_.CreateAnd(inside, in) : in;
    // Only looked at where it is inside; elsewhere it may be any number.
    texel[d] = b_.CreateFreeze(b_.CreateFPToSI(whole, i32));
  }
  f.column = texel[0];
  f.row = texel[1];
  f.inside = subgroups_.allLanes(inside);
  f.plain = runsSideBySide(f.column, f.row);
  return f;
}

// The units of the four texels, one texel after the other: upper left, upper right, lower left, lower right.
Generator::Units Generator::loadFootprint(const TexelLayout& t, const RowView& view, const Footprint& f, bool rows) {
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Type* i64 = b_.getInt64Ty();
  Units out;
  const auto add = [&out](const Units& units) { out.append(units.begin(), units.end()); };
  if (rows) {
    TexelPlaces left;
    for (uint32_t first = 0; first < lanes_; first += runLanes()) {
      left.column.push_back(b_.CreateExtractElement(f.column, uint64_t{first}));
      llvm::Value* row = b_.CreateZExt(b_.CreateExtractElement(f.row, uint64_t{first}), i64);
      left.row.push_back(b_.CreateAdd(view.texels, b_.CreateMul(row, view.pitch_B)));
    }
    for (uint32_t r = 0; r < 2; ++r) {
      TexelPlaces right = left;
      for (llvm::Value*& column : right.column) column = b_.CreateAdd(column, b_.getInt32(1));
      add(loadRow(t, left));
      add(loadRow(t, right));
      for (llvm::Value*& row : left.row) row = b_.CreateAdd(row, view.pitch_B);
    }
    return out;
  }
  llvm::Value* pitch = splat(b_.CreateTrunc(view.pitch_B, b_.getInt32Ty()));
  llvm::Value* offsets =
      b_.CreateAdd(b_.CreateMul(f.row, pitch), b_.CreateMul(f.column, splat(b_.getInt32(t.bytes()))));
  llvm::Value* all = llvm::ConstantInt::getTrue(type(Kind::kBool, lanes_));
  for (uint32_t r = 0; r < 2; ++r) {
    if (t.bytes() == 4) {
      // Neighbours as one.
      llvm::Type* pair = type(Kind::kI64, lanes_);
      llvm::Type* unit = llvm::FixedVectorType::get(b_.getIntNTy(t.unitBits()), lanes_);
      llvm::Value* base = b_.CreateIntToPtr(view.texels, b_.getPtrTy());
      llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), base, b_.CreateLShr(offsets, 2));
      llvm::Value* both =
          b_.CreateMaskedGather(pair, pointers, llvm::Align(4), all, llvm::Constant::getNullValue(pair));
      for (uint32_t side = 0; side < 2; ++side)
        for (uint32_t u = 0; u < t.units(); ++u)
          out.push_back(b_.CreateTrunc(b_.CreateLShr(both, 32 * side + u * t.unitBits()), unit));
    } else {
      add(gatherTexels(t, view.texels, offsets, all));
      add(gatherTexels(t, view.texels, b_.CreateAdd(offsets, llvm::ConstantInt::get(i32, t.bytes())), all));
    }
    offsets = b_.CreateAdd(offsets, pitch);
  }
  return out;
}

Lowered Generator::filterFootprint(const TexelLayout& t, const Footprint& f, const Units& units) {
  const auto lerp = [&](llvm::Value* a, llvm::Value* b, llvm::Value* weight) {
    return b_.CreateFAdd(a, b_.CreateFMul(weight, b_.CreateFSub(b, a)));
  };
  Lowered texel[4];
  const uint32_t n = t.units();
  for (uint32_t k = 0; k < 4; ++k)
    texel[k] = decodeTexels(t, Units(units.begin() + k * n, units.begin() + (k + 1) * n), Scale::kLater);
  Lowered out(texel[0]);
  for (uint32_t c = 0; c < t.channels; ++c) {
    llvm::Value* upper = lerp(texel[0][c], texel[1][c], f.weight[0]);
    llvm::Value* lower = lerp(texel[2][c], texel[3][c], f.weight[0]);
    out[c] = lerp(upper, lower, f.weight[1]);
    if (t.numeric == TexelLayout::Numeric::kUnorm) out[c] = scaleUnorm(t, out[c], false);
  }
  return out;
}

// False: a call is all that can be done.
bool Generator::emitSample(const Inst* i, const ir::ImageAccess& a, const Flow& flow) {
  if (a.op != abi::ImageOp::kSample || target_.tier == Tier::kQuick || flow.cold) return false;
  if (a.spatial != 2 || i->result->type.kind != Kind::kF32) return false;
  // With one level, its number and gradients decide nothing.
  if ((a.flags & ~uint32_t{abi::kImageLod | abi::kImageGrad}) != 0) return false;
  const ir::ImageOperands at = ir::imageOperands(a);
  const Value* layer = i->operands[at.layer];
  if (layer->def != Value::Def::kConstant || layer->bits != 0) return false;
  const Value* descriptor = i->operands[0];
  const Value* sampler = i->operands[at.sampler];
  if (!shape(descriptor).sameInGang() || !shape(sampler).sameInGang()) return false;

  const std::vector<TexelLayout> layouts = likelyLayouts(0, Kind::kF32);
  const RowView view = rowView(descriptor, layouts);
  llvm::Value* ok = plainLinear(descriptor, sampler);
  llvm::Value* plain = b_.getTrue();
  llvm::SmallVector<Footprint, 8> footprints;
  for (uint32_t j = 0; j < k_; ++j) {
    footprints.push_back(footprint(i, view, j));
    ok = b_.CreateAnd(ok, footprints.back().inside);
    plain = b_.CreateAnd(plain, footprints.back().plain);
  }
  emitByLayout(
      i, flow, layouts, b_.CreateSelect(ok, view.layout, b_.getInt32(0)), plain,
      [&](const TexelLayout& t, uint32_t part, bool rows) { return loadFootprint(t, view, footprints[part], rows); },
      [&](const TexelLayout& t, uint32_t part, const Units& units) {
        return filterFootprint(t, footprints[part], units);
      });
  return true;
}

}  // namespace pumice::shader::codegen
