// Composites, matrices and integer dot products.
#include <algorithm>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;

bool Translator::emitComposite(spv::Op op, const Instr& in, uint32_t firstOperand) {
  auto id = [&](uint32_t i) { return in.word(firstOperand + i); };
  const uint32_t operands = in.count - firstOperand;
  // Where the part that literals from operand `first` on name lies in `whole`.
  struct Part {
    uint32_t start, type;
  };
  auto locate = [&](uint32_t wholeType, uint32_t first) {
    Part p{0, wholeType};
    for (uint32_t i = first; i < operands; ++i) p.start += memberStart(type(p.type), id(i), &p.type);
    return p;
  };
  switch (op) {
    case spv::Op::OpCompositeConstruct: {
      std::vector<Value*> leaves;
      for (uint32_t i = 0; i < operands; ++i) {
        const Val part = get(id(i));
        leaves.insert(leaves.end(), part.leaves.begin(), part.leaves.end());
      }
      if (leaves.size() != type(in.resultType).leaves) failInvalid("composite with a wrong number of parts");
      setLeaves(in, leaves);
      return true;
    }
    case spv::Op::OpCompositeExtract: {
      const Val v = get(id(0));
      const Part p = locate(v.type, 1);
      const uint32_t n = type(p.type).leaves;
      if (p.type != in.resultType || p.start + n > v.leaves.size()) failInvalid("extract with a wrong result type");
      set(in.result, {in.resultType, v.leaves.subspan(p.start, n), nullptr});
      return true;
    }
    case spv::Op::OpCompositeInsert: {
      const Val part = get(id(0)), whole = get(id(1));
      const Part p = locate(whole.type, 2);
      if (p.start + part.leaves.size() > whole.leaves.size() || part.leaves.size() != type(p.type).leaves)
        failInvalid("insert of a wrong type");
      std::span<Value*> out = allocate(whole.leaves.size());
      std::copy(whole.leaves.begin(), whole.leaves.end(), out.begin());
      std::copy(part.leaves.begin(), part.leaves.end(), out.begin() + p.start);
      setLeaves(in, out);
      return true;
    }
    case spv::Op::OpVectorShuffle: {
      const Val a = get(id(0)), b = get(id(1));
      const TypeInfo& t = type(in.resultType);
      if (operands - 2 != t.leaves) failInvalid("shuffle with a wrong number of components");
      std::span<Value*> out = allocate(operands - 2);
      for (uint32_t i = 0; i + 2 < operands; ++i) {
        const uint32_t from = id(i + 2);
        if (from < a.leaves.size())
          out[i] = a.leaves[from];
        else if (from < a.leaves.size() + b.leaves.size())
          out[i] = b.leaves[from - a.leaves.size()];
        else
          out[i] = fn_.zero(t.scalar);  // 0xFFFFFFFF: undefined
      }
      setLeaves(in, out);
      return true;
    }
    case spv::Op::OpVectorExtractDynamic: {
      const Val v = get(id(0));
      Value* index = scalar(id(1));
      if (v.leaves.empty() || !index->type.isInt()) failInvalid("extract from something that is no vector");
      Value* r = v.leaves[0];
      for (size_t i = 1; i < v.leaves.size(); ++i)
        r = e().select(e().compare(Op::IEq, index, e().integer(index->type, i)), v.leaves[i], r);
      setScalar(in, r);
      return true;
    }
    case spv::Op::OpVectorInsertDynamic: {
      const Val v = get(id(0));
      Value* part = scalar(id(1));
      Value* index = scalar(id(2));
      if (!index->type.isInt()) failInvalid("an index is no integer");
      std::span<Value*> out = allocate(v.leaves.size());
      for (size_t i = 0; i < out.size(); ++i) {
        if (part->type != v.leaves[i]->type) failInvalid("insert of a wrong type");
        out[i] = e().select(e().compare(Op::IEq, index, e().integer(index->type, i)), part, v.leaves[i]);
      }
      setLeaves(in, out);
      return true;
    }
    case spv::Op::OpCopyObject:
    case spv::Op::OpCopyLogical: {
      Val v = lookup(id(0));
      if (type(v.type).leaves != type(in.resultType).leaves) failInvalid("copy between different types");
      v.type = in.resultType;
      set(in.result, v);
      return true;
    }
    default:
      return false;
  }
}

