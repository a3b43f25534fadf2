// Reads and writes of texels without a call: where the view has plain rows and one of the likely formats, lanes that
// lie side by side are loaded or stored as a vector, others gathered and scattered where the machine can do that. All
// else (no such view, and what the machine cannot) is asked of the texture unit, which answers with the same bits.
//
// A texel outside the image reads as zero bits, which is what the texture unit gives in every format that is here.
#include <llvm/Analysis/VectorUtils.h>

#include <cstddef>
#include <numeric>

#include "backend/abi/descriptor.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using abi::ImageDescriptor;
using ir::Inst;
using ir::Kind;
using ir::Value;

namespace {

llvm::SmallVector<int, 64> everyNthLane(uint32_t lanes, uint32_t n, uint32_t first) {
  llvm::SmallVector<int, 64> order;
  for (uint32_t lane = 0; lane < lanes; ++lane) order.push_back(static_cast<int>(lane * n + first));
  return order;
}

bool isZero(const Value* v) {
  return v->def == Value::Def::kConstant && v->bits == 0;
}

constexpr uint32_t kShortestRun = 4;

}  // namespace

// Lanes that lie along a row of the workgroup, so probably of the image: a divisor of P.
uint32_t Generator::runLanes() const {
  const uint32_t n = std::gcd(lanes_, fn_.localSize[0]);
  return n >= kShortestRun ? n : lanes_;
}

Generator::RowView Generator::rowView(const Value* descriptor, llvm::ArrayRef<TexelLayout> layouts) {
  std::vector<uint16_t> classes;
  for (const TexelLayout& t : layouts) classes.push_back(t.viewClass);
  const auto key = std::make_pair(descriptor, classes);
  const Level lvl = level(descriptor);
  const bool kept = lvl == Level::kCall || lvl == Level::kGroup;
  if (kept) {
    const auto it = rowViews_.find(key);
    if (it != rowViews_.end()) return it->second;
  }
  LevelScope scope(*this, lvl);
  llvm::Value* address = b_.CreateIntToPtr(scalar(descriptor), b_.getPtrTy());
  const auto field = [&](uint64_t offset_B, llvm::Type* t) {
    return b_.CreateLoad(t, bytePointer(address, b_.getInt64(offset_B)));
  };
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  RowView v{};
  v.texels = b_.CreateAdd(field(offsetof(ImageDescriptor, address), i64),
                          b_.CreateZExt(field(offsetof(ImageDescriptor, texelsOffset_B), i32), i64));
  llvm::Value* pitch = field(offsetof(ImageDescriptor, plainPitch_B), i32);
  v.pitch_B = b_.CreateZExt(pitch, i64);
  v.width = field(offsetof(ImageDescriptor, width), i32);
  v.height = field(offsetof(ImageDescriptor, height), i32);
  v.widthF = b_.CreateUIToFP(v.width, b_.getFloatTy());
  v.heightF = b_.CreateUIToFP(v.height, b_.getFloatTy());
  v.runEnd = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, v.width, b_.getInt32(runLanes() - 1));
  v.layers = field(offsetof(ImageDescriptor, depthOrLayers), i32);
  v.layerPitch_B = field(offsetof(ImageDescriptor, layerPitch_B), i64);
  llvm::Value* viewClass = field(offsetof(ImageDescriptor, viewClass), b_.getInt16Ty());
  v.layout = b_.getInt32(0);
  for (uint32_t n = 0; n < layouts.size(); ++n)
    v.layout = b_.CreateSelect(b_.CreateICmpEQ(viewClass, b_.getInt16(classes[n])), b_.getInt32(n + 1), v.layout);
  v.layout = b_.CreateSelect(b_.CreateICmpNE(pitch, b_.getInt32(0)), v.layout, b_.getInt32(0), "layout");
  if (kept) rowViews_[key] = v;
  return v;
}

// i64: of the first texel of the part's layer.
llvm::Value* Generator::layerAddress(const RowView& view, const Value* layer, uint32_t part) {
  if (isZero(layer)) return view.texels;
  llvm::Value* number = b_.CreateZExt(partScalar(layer, part), b_.getInt64Ty());
  return b_.CreateAdd(view.texels, b_.CreateMul(number, view.layerPitch_B));
}

