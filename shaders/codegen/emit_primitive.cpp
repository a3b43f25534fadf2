// Inputs of fragment shaders: what a vector of a run knows of its pixels, primitives and vertices.
//
// All quads of a block have the same primitive, so its numbers are broadcasts; the four quads of a mix load rows of
// sixteen bytes as quarters of one vector, and a number of each is a shuffle inside the quarters. What the reader marks
// as an input (FragmentInput), and all it is made of, is therefore emitted twice, in front of the body, which itself is
// emitted once.
#include <llvm/IR/Metadata.h>

#include <cstddef>

#include "backend/abi/fragment_abi.h"
#include "shaders/codegen/generator.h"

namespace pumice::shader::codegen {

using namespace ir;
using abi::FragmentRun;
using abi::PrimitiveRecord;

namespace {

constexpr uint32_t kQuads = 4;
constexpr uint32_t kRowBytes = 16;

// Lane l: what f says.
template <typename F>
llvm::SmallVector<int, kFragmentLanes> lanes(F f) {
  llvm::SmallVector<int, kFragmentLanes> out;
  for (uint32_t l = 0; l < kFragmentLanes; ++l) out.push_back(static_cast<int>(f(l)));
  return out;
}

}  // namespace

// Of memory that does not change during the call.
llvm::Value* Generator::invariantLoad(llvm::Type* t, llvm::Value* pointer, uint64_t align) {
  llvm::LoadInst* load = b_.CreateAlignedLoad(t, pointer, llvm::Align(align));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

Generator::Quads Generator::quadsOf(bool isBlock) {
  Quads q;
  q.isBlock = isBlock;
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* mix = b_.CreateSub(vector_, blockCount_);
  // Quick code has one form for both, that of a mix. What it loads of the wrong kind lies inside the run.
  const bool both = target_.tier == Tier::kQuick;
  llvm::Value* number = b_.CreateZExt(isBlock ? vector_ : both ? b_.CreateSelect(isBlock_, vector_, mix) : mix, i64);
  const auto at = [&](uint64_t first_B, uint64_t step_B) {
    return bytePointer(run_, b_.CreateAdd(b_.CreateMul(number, b_.getInt64(step_B)), b_.getInt64(first_B)));
  };
  const auto record = [&](llvm::Value* index) {
    llvm::Value* offset = b_.CreateMul(b_.CreateZExt(index, i64), b_.getInt64(sizeof(PrimitiveRecord)));
    return bytePointer(primitives_, offset);
  };
  const uint32_t samples = 1u << fn_.fragment.samples_log2;
  const auto blockCoverage = [&](uint32_t s) {
    return at(offsetof(FragmentRun, blockCoverage) + s * 2ull * abi::kRunBlocks, 2);
  };
  if (isBlock) {
    q.position = invariantLoad(b_.getInt32Ty(), at(offsetof(FragmentRun, blockPosition), 4), 4);
    q.primitives.push_back(record(invariantLoad(b_.getInt16Ty(), at(offsetof(FragmentRun, blockPrimitive), 2), 2)));
    for (uint32_t s = 0; s < samples; ++s) q.coverage.push_back(loadMask(blockCoverage(s)));
    return q;
  }
  const auto either = [&](llvm::Value* ofBlock, llvm::Value* ofMix) {
    return both ? b_.CreateSelect(isBlock_, ofBlock, ofMix) : ofMix;
  };
  llvm::Type* positions = llvm::FixedVectorType::get(b_.getInt32Ty(), kQuads);
  q.position = invariantLoad(positions, at(offsetof(FragmentRun, mixPosition), 4 * kQuads), 16);
  if (both) {
    llvm::Value* corner = invariantLoad(b_.getInt32Ty(), at(offsetof(FragmentRun, blockPosition), 4), 4);
    constexpr uint32_t kSteps[kQuads] = {0, 2, 2u << 16, 2u << 16 | 2};
    llvm::Constant* steps = llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef(kSteps));
    q.position = either(b_.CreateAdd(b_.CreateVectorSplat(kQuads, corner), steps), q.position);
  }
  for (uint32_t quad = 0; quad < kQuads; ++quad) {
    llvm::Value* index = either(at(offsetof(FragmentRun, blockPrimitive), 2),
                                at(offsetof(FragmentRun, mixPrimitive) + 2ull * quad, 2 * kQuads));
    q.primitives.push_back(record(invariantLoad(b_.getInt16Ty(), index, 2)));
  }
  for (uint32_t s = 0; s < samples; ++s)
    q.coverage.push_back(
        loadMask(either(blockCoverage(s), at(offsetof(FragmentRun, mixCoverage) + s * 2ull * abi::kRunMixes, 2))));
  return q;
}

// A 32-bit word, as a float, of rows that begin at `rows` (a pointer, or one per quad).
llvm::Value* Generator::fieldOf(const Quads& q, llvm::ArrayRef<llvm::Value*> rows, uint32_t word) {
  if (q.isBlock) return splat(invariantLoad(b_.getFloatTy(), bytePointer(rows[0], b_.getInt64(4ull * word)), 4));
  llvm::Type* row = llvm::FixedVectorType::get(b_.getFloatTy(), kQuads);
  llvm::SmallVector<llvm::Value*, kQuads> quarters;
  for (llvm::Value* pointer : rows)
    quarters.push_back(invariantLoad(row, bytePointer(pointer, b_.getInt64(word / 4 * kRowBytes)), 4));
  const auto join = [&](llvm::Value* a, llvm::Value* b, uint32_t count) {
    llvm::SmallVector<int, kFragmentLanes> mask;
    for (uint32_t l = 0; l < 2 * count; ++l) mask.push_back(static_cast<int>(l));
    return b_.CreateShuffleVector(a, b, mask);
  };
  llvm::Value* all = join(join(quarters[0], quarters[1], 4), join(quarters[2], quarters[3], 4), 8);
  return b_.CreateShuffleVector(all, lanes([&](uint32_t l) { return (l & ~3u) + word % 4; }));
}

llvm::Value* Generator::primitiveField(const Quads& q, uint32_t offset_B) {
  return fieldOf(q, q.primitives, offset_B / 4);
}

// `vertex`: 0 to 2, 3 = the provoking one.
llvm::Value* Generator::vertexField(const Quads& q, uint32_t vertex, uint32_t word) {
  constexpr uint64_t kRow[] = {offsetof(PrimitiveRecord, vertex0), offsetof(PrimitiveRecord, vertex1),
                               offsetof(PrimitiveRecord, vertex2), offsetof(PrimitiveRecord, provokingVertex)};
  llvm::SmallVector<llvm::Value*, kQuads> rows;
  for (llvm::Value* primitive : q.primitives) {
    llvm::Value* row = invariantLoad(b_.getInt32Ty(), bytePointer(primitive, b_.getInt64(kRow[vertex])), 4);
    rows.push_back(bytePointer(varyings_, b_.CreateShl(b_.CreateZExt(row, b_.getInt64Ty()), 4)));
  }
  return fieldOf(q, rows, word);
}

// Lanes as abi::quadMajorIndex has them.
llvm::Value* Generator::pixelCoordinate(const Quads& q, uint32_t axis) {
  const auto inQuad = [&](uint32_t l) { return l >> axis & 1u; };
  llvm::SmallVector<llvm::Constant*, kFragmentLanes> steps;
  for (uint32_t l = 0; l < kFragmentLanes; ++l)
    steps.push_back(b_.getInt32(inQuad(l) + (q.isBlock ? 2 * inQuad(l >> 2) : 0)));
  llvm::Value* corner = axis == 0 ? b_.CreateAnd(q.position, 0xffff) : b_.CreateLShr(q.position, 16);
  corner = q.isBlock ? splat(corner) : b_.CreateShuffleVector(corner, lanes([](uint32_t l) { return l / 4; }));
  return b_.CreateAdd(corner, llvm::ConstantVector::get(steps));
}

// The primitive's depth at a place in the pixel, x and y vectors or scalars; the operations are those that the reader
// uses for FragCoord.
llvm::Value* Generator::depthAt(const Quads& q, llvm::Value* x, llvm::Value* y) {
  const auto vectorOf = [&](llvm::Value* v) { return v->getType()->isVectorTy() ? v : splat(v); };
  const auto fromOrigin = [&](uint32_t axis, llvm::Value* within, uint64_t origin_B) {
    llvm::Value* corner = b_.CreateSIToFP(pixelCoordinate(q, axis), type(Kind::kF32, lanes_));
    return b_.CreateFSub(b_.CreateFAdd(corner, vectorOf(within)), primitiveField(q, static_cast<uint32_t>(origin_B)));
  };
  const auto coefficient = [&](uint64_t field_B) {
    return primitiveField(q, static_cast<uint32_t>(offsetof(PrimitiveRecord, depth) + field_B));
  };
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    llvm::Value* operands[] = {a, b, c};
    return ops_.emit(Op::FFma, Kind::kF32, Kind::kF32, operands);
  };
  llvm::Value* alongX =
      fma(fromOrigin(0, x, offsetof(PrimitiveRecord, originX)), coefficient(offsetof(abi::ScreenPlane, dx)),
          coefficient(offsetof(abi::ScreenPlane, atOrigin)));
  return fma(fromOrigin(1, y, offsetof(PrimitiveRecord, originY)), coefficient(offsetof(abi::ScreenPlane, dy)), alongX);
}

