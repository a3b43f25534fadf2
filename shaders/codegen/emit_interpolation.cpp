// Interpolated inputs of quick code. Whatever the shader, a varying is fetched for three vertices of four primitives,
// transposed and weighted: most of what there would be to compile of many a fragment shader. Quick code calls a routine
// per slot of four components instead; its operations are those of the IR, so the bits are too.
#include <cstddef>

#include "backend/abi/fragment_abi.h"
#include "shaders/codegen/generator.h"
#include "shaders/codegen/routines.h"

namespace pumice::shader::codegen {

using namespace ir;
using abi::PrimitiveRecord;

namespace {

constexpr uint32_t kQuads = 4;
constexpr uint32_t kComponents = 4;
constexpr uint64_t kVertexRow[] = {offsetof(PrimitiveRecord, vertex0), offsetof(PrimitiveRecord, vertex1),
                                   offsetof(PrimitiveRecord, vertex2)};

const Inst* defining(const Value* v, Op op) {
  return v->def == Value::Def::kInst && v->inst->op == op ? v->inst : nullptr;
}

// (primitives of the four quads, slot of the first vertex there is, weights) -> its four components.
llvm::FunctionType* interpolateType(llvm::LLVMContext& context) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* vector = llvmType(context, Kind::kF32, kFragmentLanes);
  llvm::Type* all = llvm::StructType::get(context, llvm::SmallVector<llvm::Type*, kComponents>(kComponents, vector));
  return llvm::FunctionType::get(all, {ptr, ptr, ptr, ptr, ptr, vector, vector}, false);
}

void interpolateBody(const TargetFeatures& features, llvm::Function& f, llvm::IRBuilder<>& b) {
  OpsEmitter ops(b, features);
  llvm::Type* row = llvm::FixedVectorType::get(b.getFloatTy(), kComponents);
  const auto at = [&](llvm::Value* base, llvm::Value* offset) { return b.CreateGEP(b.getInt8Ty(), base, offset); };
  const auto join = [&](llvm::Value* low, llvm::Value* high, uint32_t count) {
    llvm::SmallVector<int, kFragmentLanes> mask;
    for (uint32_t l = 0; l < 2 * count; ++l) mask.push_back(static_cast<int>(l));
    return b.CreateShuffleVector(low, high, mask);
  };
  const auto rows = [&](uint32_t vertex) {
    llvm::SmallVector<llvm::Value*, kQuads> quarters;
    for (uint32_t q = 0; q < kQuads; ++q) {
      llvm::Value* number = at(f.getArg(q), b.getInt64(kVertexRow[vertex]));
      number = b.CreateZExt(b.CreateAlignedLoad(b.getInt32Ty(), number, llvm::Align(4)), b.getInt64Ty());
      quarters.push_back(b.CreateAlignedLoad(row, at(f.getArg(kQuads), b.CreateShl(number, 4)), llvm::Align(4)));
    }
    return join(join(quarters[0], quarters[1], 4), join(quarters[2], quarters[3], 4), 8);
  };
  const auto component = [&](llvm::Value* joined, uint32_t c) {
    llvm::SmallVector<int, kFragmentLanes> mask;
    for (uint32_t l = 0; l < kFragmentLanes; ++l) mask.push_back(static_cast<int>((l & ~3u) + c));
    return b.CreateShuffleVector(joined, mask);
  };
  const auto emit = [&](Op op, std::initializer_list<llvm::Value*> operands) {
    return ops.emit(op, Kind::kF32, Kind::kF32, std::span(operands.begin(), operands.size()));
  };
  llvm::Value* first = rows(0);
  llvm::Value* alongI = emit(Op::FSub, {rows(1), first});
  llvm::Value* alongJ = emit(Op::FSub, {rows(2), first});
  llvm::Value* all = llvm::PoisonValue::get(f.getReturnType());
  for (uint32_t c = 0; c < kComponents; ++c) {
    llvm::Value* v = emit(Op::FFma, {f.getArg(kQuads + 1), component(alongI, c), component(first, c)});
    v = emit(Op::FFma, {f.getArg(kQuads + 2), component(alongJ, c), v});
    all = b.CreateInsertValue(all, v, c);
  }
  b.CreateRet(all);
}

}  // namespace

// What Translator::interpolate has made: j * (v2 - v0) + (i * (v1 - v0) + v0), nothing of which anyone else uses.
// `uses`: by value id.
std::optional<Generator::Interpolated> Generator::interpolated(const Inst* i, const std::vector<uint32_t>& uses) const {
  Interpolated r;
  const auto inner = [&](const Value* v, Op op, uint32_t times) {
    const Inst* d = defining(v, op);
    if (d && uses[v->id] == times) {
      r.inner.push_back(d);
      return d;
    }
    return static_cast<const Inst*>(nullptr);
  };
  if (i->op != Op::FFma || i->result->type != kF32) return std::nullopt;
  const Inst* dj = inner(i->operands[1], Op::FSub, 1);
  const Inst* alongI = dj ? inner(i->operands[2], Op::FFma, 1) : nullptr;
  const Inst* di = alongI ? inner(alongI->operands[1], Op::FSub, 1) : nullptr;
  const Value* first = di ? alongI->operands[2] : nullptr;
  if (!first || dj->operands[1] != first || di->operands[1] != first) return std::nullopt;
  const Inst* v[3] = {inner(first, Op::VertexField, 3), inner(di->operands[0], Op::VertexField, 1),
                      inner(dj->operands[0], Op::VertexField, 1)};
  for (uint32_t n = 0; n < 3; ++n)
    if (!v[n] || v[n]->imm != n || v[n]->imm2 != v[0]->imm2) return std::nullopt;
  r.i = alongI->operands[0];
  r.j = i->operands[0];
  r.slot = v[0]->imm2 / kComponents;
  r.component = v[0]->imm2 % kComponents;
  return r;
}

// Of a slot that has more components with the same weights, all at once.
void Generator::emitInterpolated(const Inst* i) {
  const Interpolated& wanted = interpolated_.find(i)->second;
  if (!values_[i->result->id].empty()) return;
  const llvm::FunctionCallee interpolate =
      routine(module_, features_, "interpolate", interpolateType,
              [&](llvm::Function& f, llvm::IRBuilder<>& b) { interpolateBody(features_, f, b); });
  llvm::SmallVector<llvm::Value*, 7> operands(quads_.primitives.begin(), quads_.primitives.end());
  operands.push_back(bytePointer(varyings_, b_.getInt64(wanted.slot * 4ull * kComponents)));
  operands.push_back(vector(wanted.i, 0));
  operands.push_back(vector(wanted.j, 0));
  llvm::Value* all = b_.CreateCall(interpolate, operands);
  for (const Inst* other : head_) {
    const auto it = interpolated_.find(other);
    if (it == interpolated_.end()) continue;
    const Interpolated& o = it->second;
    if (o.slot == wanted.slot && o.i == wanted.i && o.j == wanted.j)
      define(other->result, {b_.CreateExtractValue(all, o.component)}, Level::kHere);
  }
}

}  // namespace pumice::shader::codegen
