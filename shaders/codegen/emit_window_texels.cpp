// A window: 8 x 8 texels of 32 bits in four registers, from which permutes take what each lane needs. It lies inside of
// its level, so that nothing beyond the image is read. See emit_window.cpp.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cstddef>

#include "backend/abi/descriptor.h"
#include "backend/formats/format_table.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using abi::ImageLevel;
using ir::Kind;

namespace {

constexpr uint32_t kEdge = 8;
constexpr uint32_t kLower = 32;  // bit of a texel's number that says that it is in the last two registers

}  // namespace

// The class of 2D views in rows.
uint16_t Generator::windowClass(VkFormat format) {
  const auto index = static_cast<uint16_t>(&formats::formatInfo(format) - formats::allFormats().data());
  return abi::makeViewClass(abi::ViewShape::k2D, false, index);
}

llvm::Constant* Generator::realScalar(float v) {
  return llvm::ConstantFP::get(b_.getFloatTy(), v);
}

// Where lanes are along one axis of a level with `size` texels: findHotTexels() of the texture unit. Only the weights
// of positions beyond an edge differ, where both texels are the same.
Generator::WindowAxis Generator::windowAxis(const WindowView& view, llvm::Value* repeatMask, llvm::Value* coordinate,
                                            llvm::Value* size) {
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Type* f32 = type(Kind::kF32, lanes_);
  const auto floor = [&](llvm::Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, v); };
  llvm::Value* extent = b_.CreateUIToFP(size, b_.getFloatTy());
  llvm::Value* below =
      b_.CreateBitCast(b_.CreateSub(b_.CreateBitCast(extent, b_.getInt32Ty()), b_.getInt32(1)), b_.getFloatTy());
  llvm::Value* last = b_.CreateSub(size, b_.getInt32(1));
  llvm::Value* turns = b_.CreateAnd(b_.CreateBitCast(floor(coordinate), i32), splat(repeatMask));
  llvm::Value* position = b_.CreateFSub(coordinate, b_.CreateBitCast(turns, f32));
  position = clampReal(b_.CreateFMul(position, splat(extent)), realSplat(0), splat(below));
  position = b_.CreateFSub(position, splat(view.half));
  llvm::Value* whole = floor(position);
  WindowAxis out;
  out.weight = b_.CreateFSub(position, whole);
  llvm::Value* first = b_.CreateFPToSI(whole, i32);
  llvm::Value* second = b_.CreateAdd(first, splat(b_.getInt32(1)));
  llvm::Value* before = b_.CreateAnd(last, repeatMask);
  llvm::Value* behind = b_.CreateAnd(last, b_.CreateNot(repeatMask));
  llvm::Value* zero = llvm::Constant::getNullValue(i32);
  out.index[0] = b_.CreateSelect(b_.CreateICmpSLT(first, zero), splat(before), first);
  out.index[1] = b_.CreateSelect(b_.CreateICmpSLT(second, splat(size)), second, splat(behind));
  return out;
}

// i32: the smallest x in the lower half, the smallest y in the upper one.
llvm::Value* Generator::smallestPair(llvm::Value* x, llvm::Value* y) {
  llvm::Value* pairs = b_.CreateOr(x, b_.CreateShl(y, 16));
  const auto halfOf = [&](llvm::Value* v, uint32_t lanes, uint32_t first) {
    llvm::SmallVector<int, 16> mask;
    for (uint32_t l = 0; l < lanes; ++l) mask.push_back(static_cast<int>(first + l));
    return b_.CreateShuffleVector(v, mask);
  };
  for (uint32_t lanes = lanes_ / 2; lanes > 0; lanes /= 2) {
    llvm::Type* words = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * lanes);
    llvm::Type* dwords = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes);
    llvm::Value* low = b_.CreateBitCast(halfOf(pairs, lanes, 0), words);
    llvm::Value* high = b_.CreateBitCast(halfOf(pairs, lanes, lanes), words);
    pairs = b_.CreateBitCast(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, low, high), dwords);
  }
  return b_.CreateExtractElement(pairs, uint64_t{0});
}

