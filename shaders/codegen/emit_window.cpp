// Sampling of fragment shaders without a call: the commonest views and samplers, where the texels of all sixteen lanes
// lie in a window of 8 x 8 (emit_window_texels.cpp). Pixels that lie together mostly see texels that do: with levels
// of detail, the footprint of 4 x 4 pixels has 4 to 8 texels a side.
//
//   view, sampler?  ->  level of each lane, if there are several  ->  window, filter  ->  once more for a second level
//
// What is not so (another view, levels that differ between lanes, texels too far apart) is a call. Products and sums
// are those of the texture unit (backend/texture/hot_sample.inl, lod.inl), none of them fused, so the bits are the
// same.
#include <bit>
#include <cstddef>
#include <limits>

#include "backend/abi/descriptor.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using abi::ImageDescriptor;
using abi::ImageLevel;
using abi::SamplerDescriptor;
using ir::Inst;
using ir::Kind;
using ir::Value;

namespace {

constexpr float kMaxSamplerLodBias = 15;  // texture.h

}  // namespace

llvm::Value* Generator::realSplat(float v) {
  return ops_.constant(Kind::kF32, std::bit_cast<uint32_t>(v), lanes_);
}

// NaN becomes `low`.
llvm::Value* Generator::clampReal(llvm::Value* v, llvm::Value* low, llvm::Value* high) {
  v = b_.CreateSelect(b_.CreateFCmpOGT(v, low), v, low);
  return b_.CreateSelect(b_.CreateFCmpOLT(v, high), v, high);
}

