// Images, samplers and texel buffers. A handle is the address of its descriptor (a combined image sampler: two
// addresses); accesses become image operations of the IR (shaders/ir/image_access.h), queries plain loads from the
// descriptor.
#include <algorithm>
#include <cstddef>

#include "backend/abi/descriptor.h"
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using abi::ImageOp;
using ir::Op;

namespace {

constexpr uint32_t bit(spv::ImageOperandsMask m) {
  return static_cast<uint32_t>(m);
}

}  // namespace

// The image type behind a handle's type.
Translator::ImageType Translator::imageType(uint32_t typeId) {
  const TypeInfo* t = &type(typeId);
  if (t->op == spv::Op::OpTypeSampledImage) t = &type(t->element);
  if (t->op != spv::Op::OpTypeImage) failInvalid("an image is expected");
  const Instr& in = module_.get(t->id);
  ImageType image;
  image.texel = type(in.operand(0)).scalar;
  image.dim = static_cast<spv::Dim>(in.operand(1));
  image.arrayed = in.operand(3) != 0;
  image.multisampled = in.operand(4) != 0;
  image.storage = in.operand(5) == 2;
  image.format = static_cast<uint8_t>(in.operand(6));
  if (image.texel != ir::kF32 && image.texel != ir::kI32 && image.texel != ir::kI64)
    failUnsupported("an image with texels of this type");
  switch (image.dim) {
    case spv::Dim::Dim1D:
    case spv::Dim::Buffer:
      image.spatial = 1;
      break;
    case spv::Dim::Dim2D:
    case spv::Dim::SubpassData:
      image.spatial = 2;
      break;
    case spv::Dim::Dim3D:
    case spv::Dim::Cube:
      image.spatial = 3;
      break;
    default:
      failUnsupported("image dimensionality " + std::to_string(in.operand(1)));
  }
  return image;
}

// Loads a handle from a variable or an element of an array of them.
Val Translator::loadResource(const Pointer& p, uint32_t typeId) {
  const TypeInfo& t = type(typeId);
  if (t.op != spv::Op::OpTypeImage && t.op != spv::Op::OpTypeSampler && t.op != spv::Op::OpTypeSampledImage)
    failUnsupported("a load of a whole array of resources");
  Value* index = descriptorIndex(p);
  std::span<Value*> leaves = allocate(t.leaves);
  for (uint32_t i = 0; i < t.leaves; ++i) {
    ir::Inst* d = descriptor(Op::DescriptorAddress, ir::kI64, p, index);
    d->imm = t.op == spv::Op::OpTypeSampler || i == 1 ? 1 : 0;  // a combined one: image, sampler
    leaves[i] = d->result;
  }
  return {typeId, leaves, nullptr};
}

ir::Value* Translator::descriptorField(Value* descriptor, uint64_t offset_B, ir::Type t) {
  ir::Inst* in = e().inst(Op::Load, t, {descriptor, e().i32(0)});
  in->mem.space = ir::Space::kGlobal;
  in->mem.offset_B = static_cast<uint32_t>(offset_B);
  in->mem.align_log2 = t == ir::kI32 ? 2 : 0;
  in->mem.readOnly = true;
  return t == ir::kI32 ? in->result : e().convert(Op::ZExt, ir::kI32, in->result);
}

// -- operands

