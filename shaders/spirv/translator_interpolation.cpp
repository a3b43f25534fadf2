// Inputs of fragment shaders: from the primitive's planes and its vertices (backend/abi/fragment_abi.h). Everything is
// plain arithmetic on what the vector of the run brings along; what stands in the prologue and is marked as an input is
// compiled once for blocks and once for mixes.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <cstddef>

#include "backend/abi/fragment_abi.h"
#include "backend/raster/samples.h"
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using abi::PrimitiveRecord;
using abi::ScreenPlane;
using ir::Op;

ir::Value* Translator::input(Value* v) {
  return e().unary(Op::FragmentInput, v);
}

// Of the pixel.
ir::Value* Translator::pixelPosition(uint32_t axis) {
  Emitter::Prologue prologue(emitter_);
  return fragmentWord(Op::FragmentPosition, ir::kI32, axis);
}

// Of the pixel's corner, as a float.
ir::Value* Translator::pixelCoordinate(uint32_t axis) {
  return e().convert(Op::SToF, ir::kF32, pixelPosition(axis));
}

Translator::PixelPlace Translator::centerPlace() {
  return {e().real(ir::kF32, 0.5), e().real(ir::kF32, 0.5)};
}

Translator::PixelPlace Translator::samplePlace(Value* sample) {
  const raster::SamplePattern& pattern = raster::kSamplePatterns[fn_.fragment.samples_log2];
  const auto at = [&](uint32_t s) {
    return PixelPlace{e().real(ir::kF32, pattern.x[s] / 256.0), e().real(ir::kF32, pattern.y[s] / 256.0)};
  };
  PixelPlace p = at(0);
  for (uint32_t s = 1; s < pattern.count; ++s) {
    Value* isThis = e().compare(Op::IEq, sample, e().i32(s));
    p = {e().select(isThis, at(s).x, p.x), e().select(isThis, at(s).y, p.y)};
  }
  return p;
}

// Sample shading that the pipeline asks for shades samples, so all its inputs are the sample's.
bool Translator::shadesSamplesByState() {
  return fn_.fragment.sampleShading && (fragmentKey().flags & kKeySampleShading) != 0;
}

// The pixel's center if it is covered whole or not at all (a helper), else the first covered sample.
Translator::PixelPlace Translator::centroidPlace() {
  if (shadesSamplesByState()) return samplePlace(fragmentWord(Op::FragmentSample, ir::kI32, 0));
  const raster::SamplePattern& pattern = raster::kSamplePatterns[fn_.fragment.samples_log2];
  const PixelPlace center = centerPlace();
  if (pattern.count == 1) return center;
  Emitter::Prologue prologue(emitter_);
  PixelPlace p = center;
  Value* all = e().boolean(true);
  for (uint32_t s = pattern.count; s-- > 0;) {
    Value* covered = fragmentWord(Op::FragmentCoverage, ir::kBool, s);
    p = {e().select(covered, e().real(ir::kF32, pattern.x[s] / 256.0), p.x),
         e().select(covered, e().real(ir::kF32, pattern.y[s] / 256.0), p.y)};
    all = e().binary(Op::And, all, covered);
  }
  return {e().select(all, center.x, p.x), e().select(all, center.y, p.y)};
}

Translator::PixelPlace Translator::placeOf(const Interpolation& how) {
  if (fn_.fragment.sampleShading && (how.sample || shadesSamplesByState()))
    return samplePlace(fragmentWord(Op::FragmentSample, ir::kI32, 0));
  if (how.centroid) return centroidPlace();
  return centerPlace();
}

// Value of the plane that stands `offset_B` into the primitive's record.
ir::Value* Translator::screenPlane(uint32_t offset_B, const PixelPlace& at) {
  const auto fromOrigin = [&](uint32_t axis, Value* within, uint32_t origin_B) {
    Value* x = e().binary(Op::FAdd, pixelCoordinate(axis), within);
    return e().binary(Op::FSub, x, primitiveField(origin_B, ir::kF32));
  };
  Value* x = fromOrigin(0, at.x, offsetof(PrimitiveRecord, originX));
  Value* y = fromOrigin(1, at.y, offsetof(PrimitiveRecord, originY));
  const auto coefficient = [&](size_t field_B) {
    return primitiveField(offset_B + static_cast<uint32_t>(field_B), ir::kF32);
  };
  Value* alongX =
      e().ternary(Op::FFma, x, coefficient(offsetof(ScreenPlane, dx)), coefficient(offsetof(ScreenPlane, atOrigin)));
  return e().ternary(Op::FFma, y, coefficient(offsetof(ScreenPlane, dy)), alongX);
}

Translator::Weights Translator::weights(const PixelPlace& at, bool perspective) {
  if (!perspective)
    return {screenPlane(offsetof(PrimitiveRecord, iLinear), at), screenPlane(offsetof(PrimitiveRecord, jLinear), at)};
  Value* w = e().binary(Op::FDiv, e().real(ir::kF32, 1), screenPlane(offsetof(PrimitiveRecord, oneOverW), at));
  return {e().binary(Op::FMul, screenPlane(offsetof(PrimitiveRecord, iOverW), at), w),
          e().binary(Op::FMul, screenPlane(offsetof(PrimitiveRecord, jOverW), at), w)};
}