// What is known where the descriptors are, which may be once per call: nothing but the descriptors is read.
Generator::WindowView Generator::windowView(const Value* descriptor, const Value* sampler, bool compares) {
  LevelScope scope(*this, std::max(level(descriptor), level(sampler)));
  llvm::Type* i16 = b_.getInt16Ty();
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  const auto field = [&](const Value* of, uint64_t offset_B, llvm::Type* t) {
    llvm::Value* address = b_.CreateIntToPtr(scalar(of), b_.getPtrTy());
    return b_.CreateLoad(t, bytePointer(address, b_.getInt64(offset_B)));
  };
  const auto ofImage = [&](uint64_t offset_B, llvm::Type* t) { return field(descriptor, offset_B, t); };
  const auto ofSampler = [&](uint64_t offset_B, llvm::Type* t) { return field(sampler, offset_B, t); };
  const auto bits16 = [&](llvm::Value* v, uint32_t mask) { return b_.CreateAnd(v, b_.getInt16(mask & 0xFFFF)); };
  const auto is16 = [&](llvm::Value* v, uint32_t n) { return b_.CreateICmpEQ(v, b_.getInt16(n & 0xFFFF)); };
  const auto maskIf = [&](llvm::Value* condition) { return b_.CreateSExt(condition, i32); };

  WindowView v{};
  v.address = ofImage(offsetof(ImageDescriptor, address), i64);
  v.levelTable = ofImage(offsetof(ImageDescriptor, levelTable), i64);
  v.width = ofImage(offsetof(ImageDescriptor, width), i32);
  v.height = ofImage(offsetof(ImageDescriptor, height), i32);
  v.levels = b_.CreateZExt(ofImage(offsetof(ImageDescriptor, levelCount), b_.getInt8Ty()), i32);
  llvm::Value* viewClass = ofImage(offsetof(ImageDescriptor, viewClass), i16);
  const uint32_t quadMajor = abi::makeViewClass(abi::ViewShape::kNull, true, 0);
  v.quadMajor = b_.CreateICmpNE(bits16(viewClass, quadMajor), b_.getInt16(0));
  v.alignMask = b_.CreateSelect(v.quadMajor, b_.getInt32(~3u), b_.getInt32(~0u));

  // Which of the layouts it is.
  llvm::Value* format = bits16(viewClass, ~quadMajor);
  llvm::Value* isWords =
      b_.CreateOr(is16(format, windowClass(VK_FORMAT_R32_SFLOAT)), is16(format, windowClass(VK_FORMAT_D32_SFLOAT)));
  v.swapped = is16(format, windowClass(VK_FORMAT_B8G8R8A8_UNORM));
  llvm::Value* isBytes = b_.CreateOr(v.swapped, is16(format, windowClass(VK_FORMAT_R8G8B8A8_UNORM)));
  v.isBytes = isBytes;
  llvm::Value* ok = compares ? isWords : b_.CreateOr(isWords, isBytes);

  const auto require = [&](llvm::Value* condition) { ok = b_.CreateAnd(ok, condition); };
  require(b_.CreateICmpNE(v.address, b_.getInt64(0)));
  require(b_.CreateICmpNE(v.levelTable, b_.getInt64(0)));
  require(b_.CreateICmpNE(v.levels, b_.getInt32(0)));
  llvm::Value* samples = ofImage(offsetof(ImageDescriptor, samples_log2), b_.getInt8Ty());
  require(b_.CreateIsNull(b_.CreateAnd(samples, b_.getInt8(7))));
  require(is16(ofImage(offsetof(ImageDescriptor, swizzle), i16), abi::kIdentitySwizzle));
  require(b_.CreateICmpNE(ofImage(offsetof(ImageDescriptor, depthOrLayers), i32), b_.getInt32(0)));

  llvm::Value* samplerClass = ofSampler(offsetof(SamplerDescriptor, samplerClass), i16);
  const uint32_t filters = abi::makeSamplerClass(3, 3, 0, 0, 0, 0) & 0x7FFF;
  llvm::Value* filter = bits16(samplerClass, filters);
  llvm::Value* linear = is16(filter, abi::makeSamplerClass(1, 1, 0, 0, 0, 0) & 0x7FFF);
  require(b_.CreateOr(linear, is16(filter, 0)));
  require(b_.CreateICmpNE(samplerClass, b_.getInt16(0)));
  require(b_.CreateIsNull(ofSampler(offsetof(SamplerDescriptor, conversion), i32)));
  constexpr uint16_t kOther =
      abi::kSamplerUnnormalized | abi::kSamplerAnisotropic | abi::kSamplerReduceMin | abi::kSamplerReduceMax;
  require(b_.CreateIsNull(bits16(ofSampler(offsetof(SamplerDescriptor, flags), i16), kOther)));
  v.linear = linear;
  v.linearMask = maskIf(linear);
  v.half = b_.CreateSelect(linear, realScalar(0.5f), realScalar(0));
  v.linearLevels = b_.CreateICmpNE(bits16(samplerClass, 16), b_.getInt16(0));
  for (uint32_t axis = 0; axis < 2; ++axis) {
    const uint32_t shift = 5 + 3 * axis;
    llvm::Value* mode = b_.CreateAnd(b_.CreateLShr(samplerClass, shift), b_.getInt16(7));
    llvm::Value* repeats = is16(mode, VK_SAMPLER_ADDRESS_MODE_REPEAT);
    require(b_.CreateOr(repeats, is16(mode, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE)));
    v.repeatMask[axis] = maskIf(repeats);
  }
  if (compares) v.compareOp = b_.CreateAnd(ofSampler(offsetof(SamplerDescriptor, compareOp), i32), 7);
  llvm::Type* f32 = b_.getFloatTy();
  v.lodBias = ofSampler(offsetof(SamplerDescriptor, lodBias), f32);
  v.minLod = ofSampler(offsetof(SamplerDescriptor, minLod), f32);
  v.maxLod = ofSampler(offsetof(SamplerDescriptor, maxLod), f32);
  llvm::Value* viewMinLod = b_.CreateUIToFP(ofImage(offsetof(ImageDescriptor, minLod_8), i16), f32);
  v.viewMinLod = b_.CreateFMul(viewMinLod, realScalar(1.0f / 256.0f));
  // Rows: column + 8 * row. Blocks: in Morton order, two and two.
  const auto table = [&](auto ofRows, auto ofBlocks) {
    llvm::SmallVector<llvm::Constant*, 16> rows, blocks;
    for (uint32_t n = 0; n < lanes_; ++n) {
      rows.push_back(b_.getInt32(ofRows(n % 8)));
      blocks.push_back(b_.getInt32(ofBlocks(n % 8)));
    }
    return b_.CreateSelect(v.quadMajor, llvm::ConstantVector::get(blocks), llvm::ConstantVector::get(rows));
  };
  v.parts[0] = table([](uint32_t n) { return n; }, [](uint32_t n) { return (n & 4) << 2 | (n & 2) << 1 | (n & 1); });
  v.parts[1] =
      table([](uint32_t n) { return 8 * n; }, [](uint32_t n) { return (n & 4) << 3 | (n & 2) << 2 | (n & 1) << 1; });
  v.ok = ok;
  return v;
}