Translator::ImageArguments Translator::imageOperands(const Instr& in, uint32_t first) {
  ImageArguments a;
  if (first >= in.operandCount()) return a;
  const uint32_t mask = in.operand(first);
  using M = spv::ImageOperandsMask;
  uint32_t at = first + 1;
  if (mask & bit(M::Bias)) a.lod = floatOperand(scalar(in.operand(at++)));
  if (mask & bit(M::Lod)) {
    a.lod = scalar(in.operand(at++));
    a.access.flags |= abi::kImageLod;
  }
  if (mask & bit(M::Grad)) {
    a.ddx = get(in.operand(at++)).leaves;
    a.ddy = get(in.operand(at++)).leaves;
    a.access.flags |= abi::kImageGrad;
  }
  for (const M m : {M::ConstOffset, M::Offset}) {
    if (!(mask & bit(m))) continue;
    a.offset = get(in.operand(at++)).leaves;
    a.access.flags |= abi::kImageOffset;
  }
  if (mask & bit(M::ConstOffsets)) {
    a.gatherOffsets = get(in.operand(at++)).leaves;
    if (a.gatherOffsets.size() != 8) failInvalid("four offsets are expected");
    a.access.flags |= abi::kImageGatherOffsets;
  }
  if (mask & bit(M::Sample)) {
    a.lod = scalar(in.operand(at++));
    a.access.flags |= abi::kImageSampleIndex;
  }
  if (mask & bit(M::MinLod)) {
    a.minLod = floatOperand(scalar(in.operand(at++)));
    a.access.flags |= abi::kImageMinLod;
  }
  if (mask & bit(M::Offsets)) failUnsupported("image operand Offsets");
  return a;
}

ir::Value* Translator::floatOperand(Value* v) {
  if (!v->type.isFloat()) failInvalid("a floating-point operand is expected");
  return v->type == ir::kF32 ? v : e().convert(Op::FConvert, ir::kF32, v);
}

// Texel coordinates of reads, writes and atomics.
void Translator::texelCoordinates(const ImageType& image, uint32_t coordinateId, ImageArguments& a) {
  // Faces are layers here.
  const bool layered = image.arrayed || image.dim == spv::Dim::Cube;
  a.access.spatial = image.dim == spv::Dim::Cube ? 2 : image.spatial;
  const Leaves c = get(coordinateId).leaves;
  const uint32_t wanted = a.access.spatial + (layered ? 1 : 0);
  if (c.size() < wanted) failInvalid("an image coordinate has too few components");
  std::span<Value*> all = allocate(a.access.spatial + 1u);
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i < wanted ? resizeInt(c[i], ir::kI32, true) : e().i32(0);
  if (image.dim == spv::Dim::SubpassData) {
    // An input attachment: relative to the fragment, of its layer or view, of which one is 0.
    if (!isFragment()) failInvalid("an input attachment outside of a fragment shader");
    readsTarget_ = true;
    for (uint32_t i = 0; i < 2; ++i) all[i] = e().binary(Op::IAdd, all[i], pixelPosition(i));
    all[2] = e().binary(Op::IAdd, fragmentEnv(offsetof(abi::FragmentEnv, layer)),
                        fragmentEnv(offsetof(abi::FragmentEnv, viewIndex)));
  }
  if (a.access.has(abi::kImageOffset)) {
    // Part of the coordinates: the texture unit knows offsets of sampling alone.
    if (a.offset.size() < a.access.spatial) failInvalid("an image offset is too short");
    for (uint32_t i = 0; i < a.access.spatial; ++i)
      all[i] = e().binary(Op::IAdd, all[i], resizeInt(a.offset[i], ir::kI32, true));
    a.access.flags &= ~uint32_t{abi::kImageOffset};
  }
  a.coordinates = all;
  a.access.format = image.format;
}

// Coordinates of sampling; `projected`: divided by the component behind them.
void Translator::sampleCoordinates(const ImageType& image, uint32_t coordinateId, bool projected, ImageArguments& a) {
  a.access.spatial = image.spatial;
  const Leaves c = get(coordinateId).leaves;
  const uint32_t wanted = image.spatial + (image.arrayed || projected ? 1 : 0);
  if (c.size() < wanted) failInvalid("an image coordinate has too few components");
  std::span<Value*> all = allocate(image.spatial + 1u);
  for (uint32_t i = 0; i < image.spatial; ++i) all[i] = floatOperand(c[i]);
  all[image.spatial] = image.arrayed ? floatOperand(c[image.spatial]) : e().real(ir::kF32, 0);
  if (projected) {
    Value* q = floatOperand(c[image.spatial]);
    for (uint32_t i = 0; i < image.spatial; ++i) all[i] = e().binary(Op::FDiv, all[i], q);
    if (a.reference) a.reference = e().binary(Op::FDiv, a.reference, q);
  }
  a.coordinates = all;
}

