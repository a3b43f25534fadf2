#include "shaders/ir/interpreter.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "shaders/ir/builder.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"

namespace pumice::shader::ir {
namespace {

// A function with one storage buffer, "out" (set 0, binding 0), and one "in" (set 0, binding 1), and a machine to run
// it.
class InterpreterTest : public testing::Test {
 protected:
  InterpreterTest() : b(fn) { fn.subgroupSize = 4; }

  void SetUp() override {
    fn.localSize[0] = 8;
    outRef = buffer(0);
    inRef = buffer(1);
  }

  Value* buffer(uint32_t binding) {
    Inst* i = b.inst(Op::BufferDescriptor, kBufferRef, {});
    i->binding = binding;
    return i->result;
  }
  static MemRef words(Space space = Space::kBuffer, uint32_t scale_B = 4) {
    MemRef m;
    m.space = space;
    m.scale_B = scale_B;
    return m;
  }
  Value* i32(uint32_t v) { return fn.constantI32(v); }
  Value* lane() { return b.builtin(Op::LocalInvocationIndex); }
  Value* add(Value* x, Value* y) { return b.binary(Op::IAdd, x, y); }
  void storeOut(Value* index, Value* v) { b.store(words(), {outRef, index}, v); }
  void ret() { b.br(fn.body); }

  std::string run(uint64_t groups = 1) {
    const std::string fault = verify(fn);
    if (!fault.empty()) return fault + "\n" + print(fn);
    std::array<abi::BufferDescriptor, 2> set{};
    set[0] = {reinterpret_cast<uint64_t>(out.data()), out.size() * 4};
    set[1] = {reinterpret_cast<uint64_t>(in.data()), in.size() * 4};
    abi::BindingState state{};
    state.setAddress[0] = reinterpret_cast<uint64_t>(set.data());
    const abi::BindingSlot slots[] = {{0, 0, 1, 0, 16, abi::kNotDynamic}, {0, 1, 1, 16, 16, abi::kNotDynamic}};
    abi::ComputeEnv env{};
    env.bindings = &state;
    env.pushConstants = push.data();
    env.shared = shared.data();
    env.groupCount[0] = static_cast<uint32_t>(groups);
    env.groupCount[1] = env.groupCount[2] = 1;
    return interpret(fn, slots, env, 0, groups, limits);
  }

  Function fn;
  Builder b;
  Value* outRef = nullptr;
  Value* inRef = nullptr;
  std::vector<uint32_t> out = std::vector<uint32_t>(8, 0xeeeeeeee);
  std::vector<uint32_t> in = std::vector<uint32_t>(8);
  std::array<std::byte, 256> push{};
  std::array<std::byte, 1024> shared{};
  InterpreterLimits limits;
};

using Words = std::vector<uint32_t>;

TEST_F(InterpreterTest, StoresPerLaneAndWorkgroup) {
  out.resize(16);
  Value* global = add(b.binary(Op::IMul, b.builtin(Op::WorkgroupId, 0), i32(8)), lane());
  storeOut(global, b.binary(Op::IMul, global, global));
  ret();
  ASSERT_EQ(run(2), "");
  for (uint32_t i = 0; i < 16; i++) EXPECT_EQ(out[i], i * i);
}

// Lane n sums 0 .. n-1: the trip counts differ.
TEST_F(InterpreterTest, DivergentLoop) {
  Construct* exit = b.openBlock();
  Value* sum = b.result(exit, kI32);
  Construct* loop = b.openLoop({i32(0), i32(0)});
  b.openIf(b.binary(Op::ULt, loop->params[0], lane()));
  b.br(loop, {add(loop->params[0], i32(1)), add(loop->params[1], loop->params[0])});
  b.openElse();
  b.br(exit, {loop->params[1]});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  storeOut(lane(), sum);
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{0, 0, 1, 3, 6, 10, 15, 21}));
}

TEST_F(InterpreterTest, SubgroupOperationsSeeActiveLanesOnly) {
  Value* odd = b.binary(Op::INe, b.binary(Op::And, lane(), i32(1)), i32(0));
  Construct* c = b.openIf(odd);
  Inst* sum = b.inst(Op::SubgroupReduce, kI32, {lane()});
  sum->imm2 = static_cast<uint32_t>(ReduceOp::kIAdd);
  storeOut(lane(), sum->result);
  b.br(c);
  b.openElse();
  storeOut(lane(), b.inst(Op::SubgroupBallot, kI32, {fn.constantBool(true)})->result);
  b.br(c);
  b.close();
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{5, 1 + 3, 5, 1 + 3, 5, 5 + 7, 5, 5 + 7}));
}

