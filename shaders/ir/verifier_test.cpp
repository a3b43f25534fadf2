#include "shaders/ir/verifier.h"

#include <gtest/gtest.h>

#include "shaders/ir/builder.h"
#include "shaders/ir/printer.h"

namespace pumice::shader::ir {
namespace {

class VerifierTest : public testing::Test {
 protected:
  VerifierTest() : b(fn) { fn.name = "main"; }
  void ret() { b.br(fn.body); }
  Value* i32(uint32_t v) { return fn.constantI32(v); }
  void expectFault(const char* part) {
    const std::string fault = verify(fn);
    EXPECT_NE(fault.find(part), std::string::npos) << "found instead: '" << fault << "'\n" << print(fn);
  }

  Function fn;
  Builder b;
};

TEST_F(VerifierTest, AcceptsTheEmptyFunction) {
  ret();
  EXPECT_EQ(verify(fn), "");
}

TEST_F(VerifierTest, RegionsEndInTheirOnlyTerminator) {
  expectFault("empty region");
  b.inst(Op::MemoryBarrier, kVoid, {});
  expectFault("terminator");
  ret();
  EXPECT_EQ(verify(fn), "");
  ret();
  expectFault("terminator");
}

TEST_F(VerifierTest, ElseIsNeverEmpty) {
  Construct* c = b.openIf(fn.constantBool(true));
  b.br(c);
  b.close();
  ret();
  expectFault("empty region");
}

TEST_F(VerifierTest, ValuesOfAnInnerRegionAreNotVisibleBehindIt) {
  Construct* c = b.openBlock();
  Value* inner = b.builtin(Op::LocalInvocationIndex);
  b.br(c);
  b.close();
  b.binary(Op::IAdd, inner, i32(1));
  ret();
  expectFault("not visible");
}

TEST_F(VerifierTest, UseBeforeDefinition) {
  Value* v = b.builtin(Op::LocalInvocationIndex);
  b.binary(Op::IAdd, v, v);
  ret();
  std::swap(fn.body->body.nodes[0], fn.body->body.nodes[1]);
  expectFault("not visible");
}

TEST_F(VerifierTest, ThenValuesAreNotVisibleInElse) {
  Construct* c = b.openIf(fn.constantBool(true));
  Value* v = b.builtin(Op::LocalInvocationIndex);
  b.br(c);
  b.openElse();
  b.binary(Op::IAdd, v, v);
  b.br(c);
  b.close();
  ret();
  expectFault("not visible");
}

TEST_F(VerifierTest, ResultsAreNotVisibleInside) {
  Construct* c = b.openBlock();
  Value* r = b.result(c, kI32);
  b.binary(Op::IAdd, r, r);
  b.br(c, {i32(0)});
  b.close();
  ret();
  expectFault("not visible");
}

TEST_F(VerifierTest, BranchesLeadOutwards) {
  Construct* c = b.openBlock();
  b.br(c);
  b.close();
  b.br(c);
  expectFault("types or parameters");
}

TEST_F(VerifierTest, BranchOperandsMatchTheTarget) {
  Construct* c = b.openBlock();
  b.br(c);
  b.close();
  ret();
  EXPECT_EQ(verify(fn), "");
  b.result(c, kI32);
  expectFault("types or parameters");
  auto* br = static_cast<Inst*>(c->body.nodes[0]);
  br->operands.push_back(fn.constantF32(1));
  expectFault("types or parameters");
  br->operands[0] = i32(1);
  EXPECT_EQ(verify(fn), "");
}

TEST_F(VerifierTest, SwitchTargetsAreBlocksWithoutResults) {
  Construct* loop = b.openLoop({});
  const SwitchCase cases[] = {{0, loop}};
  b.brTable(i32(0), cases);
  b.close();
  b.unreachable();
  expectFault("BrTable");
}

TEST_F(VerifierTest, OneDefinitionOnly) {
  b.builtin(Op::LocalInvocationIndex);
  ret();
  fn.body->body.nodes.insert(fn.body->body.nodes.begin(), fn.body->body.nodes[0]);
  expectFault("bad result value");
}

TEST_F(VerifierTest, Types) {
  const auto rejects = [](auto build) {
    Function f;
    f.locals.push_back({16, 4, ""});
    Builder builder(f);
    build(f, builder);
    builder.br(f.body);
    EXPECT_NE(verify(f), "") << print(f);
  };
  rejects([](Function& f, Builder& x) { x.binary(Op::FAdd, f.constantI32(1), f.constantI32(1)); });
  rejects([](Function& f, Builder& x) { x.binary(Op::IAdd, f.constantF32(1), f.constantF32(1)); });
  rejects([](Function& f, Builder& x) { x.binary(Op::IAdd, f.constantBool(true), f.constantBool(true)); });
  rejects([](Function& f, Builder& x) { x.inst(Op::IAdd, kI32, {f.constantI32(1), f.constant(kI64, 1)}); });
  rejects([](Function& f, Builder& x) { x.inst(Op::IAdd, kI64, {f.constantI32(1), f.constantI32(1)}); });
  rejects([](Function& f, Builder& x) { x.inst(Op::IAdd, kI32, {f.constantI32(1)}); });
  rejects([](Function& f, Builder& x) { x.inst(Op::IEq, kI32, {f.constantI32(1), f.constantI32(1)}); });
  rejects([](Function& f, Builder& x) { x.convert(Op::SExt, kI16, f.constantI32(1)); });
  rejects([](Function& f, Builder& x) { x.convert(Op::Bitcast, kF64, f.constantI32(1)); });
  rejects([](Function& f, Builder& x) { x.convert(Op::FConvert, kF32, f.constantF32(1)); });
  rejects([](Function& f, Builder& x) {
    x.inst(Op::Select, kI32, {f.constantI32(1), f.constantI32(1), f.constantI32(1)});
  });
  rejects([](Function& f, Builder& x) { x.inst(Op::Extract, kI32, {f.constantI32(1)})->imm = 1; });
  rejects([](Function& f, Builder& x) {
    x.inst(Op::LocalInvocationId, kI32, {})->imm = 3;
    (void)f;
  });
  rejects([](Function& f, Builder& x) { x.load(kI32, MemRef{}, {f.constantI32(1), f.constantI32(1)}); });
  rejects([](Function& f, Builder& x) {
    MemRef m;
    m.space = Space::kLocal;
    m.local = 1;
    x.load(kI32, m, {f.constantI32(0)});
  });
  rejects([](Function& f, Builder& x) {
    MemRef m;
    m.space = Space::kPush;
    x.store(m, {f.constantI32(0)}, f.constantI32(0));
  });
  rejects([](Function& f, Builder& x) {
    MemRef m;
    m.space = Space::kShared;
    x.inst(Op::AtomicIAdd, kF32, {f.constantI32(0), f.constantF32(0)})->mem = m;
  });
  rejects([](Function& f, Builder& x) {
    x.inst(Op::SubgroupReduce, kI32, {f.constantI32(0)})->imm2 = static_cast<uint32_t>(ReduceOp::kFAdd);
  });
  rejects([](Function& f, Builder& x) { x.inst(Op::SubgroupReduce, kI32, {f.constantI32(0)})->imm = 3; });
  rejects([](Function& f, Builder& x) { x.inst(Op::SubgroupInclusiveScan, kI32, {f.constantI32(0)})->imm = 4; });
}

TEST_F(VerifierTest, WorkgroupAndSubgroupSizes) {
  ret();
  fn.localSize[0] = 1025;
  expectFault("1025 invocations");
  fn.localSize[0] = 1;
  fn.subgroupSize = 12;
  expectFault("subgroup size");
}

TEST_F(VerifierTest, PrintedForm) {
  fn.localSize[0] = 8;
  Inst* ref = b.inst(Op::BufferDescriptor, kBufferRef, {});
  ref->binding = 3;
  Construct* exit = b.openBlock();
  Value* r = b.result(exit, kF32);
  Construct* loop = b.openLoop({i32(0)});
  b.openIf(b.binary(Op::ULt, loop->params[0], i32(4)));
  b.br(loop, {b.binary(Op::IAdd, loop->params[0], i32(1))});
  b.openElse();
  b.br(exit, {fn.constantF32(1.5f)});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  MemRef m;
  m.scale_B = 4;
  m.offset_B = 16;
  b.store(m, {ref->result, i32(2)}, r);
  ret();
  EXPECT_EQ(print(fn), R"(compute main local_size 8x1x1 subgroup 16 shared 0 {
  %0:buffer = BufferDescriptor set 0 binding 3
  %1:f32 = b1 block {
    loop2 loop (%3:i32 = i32:0) {
      %5:bool = ULt %3, i32:4
      b3 if %5 {
        %7:i32 = IAdd %3, i32:1
        Br loop2 (%7)
      } else {
        Br b1 (f32:0x3fc00000(1.5))
      }
      Unreachable
    }
    Unreachable
  }
  Store.buffer [%0 + i32:2 * 4 + 16] align 4, %1
  Br return
}
)");
}

}  // namespace
}  // namespace pumice::shader::ir
