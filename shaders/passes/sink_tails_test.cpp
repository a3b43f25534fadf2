#include "shaders/passes/sink_tails.h"

#include <gtest/gtest.h>

#include "shaders/ir/builder.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"

namespace pumice::shader::passes {
namespace {

using namespace ir;

// if (x >= 5) return; [barrier;] store
Construct* earlyReturn(Function& fn, bool barrier) {
  fn.localSize[0] = 64;
  fn.sharedBytes = 256;
  Builder b(fn);
  Value* x = b.builtin(Op::LocalInvocationId, 0);
  Construct* i = b.openIf(b.binary(Op::ULe, fn.constantI32(5), x));
  b.br(fn.body);
  b.openElse();
  b.br(i);
  b.close();
  if (barrier) b.inst(Op::ControlBarrier, kVoid, {});
  b.store(MemRef{.space = Space::kShared, .scale_B = 4}, {x}, x);
  b.br(fn.body);
  return i;
}

TEST(SinkTails, MovesTheRestIntoTheOtherSide) {
  Function fn;
  Construct* i = earlyReturn(fn, false);
  EXPECT_TRUE(sinkTails(fn));
  EXPECT_EQ(verify(fn), "") << print(fn);
  ASSERT_EQ(i->otherwise.nodes.size(), 2u);
  EXPECT_EQ(static_cast<Inst*>(i->otherwise.nodes[0])->op, Op::Store);
  EXPECT_EQ(static_cast<Inst*>(fn.body->body.nodes.back())->op, Op::Unreachable);
  EXPECT_FALSE(sinkTails(fn));
}

TEST(SinkTails, LeavesBarriersOutside) {
  Function fn;
  earlyReturn(fn, true);
  EXPECT_FALSE(sinkTails(fn));
}

}  // namespace
}  // namespace pumice::shader::passes