// i1: in every run columns (<P x i32>) ascend by one and rows (nullptr: known) are the same.
llvm::Value* Generator::runsSideBySide(llvm::Value* xs, llvm::Value* ys) {
  const uint32_t run = runLanes();
  llvm::SmallVector<int, 64> firsts;
  llvm::SmallVector<llvm::Constant*, 64> ramp;
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    firsts.push_back(static_cast<int>(lane / run * run));
    ramp.push_back(b_.getInt32(lane % run));
  }
  llvm::Value* side =
      b_.CreateICmpEQ(xs, b_.CreateAdd(b_.CreateShuffleVector(xs, firsts), llvm::ConstantVector::get(ramp)));
  if (ys) side = b_.CreateAnd(side, b_.CreateICmpEQ(ys, b_.CreateShuffleVector(ys, firsts)));
  return subgroups_.allLanes(side);
}

Generator::TexelPlaces Generator::texelPlaces(const Inst* i, const RowView& view, uint32_t part) {
  const ir::ImageOperands at = ir::imageOperands(ir::imageAccess(*i));
  const Value* x = i->operands[at.coordinates];
  const Value* y = i->operands[at.coordinates + 1];
  const Value* layer = i->operands[at.layer];
  const uint32_t run = runLanes();
  const bool oneRow = run == lanes_ && shape(y).sameInPart();
  const bool oneRun = oneRow && !shape(x).isVarying() && shape(x).laneStride == 1;
  TexelPlaces p;
  llvm::Value* texels = layerAddress(view, layer, part);
  p.plain = isZero(layer) ? b_.getTrue() : b_.CreateICmpULT(partScalar(layer, part), view.layers);
  llvm::Value* xs = oneRun ? nullptr : vector(x, part);
  llvm::Value* ys = oneRow ? nullptr : vector(y, part);
  for (uint32_t first = 0; first < lanes_; first += run) {
    llvm::Value* column = oneRun ? partScalar(x, part) : b_.CreateExtractElement(xs, uint64_t{first});
    llvm::Value* row = oneRow ? partScalar(y, part) : b_.CreateExtractElement(ys, uint64_t{first});
    p.column.push_back(column);
    p.row.push_back(b_.CreateAdd(texels, b_.CreateMul(b_.CreateZExt(row, b_.getInt64Ty()), view.pitch_B)));
    p.plain = b_.CreateAnd(p.plain, b_.CreateAnd(b_.CreateICmpULT(column, view.runEnd),  //
                                                 b_.CreateICmpULT(row, view.height)));
  }
  if (!oneRun) p.plain = b_.CreateAnd(p.plain, runsSideBySide(xs, ys));
  return p;
}

// <P x i1>
llvm::Value* Generator::texelsInside(const Inst* i, const RowView& view, uint32_t part) {
  const ir::ImageOperands at = ir::imageOperands(ir::imageAccess(*i));
  const Value* layer = i->operands[at.layer];
  llvm::Value* inside =
      b_.CreateAnd(b_.CreateICmpULT(vector(i->operands[at.coordinates], part), splat(view.width)),
                   b_.CreateICmpULT(vector(i->operands[at.coordinates + 1], part), splat(view.height)));
  if (!isZero(layer)) inside = b_.CreateAnd(inside, splat(b_.CreateICmpULT(partScalar(layer, part), view.layers)));
  return inside;
}

// <P x i32>: byte offsets from the layer's first texel; less than 2^32 inside the image.
llvm::Value* Generator::byteOffsets(const Inst* i, const RowView& view, const TexelLayout& t, uint32_t part) {
  const ir::ImageOperands at = ir::imageOperands(ir::imageAccess(*i));
  llvm::Value* pitch = splat(b_.CreateTrunc(view.pitch_B, b_.getInt32Ty()));
  return b_.CreateAdd(b_.CreateMul(vector(i->operands[at.coordinates + 1], part), pitch),
                      b_.CreateMul(vector(i->operands[at.coordinates], part), splat(b_.getInt32(t.bytes()))));
}

