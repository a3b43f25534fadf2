// The expanded functions as machine code: bit for bit what the scalar semantics give, and close to long double over a
// dense sample of all F32 patterns. The table in docs/math.md is printed here.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>

#include "shaders/codegen/jit_test_util.h"
#include "shaders/passes/math_test_util.h"

namespace pumice::shader::codegen {
namespace {

using passes::test::Expanded;

constexpr uint32_t kLanes = 16, kVectors = 64;  // of one call

// out[i] = f(in[i]) for kLanes * kVectors values.
std::unique_ptr<test::JitFunction> compileUnary(const Expanded& e, const TargetFeatures& features) {
  return std::make_unique<test::JitFunction>(features, 2, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
    llvm::LLVMContext& context = b.getContext();
    auto* loop = llvm::BasicBlock::Create(context, "loop", &fn);
    auto* done = llvm::BasicBlock::Create(context, "done", &fn);
    llvm::BasicBlock* entry = b.GetInsertBlock();
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(b.getInt64(0), entry);
    llvm::Type* type = llvmType(context, ir::Kind::kF32, kLanes);
    OpsEmitter ops(b, features);
    std::map<const ir::Value*, llvm::Value*> values;
    values[e.inputs()[0]] = b.CreateAlignedLoad(type, b.CreateGEP(type, fn.getArg(0), i), llvm::Align(4));
    for (const ir::Inst* inst : e.instructions()) {
      std::vector<llvm::Value*> operands;
      for (const ir::Value* v : inst->operands) {
        const bool isConstant = v->def == ir::Value::Def::kConstant;
        operands.push_back(isConstant ? ops.constant(v->type.kind, v->bits, kLanes) : values.at(v));
      }
      values[inst->result] = ops.emit(*inst, operands);
    }
    b.CreateAlignedStore(values.at(e.result()), b.CreateGEP(type, fn.getArg(1), i), llvm::Align(4));
    llvm::Value* next = b.CreateAdd(i, b.getInt64(1));
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(kVectors)), loop, done);
    b.SetInsertPoint(done);
  });
}

class Math : public testing::TestWithParam<passes::test::UnaryFunction> {};

TEST_P(Math, SameBitsAndSmallErrors) {
  const passes::test::UnaryFunction& f = GetParam();
  const Expanded e(f.op, ir::kF32, {ir::kF32});
  std::array<float, kLanes * kVectors> in{}, out{};
  double worst = 0;
  float worstAt = 0;
  for (const uint32_t width : test::runnableWidths()) {
    const bool dense = width == test::runnableWidths().back();
    const auto code = compileUnary(e, targetFeatures(width));
    ASSERT_TRUE(*code);
    // A step that is odd and no simple fraction visits all exponents and spreads over the significands.
    const uint64_t step = dense ? 2503 : 104729;
    for (uint64_t bits = 0; bits < (1ull << 32);) {
      for (float& x : in) {
        x = passes::test::asFloat(bits);
        bits += step;
      }
      (*code)(in.data(), out.data());
      for (size_t i = 0; i < in.size(); i += dense ? 1 : 64) {
        if (i % 64 == 0) {
          const float want = passes::test::asFloat(e.evaluate({passes::test::asBits(in[i])}));
          const bool same = passes::test::asBits(want) == passes::test::asBits(out[i]);
          ASSERT_TRUE(same || (std::isnan(want) && std::isnan(out[i])))
              << f.name << "(" << in[i] << ") = " << out[i] << ", interpreted " << want << ", V " << width;
        }
        if (!dense || std::fabs(in[i]) > f.high) continue;
        const double error = passes::test::ulpError(out[i], f.reference(in[i]));
        if (error > worst) {
          worst = error;
          worstAt = in[i];
        }
      }
    }
  }
  std::printf("| %s | %.2f | %.9g | %zu |\n", f.name, worst, static_cast<double>(worstAt), e.instructions().size());
  EXPECT_LE(worst, f.maxUlp);
}

INSTANTIATE_TEST_SUITE_P(All, Math, testing::ValuesIn(passes::test::unaryFunctions()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace pumice::shader::codegen