ir::Value* Translator::emitAccess(Op op, ir::Type result, const ImageArguments& a) {
  std::vector<Value*> operands{a.image};
  const auto add = [&operands](Leaves leaves) { operands.insert(operands.end(), leaves.begin(), leaves.end()); };
  const auto addOne = [&operands](Value* v) {
    if (v) operands.push_back(v);
  };
  addOne(a.sampler);
  add(a.coordinates);
  if (a.access.has(abi::kImageLod) || a.access.has(abi::kImageSampleIndex)) {
    if (!a.lod) failInvalid("an image operand is missing");
    const bool sampling = a.access.hasSampler();
    addOne(sampling ? floatOperand(a.lod) : resizeInt(a.lod, ir::kI32, true));
  }
  addOne(a.minLod);
  addOne(a.reference);
  if (a.access.has(abi::kImageGrad)) {
    if (a.ddx.size() < a.access.spatial || a.ddy.size() < a.access.spatial) failInvalid("a gradient is too short");
    for (const Leaves g : {a.ddx, a.ddy})
      for (uint32_t i = 0; i < a.access.spatial; ++i) operands.push_back(floatOperand(g[i]));
  }
  if (a.access.has(abi::kImageOffset)) {
    // Cubes have no offsets.
    if (a.offset.size() < std::min<uint32_t>(a.access.spatial, 3)) failInvalid("an image offset is too short");
    for (uint32_t i = 0; i < a.access.spatial; ++i) operands.push_back(resizeInt(a.offset[i], ir::kI32, true));
  }
  for (Value* v : a.gatherOffsets) operands.push_back(resizeInt(v, ir::kI32, true));
  add(a.values);
  ir::Inst* in = e().inst(op, result, operands);
  ir::setImageAccess(*in, a.access);
  return in->result;
}

// Level of detail from the quad.
void Translator::implicitGradients(ImageArguments& a) {
  const uint32_t n = a.access.spatial;
  std::span<Value*> all = allocate(2 * n);
  for (uint32_t i = 0; i < n; ++i) {
    all[i] = derivative(a.coordinates[i], false, false);
    all[n + i] = derivative(a.coordinates[i], true, false);
  }
  a.ddx = all.first(n);
  a.ddy = all.subspan(n);
  a.access.flags |= abi::kImageGrad;
}

// -- instructions

// `op`: kSample or kGather, which has no level.
void Translator::emitSample(const Instr& in, ImageOp op, bool explicitLod, bool reference, bool projected) {
  const Val handle = get(in.operand(0));
  if (handle.leaves.size() != 2) failInvalid("a sampled image is expected");
  const ImageType image = imageType(handle.type);
  ImageArguments a = imageOperands(in, reference || op == ImageOp::kGather ? 3 : 2);
  a.image = handle.leaves[0];
  a.sampler = handle.leaves[1];
  a.access.op = op;
  if (!explicitLod && (a.lod || !isFragment())) {
    // The bias. No derivatives in other stages than fragment: the base level, moved by it.
    a.access.flags |= abi::kImageLod;
    if (!a.lod) a.lod = e().real(ir::kF32, 0);
  }
  if (reference) {
    a.access.flags |= abi::kImageReference;
    a.reference = floatOperand(scalar(in.operand(2)));
  } else if (op == ImageOp::kGather) {
    a.access.gatherComponent = static_cast<uint8_t>(std::min(constantInt(in.operand(2)), 3u));
  }
  sampleCoordinates(image, in.operand(1), projected, a);
  if (!explicitLod && isFragment()) implicitGradients(a);
  setTexel(in, emitAccess(Op::ImageRead, {image.texel.kind, 4}, a));
}