Generator::Units Generator::loadRow(const TexelLayout& t, const TexelPlaces& at) {
  const uint32_t run = runLanes();
  llvm::Type* wide = llvm::FixedVectorType::get(b_.getIntNTy(t.unitBits()), run * t.units());
  llvm::SmallVector<llvm::Value*, 4> runs;
  for (size_t r = 0; r < at.row.size(); ++r) {
    llvm::Value* offset = b_.CreateMul(b_.CreateZExt(at.column[r], b_.getInt64Ty()), b_.getInt64(t.bytes()));
    llvm::Value* pointer = b_.CreateIntToPtr(b_.CreateAdd(at.row[r], offset), b_.getPtrTy());
    runs.push_back(b_.CreateAlignedLoad(wide, pointer, llvm::Align(1)));
  }
  llvm::Value* whole = llvm::concatenateVectors(b_, runs);
  if (t.units() == 1) return {whole};
  Units out;
  for (uint32_t u = 0; u < t.units(); ++u)
    out.push_back(b_.CreateShuffleVector(whole, everyNthLane(lanes_, t.units(), u)));
  return out;
}

Generator::Units Generator::gatherTexels(const Inst* i, const RowView& view, const TexelLayout& t, uint32_t part) {
  const Value* layer = i->operands[ir::imageOperands(ir::imageAccess(*i)).layer];
  return gatherTexels(t, layerAddress(view, layer, part), byteOffsets(i, view, t, part), texelsInside(i, view, part));
}

// With AVX-512. Lanes that are not inside get zero bits.
Generator::Units Generator::gatherTexels(const TexelLayout& t, llvm::Value* texels, llvm::Value* offsets,
                                         llvm::Value* inside) {
  llvm::Value* base = b_.CreateIntToPtr(texels, b_.getPtrTy());
  llvm::Value* words = b_.CreateLShr(offsets, 2);
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  llvm::SmallVector<llvm::Value*, 4> word;
  for (uint32_t w = 0; w < (t.bytes() + 3) / 4; ++w) {
    llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), bytePointer(base, b_.getInt64(4ull * w)), words);
    word.push_back(b_.CreateMaskedGather(i32, pointers, llvm::Align(4), inside, llvm::Constant::getNullValue(i32)));
  }
  // Texels of less than a word: rows begin at whole words, so no word reaches beyond the row.
  if (t.bytes() < 4) word[0] = b_.CreateLShr(word[0], b_.CreateShl(b_.CreateAnd(offsets, 3), 3));
  llvm::Type* unit = llvm::FixedVectorType::get(b_.getIntNTy(t.unitBits()), lanes_);
  Units out;
  for (uint32_t u = 0; u < t.units(); ++u) {
    llvm::Value* v = word[u * t.unitBits() / 32];
    if (u * t.unitBits() % 32 != 0) v = b_.CreateLShr(v, 16);
    out.push_back(b_.CreateZExtOrTrunc(v, unit));
  }
  return out;
}

// mask: nullptr for all lanes.
void Generator::storeRow(const TexelLayout& t, const TexelPlaces& at, const Units& units, llvm::Value* mask) {
  const uint32_t run = runLanes();
  llvm::Type* texel = llvm::FixedVectorType::get(b_.getIntNTy(8 * t.bytes()), lanes_);
  llvm::Value* whole = b_.CreateBitCast(interleave(units), texel);
  for (size_t r = 0; r < at.row.size(); ++r) {
    llvm::Value* offset = b_.CreateMul(b_.CreateZExt(at.column[r], b_.getInt64Ty()), b_.getInt64(t.bytes()));
    llvm::Value* pointer = b_.CreateIntToPtr(b_.CreateAdd(at.row[r], offset), b_.getPtrTy());
    const auto piece = [&](llvm::Value* v) {
      return run == lanes_
                 ? v
                 : b_.CreateShuffleVector(v, llvm::createSequentialMask(static_cast<uint32_t>(r) * run, run, 0));
    };
    if (mask)
      b_.CreateMaskedStore(piece(whole), pointer, llvm::Align(1), piece(mask));
    else
      b_.CreateAlignedStore(piece(whole), pointer, llvm::Align(1));
  }
}

// With AVX-512, texels of whole words. Lanes write in rising order.
void Generator::scatterTexels(const Inst* i, const RowView& view, const TexelLayout& t, uint32_t part,
                              const Units& units, llvm::Value* mask) {
  const Value* layer = i->operands[ir::imageOperands(ir::imageAccess(*i)).layer];
  llvm::Value* base = b_.CreateIntToPtr(layerAddress(view, layer, part), b_.getPtrTy());
  llvm::Value* words = b_.CreateLShr(byteOffsets(i, view, t, part), 2);
  llvm::Value* active = andMask(texelsInside(i, view, part), mask);
  llvm::Type* i32 = type(Kind::kI32, lanes_);
  for (uint32_t w = 0; w < t.bytes() / 4; ++w) {
    llvm::Value* v = nullptr;
    if (t.unitBits() == 32)
      v = units[w];
    else
      v = b_.CreateOr(b_.CreateZExt(units[2 * w], i32), b_.CreateShl(b_.CreateZExt(units[2 * w + 1], i32), 16));
    llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), bytePointer(base, b_.getInt64(4ull * w)), words);
    b_.CreateMaskedScatter(v, pointers, llvm::Align(4), active);
  }
}