// Of a float that the vertex stage has written.
ir::Value* Translator::interpolate(const IoLeaf& leaf, const PixelPlace& at) {
  const uint32_t word = 4u * fragmentKey().varyingSlot[leaf.location] + leaf.component;
  const auto of = [&](uint32_t vertex) { return fragmentWord(Op::VertexField, ir::kF32, vertex, word); };
  const Weights w = weights(at, !leaf.interpolation.noPerspective);
  Value* a0 = of(0);
  Value* alongI = e().ternary(Op::FFma, w.i, e().binary(Op::FSub, of(1), a0), a0);
  return e().ternary(Op::FFma, w.j, e().binary(Op::FSub, of(2), a0), alongI);
}

ir::Value* Translator::fragmentInput(const IoLeaf& leaf) {
  if (leaf.location >= kMaxLinkedLocations) failUnsupported("a location of an input is out of range");
  const ir::Type memory = leaf.type.isBool() ? ir::kI32 : leaf.type;
  const uint8_t slot = fragmentKey().varyingSlot[leaf.location];
  if (slot == kNotLinked) return leaf.type.isBool() ? e().boolean(false) : fn_.zero(memory);
  if (slot >= abi::kMaxVaryingSlots) failUnsupported("a location of an input is out of range");
  if (leaf.type == ir::kF32 && !leaf.interpolation.flat) return input(interpolate(leaf, placeOf(leaf.interpolation)));
  const auto provoking = [&](ir::Type t, uint32_t word) {
    return input(fragmentWord(Op::VertexField, t, 3, 4u * slot + leaf.component + word));
  };
  if (leaf.type.isBool()) return intToBool(provoking(ir::kI32, 0));
  if (ir::kindBits(memory.kind) == 32) return provoking(memory, 0);
  Value* low = e().convert(Op::ZExt, ir::kI64, provoking(ir::kI32, 0));
  Value* high = e().convert(Op::ZExt, ir::kI64, provoking(ir::kI32, 1));
  Value* both = e().binary(Op::Or, low, e().binary(Op::Shl, high, e().integer(ir::kI64, 32)));
  return e().bitcast(memory, both);
}

// -- interpolateAt

// Of the scalars that `p` points into, number `component` of its pointee. With a dynamic index: that of each element,
// and a choice.
ir::Value* Translator::interpolateAt(const Pointer& p, uint32_t component, const PixelPlace& at) {
  const auto io = std::find_if(inputs_.begin(), inputs_.end(), [&](const IoVariable& v) { return v.local == p.local; });
  if (io == inputs_.end() || p.space != ir::Space::kLocal)
    failInvalid("an interpolation of something that is no input");
  const int64_t first = p.offset + 4 * int64_t{component};
  Value* chosen = nullptr;
  for (const IoLeaf& leaf : io->leaves) {
    const int64_t ahead = int64_t{leaf.offset_B} - first;
    if (p.index ? ahead < 0 || ahead % p.scale != 0 : ahead != 0) continue;
    if (leaf.isBuiltin || leaf.type != ir::kF32) failUnsupported("an interpolation of this input");
    const bool isFixed = leaf.interpolation.flat || leaf.location >= kMaxLinkedLocations ||
                         fragmentKey().varyingSlot[leaf.location] >= abi::kMaxVaryingSlots;
    Value* v = nullptr;
    if (isFixed) {
      Emitter::Prologue prologue(emitter_);
      v = fragmentInput(leaf);
    } else {
      v = interpolate(leaf, at);
    }
    if (!p.index) return v;
    Value* isThis = e().compare(Op::IEq, p.index, e().integer(p.index->type, static_cast<uint64_t>(ahead / p.scale)));
    chosen = chosen ? e().select(isThis, v, chosen) : v;
  }
  if (!chosen) failInvalid("an interpolation of something that is no input");
  return chosen;
}

void Translator::emitInterpolateAt(const Instr& in, const Pointer& p, PixelPlace at) {
  const TypeInfo& t = type(in.resultType);
  std::span<Value*> out = allocate(t.leaves);
  for (uint32_t c = 0; c < t.leaves; ++c) out[c] = interpolateAt(p, c, at);
  setLeaves(in, out);
}

// Whether `in` is one of GLSL's interpolation functions. They leave the qualifiers of the input aside that say where.
bool Translator::emitInterpolation(const Instr& in) {
  const uint32_t code = in.operand(1);
  if (code < GLSLstd450InterpolateAtCentroid || code > GLSLstd450InterpolateAtOffset) return false;
  if (!isFragment()) failInvalid("an interpolation outside of a fragment shader");
  const Pointer& p = *pointer(in.operand(2));
  if (code == GLSLstd450InterpolateAtCentroid) {
    emitInterpolateAt(in, p, centroidPlace());
  } else if (code == GLSLstd450InterpolateAtSample) {
    emitInterpolateAt(in, p, samplePlace(resizeInt(scalar(in.operand(3)), ir::kI32, false)));
  } else {
    const Leaves offset = get(in.operand(3)).leaves;
    if (offset.size() != 2) failInvalid("an offset of two components is expected");
    const PixelPlace center = centerPlace();
    emitInterpolateAt(in, p,
                      {e().binary(Op::FAdd, center.x, floatOperand(offset[0])),
                       e().binary(Op::FAdd, center.y, floatOperand(offset[1]))});
  }
  return true;
}

}  // namespace pumice::shader::spirv