// `number` (i32): a level that the view has.
Generator::Window Generator::windowOf(const WindowView& view, llvm::Value* number,
                                      llvm::ArrayRef<llvm::Value*> coordinates) {
  llvm::Type* i64 = b_.getInt64Ty();
  Window w;
  w.entry = b_.CreateIntToPtr(
      b_.CreateAdd(view.levelTable, b_.CreateMul(b_.CreateZExt(number, i64), b_.getInt64(sizeof(ImageLevel)))),
      b_.getPtrTy());
  llvm::Value* extents[] = {view.width, view.height};
  llvm::Value* large = b_.getTrue();
  for (uint32_t axis = 0; axis < 2; ++axis) {
    llvm::Value* size = b_.CreateLShr(extents[axis], number);
    large = b_.CreateAnd(large, b_.CreateICmpUGE(size, b_.getInt32(kEdge)));
    extents[axis] = size;
    w.axis[axis] = windowAxis(view, view.repeatMask[axis], coordinates[axis], size);
  }
  // Quad-major: whole blocks.
  llvm::Value* least = smallestPair(w.axis[0].index[0], w.axis[1].index[0]);
  llvm::Value* firsts[] = {b_.CreateAnd(least, 0xFFFF), b_.CreateLShr(least, 16)};
  llvm::Value* far = nullptr;
  for (uint32_t axis = 0; axis < 2; ++axis) {
    llvm::Value* end = b_.CreateAnd(b_.CreateAdd(extents[axis], b_.CreateNot(view.alignMask)), view.alignMask);
    llvm::Value* latest = b_.CreateSub(end, b_.getInt32(kEdge));
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, firsts[axis], latest);
    w.first[axis] = b_.CreateAnd(first, view.alignMask);
    for (uint32_t k = 0; k < 2; ++k) {
      llvm::Value* place = b_.CreateSub(w.axis[axis].index[k], splat(w.first[axis]));
      w.place[axis][k] = place;
      if (k == 1) place = b_.CreateAnd(place, splat(view.linearMask));
      far = far ? b_.CreateOr(far, place) : place;
    }
  }
  llvm::Value* near = b_.CreateICmpULT(far, llvm::ConstantInt::get(type(Kind::kI32, lanes_), kEdge));
  w.inside = b_.CreateAnd(large, subgroups_.allLanes(near));
  return w;
}

// Four vectors of sixteen texels: rows in pairs, or blocks.
Generator::Units Generator::loadWindow(const WindowView& view, const Window& w) {
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* offset = b_.CreateLoad(i64, bytePointer(w.entry, b_.getInt64(offsetof(ImageLevel, offset_B))));
  llvm::Value* pitch =
      b_.CreateZExt(b_.CreateLoad(i32, bytePointer(w.entry, b_.getInt64(offsetof(ImageLevel, rowPitch_B)))), i64);
  llvm::Value* texels = b_.CreateIntToPtr(b_.CreateAdd(view.address, offset), b_.getPtrTy());
  llvm::Value* x = b_.CreateZExt(w.first[0], i64);
  llvm::Value* y = b_.CreateZExt(w.first[1], i64);
  llvm::Type* sixteen = llvm::FixedVectorType::get(i32, 16);
  llvm::Type* eight = llvm::FixedVectorType::get(i32, kEdge);
  llvm::BasicBlock *blocks = block("window.blocks"), *rows = block("window.rows"), *loaded = block("window.loaded");
  b_.CreateCondBr(view.quadMajor, blocks, rows);
  Units out;
  enter(blocks);
  // Four texels to the right are one block.
  llvm::Value* base = bytePointer(texels, b_.CreateAdd(b_.CreateMul(b_.CreateLShr(y, 2), pitch), b_.CreateShl(x, 4)));
  Units ofBlocks;
  for (uint32_t row = 0; row < 2; ++row) {
    for (uint32_t column = 0; column < 2; ++column)
      ofBlocks.push_back(b_.CreateAlignedLoad(sixteen, bytePointer(base, b_.getInt64(64ull * column)), llvm::Align(4)));
    base = bytePointer(base, pitch);
  }
  b_.CreateBr(loaded);
  enter(rows);
  base = bytePointer(texels, b_.CreateAdd(b_.CreateMul(y, pitch), b_.CreateShl(x, 2)));
  Units ofRows;
  const auto row = [&] {
    llvm::Value* v = b_.CreateAlignedLoad(eight, base, llvm::Align(4));
    base = bytePointer(base, pitch);
    return v;
  };
  llvm::SmallVector<int, 16> both;
  for (int l = 0; l < 16; ++l) both.push_back(l);
  for (uint32_t pair = 0; pair < 4; ++pair) {
    llvm::Value* upper = row();
    ofRows.push_back(b_.CreateShuffleVector(upper, row(), both));
  }
  b_.CreateBr(loaded);
  enter(loaded);
  for (uint32_t n = 0; n < 4; ++n) {
    llvm::PHINode* phi = b_.CreatePHI(sixteen, 2);
    phi->addIncoming(ofBlocks[n], blocks);
    phi->addIncoming(ofRows[n], rows);
    out.push_back(phi);
  }
  return out;
}

// The first `count` texels of the footprint: upper left, upper right, lower left, lower right.
Generator::Units Generator::windowTexels(const WindowView& view, const Window& w, const Units& registers,
                                         uint32_t count) {
  const auto intrinsic = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> args) {
    return b_.CreateIntrinsic(id, {}, args);
  };
  const auto part = [&](uint32_t axis, uint32_t k) {
    return intrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {view.parts[axis], w.place[axis][k]});
  };
  llvm::Value* columns[] = {part(0, 0), count > 1 ? part(0, 1) : nullptr};
  Units out;
  for (uint32_t j = 0; j < (count > 1 ? 2u : 1u); ++j) {
    llvm::Value* row = part(1, j);
    llvm::Value* bit = b_.CreateAnd(row, splat(b_.getInt32(kLower)));
    llvm::Value* isLower = b_.CreateICmpNE(bit, llvm::Constant::getNullValue(row->getType()));
    for (uint32_t k = 0; k < (count > 1 ? 2u : 1u); ++k) {
      llvm::Value* place = b_.CreateOr(row, columns[k]);
      const auto pick = [&](uint32_t n) {
        return intrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {registers[n], place, registers[n + 1]});
      };
      out.push_back(b_.CreateSelect(isLower, pick(2), pick(0)));
    }
  }
  return out;
}