ir::Value* Translator::dot(Leaves a, Leaves b) {
  Value* sum = e().binary(Op::FMul, a[0], b[0]);
  for (size_t i = 1; i < a.size(); ++i) sum = e().binary(Op::FAdd, sum, e().binary(Op::FMul, a[i], b[i]));
  return sum;
}

void Translator::negateAll(const Instr& in, Leaves a) {
  std::span<Value*> out = allocate(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i]->type.isFloat()) failInvalid("operation on a wrong type");
    out[i] = e().unary(Op::FNeg, a[i]);
  }
  setLeaves(in, out);
}

bool Translator::emitMatrix(spv::Op op, const Instr& in, uint32_t firstOperand) {
  auto operand = [&](uint32_t i) {
    const Val v = get(in.word(firstOperand + i));
    if (v.leaves.empty() || !v.leaves[0]->type.isFloat()) failInvalid("operation on a wrong type");
    return v;
  };
  auto rowsOf = [&](const Val& m) {
    const TypeInfo& t = type(m.type);
    if (t.op != spv::Op::OpTypeMatrix) failInvalid("a matrix is expected");
    return type(t.element).count;
  };
  auto done = [&](Leaves out) {
    if (out.size() != type(in.resultType).leaves) failInvalid("operation with a wrong result type");
    for (Value* v : out)
      if (v->type != out[0]->type) failInvalid("operation on different types");
    setLeaves(in, out);
    return true;
  };
  auto agree = [](bool ok) {
    if (!ok) failInvalid("operation on different sizes");
  };
  switch (op) {
    case spv::Op::OpVectorTimesScalar:
    case spv::Op::OpMatrixTimesScalar: {
      const Val a = operand(0);
      Value* s = operand(1).leaves[0];
      agree(s->type == a.leaves[0]->type);
      std::span<Value*> out = allocate(a.leaves.size());
      for (size_t i = 0; i < out.size(); ++i) out[i] = e().binary(Op::FMul, a.leaves[i], s);
      return done(out);
    }
    case spv::Op::OpDot: {
      const Val a = operand(0), b = operand(1);
      agree(a.leaves.size() == b.leaves.size() && a.leaves[0]->type == b.leaves[0]->type);
      return done(std::initializer_list<Value*>{dot(a.leaves, b.leaves)});
    }
    case spv::Op::OpMatrixTimesVector: {
      const Val m = operand(0), v = operand(1);
      const uint32_t rows = rowsOf(m);
      agree(m.leaves.size() == rows * v.leaves.size() && m.leaves[0]->type == v.leaves[0]->type);
      std::span<Value*> out = allocate(rows);
      for (uint32_t r = 0; r < rows; ++r) {
        out[r] = e().binary(Op::FMul, m.leaves[r], v.leaves[0]);
        for (uint32_t c = 1; c < v.leaves.size(); ++c)
          out[r] = e().binary(Op::FAdd, out[r], e().binary(Op::FMul, m.leaves[c * rows + r], v.leaves[c]));
      }
      return done(out);
    }
    case spv::Op::OpVectorTimesMatrix: {
      const Val v = operand(0), m = operand(1);
      const uint32_t rows = rowsOf(m);
      agree(v.leaves.size() == rows && m.leaves[0]->type == v.leaves[0]->type);
      std::span<Value*> out = allocate(m.leaves.size() / rows);
      for (uint32_t c = 0; c < out.size(); ++c) out[c] = dot(v.leaves, m.leaves.subspan(c * rows, rows));
      return done(out);
    }
    case spv::Op::OpMatrixTimesMatrix: {
      const Val a = operand(0), b = operand(1);
      const uint32_t rows = rowsOf(a), inner = rowsOf(b);
      agree(a.leaves.size() == rows * inner && a.leaves[0]->type == b.leaves[0]->type);
      const uint32_t columns = static_cast<uint32_t>(b.leaves.size()) / inner;
      std::span<Value*> out = allocate(rows * columns);
      for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t r = 0; r < rows; ++r) {
          Value* sum = e().binary(Op::FMul, a.leaves[r], b.leaves[c * inner]);
          for (uint32_t k = 1; k < inner; ++k)
            sum = e().binary(Op::FAdd, sum, e().binary(Op::FMul, a.leaves[k * rows + r], b.leaves[c * inner + k]));
          out[c * rows + r] = sum;
        }
      return done(out);
    }
    case spv::Op::OpOuterProduct: {
      const Val a = operand(0), b = operand(1);
      agree(a.leaves[0]->type == b.leaves[0]->type);
      std::span<Value*> out = allocate(a.leaves.size() * b.leaves.size());
      for (size_t c = 0; c < b.leaves.size(); ++c)
        for (size_t r = 0; r < a.leaves.size(); ++r)
          out[c * a.leaves.size() + r] = e().binary(Op::FMul, a.leaves[r], b.leaves[c]);
      return done(out);
    }
    case spv::Op::OpTranspose: {
      const Val m = operand(0);
      const uint32_t rows = rowsOf(m), columns = static_cast<uint32_t>(m.leaves.size()) / rows;
      std::span<Value*> out = allocate(m.leaves.size());
      for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t r = 0; r < rows; ++r) out[r * columns + c] = m.leaves[c * rows + r];
      return done(out);
    }
    default:
      return false;
  }
}