// The rest of a read whose view and sampler are known to be as wanted where `layout` is not 0: by the layout that it
// is, what `fetch` loads, from rows where `plain` holds (i1), else lane by lane if the machine can do that, and the
// numbers that `decode` makes of it; where all that fails, a call.
void Generator::emitByLayout(
    const Inst* i, const Flow& flow, llvm::ArrayRef<TexelLayout> layouts, llvm::Value* layout, llvm::Value* plain,
    llvm::function_ref<Units(const TexelLayout& t, uint32_t part, bool rows)> fetch,
    llvm::function_ref<Lowered(const TexelLayout& t, uint32_t part, const Units& units)> decode) {
  llvm::BasicBlock* call = block("texels.call");
  llvm::BasicBlock* done = block("texels.done");
  const llvm::SmallVector<llvm::BasicBlock*, 4> entries = chooseLayout(layouts, layout, call);
  llvm::SmallVector<std::pair<llvm::BasicBlock*, Lowered>, 4> results;  // where they come from
  for (size_t n = 0; n < layouts.size(); ++n) {
    const TexelLayout& t = layouts[n];
    enter(entries[n]);
    llvm::BasicBlock* rows = block("texels.rows");
    llvm::BasicBlock* apart = features_.avx512 ? block("texels.apart") : call;
    b_.CreateCondBr(plain, rows, apart, likely_);
    enter(rows);
    llvm::SmallVector<Units, 8> texels;
    for (uint32_t j = 0; j < k_; ++j) texels.push_back(fetch(t, j, true));
    if (features_.avx512) {
      llvm::BasicBlock* both = block("texels.decode");
      b_.CreateBr(both);
      enter(apart);
      llvm::SmallVector<Units, 8> gathered;
      for (uint32_t j = 0; j < k_; ++j) gathered.push_back(fetch(t, j, false));
      llvm::BasicBlock* apartEnd = b_.GetInsertBlock();
      b_.CreateBr(both);
      enter(both);
      for (uint32_t j = 0; j < k_; ++j)
        for (size_t u = 0; u < texels[j].size(); ++u) {
          llvm::PHINode* phi = b_.CreatePHI(texels[j][u]->getType(), 2);
          phi->addIncoming(texels[j][u], rows);
          phi->addIncoming(gathered[j][u], apartEnd);
          texels[j][u] = phi;
        }
    }
    Lowered out(size_t{4} * k_);
    for (uint32_t j = 0; j < k_; ++j) {
      const Lowered numbers = decode(t, j, texels[j]);
      for (uint32_t c = 0; c < 4; ++c) out[c * k_ + j] = numbers[c];
    }
    results.emplace_back(b_.GetInsertBlock(), std::move(out));
    b_.CreateBr(done);
  }
  enter(call);
  Lowered answer;
  emitImageCalls(i, ir::imageAccess(*i), flow, answer);
  results.emplace_back(b_.GetInsertBlock(), std::move(answer));
  b_.CreateBr(done);
  enter(done);
  Lowered out;
  for (size_t n = 0; n < size_t{4} * k_; ++n) {
    llvm::PHINode* phi = b_.CreatePHI(results.back().second[n]->getType(), static_cast<unsigned>(results.size()));
    for (const auto& [from, values] : results) phi->addIncoming(values[n], from);
    out.push_back(phi);
  }
  define(i->result, std::move(out), Level::kHere);
}