// for i < 4: for j < 4: { if (i * 4 + j == lane) leave both loops; if (j > i) next i; count++ }
TEST_F(InterpreterTest, BreakAndContinueOutOfNestedLoops) {
  Construct* exit = b.openBlock();
  Value* count = b.result(exit, kI32);
  Construct* outer = b.openLoop({i32(0), i32(0)});
  Value* i = outer->params[0];
  b.openIf(b.binary(Op::ULt, i, i32(4)));
  Construct* next = b.openBlock();  // the outer loop's continue target
  Value* atNext = b.result(next, kI32);
  Construct* inner = b.openLoop({i32(0), outer->params[1]});
  Value *j = inner->params[0], *n = inner->params[1];
  Construct* test = b.openIf(b.binary(Op::IEq, add(b.binary(Op::IMul, i, i32(4)), j), lane()));
  b.br(exit, {n});
  b.openElse();
  b.br(test);
  b.close();
  test = b.openIf(b.binary(Op::ULt, i, j));
  b.br(next, {n});
  b.openElse();
  b.br(test);
  b.close();
  b.br(inner, {add(j, i32(1)), add(n, i32(1))});
  b.close();
  b.unreachable();
  b.close();  // next
  b.br(outer, {add(i, i32(1)), atNext});
  b.openElse();
  b.br(exit, {outer->params[1]});
  b.close();
  b.unreachable();
  b.close();  // outer
  b.unreachable();
  b.close();  // exit
  storeOut(lane(), count);
  ret();
  ASSERT_EQ(run(), "");
  Words expected;
  for (uint32_t l = 0; l < 8; l++) {
    uint32_t c = 0;
    bool left = false;
    for (uint32_t x = 0; x < 4 && !left; x++) {
      for (uint32_t y = 0;; y++) {
        if (x * 4 + y == l) {
          left = true;
          break;
        }
        if (y > x) break;
        c++;
      }
    }
    expected.push_back(c);
  }
  EXPECT_EQ(out, expected);
}

// switch (lane) { case 1: x += 1; case 3: x += 10; break; case 5: x += 100; break; default: x += 1000; }
TEST_F(InterpreterTest, SwitchFallsThrough) {
  fn.locals.push_back({4, 4, "x"});
  const auto addX = [&](uint32_t v) {
    b.store(words(Space::kLocal), {i32(0)}, add(b.load(kI32, words(Space::kLocal), {i32(0)}), i32(v)));
  };
  Construct* merge = b.openBlock();
  Construct* caseDefault = b.openBlock();
  Construct* case5 = b.openBlock();
  Construct* case3 = b.openBlock();
  Construct* case1 = b.openBlock();
  const SwitchCase cases[] = {{1, case1}, {3, case3}, {5, case5}, {0, caseDefault}};
  b.brTable(lane(), cases);
  b.close();
  addX(1);
  b.br(case3);
  b.close();
  addX(10);
  b.br(merge);
  b.close();
  addX(100);
  b.br(merge);
  b.close();
  addX(1000);
  b.br(merge);
  b.close();
  storeOut(lane(), b.load(kI32, words(Space::kLocal), {i32(0)}));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{1000, 11, 1000, 10, 1000, 100, 1000, 1000}));
}

TEST_F(InterpreterTest, EarlyReturnAndUnreachableEndLanes) {
  Construct* c = b.openIf(b.binary(Op::ULt, lane(), i32(3)));
  storeOut(lane(), i32(7));
  ret();
  b.openElse();
  b.br(c);
  b.close();
  c = b.openIf(b.binary(Op::IEq, lane(), i32(5)));
  b.unreachable();
  b.openElse();
  b.br(c);
  b.close();
  storeOut(lane(), i32(9));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{7, 7, 7, 9, 9, 0xeeeeeeee, 9, 9}));
}

