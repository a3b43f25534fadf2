// What each pass is for, on small functions.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "shaders/ir/builder.h"
#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/contract.h"
#include "shaders/passes/hoist.h"
#include "shaders/passes/passes.h"
#include "shaders/passes/promote_locals.h"
#include "shaders/passes/simplify.h"
#include "shaders/passes/tree.h"
#include "shaders/passes/unroll.h"

namespace pumice::shader::passes {
namespace {

using namespace ir;

class PassTest : public testing::Test {
 protected:
  PassTest() : b(fn) {
    fn.subgroupSize = 4;
    fn.localSize[0] = 4;
    out = b.inst(Op::BufferDescriptor, kBufferRef, {})->result;
    lane = b.builtin(Op::LocalInvocationIndex);
  }

  Value* i32(uint32_t v) { return fn.constantI32(v); }
  static MemRef words(Space space = Space::kBuffer, uint32_t local = 0) {
    MemRef m;
    m.space = space;
    m.scale_B = 4;
    m.local = local;
    return m;
  }
  uint32_t local(uint32_t size_B) {
    fn.locals.push_back({size_B, 4, {}});
    return static_cast<uint32_t>(fn.locals.size() - 1);
  }
  void storeLocal(uint32_t var, Value* index, Value* v) { b.store(words(Space::kLocal, var), {index}, v); }
  Value* loadLocal(uint32_t var, Value* index) { return b.load(kI32, words(Space::kLocal, var), {index}); }
  Value* add(Value* x, Value* y) { return b.binary(Op::IAdd, x, y); }
  void finish(Value* result) {
    b.store(words(), {out, lane}, result);
    b.br(fn.body);
  }

  std::vector<uint32_t> run() {
    EXPECT_EQ(verify(fn), "") << print(fn);
    std::vector<uint32_t> memory(4, 0xeeeeeeee);
    std::array<abi::BufferDescriptor, 1> set{{{reinterpret_cast<uint64_t>(memory.data()), 16}}};
    abi::BindingState state{};
    state.setAddress[0] = reinterpret_cast<uint64_t>(set.data());
    const abi::BindingSlot slots[] = {{0, 0, 1, 0, 16, abi::kNotDynamic}};
    std::array<std::byte, 256> push{};
    std::array<std::byte, 256> shared{};
    abi::ComputeEnv env{};
    env.bindings = &state;
    env.pushConstants = push.data();
    env.shared = shared.data();
    for (uint32_t& n : env.groupCount) n = 1;
    EXPECT_EQ(interpret(fn, slots, env, 0, 1), "") << print(fn);
    return memory;
  }

  size_t count(Op op) {
    size_t n = 0;
    forEachInst(*fn.body, [&](const Inst& i) { n += i.op == op; });
    return n;
  }
  size_t constructs() {
    size_t n = 0;
    forEachConstruct(fn.body->body, [&](const Construct&) { ++n; });
    return n;
  }

  // for (i = 0; i < n; ++i) body(i): leaves the builder behind the loop.
  template <typename F>
  void forLoop(Value* n, F body) {
    Construct* exit = b.openBlock();
    Construct* loop = b.openLoop({i32(0)});
    Value* i = loop->params[0];
    b.openIf(b.binary(Op::ULt, i, n));
    body(i);
    b.br(loop, {add(i, i32(1))});
    b.openElse();
    b.br(exit);
    b.close();
    b.unreachable();
    b.close();
    b.unreachable();
    b.close();
  }