// Ones and zeros: what the comparison of the reference with each texel says.
Generator::Units Generator::compareWindow(const WindowView& view, llvm::Value* reference, const Units& texels) {
  static constexpr llvm::CmpInst::Predicate kPredicates[] = {
      llvm::CmpInst::FCMP_FALSE, llvm::CmpInst::FCMP_OLT, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_OLE,
      llvm::CmpInst::FCMP_OGT,   llvm::CmpInst::FCMP_UNE, llvm::CmpInst::FCMP_OGE, llvm::CmpInst::FCMP_TRUE};
  llvm::Type* f32 = type(Kind::kF32, lanes_);
  llvm::BasicBlock* done = block("compare.done");
  llvm::BasicBlock* decide = b_.GetInsertBlock();
  llvm::SmallVector<llvm::BasicBlock*, 8> entries;
  llvm::SmallVector<Units, 8> passes;
  for (const llvm::CmpInst::Predicate predicate : kPredicates) {
    entries.push_back(block("compare"));
    enter(entries.back());
    Units& p = passes.emplace_back();
    for (llvm::Value* texel : texels) p.push_back(b_.CreateFCmp(predicate, reference, b_.CreateBitCast(texel, f32)));
    b_.CreateBr(done);
  }
  enter(decide);
  auto* choose = b_.CreateSwitch(view.compareOp, entries[0], 7);
  for (uint32_t op = 1; op < entries.size(); ++op) choose->addCase(b_.getInt32(op), entries[op]);
  enter(done);
  Units out;
  for (size_t n = 0; n < texels.size(); ++n) {
    llvm::PHINode* phi = b_.CreatePHI(type(Kind::kBool, lanes_), 8);
    for (size_t op = 0; op < entries.size(); ++op) phi->addIncoming(passes[op][n], entries[op]);
    out.push_back(phi);
  }
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  for (llvm::Value*& v : out) v = b_.CreateBitCast(b_.CreateSelect(v, realSplat(1), realSplat(0)), i32);
  return out;
}

// Four components.
Lowered Generator::filterWindow(const WindowView& view, const Window& w, llvm::Value* reference) {
  const std::vector<TexelLayout> layouts = likelyLayouts(0, Kind::kF32);
  const auto layout = [&](uint32_t channels, uint32_t bits) {
    return *std::find_if(layouts.begin(), layouts.end(),
                         [&](const TexelLayout& t) { return t.channels == channels && t.channelBits == bits; });
  };
  const TexelLayout bytes = layout(4, 8), words = layout(1, 32);
  const Units registers = loadWindow(view, w);
  Footprint f{};
  for (uint32_t axis = 0; axis < 2; ++axis) f.weight[axis] = w.axis[axis].weight;
  if (reference) {
    const Units passes = compareWindow(view, reference, windowTexels(view, w, registers, 4));
    Lowered out = filterFootprint(words, f, passes);
    llvm::Value* nearest = b_.CreateBitCast(passes[0], type(Kind::kF32, lanes_));
    out[0] = b_.CreateSelect(splat(view.linear), out[0], nearest);
    return out;
  }
  struct Road {
    llvm::BasicBlock* block;
    Lowered out;
  };
  llvm::SmallVector<Road, 4> roads;
  llvm::BasicBlock* done = block("filter.done");
  llvm::BasicBlock *linear = block("filter.linear"), *nearest = block("filter.nearest");
  b_.CreateCondBr(view.linear, linear, nearest);
  for (const bool isLinear : {true, false}) {
    enter(isLinear ? linear : nearest);
    const Units texels = windowTexels(view, w, registers, isLinear ? 4 : 1);
    llvm::BasicBlock *ofBytes = block("filter.bytes"), *ofWords = block("filter.words");
    b_.CreateCondBr(view.isBytes, ofBytes, ofWords);
    for (const TexelLayout& t : {bytes, words}) {
      enter(t.channelBits == 8 ? ofBytes : ofWords);
      Lowered out = isLinear ? filterFootprint(t, f, texels) : decodeTexels(t, texels);
      if (t.channelBits == 8) {
        llvm::Value* swapped = splat(view.swapped);
        llvm::Value* red = out[0];
        out[0] = b_.CreateSelect(swapped, out[2], red);
        out[2] = b_.CreateSelect(swapped, red, out[2]);
      }
      roads.push_back({b_.GetInsertBlock(), out});
      b_.CreateBr(done);
    }
  }
  enter(done);
  Lowered out;
  for (uint32_t c = 0; c < 4; ++c) {
    llvm::PHINode* phi = b_.CreatePHI(type(Kind::kF32, lanes_), 4);
    for (const Road& road : roads) phi->addIncoming(road.out[c], road.block);
    out.push_back(phi);
  }
  return out;
}

}  // namespace pumice::shader::codegen