// The parameters swap in each iteration: they must be assigned at once.
TEST_F(InterpreterTest, LoopParametersAreAssignedAtOnce) {
  Construct* exit = b.openBlock();
  Value* r = b.result(exit, kI32);
  Construct* loop = b.openLoop({i32(0), i32(100), i32(200)});
  b.openIf(b.binary(Op::ULt, loop->params[0], lane()));
  b.br(loop, {add(loop->params[0], i32(1)), loop->params[2], loop->params[1]});
  b.openElse();
  b.br(exit, {loop->params[1]});
  b.close();
  b.unreachable();
  b.close();
  b.unreachable();
  b.close();
  storeOut(lane(), r);
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{100, 200, 100, 200, 100, 200, 100, 200}));
}

TEST_F(InterpreterTest, SharedMemoryAcrossABarrier) {
  fn.sharedBytes = 32;
  b.store(words(Space::kShared), {lane()}, b.binary(Op::IMul, lane(), i32(3)));
  b.inst(Op::ControlBarrier, kVoid, {});
  storeOut(lane(), b.load(kI32, words(Space::kShared), {b.binary(Op::ISub, i32(7), lane())}));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{21, 18, 15, 12, 9, 6, 3, 0}));
}

TEST_F(InterpreterTest, SharedMemoryIsZeroedWhereAsked) {
  fn.sharedBytes = 32;
  fn.zeroShared = true;
  shared.fill(std::byte{0xff});
  b.inst(Op::AtomicIAdd, kI32, {i32(0), i32(2)})->mem = words(Space::kShared);
  storeOut(lane(), b.load(kI32, words(Space::kShared), {i32(0)}));
  ret();
  ASSERT_EQ(run(3), "");
  EXPECT_EQ(out, Words(8, 16));
  EXPECT_EQ(shared[32], std::byte{0xff}) << "only the function's own bytes";
}

TEST_F(InterpreterTest, OutOfRangeIsCheckedPerComponent) {
  in = {1, 2, 3};
  out.assign(9, 0xeeeeeeee);
  // vec4 loads at word `lane`: the tail is 0.
  Value* v = b.load(Type{Kind::kI32, 4}, words(), {inRef, lane()});
  Value* sum = i32(0);
  for (uint32_t c = 0; c < 4; c++) sum = add(b.binary(Op::IMul, sum, i32(10)), b.extract(v, c));
  storeOut(lane(), sum);
  // A vec2 store that ends behind the buffer: only its first component is written.
  Value* pair[] = {i32(77), i32(78)};
  b.store(words(), {outRef, i32(8)}, b.construct(pair));
  b.store(words(), {outRef, i32(0xffffffff)}, i32(1));  // a negative index
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{1230, 2300, 3000, 0, 0, 0, 0, 0, 77}));
}

TEST_F(InterpreterTest, AComponentMustBeWhollyInRange) {
  in = {0x04030201};
  Construct* c = b.openBlock();
  MemRef bytes = words(Space::kBuffer, 1);
  bytes.align_log2 = 0;
  storeOut(lane(), b.convert(Op::ZExt, kI32, b.load(kI16, bytes, {inRef, lane()})));
  b.br(c);
  b.close();
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{0x0201, 0x0302, 0x0403, 0, 0, 0, 0, 0}));
}

TEST_F(InterpreterTest, GlobalIndicesAreSigned) {
  in = {10, 11, 12, 13};
  Value* base = b.inst(Op::BufferAddress, kI64, {inRef})->result;
  Value* third = b.binary(Op::IAdd, base, fn.constant(kI64, 12));
  Value* back = b.binary(Op::ISub, i32(0), b.binary(Op::And, lane(), i32(3)));
  storeOut(lane(), b.load(kI32, words(Space::kGlobal), {third, back}));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{13, 12, 11, 10, 13, 12, 11, 10}));
}

TEST_F(InterpreterTest, PushConstantsAndSizes) {
  const uint32_t word = 42;
  std::memcpy(push.data() + 252, &word, 4);
  in.resize(3);
  Value* fromPush = b.load(kI32, words(Space::kPush), {add(i32(60), lane())});
  storeOut(lane(), add(fromPush, b.inst(Op::BufferSize, kI32, {inRef})->result));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{12, 12, 12, 54, 12, 12, 12, 12}));
}

TEST_F(InterpreterTest, DescriptorIndexOutOfRangeIsTheNullDescriptor) {
  Inst* i = b.inst(Op::BufferDescriptor, kBufferRef, {lane()});
  i->binding = 1;
  i->nonUniform = true;
  in.assign(1, 5);
  storeOut(lane(), b.load(kI32, words(), {i->result, i32(0)}));
  b.store(words(), {i->result, i32(0)}, i32(6));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(in[0], 6u);
}