void Translator::emitQueryLod(const Instr& in) {
  const Val handle = get(in.operand(0));
  if (handle.leaves.size() != 2) failInvalid("a sampled image is expected");
  ImageType image = imageType(handle.type);
  image.arrayed = false;  // the layer is no part of the coordinates here
  ImageArguments a;
  a.image = handle.leaves[0];
  a.sampler = handle.leaves[1];
  a.access.op = ImageOp::kQueryLod;
  sampleCoordinates(image, in.operand(1), false, a);
  if (!isFragment()) failInvalid("a query of the level outside of a fragment shader");
  implicitGradients(a);
  setTexel(in, emitAccess(Op::ImageRead, {ir::Kind::kF32, 4}, a));
}

// The first components of a tuple, as many as the instruction's result has. The sparse forms want a residency code in
// front: not zero where all texels are resident, and no image is sparse.
void Translator::setTexel(const Instr& in, Value* tuple) {
  const TypeInfo& whole = type(in.resultType);
  const bool sparse = whole.op == spv::Op::OpTypeStruct;
  if (sparse && (whole.members.size() != 2 || !type(whole.members[0]).scalar.isInt()))
    failInvalid("a sparse image access of a wrong type");
  const TypeInfo& t = sparse ? type(whole.members[1]) : whole;
  if (t.leaves < 1 || t.leaves > 4 || t.scalar != tuple->type.scalar()) failInvalid("an image access of a wrong type");
  const uint32_t first = sparse ? 1 : 0;
  std::span<Value*> out = allocate(t.leaves + first);
  if (sparse) out[0] = e().integer(type(whole.members[0]).scalar, 1);
  for (uint32_t i = 0; i < t.leaves; ++i) out[first + i] = e().extract(tuple, i);
  setLeaves(in, out);
}

void Translator::emitImageRead(const Instr& in) {
  const Val handle = get(in.operand(0));
  if (handle.leaves.empty()) failInvalid("an image is expected");
  const ImageType image = imageType(handle.type);
  ImageArguments a = imageOperands(in, 2);
  a.image = handle.leaves[0];
  if (image.texel == ir::kI64) a.access.flags |= abi::kImage64;
  texelCoordinates(image, in.operand(1), a);
  setTexel(in, emitAccess(image.storage ? Op::ImageAccess : Op::ImageRead, {image.texel.kind, 4}, a));
}

void Translator::emitImageWrite(const Instr& in) {
  const Val handle = get(in.operand(0));
  if (handle.leaves.empty()) failInvalid("an image is expected");
  const ImageType image = imageType(handle.type);
  ImageArguments a = imageOperands(in, 3);
  sideEffects_ = true;
  a.access.op = ImageOp::kWrite;
  a.image = handle.leaves[0];
  if (image.texel == ir::kI64) a.access.flags |= abi::kImage64;
  texelCoordinates(image, in.operand(1), a);
  const Leaves texel = get(in.operand(2)).leaves;
  std::span<Value*> values = allocate(4);
  for (uint32_t i = 0; i < 4; ++i) values[i] = i < texel.size() ? texel[i] : fn_.zero(image.texel);
  for (const Value* v : values)
    if (v->type != image.texel) failInvalid("an image access of a wrong type");
  a.values = values;
  emitAccess(Op::ImageWrite, ir::kVoid, a);
}

