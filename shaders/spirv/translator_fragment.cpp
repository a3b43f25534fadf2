// Fragment shaders: built-in values, derivatives, helper invocations, outputs. Inputs: translator_interpolation.cpp.
#include <algorithm>
#include <cstddef>

#include "backend/abi/fragment_abi.h"
#include "backend/abi/vertex_abi.h"
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using abi::FragmentEnv;
using abi::PrimitiveRecord;
using ir::Op;

namespace {

constexpr uint32_t kLanes = 16;

// Lanes of a quad for each of its lanes: (0,0), (1,0), (0,1), (1,1).
constexpr uint32_t quadSelector(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a | b << 2 | c << 4 | d << 6;
}

}  // namespace

void Translator::beginFragment() {
  if (fn_.subgroupSize > kLanes) failUnsupported("a subgroup larger than a fragment vector");
  fn_.localSize[0] = kLanes;
  fn_.fragment.samples_log2 = fragmentKey().samples_log2;
  if (fragmentKey().samples_log2 > 3) failUnsupported("a number of samples");
  fn_.fragment.sampleShading =
      fragmentKey().samples_log2 > 0 && ((fragmentKey().flags & kKeySampleShading) != 0 || readsPerSample());
}

// What makes a shader run per sample by itself: SampleId, SamplePosition, an input interpolated at the sample.
bool Translator::readsPerSample() {
  const auto isPerSample = [&](uint32_t id, uint32_t member) {
    if (module_.has(id, spv::Decoration::Sample, member)) return true;
    const Decoration* d = module_.find(id, spv::Decoration::BuiltIn, member);
    if (!d || d->literals.empty()) return false;
    const auto b = static_cast<spv::BuiltIn>(d->literals[0]);
    return b == spv::BuiltIn::SampleId || b == spv::BuiltIn::SamplePosition;
  };
  for (const Instr* global : module_.globalVariables()) {
    if (static_cast<spv::StorageClass>(global->operand(0)) != spv::StorageClass::Input) continue;
    if (std::find(interface_.begin(), interface_.end(), global->result) == interface_.end()) continue;
    if (isPerSample(global->result, kNoMember)) return true;
    const TypeInfo* t = &type(type(global->resultType).element);
    while (t->op == spv::Op::OpTypeArray) t = &type(t->element);
    for (uint32_t m = 0; m < t->members.size(); ++m)
      if (isPerSample(t->id, m)) return true;
  }
  return false;
}

ir::Value* Translator::fragmentWord(Op op, ir::Type t, uint32_t imm, uint32_t imm2) {
  ir::Inst* in = e().inst(op, t, {});
  in->imm = imm;
  in->imm2 = imm2;
  return in->result;
}

ir::Value* Translator::fragmentEnv(uint32_t offset_B) {
  return loadGlobal(ir::kI32, stageAddress(Op::EnvAddress), e().i32(0), 1, offset_B);
}

// -- built-in values

// Without samples that the pipeline's mask takes away: it comes before the shader.
ir::Value* Translator::sampleMaskIn() {
  Value* mask = e().i32(0);
  for (uint32_t s = 0; s < 1u << fn_.fragment.samples_log2; ++s) {
    Value* covered = boolToInt(fragmentWord(Op::FragmentCoverage, ir::kBool, s));
    mask = e().binary(Op::Or, mask, e().binary(Op::Shl, covered, e().i32(s)));
  }
  mask = input(mask);
  Value* state = loadGlobal(ir::kI64, stageAddress(Op::EnvAddress), e().i32(0), 1, offsetof(FragmentEnv, state));
  mask =
      e().binary(Op::And, mask, loadGlobal(ir::kI32, state, e().i32(0), 1, offsetof(abi::FragmentState, sampleMask)));
  if (!fn_.fragment.sampleShading) return mask;
  Value* sample = fragmentWord(Op::FragmentSample, ir::kI32, 0);
  return e().binary(Op::And, mask, e().binary(Op::Shl, e().i32(1), sample));
}