// log2 of lod.inl.
llvm::Value* Generator::logarithm2(llvm::Value* value) {
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::Type* f32 = type(Kind::kF32, lanes_);
  const auto add = [&](llvm::Value* a, llvm::Value* c) { return b_.CreateFAdd(a, c); };
  const auto times = [&](llvm::Value* a, llvm::Value* c) { return b_.CreateFMul(a, c); };
  llvm::Value* bits = b_.CreateBitCast(value, i32);
  llvm::Value* exponent = b_.CreateAShr(b_.CreateSub(bits, splat(b_.getInt32(0x3F3504F3))), 23);
  llvm::Value* mantissa = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, 23)), f32);
  llvm::Value* s = b_.CreateFDiv(b_.CreateFSub(mantissa, realSplat(1)), add(mantissa, realSplat(1)));
  llvm::Value* s2 = times(s, s);
  llvm::Value* series = realSplat(1.0f / 9);
  for (const float term : {1.0f / 7, 1.0f / 5, 1.0f / 3, 1.0f}) series = add(realSplat(term), times(s2, series));
  llvm::Value* fraction = times(times(s, series), realSplat(2.885390081777927f));
  llvm::Value* result = add(b_.CreateSIToFP(exponent, f32), fraction);
  return b_.CreateSelect(b_.CreateFCmpOGT(value, realSplat(0)), result,
                         realSplat(-std::numeric_limits<float>::infinity()));
}

// Level of each lane before any clamp: hotLambda() of the texture unit.
llvm::Value* Generator::windowLambda(const Inst* i, const ir::ImageAccess& a, const WindowView& view) {
  const ir::ImageOperands at = ir::imageOperands(a);
  llvm::Value* bias = splat(view.lodBias);
  llvm::Value* lambda = realSplat(0);
  if (!a.has(abi::kImageGrad)) {
    if (a.has(abi::kImageLod)) lambda = vector(i->operands[at.lod], 0);
  } else {
    if (a.has(abi::kImageLod)) bias = b_.CreateFAdd(bias, vector(i->operands[at.lod], 0));
    llvm::Value* extents[] = {splat(b_.CreateUIToFP(view.width, b_.getFloatTy())),
                              splat(b_.CreateUIToFP(view.height, b_.getFloatTy()))};
    llvm::Value* square[2];
    for (uint32_t axis = 0; axis < 2; ++axis) {
      const auto moved = [&](uint32_t d) {
        return b_.CreateFMul(vector(i->operands[at.gradients + 2 * axis + d], 0), extents[d]);
      };
      llvm::Value* x = moved(0);
      llvm::Value* y = moved(1);
      square[axis] = b_.CreateFAdd(b_.CreateFMul(x, x), b_.CreateFMul(y, y));
    }
    llvm::Value* longer = b_.CreateSelect(b_.CreateFCmpOGT(square[1], square[0]), square[1], square[0]);
    lambda = b_.CreateFMul(realSplat(0.5f), logarithm2(longer));
  }
  return b_.CreateFAdd(lambda, clampReal(bias, realSplat(-kMaxSamplerLodBias), realSplat(kMaxSamplerLodBias)));
}

// chooseLevel() of the texture unit.
Generator::WindowLevels Generator::windowLevels(llvm::Value* lambda, const WindowView& view) {
  llvm::Value* last = b_.CreateUIToFP(b_.CreateSub(view.levels, b_.getInt32(1)), b_.getFloatTy());
  llvm::Value* least = b_.CreateSelect(b_.CreateFCmpOLT(view.viewMinLod, last), view.viewMinLod, last);
  llvm::Value* level = clampReal(lambda, splat(view.minLod), splat(view.maxLod));
  level = clampReal(level, splat(least), splat(last));
  const auto whole = [&](llvm::Intrinsic::ID id, llvm::Value* v) { return b_.CreateUnaryIntrinsic(id, v); };
  llvm::Value* lower = whole(llvm::Intrinsic::floor, level);
  llvm::Value* nearest = whole(llvm::Intrinsic::ceil, b_.CreateFAdd(level, realSplat(0.5f)));
  nearest = b_.CreateFSub(nearest, realSplat(1));
  llvm::Value* between = splat(view.linearLevels);
  llvm::Value* nearer = b_.CreateSelect(between, lower, nearest);
  WindowLevels out;
  out.weight = b_.CreateSelect(between, b_.CreateFSub(level, lower), realSplat(0));
  llvm::Value* first = b_.CreateExtractElement(nearer, uint64_t{0});
  out.same = subgroups_.allLanes(b_.CreateFCmpOEQ(nearer, splat(first)));
  // Of descriptors that make it no number it is not used.
  out.number = b_.CreateFreeze(b_.CreateFPToSI(first, b_.getInt32Ty()));
  llvm::Value* there = b_.CreateICmpULT(b_.CreateAdd(out.number, b_.getInt32(1)), view.levels);
  out.two = b_.CreateAnd(there, subgroups_.anyLane(b_.CreateFCmpOGT(out.weight, realSplat(0))));
  return out;
}