// Of quads_: in a head by what kind of vector it is, in the body as of a mix.
void Generator::emitPrimitiveValue(const Inst* i) {
  llvm::Value* v = nullptr;
  switch (i->op) {
    case Op::FragmentPosition:
      v = pixelCoordinate(quads_, i->imm);
      break;
    case Op::FragmentCoverage:
      v = quads_.coverage[i->imm];
      break;
    case Op::PrimitiveField:
      v = primitiveField(quads_, i->imm);
      break;
    default:
      v = vertexField(quads_, i->imm, i->imm2);
      break;
  }
  if (i->result->type.isInt() && !v->getType()->isIntOrIntVectorTy()) v = b_.CreateBitCast(v, type(Kind::kI32, lanes_));
  define(i->result, {v}, Level::kHere);
}

namespace {

template <typename F>
void forEachUse(const Region& r, F f) {
  for (const Node* n : r.nodes) {
    if (n->tag == Node::Tag::kInst) {
      const auto* i = static_cast<const Inst*>(n);
      for (const Value* v : i->operands) f(i, v);
      continue;
    }
    const auto* c = static_cast<const Construct*>(n);
    if (c->condition) f(nullptr, c->condition);
    for (const Value* v : c->initial) f(nullptr, v);
    forEachUse(c->body, f);
    forEachUse(c->otherwise, f);
  }
}

}  // namespace