// One block for each layout; `otherwise` if it is none of them.
llvm::SmallVector<llvm::BasicBlock*, 4> Generator::chooseLayout(llvm::ArrayRef<TexelLayout> layouts,
                                                                llvm::Value* layout, llvm::BasicBlock* otherwise) {
  llvm::SmallVector<llvm::BasicBlock*, 4> entries;
  for (size_t n = 0; n < layouts.size(); ++n) entries.push_back(block("texels.layout"));
  if (layouts.size() == 1) {
    b_.CreateCondBr(b_.CreateICmpEQ(layout, b_.getInt32(1)), entries[0], otherwise, likely_);
    return entries;
  }
  auto* choose = b_.CreateSwitch(layout, otherwise, static_cast<unsigned>(layouts.size()));
  for (uint32_t n = 0; n < layouts.size(); ++n) choose->addCase(b_.getInt32(n + 1), entries[n]);
  return entries;
}

// Of the one layout that is likely.
void Generator::emitTexelWrite(const Inst* i, const Flow& flow, const TexelLayout& t, const RowView& view,
                               llvm::ArrayRef<TexelPlaces> places, llvm::Value* plain) {
  const ir::ImageAccess a = ir::imageAccess(*i);
  const bool masked = !flow.mask.all();
  // Without masked stores all lanes are written or none here. There are none of sixteen bytes a lane.
  const bool canMask = features_.avx512 && t.bytes() <= 8;
  if (masked && !canMask)
    for (llvm::Value* part : flow.mask.parts) plain = b_.CreateAnd(plain, subgroups_.allLanes(part));
  llvm::BasicBlock* call = block("texels.call");
  llvm::BasicBlock* done = block("texels.done");
  llvm::BasicBlock* rows = block("texels.rows");
  const bool scattered = features_.avx512 && t.bytes() % 4 == 0;
  llvm::BasicBlock* apart = scattered ? block("texels.apart") : call;
  enter(chooseLayout(t, view.layout, call)[0]);
  b_.CreateCondBr(plain, rows, apart, likely_);
  const auto store = [&](bool inRows) {
    for (uint32_t j = 0; j < k_; ++j) {
      llvm::SmallVector<llvm::Value*, 4> components;
      for (uint32_t c = 0; c < t.channels; ++c)
        components.push_back(vector(i->operands[ir::imageOperands(a).values + c], j));
      const Units units = encodeTexels(t, components);
      if (inRows)
        storeRow(t, places[j], units, masked && canMask ? flow.mask.parts[j] : nullptr);
      else
        scatterTexels(i, view, t, j, units, masked ? flow.mask.parts[j] : nullptr);
    }
    b_.CreateBr(done);
  };
  enter(rows);
  store(true);
  if (scattered) {
    enter(apart);
    store(false);
  }
  enter(call);
  Lowered nothing;
  emitImageCalls(i, a, flow, nothing);
  b_.CreateBr(done);
  enter(done);
}

// False: a call is all that can be done.
bool Generator::emitTexels(const Inst* i, const ir::ImageAccess& a, const Flow& flow) {
  const bool write = a.op == abi::ImageOp::kWrite;
  if (!write && a.op != abi::ImageOp::kRead) return false;
  if (target_.tier == Tier::kQuick || flow.cold || a.spatial != 2) return false;
  if ((a.flags & ~uint32_t{abi::kImageLod}) != 0) return false;
  const ir::ImageOperands at = ir::imageOperands(a);
  if (a.has(abi::kImageLod) && !isZero(i->operands[at.lod])) return false;
  if (!shape(i->operands[0]).sameInGang() || !shape(i->operands[at.layer]).sameInPart()) return false;
  std::vector<TexelLayout> layouts =
      likelyLayouts(a.format, write ? i->operands[at.values]->type.kind : i->result->type.kind);
  if (layouts.empty()) return false;
  if (write) layouts.resize(1);

  const RowView view = rowView(i->operands[0], layouts);
  llvm::SmallVector<TexelPlaces, 8> places;
  llvm::Value* plain = b_.getTrue();
  for (uint32_t j = 0; j < k_; ++j) {
    places.push_back(texelPlaces(i, view, j));
    plain = b_.CreateAnd(plain, places.back().plain);
  }
  if (write) {
    emitTexelWrite(i, flow, layouts[0], view, places, plain);
    return true;
  }
  emitByLayout(
      i, flow, layouts, view.layout, plain,
      [&](const TexelLayout& t, uint32_t part, bool rows) {
        return rows ? loadRow(t, places[part]) : gatherTexels(i, view, t, part);
      },
      [&](const TexelLayout& t, uint32_t, const Units& units) { return decodeTexels(t, units); });
  return true;
}

}  // namespace pumice::shader::codegen
