#include "shaders/passes/ranges.h"

#include <gtest/gtest.h>

#include "shaders/ir/builder.h"

namespace pumice::shader::passes {
namespace {

using namespace ir;

class RangesTest : public ::testing::Test {
 protected:
  RangesTest() : b(fn) {
    fn.localSize[0] = 16;
    fn.localSize[1] = 16;
  }
  Value* constant(uint32_t v) { return fn.constantI32(v); }
  Value* unknown() { return b.builtin(Op::WorkgroupId, 0); }
  const Inst* loadShared(Value* index) {
    return b.load(kF32, MemRef{.space = Space::kShared, .scale_B = 4}, {index})->inst;
  }

  Function fn;
  Builder b;
};

TEST_F(RangesTest, Arithmetic) {
  Value* y = b.builtin(Op::LocalInvocationId, 1);
  Value* tile = b.binary(Op::IAdd, b.binary(Op::IMul, y, constant(16)), b.builtin(Op::LocalInvocationId, 0));
  Value* masked = b.binary(Op::And, unknown(), constant(63));
  Value* rest = b.binary(Op::URem, unknown(), constant(10));
  Value* shifted = b.binary(Op::UShr, unknown(), constant(28));
  Value* wraps = b.binary(Op::IAdd, unknown(), constant(1));
  Value* minus = b.binary(Op::ISub, y, constant(1));
  Value* either = b.binary(Op::Or, y, constant(32));
  Value* byZero = b.binary(Op::UDiv, y, unknown());
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.max(tile), 255u);
  EXPECT_EQ(r.max(masked), 63u);
  EXPECT_EQ(r.max(rest), 9u);
  EXPECT_EQ(r.max(shifted), 15u);
  EXPECT_EQ(r.max(wraps), 0xffff'ffffu);
  EXPECT_EQ(r.max(minus), 0xffff'ffffu);
  EXPECT_EQ(r.max(either), 47u | 63u);
  EXPECT_EQ(r.max(byZero), 0xffff'ffffu);
}

// A masked-off lane computes along with what the guard excludes: 40 + 100 is only bounded where the guard holds.
TEST_F(RangesTest, GuardsDoNotCountForEveryLane) {
  Value* n = b.builtin(Op::LocalInvocationIndex);
  Construct* i = b.openIf(b.binary(Op::ULt, n, constant(40)));
  Value* guarded = b.binary(Op::IAdd, n, constant(100));
  b.br(i);
  b.openElse();
  b.br(i);
  b.close();
  b.br(fn.body);
  const uint32_t invocations = fn.localSize[0] * fn.localSize[1] * fn.localSize[2];
  const Ranges r(fn);
  EXPECT_EQ(r.max(guarded), 139u);
  EXPECT_EQ(r.maxOfEveryLane(guarded), invocations - 1 + 100);
}

TEST_F(RangesTest, GuardsCountInside) {
  Value* n = unknown();
  Construct* i = b.openIf(b.binary(Op::ULt, n, constant(40)));
  const Inst* inside = loadShared(n);
  b.br(i);
  b.openElse();
  const Inst* outside = loadShared(n);
  b.br(i);
  b.close();
  const Inst* behind = loadShared(n);
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.indexMax(inside), 39u);
  EXPECT_EQ(r.indexMax(outside), 0xffff'ffffu);
  EXPECT_EQ(r.indexMax(behind), 0xffff'ffffu);
}

TEST_F(RangesTest, EarlyReturnGuardsTheRest) {
  Value* n = unknown();
  Construct* i = b.openIf(b.binary(Op::ULe, constant(40), n));
  b.br(fn.body);
  b.openElse();
  b.br(i);
  b.close();
  const Inst* rest = loadShared(n);
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.indexMax(rest), 39u);
}

TEST_F(RangesTest, CountedLoop) {
  Construct* out = b.openBlock();
  Construct* loop = b.openLoop({constant(0)});
  Value* i = loop->params[0];
  b.openIf(b.binary(Op::SLt, i, constant(16)));
  const Inst* inside = loadShared(i);
  b.br(loop, {b.binary(Op::IAdd, i, constant(2))});
  b.openElse();
  b.br(out);
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.indexMax(inside), 15u);
  EXPECT_GE(r.max(i), 16u);
  EXPECT_LE(r.max(i), 17u);
  EXPECT_GE(r.tripCount(loop), 9u);  // the test that fails counts
  EXPECT_LE(r.tripCount(loop), 10u);
}

TEST_F(RangesTest, FallingLoopStaysBelowItsStart) {
  Construct* out = b.openBlock();
  Construct* loop = b.openLoop({constant(128), constant(0)});
  Value* k = loop->params[0];
  Value* grows = loop->params[1];
  b.openIf(b.binary(Op::ULt, constant(0), k));
  b.br(loop, {b.binary(Op::UShr, k, constant(1)), b.binary(Op::IAdd, grows, k)});
  b.openElse();
  b.br(out);
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.max(k), 128u);
  EXPECT_EQ(r.max(grows), 0xffff'ffffu);
  EXPECT_EQ(r.tripCount(loop), 0u);
}

TEST_F(RangesTest, UnboundedLoopIsNotBounded) {
  // The bound changes inside the loop.
  Construct* out = b.openBlock();
  Construct* loop = b.openLoop({constant(0), constant(4)});
  Value* i = loop->params[0];
  Value* n = loop->params[1];
  b.openIf(b.binary(Op::ULt, i, n));
  b.br(loop, {b.binary(Op::IAdd, i, constant(1)), b.binary(Op::IAdd, n, constant(1))});
  b.openElse();
  b.br(out);
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  const Ranges r(fn);
  EXPECT_EQ(r.max(i), 0xffff'ffffu);
  EXPECT_EQ(r.tripCount(loop), 0u);
}

}  // namespace
}  // namespace pumice::shader::passes