  Function fn;
  Builder b;
  Value* out = nullptr;
  Value* lane = nullptr;
};

using Words = std::vector<uint32_t>;

TEST_F(PassTest, PromotesThroughIfAndLoop) {
  const uint32_t x = local(8);
  storeLocal(x, i32(0), lane);
  storeLocal(x, i32(1), i32(100));
  forLoop(lane, [&](Value* i) {
    Construct* c = b.openIf(b.binary(Op::IEq, i, i32(1)));
    storeLocal(x, i32(1), add(loadLocal(x, i32(1)), i32(7)));
    b.br(c);
    b.openElse();
    b.br(c);
    b.close();
    storeLocal(x, i32(0), add(loadLocal(x, i32(0)), i));
  });
  finish(add(loadLocal(x, i32(0)), loadLocal(x, i32(1))));
  const Words expected{100, 101, 110, 113};  // lane + sum below lane + 100, and 7 more if 1 < lane
  EXPECT_EQ(run(), expected);
  EXPECT_TRUE(promoteLocals(fn));
  EXPECT_TRUE(fn.locals.empty());
  EXPECT_EQ(count(Op::Load) + count(Op::Store), 1u);
  EXPECT_EQ(run(), expected);
  simplify(fn);
  EXPECT_EQ(run(), expected);
}

TEST_F(PassTest, SmallDynamicArraysBecomeSelections) {
  const uint32_t x = local(16);
  for (uint32_t i = 0; i < 4; ++i) storeLocal(x, i32(i), i32(10 * i));
  storeLocal(x, b.binary(Op::Xor, lane, i32(1)), i32(5));
  finish(add(loadLocal(x, lane), loadLocal(x, add(lane, i32(2)))));
  // Own element, and the one two further (none from 4 on); the neighbour's is 5.
  const Words expected{0 + 20, 10 + 30, 20, 30};
  EXPECT_EQ(run(), expected);
  EXPECT_TRUE(promoteLocals(fn));
  EXPECT_TRUE(fn.locals.empty());
  EXPECT_EQ(run(), expected);
}

TEST_F(PassTest, LargeDynamicArraysStay) {
  const uint32_t x = local(256), y = local(4);
  storeLocal(y, i32(0), i32(3));
  storeLocal(x, lane, loadLocal(y, i32(0)));
  finish(loadLocal(x, lane));
  EXPECT_TRUE(promoteLocals(fn));
  ASSERT_EQ(fn.locals.size(), 1u);
  EXPECT_EQ(fn.locals[0].size_B, 256u);
  EXPECT_EQ(run(), (Words{3, 3, 3, 3}));
}

TEST_F(PassTest, SimplifyFoldsAndDissolves) {
  Value* six = b.binary(Op::IMul, i32(2), i32(3));
  Construct* c = b.openIf(b.binary(Op::ULt, six, i32(7)));
  Value* r = b.result(c, kI32);
  b.br(c, {b.binary(Op::UDiv, lane, i32(2))});
  b.openElse();
  b.br(c, {i32(9)});
  b.close();
  Value* again = b.binary(Op::UDiv, lane, i32(2));
  finish(add(add(r, again), b.binary(Op::ISub, again, again)));
  EXPECT_EQ(run(), (Words{0, 0, 2, 2}));
  simplify(fn);
  EXPECT_EQ(constructs(), 0u);
  EXPECT_EQ(count(Op::UDiv), 0u);
  EXPECT_EQ(count(Op::UShr), 1u);
  EXPECT_EQ(run(), (Words{0, 0, 2, 2}));
}

TEST_F(PassTest, LoadsMergeUntilAWrite) {
  b.store(words(), {out, lane}, i32(4));
  Value* x = b.load(kI32, words(), {out, lane});
  Value* y = b.load(kI32, words(), {out, lane});
  b.store(words(), {out, lane}, add(x, y));
  Value* z = b.load(kI32, words(), {out, lane});
  finish(add(add(x, y), z));
  simplify(fn);
  EXPECT_EQ(count(Op::Load), 2u);
  EXPECT_EQ(run(), (Words{16, 16, 16, 16}));
}

TEST_F(PassTest, UnrollsSoThatArraysBecomeValues) {
  const uint32_t x = local(64);  // too large for selections
  forLoop(i32(16), [&](Value* i) { storeLocal(x, i, b.binary(Op::IMul, i, lane)); });
  const uint32_t sum = local(4);
  forLoop(i32(16), [&](Value* i) { storeLocal(sum, i32(0), add(loadLocal(sum, i32(0)), loadLocal(x, i))); });
  finish(loadLocal(sum, i32(0)));
  const Words expected{0, 120, 240, 360};
  EXPECT_EQ(run(), expected);
  promoteLocals(fn);
  simplify(fn);
  EXPECT_TRUE(unrollLoops(fn));
  EXPECT_EQ(run(), expected);
  simplify(fn);
  promoteLocals(fn);
  simplify(fn);
  EXPECT_TRUE(fn.locals.empty()) << print(fn);
  EXPECT_EQ(constructs(), 0u) << print(fn);
  EXPECT_EQ(run(), expected);
}

TEST_F(PassTest, LoopsOfUnknownLengthStay) {
  const uint32_t x = local(4);
  forLoop(lane, [&](Value* i) { storeLocal(x, i32(0), i); });
  finish(loadLocal(x, i32(0)));
  EXPECT_FALSE(unrollLoops(fn));
}

TEST_F(PassTest, HoistsInvariantsAndReadOnlyLoads) {
  const uint32_t x = local(4);
  MemRef constant = words(Space::kPush);
  constant.readOnly = true;
  forLoop(i32(100), [&](Value*) {
    Value* v = b.load(kI32, constant, {b.binary(Op::And, lane, i32(3))});
    storeLocal(x, i32(0), add(loadLocal(x, i32(0)), add(v, i32(1))));
  });
  finish(loadLocal(x, i32(0)));
  promoteLocals(fn);
  simplify(fn);
  hoistInvariants(fn);
  EXPECT_EQ(run(), (Words{100, 100, 100, 100}));
  size_t inLoops = 0;
  forEachConstruct(fn.body->body, [&](const Construct& c) {
    if (c.shape == Construct::Shape::kLoop) forEachInst(c, [&](const Inst& i) { inLoops += i.op == Op::Load; });
  });
  EXPECT_EQ(inLoops, 0u);
  EXPECT_EQ(count(Op::Load), 1u);
}

TEST_F(PassTest, LoadsStayBehindWritesInTheLoop) {
  forLoop(i32(3), [&](Value* i) {
    Value* old = b.load(kI32, words(), {out, lane});
    b.store(words(), {out, lane}, b.select(b.binary(Op::IEq, i, i32(0)), i32(1), add(old, old)));
  });
  finish(b.load(kI32, words(), {out, lane}));
  hoistInvariants(fn);
  EXPECT_EQ(run(), (Words{4, 4, 4, 4}));
}

TEST_F(PassTest, ContractsProductsThatOnlySumsUse) {
  auto f = [&](float v) { return fn.constantF32(v); };
  Value* l = b.convert(Op::UToF, kF32, lane);
  Value* p = b.binary(Op::FMul, l, l);
  Value* s = b.binary(Op::FSub, f(100), p);  // 100 - l * l
  Value* kept = b.binary(Op::FMul, l, f(3));
  Value* t = b.binary(Op::FAdd, b.binary(Op::FAdd, s, kept), kept);
  Inst* exact = b.inst(Op::FMul, kF32, {l, f(5)});
  exact->noContract = true;
  finish(b.convert(Op::FToU, kI32, b.binary(Op::FAdd, t, exact->result)));
  const Words expected{100, 110, 118, 124};  // 100 - l^2 + 3 l + 3 l + 5 l
  EXPECT_EQ(run(), expected);
  contract(fn);
  EXPECT_EQ(count(Op::FMul), 1u);
  EXPECT_EQ(count(Op::FFma), 3u);
  EXPECT_EQ(run(), expected);
}

class TierTest : public PassTest, public testing::WithParamInterface<Tier> {};
INSTANTIATE_TEST_SUITE_P(Tiers, TierTest, testing::Values(Tier::kQuick, Tier::kBetter));

// sum += product of the iteration before: unrolled, each sum would see its product and could be contracted.
TEST_P(TierTest, ContractTheSameSums) {
  Construct* exit = b.openBlock();
  Value* result = b.result(exit, kF32);
  Construct* loop = b.openLoop({i32(0), fn.constantF32(-1), fn.constantF32(0)});
  Value* sum = b.binary(Op::FAdd, loop->params[1], loop->params[2]);
  b.openIf(b.binary(Op::ULt, loop->params[0], i32(2)));
  Inst* x = b.inst(Op::Bitcast, kF32, {add(lane, i32(std::bit_cast<uint32_t>(1.0f + 0x1p-12f)))});
  b.br(loop, {add(loop->params[0], i32(1)), sum, b.binary(Op::FMul, x->result, x->result)});
  b.openElse();
  b.br(exit, {sum});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  finish(b.inst(Op::Bitcast, kI32, {result})->result);
  runPasses(fn, GetParam());
  EXPECT_EQ(constructs() == 0, GetParam() == Tier::kBetter);  // unrolled
  // Lane 0: (1 + 2^-12)^2 rounds to 1 + 2^-11; twice that less 1 is 1 + 2^-10. FFma would keep 2^-23 more.
  EXPECT_EQ(run()[0], std::bit_cast<uint32_t>(1.0f + 0x1p-10f));
}

}  // namespace
}  // namespace pumice::shader::passes
