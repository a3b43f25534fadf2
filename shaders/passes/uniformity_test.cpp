#include "shaders/passes/uniformity.h"

#include <gtest/gtest.h>

#include <memory>

#include "shaders/ir/builder.h"

namespace pumice::shader::passes {
namespace {

using namespace ir;
using K = Shape::Kind;

// A 64x4 workgroup, P = 16, k = 4: 16 parts in 4 gangs; a gang is one row.
class UniformityTest : public ::testing::Test {
 protected:
  UniformityTest() : b(fn) {
    fn.localSize[0] = 64;
    fn.localSize[1] = 4;
    fn.subgroupSize = 16;
  }
  void analyse(GangGeometry geometry = {16, 4, 4}) {
    ranges = std::make_unique<Ranges>(fn);
    u = std::make_unique<Uniformity>(fn, *ranges, geometry);
  }
  void expectShape(const Value* v, K kind, int64_t lane = 0, int64_t part = 0) {
    const Shape& s = u->shape(v);
    EXPECT_EQ(s.kind, kind) << "value " << v->id;
    EXPECT_EQ(s.laneStride, lane) << "value " << v->id;
    EXPECT_EQ(s.partStride, part) << "value " << v->id;
  }
  Value* x() { return b.builtin(Op::LocalInvocationId, 0); }
  Value* y() { return b.builtin(Op::LocalInvocationId, 1); }
  Value* constant(uint32_t v) { return fn.constantI32(v); }
  Value* loadShared(Value* index) { return b.load(kI32, MemRef{.space = Space::kShared, .scale_B = 4}, {index}); }