// `op`, `values`: as for memory, see emitAtomic.
ir::Value* Translator::emitImageAtomic(const Pointer& p, Op op, ir::Type t, Leaves values) {
  const Instr& texel = module_.get(p.texelPointer);
  const ImageType image = imageType(type(module_.get(texel.operand(0)).resultType).element);
  ImageArguments a;
  a.image = p.base;
  if (ir::kindBits(t.kind) == 64) a.access.flags |= abi::kImage64;
  if (image.multisampled) {
    a.access.flags |= abi::kImageSampleIndex;
    a.lod = scalar(texel.operand(2));
  }
  texelCoordinates(image, texel.operand(1), a);
  a.values = values;
  switch (op) {
    case Op::AtomicLoad:
      return e().extract(emitAccess(Op::ImageAccess, {t.kind, 4}, a), 0);
    case Op::AtomicStore:
    case Op::AtomicExchange:
      a.access.op = ImageOp::kAtomicExchange;
      break;
    case Op::AtomicIAdd:
      a.access.op = ImageOp::kAtomicAdd;
      break;
    case Op::AtomicUMin:
      a.access.op = ImageOp::kAtomicUMin;
      break;
    case Op::AtomicUMax:
      a.access.op = ImageOp::kAtomicUMax;
      break;
    case Op::AtomicSMin:
      a.access.op = ImageOp::kAtomicSMin;
      break;
    case Op::AtomicSMax:
      a.access.op = ImageOp::kAtomicSMax;
      break;
    case Op::AtomicAnd:
      a.access.op = ImageOp::kAtomicAnd;
      break;
    case Op::AtomicOr:
      a.access.op = ImageOp::kAtomicOr;
      break;
    case Op::AtomicXor:
      a.access.op = ImageOp::kAtomicXor;
      break;
    case Op::AtomicCompareExchange:
      a.access.op = ImageOp::kAtomicCompareExchange;
      break;
    case Op::AtomicFAdd:
      a.access.op = ImageOp::kAtomicFAdd;
      break;
    case Op::AtomicFMin:
      a.access.op = ImageOp::kAtomicFMin;
      break;
    case Op::AtomicFMax:
      a.access.op = ImageOp::kAtomicFMax;
      break;
    default:
      failUnsupported("this atomic operation on an image");
  }
  return emitAccess(Op::ImageAccess, t, a);
}

// Width, height, depth of a level, then layers.
void Translator::emitQuerySize(const Instr& in, Value* lod) {
  const Val handle = get(in.operand(0));
  if (handle.leaves.empty()) failInvalid("an image is expected");
  const ImageType image = imageType(handle.type);
  Value* d = handle.leaves[0];
  const TypeInfo& t = type(in.resultType);
  std::vector<Value*> size;
  if (image.dim == spv::Dim::Buffer) {
    size.push_back(descriptorField(d, offsetof(abi::TexelBufferDescriptor, elementCount), ir::kI32));
  } else {
    constexpr uint64_t kExtent[] = {offsetof(abi::ImageDescriptor, width), offsetof(abi::ImageDescriptor, height),
                                    offsetof(abi::ImageDescriptor, depthOrLayers)};
    const uint32_t sides = image.dim == spv::Dim::Cube ? 2 : image.spatial;
    for (uint32_t i = 0; i < sides; ++i) {
      Value* base = descriptorField(d, kExtent[i], ir::kI32);
      if (lod) {
        // At least 1, but 0 of a null descriptor.
        Value* smallest = e().binary(Op::UMin, base, e().i32(1));
        base = e().binary(Op::UMax, e().binary(Op::UShr, base, resizeInt(lod, ir::kI32, false)), smallest);
      }
      size.push_back(base);
    }
    if (image.arrayed) {
      Value* layers = descriptorField(d, kExtent[2], ir::kI32);
      size.push_back(image.dim == spv::Dim::Cube ? e().binary(Op::UDiv, layers, e().i32(6)) : layers);
    }
  }
  if (t.leaves != size.size()) failInvalid("an image query of a wrong type");
  for (Value*& v : size) v = resizeInt(v, t.scalar, false);
  setLeaves(in, size);
}

