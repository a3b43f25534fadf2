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

}  // namespace
}  // namespace pumice::shader::ir