  Function fn;
  Builder b;
  std::unique_ptr<Ranges> ranges;
  std::unique_ptr<Uniformity> u;
};

TEST_F(UniformityTest, BuiltInValuesKnowTheWorkgroup) {
  Value* vx = x();
  Value* vy = y();
  Value* vz = b.builtin(Op::LocalInvocationId, 2);
  Value* index = b.builtin(Op::LocalInvocationIndex);
  Value* group = b.builtin(Op::WorkgroupId, 0);
  Value* lane = b.builtin(Op::SubgroupInvocationId);
  Value* subgroup = b.builtin(Op::SubgroupId);
  b.br(fn.body);
  analyse();
  expectShape(vx, K::kAffine, 1, 16);
  expectShape(vy, K::kAffine, 0, 0);  // the same in the gang
  expectShape(vz, K::kUniform);
  expectShape(index, K::kAffine, 1, 16);
  expectShape(group, K::kUniform);
  expectShape(lane, K::kAffine, 1, 0);
  expectShape(subgroup, K::kAffine, 0, 1);
  analyse({16, 8, 2});  // a gang is two rows
  expectShape(vx, K::kStrided, 1, 0);
  expectShape(vy, K::kStrided, 0, 0);
  analyse({16, 1, 16});
  expectShape(vy, K::kAffine, 0, 0);
}

TEST_F(UniformityTest, ArithmeticKeepsStrides) {
  Value* address = b.binary(Op::IAdd, b.binary(Op::IMul, x(), constant(12)), b.builtin(Op::WorkgroupId, 1));
  Value* down = b.binary(Op::ISub, constant(7), x());
  Value* shifted = b.binary(Op::Shl, x(), constant(3));
  Value* scaled = b.binary(Op::IMul, x(), b.builtin(Op::WorkgroupId, 0));
  Value* square = b.binary(Op::IMul, x(), x());
  Value* wide = b.convert(Op::ZExt, kI64, x());
  Value* unknown = b.convert(Op::ZExt, kI64, address);  // may wrap in 32 bits
  Value* compared = b.binary(Op::ULt, y(), constant(2));
  Value* varying = b.binary(Op::ULt, x(), constant(2));
  b.br(fn.body);
  analyse();
  expectShape(address, K::kAffine, 12, 192);
  expectShape(down, K::kAffine, -1, -16);
  expectShape(shifted, K::kAffine, 8, 128);
  expectShape(scaled, K::kVarying);
  expectShape(square, K::kVarying);
  expectShape(wide, K::kAffine, 1, 16);
  expectShape(unknown, K::kVarying);
  expectShape(compared, K::kAffine);
  expectShape(varying, K::kVarying);
}

TEST_F(UniformityTest, BitOperationsInsideAlignedBlocks) {
  Value* index = b.builtin(Op::LocalInvocationIndex);
  Value* low = b.binary(Op::And, index, constant(63));
  Value* lowest = b.binary(Op::And, index, constant(7));
  Value* row = b.binary(Op::UShr, index, constant(6));
  Value* quad = b.binary(Op::UShr, index, constant(2));
  Value* partner = b.binary(Op::Xor, index, constant(32));
  Value* near = b.binary(Op::Xor, index, constant(1));
  Value* moved = b.binary(Op::And, b.binary(Op::IAdd, index, constant(1)), constant(63));
  b.br(fn.body);
  analyse();
  expectShape(low, K::kStrided, 1, 0);
  expectShape(lowest, K::kVarying);
  expectShape(row, K::kStrided, 0, 0);
  expectShape(quad, K::kVarying);
  expectShape(partner, K::kStrided, 1, 0);
  expectShape(near, K::kVarying);
  expectShape(moved, K::kVarying);  // a carry may cross the block's end
}

TEST_F(UniformityTest, LoadsFollowTheirAddress) {
  Value* everywhere = loadShared(constant(3));
  Value* perRow = loadShared(y());
  Value* each = loadShared(x());
  b.br(fn.body);
  analyse();
  expectShape(everywhere, K::kUniform);
  expectShape(perRow, K::kAffine, 0, 0);
  expectShape(each, K::kVarying);
}

TEST_F(UniformityTest, DivergentMergesVary) {
  Construct* i = b.openIf(b.binary(Op::ULt, x(), constant(5)));
  Value* merged = b.result(i, kI32);
  b.br(i, {constant(1)});
  b.openElse();
  b.br(i, {constant(2)});
  b.close();
  Construct* j = b.openIf(b.binary(Op::ULt, y(), constant(1)));
  Value* perGang = b.result(j, kI32);
  b.br(j, {constant(1)});
  b.openElse();
  b.br(j, {constant(2)});
  b.close();
  Construct* same = b.openIf(b.binary(Op::ULt, x(), constant(5)));
  Value* equal = b.result(same, kI32);
  b.br(same, {constant(4)});
  b.openElse();
  b.br(same, {constant(4)});
  b.close();
  b.br(fn.body);
  analyse();
  expectShape(merged, K::kVarying);
  expectShape(perGang, K::kAffine, 0, 0);
  expectShape(equal, K::kUniform);
  EXPECT_TRUE(u->facts(i).mergesDivergently);
  EXPECT_FALSE(u->facts(i).losesLanes);
}

TEST_F(UniformityTest, LoopsWithDivergentExits) {
  // for (i = 0; i < x; ++i) ...; the counter stays uniform, what leaves the loop does not.
  Value* bound = x();
  Construct* out = b.openBlock();
  Value* count = b.result(out, kI32);
  Construct* loop = b.openLoop({constant(0)});
  Value* i = loop->params[0];
  Construct* check = b.openIf(b.binary(Op::ULt, i, bound));
  b.br(loop, {b.binary(Op::IAdd, i, constant(1))});
  b.openElse();
  b.br(out, {i});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  analyse();
  EXPECT_TRUE(u->facts(loop).divergent);
  EXPECT_TRUE(u->facts(check).losesLanes);
  EXPECT_FALSE(u->facts(out).losesLanes);
  expectShape(i, K::kUniform);
  expectShape(count, K::kVarying);
}

TEST_F(UniformityTest, UniformLoopsKeepStridedParameters) {
  Value* start = x();
  Construct* out = b.openBlock();
  Construct* loop = b.openLoop({start});
  Value* at = loop->params[0];
  Value* sum = b.binary(Op::IAdd, at, constant(256));
  Construct* check = b.openIf(b.binary(Op::ULt, b.builtin(Op::WorkgroupId, 0), constant(9)));
  b.br(loop, {sum});
  b.openElse();
  b.br(out);
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  b.br(fn.body);
  analyse();
  EXPECT_FALSE(u->facts(loop).divergent);
  EXPECT_FALSE(u->facts(check).losesLanes);
  expectShape(at, K::kAffine, 1, 16);
}

TEST_F(UniformityTest, EarlyReturnLosesLanes) {
  Construct* i = b.openIf(b.binary(Op::ULt, x(), constant(5)));
  b.br(fn.body);
  b.openElse();
  b.br(i);
  b.close();
  b.inst(Op::ControlBarrier, kVoid, {});
  b.br(fn.body);
  analyse();
  EXPECT_TRUE(u->facts(i).losesLanes);
  EXPECT_TRUE(u->facts(fn.body).containsBarrier);
  EXPECT_FALSE(u->facts(i).containsBarrier);
}

TEST_F(UniformityTest, OneGangMakesItsValuesUniform) {
  fn.localSize[0] = 64;
  fn.localSize[1] = 1;
  Value* any = b.inst(Op::SubgroupAny, kBool, {b.binary(Op::ULt, x(), constant(3))})->result;
  b.br(fn.body);
  analyse({16, 4, 1});
  expectShape(any, K::kStrided);
  fn.localSize[0] = 16;
  analyse({16, 1, 1});
  expectShape(any, K::kUniform);
}

}  // namespace
}  // namespace pumice::shader::passes