// Inputs and what they are made of, as far as that stands in the function's own region.
void Generator::findHead() {
  std::vector<uint8_t> headable(fn_.valueCount(), 0);
  std::vector<const Inst*> inputs;
  for (const Node* n : fn_.body->body.nodes) {
    if (n->tag != Node::Tag::kInst) continue;
    const auto* i = static_cast<const Inst*>(n);
    if (!i->result) continue;
    const bool isRaw = i->op >= Op::FragmentPosition && i->op <= Op::VertexField;
    if (!isRaw && i->op != Op::FragmentInput && !OpsEmitter::handles(i->op)) continue;
    headable[i->result->id] = std::all_of(i->operands.begin(), i->operands.end(), [&](const Value* v) {
      return v->def == Value::Def::kConstant || headable[v->id];
    });
    const bool isRoot = i->op == Op::FragmentInput || i->op == Op::FragmentPosition || i->op == Op::FragmentCoverage;
    if (isRoot && headable[i->result->id]) inputs.push_back(i);
  }
  std::vector<uint32_t> uses(fn_.valueCount(), 0);
  forEachUse(fn_.body->body, [&](const Inst*, const Value* v) { ++uses[v->id]; });
  const auto add = [&](const auto& self, const Inst* i) -> void {
    if (!inHead_.insert(i).second) return;
    std::vector<const Value*> operands(i->operands.begin(), i->operands.end());
    if (target_.tier == Tier::kQuick) {
      if (std::optional<Interpolated> input = interpolated(i, uses)) {
        operands = {input->i, input->j};
        inHead_.insert(input->inner.begin(), input->inner.end());
        interpolated_.try_emplace(i, std::move(*input));
      }
    }
    for (const Value* v : operands)
      if (v->def != Value::Def::kConstant) self(self, v->inst);
    head_.push_back(i);
  };
  for (const Inst* i : inputs) add(add, i);

  std::vector<uint8_t> used(fn_.valueCount(), 0);
  bool bodyReadsPrimitives = false;
  forEachUse(fn_.body->body, [&](const Inst* user, const Value* v) {
    if (v->def != Value::Def::kInst) return;
    if ((!user || !inHead_.contains(user)) && inHead_.contains(v->inst)) used[v->id] = 1;
    const bool isField = v->inst->op == Op::PrimitiveField || v->inst->op == Op::VertexField;
    bodyReadsPrimitives |= isField && !inHead_.contains(v->inst);
  });
  // Uniform ones stand where both heads and the body see them.
  for (const Inst* i : head_)
    if (used[i->result->id] && shape(i->result).isVarying())
      headValues_.emplace_back(i->result, newSlot(formType(i->result)));
  if (bodyReadsPrimitives)
    for (uint32_t q = 0; q < kQuads; ++q) bodyPrimitives_.push_back(newSlot(b_.getPtrTy()));
}

// In front of the body, with quads_ of the kind of vector that is emitted.
void Generator::emitHead() {
  for (const Inst* i : head_) interpolated_.contains(i) ? emitInterpolated(i) : emitOperation(i, Flow{});
  for (const auto& [value, slot] : headValues_) b_.CreateStore(vector(value, 0), slot);
  for (size_t q = 0; q < bodyPrimitives_.size(); ++q)
    b_.CreateStore(quads_.primitives[quads_.isBlock ? 0 : q], bodyPrimitives_[q]);
}

// Where the body begins.
void Generator::defineHead() {
  for (const auto& [value, slot] : headValues_)
    define(value, {b_.CreateLoad(slot->getAllocatedType(), slot)}, Level::kHere);
  quads_ = {};
  quads_.isBlock = false;
  for (llvm::AllocaInst* slot : bodyPrimitives_) quads_.primitives.push_back(b_.CreateLoad(b_.getPtrTy(), slot));
}

}  // namespace pumice::shader::codegen