// False: another road.
bool Generator::emitWindowSample(const Inst* i, const ir::ImageAccess& a, const Flow& flow) {
  if (target_.tier == Tier::kQuick || flow.cold || fn_.stage != ir::Stage::kFragment) return false;
  if (!features_.avx512 || features_.vectorLanes != kFragmentLanes || k_ != 1) return false;
  if (a.op != abi::ImageOp::kSample || a.spatial != 2 || i->result->type.kind != Kind::kF32) return false;
  if ((a.flags & ~uint32_t{abi::kImageLod | abi::kImageGrad | abi::kImageReference}) != 0) return false;
  const ir::ImageOperands at = ir::imageOperands(a);
  const Value* layer = i->operands[at.layer];
  if (layer->def != Value::Def::kConstant || layer->bits != 0) return false;
  const Value* descriptor = i->operands[0];
  const Value* sampler = i->operands[at.sampler];
  if (!shape(descriptor).sameInGang() || !shape(sampler).sameInGang()) return false;

  const bool compares = a.has(abi::kImageReference);
  const WindowView view = windowView(descriptor, sampler, compares);
  llvm::Value* coordinates[] = {vector(i->operands[at.coordinates], 0), vector(i->operands[at.coordinates + 1], 0)};
  llvm::Value* reference = compares ? vector(i->operands[at.reference], 0) : nullptr;
  llvm::BasicBlock *start = block("window"), *choose = block("window.levels"), *one = block("window.level"),
                   *filter = block("window.filter"), *first = block("window.first"), *next = block("window.next"),
                   *second = block("window.second"), *call = block("window.call"), *done = block("window.done");
  // Nothing is read for nobody: the image may be gone.
  llvm::Value* ok = view.ok;
  if (!flow.mask.all()) ok = b_.CreateAnd(ok, subgroups_.anyLane(flow.mask.parts[0]));
  b_.CreateCondBr(ok, start, call, likely_);

  enter(start);
  b_.CreateCondBr(b_.CreateICmpUGT(view.levels, b_.getInt32(1)), choose, one);
  enter(choose);
  const WindowLevels levels = windowLevels(windowLambda(i, a, view), view);
  llvm::BasicBlock* chosen = b_.GetInsertBlock();
  b_.CreateCondBr(levels.same, one, call, likely_);

  enter(one);
  llvm::Type* f32 = type(Kind::kF32, lanes_);
  llvm::Type* i1 = b_.getInt1Ty();
  const auto phi = [&](llvm::Type* t, llvm::Value* fromStart, llvm::Value* fromChosen) {
    llvm::PHINode* p = b_.CreatePHI(t, 3);
    p->addIncoming(fromStart, start);
    p->addIncoming(fromChosen, chosen);
    return p;
  };
  llvm::Value* zero = llvm::Constant::getNullValue(f32);
  llvm::PHINode* number = phi(b_.getInt32Ty(), b_.getInt32(0), levels.number);
  llvm::PHINode* two = phi(i1, b_.getFalse(), levels.two);
  llvm::PHINode* isSecond = phi(i1, b_.getFalse(), b_.getFalse());
  llvm::PHINode* weight = phi(f32, zero, levels.weight);
  llvm::PHINode* before[4];
  for (llvm::PHINode*& p : before) p = phi(f32, zero, zero);
  const Window window = windowOf(view, number, coordinates);
  b_.CreateCondBr(window.inside, filter, call, likely_);
  enter(filter);
  const Lowered texels = filterWindow(view, window, reference);
  b_.CreateCondBr(isSecond, second, first);

  enter(first);
  b_.CreateCondBr(two, next, done);
  enter(next);
  number->addIncoming(b_.CreateAdd(number, b_.getInt32(1)), next);
  two->addIncoming(b_.getFalse(), next);
  isSecond->addIncoming(b_.getTrue(), next);
  weight->addIncoming(weight, next);
  for (uint32_t c = 0; c < 4; ++c) before[c]->addIncoming(texels[c], next);
  b_.CreateBr(one);
  enter(second);
  Lowered mixed;
  for (uint32_t c = 0; c < 4; ++c) {
    llvm::Value* step = b_.CreateFMul(weight, b_.CreateFSub(texels[c], before[c]));
    mixed.push_back(b_.CreateFAdd(before[c], step));
  }
  b_.CreateBr(done);

  enter(call);
  Lowered answer;
  emitImageCalls(i, a, flow, answer);
  llvm::BasicBlock* called = b_.GetInsertBlock();
  b_.CreateBr(done);
  enter(done);
  Lowered out;
  for (uint32_t c = 0; c < i->result->type.components; ++c) {
    llvm::PHINode* p = b_.CreatePHI(f32, 3);
    p->addIncoming(texels[c], first);
    p->addIncoming(mixed[c], second);
    p->addIncoming(answer[c], called);
    out.push_back(p);
  }
  define(i->result, std::move(out), Level::kHere);
  return true;
}

}  // namespace pumice::shader::codegen