bool Translator::emitImage(const Instr& in) {
  switch (in.op) {
    case spv::Op::OpSampledImage: {
      const Val image = get(in.operand(0)), sampler = get(in.operand(1));
      if (image.leaves.size() != 1 || sampler.leaves.size() != 1) failInvalid("an image and a sampler are expected");
      set(in.result, make(in.resultType, {image.leaves[0], sampler.leaves[0]}));
      return true;
    }
    case spv::Op::OpImage: {
      const Val handle = get(in.operand(0));
      if (handle.leaves.size() != 2) failInvalid("a sampled image is expected");
      setScalar(in, handle.leaves[0]);
      return true;
    }
    case spv::Op::OpImageSampleImplicitLod:
    case spv::Op::OpImageSparseSampleImplicitLod:
      emitSample(in, ImageOp::kSample, false, false, false);
      return true;
    case spv::Op::OpImageSampleExplicitLod:
    case spv::Op::OpImageSparseSampleExplicitLod:
      emitSample(in, ImageOp::kSample, true, false, false);
      return true;
    case spv::Op::OpImageSampleDrefImplicitLod:
    case spv::Op::OpImageSparseSampleDrefImplicitLod:
      emitSample(in, ImageOp::kSample, false, true, false);
      return true;
    case spv::Op::OpImageSampleDrefExplicitLod:
    case spv::Op::OpImageSparseSampleDrefExplicitLod:
      emitSample(in, ImageOp::kSample, true, true, false);
      return true;
    case spv::Op::OpImageSampleProjImplicitLod:
    case spv::Op::OpImageSampleProjExplicitLod:
      emitSample(in, ImageOp::kSample, in.op == spv::Op::OpImageSampleProjExplicitLod, false, true);
      return true;
    case spv::Op::OpImageSampleProjDrefImplicitLod:
    case spv::Op::OpImageSampleProjDrefExplicitLod:
      emitSample(in, ImageOp::kSample, in.op == spv::Op::OpImageSampleProjDrefExplicitLod, true, true);
      return true;
    case spv::Op::OpImageGather:
    case spv::Op::OpImageSparseGather:
      emitSample(in, ImageOp::kGather, true, false, false);
      return true;
    case spv::Op::OpImageDrefGather:
    case spv::Op::OpImageSparseDrefGather:
      emitSample(in, ImageOp::kGather, true, true, false);
      return true;
    case spv::Op::OpImageFetch:
    case spv::Op::OpImageSparseFetch:
    case spv::Op::OpImageRead:
    case spv::Op::OpImageSparseRead:
      emitImageRead(in);
      return true;
    case spv::Op::OpImageSparseTexelsResident: {
      Value* code = scalar(in.operand(0));
      if (!code->type.isInt()) failInvalid("a residency code is expected");
      setScalar(in, e().compare(Op::INe, code, fn_.zero(code->type)));
      return true;
    }
    case spv::Op::OpImageWrite:
      emitImageWrite(in);
      return true;
    case spv::Op::OpImageTexelPointer: {
      Pointer p = *pointer(in.operand(0));
      if (p.kind != Pointer::Kind::kResource) failInvalid("a texel pointer of something that is no image");
      const Val handle = loadResource(p, p.type);
      p.base = handle.leaves[0];
      p.kind = Pointer::Kind::kTexel;
      p.type = type(in.resultType).element;
      p.texelPointer = in.result;
      set(in.result, {in.resultType, {}, new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p)});
      return true;
    }
    case spv::Op::OpImageQueryLod:
      emitQueryLod(in);
      return true;
    case spv::Op::OpImageQuerySize:
      emitQuerySize(in, nullptr);
      return true;
    case spv::Op::OpImageQuerySizeLod:
      emitQuerySize(in, scalar(in.operand(1)));
      return true;
    case spv::Op::OpImageQueryLevels:
    case spv::Op::OpImageQuerySamples: {
      Value* d = get(in.operand(0)).leaves[0];
      Value* n = nullptr;
      if (in.op == spv::Op::OpImageQueryLevels) {
        n = descriptorField(d, offsetof(abi::ImageDescriptor, levelCount), ir::kI8);
      } else {
        // 0 of a null descriptor.
        Value* shift = descriptorField(d, offsetof(abi::ImageDescriptor, samples_log2), ir::kI8);
        Value* one =
            e().binary(Op::UMin, descriptorField(d, offsetof(abi::ImageDescriptor, width), ir::kI32), e().i32(1));
        n = e().binary(Op::Shl, one, shift);
      }
      setScalar(in, resizeInt(n, type(in.resultType).scalar, false));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace pumice::shader::spirv