TEST_F(InterpreterTest, PrivateArraysStartAtZeroInEveryWorkgroup) {
  fn.locals.push_back({16, 4, "a"});
  Value* index = b.binary(Op::And, lane(), i32(3));
  b.store(words(Space::kLocal), {index}, add(b.load(kI32, words(Space::kLocal), {index}), lane()));
  Value* other = b.load(kI32, words(Space::kLocal), {b.binary(Op::Xor, index, i32(1))});
  Value* beyond = b.load(kI32, words(Space::kLocal), {i32(4)});
  storeOut(lane(), add(add(b.load(kI32, words(Space::kLocal), {index}), other), beyond));
  ret();
  ASSERT_EQ(run(3), "");
  EXPECT_EQ(out, (Words{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(InterpreterTest, Atomics) {
  in = {0, 100, 0x80000000, 0xffffffff, 7, std::bit_cast<uint32_t>(0.5f), 0, 0};
  const auto at = [&](Op op, uint32_t word, std::initializer_list<Value*> values, Type type = kI32) {
    Inst* i = b.inst(op, op == Op::AtomicStore ? kVoid : type, {inRef, i32(word)});
    i->operands.insert(i->operands.end(), values);
    i->mem = words();
    return i->result;
  };
  at(Op::AtomicIAdd, 0, {lane()});
  at(Op::AtomicUMin, 1, {add(lane(), i32(50))});
  at(Op::AtomicSMax, 2, {lane()});
  at(Op::AtomicAnd, 3, {b.binary(Op::Shl, i32(0xff), lane())});
  at(Op::AtomicCompareExchange, 4, {add(lane(), i32(8)), add(lane(), i32(7))});  // 7 -> 8 -> 9 ...
  at(Op::AtomicFAdd, 5, {fn.constantF32(0.25f)}, kF32);
  at(Op::AtomicStore, 6, {i32(3)});
  at(Op::AtomicIAdd, 100, {i32(1)});  // out of range: no effect
  storeOut(lane(), at(Op::AtomicExchange, 7, {lane()}));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(in, (Words{28, 50, 7, 0x80, 15, std::bit_cast<uint32_t>(2.5f), 3, 7}));
  EXPECT_EQ(out, (Words{0, 0, 1, 2, 3, 4, 5, 6}));
}

// The smallest and largest of all lanes' numbers and of memory's; NaN loses against a number.
TEST_F(InterpreterTest, FloatExtremesInMemory) {
  const auto bits = [](float f) { return std::bit_cast<uint32_t>(f); };
  const uint32_t nan = 0x7fc00001;
  in = {bits(3.5f), bits(3.5f), nan, nan, bits(-1.0f), bits(-0.0f), bits(2.0f), bits(2.0f)};
  const auto at = [&](Op op, uint32_t word, Value* value) {
    Inst* i = b.inst(op, kF32, {inRef, i32(word), value});
    i->mem = words();
    return i->result;
  };
  Value* number = b.convert(Op::UToF, kF32, lane());
  at(Op::AtomicFMin, 0, number);
  at(Op::AtomicFMax, 1, number);
  at(Op::AtomicFMin, 2, number);
  at(Op::AtomicFMax, 3, number);
  at(Op::AtomicFMin, 4, number);
  at(Op::AtomicFMin, 5, number);  // equal: as it is
  at(Op::AtomicFMin, 6, fn.constant(kF32, nan));
  storeOut(lane(), b.convert(Op::Bitcast, kI32, at(Op::AtomicFMax, 7, number)));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(in, (Words{bits(0), bits(7), bits(0), bits(7), bits(-1), bits(-0.0f), bits(2), bits(7)}));
  EXPECT_EQ(out, (Words{bits(2), bits(2), bits(2), bits(2), bits(3), bits(4), bits(5), bits(6)}));
}

TEST_F(InterpreterTest, ScansWithHoles) {
  // Lanes 0, 2, 3 and 4, 6, 7 are active.
  Construct* c = b.openIf(b.binary(Op::INe, b.binary(Op::And, lane(), i32(3)), i32(1)));
  Value* v = add(lane(), i32(1));
  Value* r[2];
  for (int k = 0; k < 2; k++) {
    Inst* s = b.inst(k == 0 ? Op::SubgroupInclusiveScan : Op::SubgroupExclusiveScan, kI32, {v});
    s->imm2 = static_cast<uint32_t>(ReduceOp::kIAdd);
    r[k] = s->result;
  }
  storeOut(lane(), add(b.binary(Op::IMul, r[0], i32(100)), r[1]));
  b.br(c);
  b.openElse();
  b.br(c);
  b.close();
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{100, 0xeeeeeeee, 401, 804, 500, 0xeeeeeeee, 1205, 2012}));
}

TEST_F(InterpreterTest, ClusteredReduceAndPartialSubgroup) {
  fn.localSize[0] = 6;  // the second subgroup has two invocations
  Inst* s = b.inst(Op::SubgroupReduce, kI32, {add(lane(), i32(1))});
  s->imm = 2;
  s->imm2 = static_cast<uint32_t>(ReduceOp::kIMul);
  Inst* all = b.inst(Op::SubgroupReduce, kI32, {add(lane(), i32(1))});
  all->imm2 = static_cast<uint32_t>(ReduceOp::kUMin);
  storeOut(lane(), add(b.binary(Op::IMul, s->result, i32(100)), all->result));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{201, 201, 1201, 1201, 3005, 3005, 0xeeeeeeee, 0xeeeeeeee}));
}