// OpSDot and its relatives: exact sums in the result's width, with or without a saturating accumulator.
bool Translator::emitIntegerDot(spv::Op op, const Instr& in, uint32_t firstOperand) {
  bool signedA = false, signedB = false, accumulate = false;
  switch (op) {
    case spv::Op::OpSDot:
      signedA = signedB = true;
      break;
    case spv::Op::OpUDot:
      break;
    case spv::Op::OpSUDot:
      signedA = true;
      break;
    case spv::Op::OpSDotAccSat:
      signedA = signedB = accumulate = true;
      break;
    case spv::Op::OpUDotAccSat:
      accumulate = true;
      break;
    case spv::Op::OpSUDotAccSat:
      signedA = accumulate = true;
      break;
    default:
      return false;
  }
  const ir::Type t = type(in.resultType).scalar;
  if (!t.isInt()) failInvalid("operation with a wrong result type");
  const Val a = get(in.word(firstOperand)), b = get(in.word(firstOperand + 1));
  // A scalar is four packed bytes.
  auto parts = [&](const Val& v) {
    std::vector<Value*> out(v.leaves.begin(), v.leaves.end());
    if (out.size() == 1) {
      Value* word = out[0];
      if (word->type != ir::kI32) failInvalid("packed vector of a wrong type");
      out.clear();
      for (uint32_t i = 0; i < 4; ++i)
        out.push_back(e().convert(Op::Trunc, ir::kI8, e().binary(Op::UShr, word, e().i32(8 * i))));
    }
    return out;
  };
  const std::vector<Value*> pa = parts(a), pb = parts(b);
  if (pa.size() != pb.size() || pa.empty()) failInvalid("operation on different sizes");
  // Products of 8-bit parts fit 32 bits, of 16-bit parts 64; saturation needs the sum exact before it is clamped.
  const ir::Type wide = accumulate ? ir::kI64 : t;
  Value* sum = nullptr;
  for (size_t i = 0; i < pa.size(); ++i) {
    Value* product = e().binary(Op::IMul, resizeInt(pa[i], wide, signedA), resizeInt(pb[i], wide, signedB));
    sum = sum ? e().binary(Op::IAdd, sum, product) : product;
  }
  if (accumulate) {
    const bool isSigned = signedA;
    Value* acc = scalar(in.word(firstOperand + 2));
    const uint32_t bits = ir::kindBits(t.kind);
    if (bits == 64) {
      Value* total = e().binary(Op::IAdd, sum, acc);
      if (isSigned) {
        // Overflow: both have the same sign and the sum another.
        Value* overflow =
            e().compare(Op::SLt, e().binary(Op::And, e().binary(Op::Xor, sum, total), e().binary(Op::Xor, acc, total)),
                        e().integer(t, 0));
        Value* limit = e().select(e().compare(Op::SLt, acc, e().integer(t, 0)), e().integer(t, 1ull << 63),
                                  e().integer(t, ~0ull >> 1));
        sum = e().select(overflow, limit, total);
      } else {
        sum = e().select(e().compare(Op::ULt, total, sum), e().integer(t, ~0ull), total);
      }
    } else {
      sum = e().binary(Op::IAdd, sum, resizeInt(acc, wide, isSigned));
      if (isSigned) {
        const int64_t top = (int64_t{1} << (bits - 1)) - 1;
        sum = e().binary(Op::SMin, sum, e().integer(wide, static_cast<uint64_t>(top)));
        sum = e().binary(Op::SMax, sum, e().integer(wide, static_cast<uint64_t>(-top - 1)));
      } else {
        sum = e().binary(Op::UMin, sum, e().integer(wide, (1ull << bits) - 1));
      }
    }
  }
  setScalar(in, resizeInt(sum, t, false));
  return true;
}

}  // namespace pumice::shader::spirv