// In the prologue.
ir::Value* Translator::fragmentBuiltin(spv::BuiltIn b, uint32_t component) {
  const PixelPlace here =
      fn_.fragment.sampleShading ? samplePlace(fragmentWord(Op::FragmentSample, ir::kI32, 0)) : centerPlace();
  const auto only = [&](Value* v) { return component == 0 ? v : nullptr; };
  switch (b) {
    case spv::BuiltIn::FragCoord:
      switch (component) {
        case 0:
          return input(e().binary(Op::FAdd, pixelCoordinate(0), here.x));
        case 1:
          return input(e().binary(Op::FAdd, pixelCoordinate(1), here.y));
        case 2:
          return input(screenPlane(offsetof(PrimitiveRecord, depth), here));
        case 3:
          return input(screenPlane(offsetof(PrimitiveRecord, oneOverW), here));
        default:
          return nullptr;
      }
    case spv::BuiltIn::ClipDistance:
    case spv::BuiltIn::CullDistance: {
      if (component >= abi::kMaxClipCullDistances) return nullptr;
      IoLeaf leaf;
      leaf.type = ir::kF32;
      leaf.location = (b == spv::BuiltIn::ClipDistance ? kClipDistanceLocation : kCullDistanceLocation) + component / 4;
      leaf.component = component % 4;
      return fragmentInput(leaf);
    }
    case spv::BuiltIn::PointCoord:
      if (component > 1) return nullptr;
      return input(
          screenPlane(component == 0 ? offsetof(PrimitiveRecord, iLinear) : offsetof(PrimitiveRecord, jLinear), here));
    case spv::BuiltIn::FrontFacing: {
      Value* flags = primitiveField(offsetof(PrimitiveRecord, flags), ir::kI32);
      Value* back = e().binary(Op::And, flags, e().i32(abi::kPrimitiveBackFacing));
      return only(input(e().compare(Op::IEq, back, e().i32(0))));
    }
    case spv::BuiltIn::PrimitiveId:
      return only(input(primitiveField(offsetof(PrimitiveRecord, primitiveId), ir::kI32)));
    case spv::BuiltIn::ViewportIndex:
      return only(input(primitiveField(offsetof(PrimitiveRecord, viewport), ir::kI32)));
    case spv::BuiltIn::Layer:
      return only(fragmentEnv(offsetof(FragmentEnv, layer)));
    case spv::BuiltIn::ViewIndex:
      return only(fragmentEnv(offsetof(FragmentEnv, viewIndex)));
    case spv::BuiltIn::SampleId:
      return only(fragmentWord(Op::FragmentSample, ir::kI32, 0));
    case spv::BuiltIn::SamplePosition:
      return component == 0 ? here.x : component == 1 ? here.y : nullptr;
    case spv::BuiltIn::SampleMask:
      return component == 0 ? sampleMaskIn() : e().i32(0);
    case spv::BuiltIn::HelperInvocation:
      return only(e().inst(Op::IsHelper, ir::kBool, {})->result);
    default:
      return nullptr;
  }
}

// -- quads and helper invocations

ir::Value* Translator::quadShuffle(Value* v, uint32_t selector) {
  ir::Inst* in = e().inst(Op::QuadShuffle, v->type, {v});
  in->imm = selector;
  return in->result;
}

// Fine: of the lane's own row or column; coarse: of the quad's first.
ir::Value* Translator::derivative(Value* v, bool vertical, bool fine) {
  if (!v->type.isFloat()) failInvalid("a derivative of something that is no float");
  if (v->def == Value::Def::kConstant) return fn_.zero(v->type);
  const uint32_t further = vertical ? (fine ? quadSelector(2, 3, 2, 3) : quadSelector(2, 2, 2, 2))
                                    : (fine ? quadSelector(1, 1, 3, 3) : quadSelector(1, 1, 1, 1));
  const uint32_t nearer = vertical ? (fine ? quadSelector(0, 1, 0, 1) : quadSelector(0, 0, 0, 0))
                                   : (fine ? quadSelector(0, 0, 2, 2) : quadSelector(0, 0, 0, 0));
  return e().binary(Op::FSub, quadShuffle(v, further), quadShuffle(v, nearer));
}

bool Translator::emitDerivative(const Instr& in) {
  bool x = false, y = false, fine = true;
  switch (in.op) {
    case spv::Op::OpDPdxCoarse:
      fine = false;
      [[fallthrough]];
    case spv::Op::OpDPdx:
    case spv::Op::OpDPdxFine:
      x = true;
      break;
    case spv::Op::OpDPdyCoarse:
      fine = false;
      [[fallthrough]];
    case spv::Op::OpDPdy:
    case spv::Op::OpDPdyFine:
      y = true;
      break;
    case spv::Op::OpFwidthCoarse:
      fine = false;
      [[fallthrough]];
    case spv::Op::OpFwidth:
    case spv::Op::OpFwidthFine:
      x = y = true;
      break;
    default:
      return false;
  }
  const Leaves v = get(in.operand(0)).leaves;
  std::span<Value*> out = allocate(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    if (x && y)
      out[i] = e().binary(Op::FAdd, e().unary(Op::FAbs, derivative(v[i], false, fine)),
                          e().unary(Op::FAbs, derivative(v[i], true, fine)));
    else
      out[i] = derivative(v[i], y, fine);
  }
  setLeaves(in, out);
  return true;
}