TEST_F(InterpreterTest, ShufflesFromInactiveLanesGiveZero) {
  Construct* c = b.openIf(b.binary(Op::INe, lane(), i32(2)));
  Value* v = add(lane(), i32(10));
  Value* down = b.binary(Op::SubgroupShuffleDown, v, i32(1));  // 11 0 - 0 | 15 16 17 0
  Value* up = b.binary(Op::SubgroupShuffleUp, v, i32(1));      // 0 10 - 0 | 0 14 15 16
  Value* cross = b.binary(Op::SubgroupShuffleXor, v, i32(3));  // 13 0 - 10 | 17 16 15 14
  Value* third = b.binary(Op::SubgroupShuffle, v, i32(5));     // 11 11 - 11 | 15 ...
  Value* r = i32(0);
  for (Value* x : {down, up, cross, third}) r = add(b.binary(Op::IMul, r, i32(100)), x);
  storeOut(lane(), r);
  b.br(c);
  b.openElse();
  b.br(c);
  b.close();
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{11001311, 100011, 0xeeeeeeee, 1011, 15001715, 16141615, 17151515, 161415}));
}

TEST_F(InterpreterTest, Votes) {
  Value* low = b.binary(Op::ULt, lane(), i32(5));
  Value* bits = i32(0);
  const auto append = [&](Value* flag) {
    bits = b.binary(Op::Or, b.binary(Op::Shl, bits, i32(1)), b.select(flag, i32(1), i32(0)));
  };
  append(b.unary(Op::SubgroupAll, low));
  append(b.unary(Op::SubgroupAny, low));
  append(b.unary(Op::SubgroupAllEqual, b.builtin(Op::SubgroupId)));
  append(b.unary(Op::SubgroupAllEqual, lane()));
  append(b.inst(Op::SubgroupElect, kBool, {})->result);
  storeOut(lane(), bits);
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{0b11101, 0b11100, 0b11100, 0b11100, 0b01101, 0b01100, 0b01100, 0b01100}));
}

TEST_F(InterpreterTest, AllEqualOfFloatsIsIeee) {
  Value* zero = b.select(b.binary(Op::IEq, b.binary(Op::And, lane(), i32(1)), i32(0)), fn.constantF32(0.0f),
                         fn.constantF32(-0.0f));
  Value* same = b.unary(Op::SubgroupAllEqual, zero);
  Value* nan = b.unary(Op::SubgroupAllEqual, fn.constant(kF32, 0x7fc00000));
  storeOut(lane(), add(b.select(same, i32(2), i32(0)), b.select(nan, i32(1), i32(0))));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, Words(8, 2));
}

TEST_F(InterpreterTest, BuiltInValues) {
  fn.localSize[0] = 3;
  fn.localSize[1] = 2;
  Value* r = i32(0);
  for (Value* v : {b.builtin(Op::LocalInvocationId, 0), b.builtin(Op::LocalInvocationId, 1), b.builtin(Op::SubgroupId),
                   b.builtin(Op::SubgroupInvocationId), b.builtin(Op::NumSubgroups), b.builtin(Op::NumWorkgroups, 0)}) {
    r = add(b.binary(Op::IMul, r, i32(10)), v);
  }
  storeOut(lane(), r);
  ret();
  ASSERT_EQ(run(2), "");
  EXPECT_EQ(out, (Words{22, 100122, 200222, 10322, 111022, 211122, 0xeeeeeeee, 0xeeeeeeee}));
}

