#include "shaders/ir/builder.h"

#include <gtest/gtest.h>

namespace pumice::shader::ir {
namespace {

TEST(Function, ConstantsAreUniquedByTypeAndBits) {
  Function fn;
  EXPECT_EQ(fn.constantI32(7), fn.constantI32(7));
  EXPECT_NE(fn.constantI32(7), fn.constant(kI64, 7));
  EXPECT_EQ(fn.constant(kI8, 0x1ff), fn.constant(kI8, 0xff)) << "bits past the width do not count";
  EXPECT_NE(fn.constantF32(0.0f), fn.constantF32(-0.0f));
  std::vector<Value*> many;
  for (uint32_t i = 0; i < 1000; ++i) many.push_back(fn.constantI32(i));
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(fn.constantI32(i), many[i]);
}

TEST(Builder, BuildsALoopWithABlockAroundIt) {
  Function fn;
  Builder b(fn);
  Value* n = b.builtin(Op::LocalInvocationIndex);
  Construct* exit = b.openBlock();
  Value* sum = b.result(exit, kI32);
  Construct* loop = b.openLoop({fn.constantI32(0), fn.constantI32(0)});
  Value* i = loop->params[0];
  Value* acc = loop->params[1];
  Construct* test = b.openIf(b.binary(Op::ULt, i, n));
  b.br(loop, {b.binary(Op::IAdd, i, fn.constantI32(1)), b.binary(Op::IAdd, acc, i)});
  b.openElse();
  b.br(exit, {acc});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  EXPECT_EQ(b.construct(), fn.body);
  EXPECT_EQ(sum->construct, exit);
  EXPECT_EQ(test->parent, loop);
  EXPECT_EQ(loop->parent, exit);
  EXPECT_EQ(fn.body->body.nodes.size(), 3u);
}

}  // namespace
}  // namespace pumice::shader::ir