void Translator::demote() {
  discards_ = true;
  e().inst(Op::Demote, ir::kVoid, {});
}

bool Translator::isHelperVariable(uint32_t id) const {
  const Decoration* d = isFragment() ? module_.find(id, spv::Decoration::BuiltIn) : nullptr;
  return d && !d->literals.empty() && static_cast<spv::BuiltIn>(d->literals[0]) == spv::BuiltIn::HelperInvocation;
}

bool Translator::emitFragment(const Instr& in) {
  if (!isFragment()) return false;
  switch (in.op) {
    case spv::Op::OpDemoteToHelperInvocation:
      demote();
      return true;
    case spv::Op::OpIsHelperInvocationEXT:
      setScalar(in, e().inst(Op::IsHelper, ir::kBool, {})->result);
      return true;
    default:
      return emitDerivative(in);
  }
}

// -- outputs

void Translator::emitFragmentOutputs() {
  bool writesDepth = false, writesMask = false;
  const auto indexOf = [&](const IoLeaf& leaf) -> uint32_t {
    if (!leaf.isBuiltin) {
      if (leaf.location >= abi::kMaxColorAttachments || (leaf.index != 0 && (leaf.index != 1 || leaf.location != 0)))
        failUnsupported("a location of an output is out of range");
      return (leaf.index != 0 ? ir::kOutputSecondColor : 4 * leaf.location) + leaf.component;
    }
    switch (leaf.builtin) {
      case spv::BuiltIn::FragDepth:
        writesDepth = true;
        return ir::kOutputDepth;
      case spv::BuiltIn::FragStencilRefEXT:
        writesDepth = true;
        return ir::kOutputStencil;
      case spv::BuiltIn::SampleMask:
        writesMask = true;
        return ir::kOutputSampleMask;
      default:
        failUnsupported("built-in output " + std::to_string(static_cast<uint32_t>(leaf.builtin)));
    }
  };
  for (const IoVariable& io : outputs_)
    for (const IoLeaf& leaf : io.leaves) {
      if (!io.written[leaf.group]) continue;
      if (leaf.isBuiltin && leaf.builtin == spv::BuiltIn::SampleMask && leaf.builtinIndex > 0) continue;
      if (leaf.type != ir::kF32 && leaf.type != ir::kI32) failUnsupported("an output of this type");
      ir::Inst* out = e().inst(Op::FragmentOutput, ir::kVoid, {loadLocal(io.local, leaf.offset_B, leaf.type)});
      out->imm = indexOf(leaf);
      if (out->imm < ir::kOutputSecondColor) written_ |= 1u << out->imm;
    }
  // A shader that reads its target reads what was there before its own tests.
  const bool late = writesDepth || writesMask || discards_ || sideEffects_ || readsTarget_ ||
                    (fragmentKey().flags & kKeyAlphaToCoverage) != 0;
  fn_.fragment.earlyTests = declaresEarlyTests_ || !late;
  fragment_.flags =
      (fn_.fragment.earlyTests ? abi::kFragmentEarlyTests : 0u) | (sideEffects_ ? abi::kFragmentSideEffects : 0u) |
      (fn_.fragment.sampleShading ? abi::kFragmentSampleShading : 0u) | (readsTarget_ ? abi::kFragmentReadsTarget : 0u);
  const bool mayLose = writesDepth || writesMask || discards_ || readsTarget_;
  if (!mayLose && occludes()) fragment_.flags |= abi::kFragmentOccludes;
}

// By the pipeline's state: no tests, no blending, all of all attachments written. (The sample mask is the machine's to
// look at.)
bool Translator::occludes() const {
  const FragmentKey& key = fragmentKey();
  if (key.depthFormat != VK_FORMAT_UNDEFINED || key.stencilFormat != VK_FORMAT_UNDEFINED) return false;
  if ((key.flags & (kKeyAlphaToCoverage | kKeyLogicOp)) != 0 || (key.dynamic & kDynamicColorWrite) != 0) return false;
  constexpr uint8_t kAllComponents = 15;
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
    const ColorTarget& t = key.color[i];
    if (t.format == VK_FORMAT_UNDEFINED) continue;
    const uint32_t written = written_ >> 4 * i & kAllComponents;
    if (t.writeMask != kAllComponents || t.blendEnable != 0 || written != kAllComponents) return false;
  }
  return true;
}

}  // namespace pumice::shader::spirv