TEST_F(InterpreterTest, BufferReferencesTravel) {
  in.assign(8, 3);
  Construct* c = b.openIf(b.binary(Op::ULt, lane(), i32(4)));
  Value* chosen = b.result(c, kBufferRef);
  b.br(c, {inRef});
  b.openElse();
  b.br(c, {b.select(b.binary(Op::IEq, lane(), i32(4)), inRef, outRef)});
  b.close();
  storeOut(lane(), b.load(kI32, words(), {chosen, lane()}));
  ret();
  ASSERT_EQ(run(), "");
  EXPECT_EQ(out, (Words{3, 3, 3, 3, 3, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee}));
}

TEST_F(InterpreterTest, EndlessLoopsMeetTheStepLimit) {
  Construct* loop = b.openLoop({});
  b.br(loop);
  b.close();
  b.unreachable();
  limits.maxSteps = 10000;
  EXPECT_NE(run().find("step limit"), std::string::npos);
}

TEST_F(InterpreterTest, ErrorsAreText) {
  b.unary(Op::FExp2, fn.constantF32(1));
  ret();
  EXPECT_NE(run().find("FExp2"), std::string::npos);
}

TEST_F(InterpreterTest, RacesAreFoundWhereAsked) {
  limits.checkRaces = true;
  fn.sharedBytes = 32;
  b.store(words(Space::kShared), {lane()}, lane());
  Value* next = b.load(kI32, words(Space::kShared), {b.binary(Op::Xor, lane(), i32(1))});
  storeOut(lane(), next);
  ret();
  EXPECT_NE(run().find("data race"), std::string::npos) << "read of another's word without a barrier";
}

TEST_F(InterpreterTest, BarriersAndAtomicsAreNoRaces) {
  limits.checkRaces = true;
  fn.sharedBytes = 64;
  b.store(words(Space::kShared), {lane()}, lane());
  b.inst(Op::AtomicIAdd, kI32, {i32(8), i32(1)})->mem = words(Space::kShared);
  b.inst(Op::ControlBarrier, kVoid, {});
  Value* next = b.load(kI32, words(Space::kShared), {b.binary(Op::Xor, lane(), i32(1))});
  b.inst(Op::ControlBarrier, kVoid, {});
  b.store(words(Space::kShared), {lane()}, next);
  ret();
  EXPECT_EQ(run(2), "");
}

TEST_F(InterpreterTest, WorkgroupsRaceEvenAcrossBarriers) {
  limits.checkRaces = true;
  b.inst(Op::ControlBarrier, kVoid, {});
  storeOut(lane(), lane());
  ret();
  EXPECT_EQ(run(1), "");
  EXPECT_NE(run(2).find("data race"), std::string::npos);
}

TEST_F(InterpreterTest, BarriersInDivergentFlowAreFoundWhereAsked) {
  Construct* c = b.openIf(b.binary(Op::ULt, lane(), i32(3)));
  b.inst(Op::ControlBarrier, kVoid, {});
  b.br(c);
  b.openElse();
  b.br(c);
  b.close();
  ret();
  EXPECT_EQ(run(), "");
  limits.checkRaces = true;
  EXPECT_NE(run().find("not reached by all"), std::string::npos);
}

TEST_F(InterpreterTest, StrayGlobalAccessesAreFoundWhereAsked) {
  in = {10, 11, 12, 13};
  Value* base = b.inst(Op::BufferAddress, kI64, {inRef})->result;
  storeOut(lane(), b.load(kI32, words(Space::kGlobal), {base, b.binary(Op::And, lane(), i32(3))}));
  ret();
  const AddressRange whole[] = {{reinterpret_cast<uint64_t>(in.data()), 16}};
  limits.globalRanges = whole;
  EXPECT_EQ(run(), "");
  const AddressRange part[] = {{reinterpret_cast<uint64_t>(in.data()), 15}};
  limits.globalRanges = part;
  EXPECT_NE(run().find("stray access of invocation 3"), std::string::npos);
}

}  // namespace
}  // namespace pumice::shader::ir
