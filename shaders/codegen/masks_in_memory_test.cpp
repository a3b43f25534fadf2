// LLVM 19 hangs on logic between AVX-512 masks that were made of integers (Generator::loadMask).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "shaders/codegen/codegen.h"
#include "shaders/ir/builder.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/random/program.h"

namespace pumice::shader::codegen {
namespace {

using namespace ir;

constexpr abi::BindingSlot kSlots[] = {{0, 0, 1, 0, 16, abi::kNotDynamic}};

TargetOptions wide(uint32_t gangVectors) {
  TargetOptions target;
  target.vectorLanes = 16;  // needs no such machine: nothing is run
  target.gangVectors = gangVectors;
  return target;
}

// A condition that lives across a barrier decides whether any lane of the gang is active, lanes past the workgroup's
// end left out, and is used as a mask behind that as well.
void fillConditionAcrossBarrier(Function& fn) {
  fn.localSize[0] = 1002;  // in gangs of 48: the last part of the last gang is not full
  fn.subgroupSize = 8;
  fn.sharedBytes = 4096;
  Builder b(fn);
  const auto buffer = [&] { return b.inst(Op::BufferDescriptor, kBufferRef, std::initializer_list<Value*>{})->result; };
  const MemRef memory{.space = Space::kBuffer, .scale_B = 4};
  const MemRef shared{.space = Space::kShared, .scale_B = 4};
  Value* i = b.builtin(Op::LocalInvocationIndex);
  Value* x = b.load(kI32, memory, {buffer(), i});
  Value* kept = b.binary(Op::ULt, x, fn.constantI32(7));
  b.store(shared, {i}, x);
  b.inst(Op::ControlBarrier, kVoid, std::initializer_list<Value*>{});
  Construct* some = b.openIf(kept);
  Value* other = b.load(kI32, shared, {b.binary(Op::Xor, i, fn.constantI32(1))});
  Value* to = b.select(kept, i, other);
  b.store(memory, {buffer(), to}, b.select(kept, other, i));
  b.br(some);
  b.openElse();
  b.br(some);
  b.close();
  b.br(fn.body);
}

TEST(MasksInMemory, CompilingEnds) {
  Function fn;
  fillConditionAcrossBarrier(fn);
  ASSERT_EQ(verify(fn), "");
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);  // some 50 ms on an idle machine
    for (const Tier tier : {Tier::kQuick, Tier::kBetter}) {
      TargetOptions target = wide(3);
      target.tier = tier;
      if (generateCode(fn, kSlots, target).status != CompileStatus::kOk) _exit(1);
    }
    _exit(0);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The first line of the code that makes a mask of an integer.
std::string integerToMask(const std::string& code) {
  std::istringstream text(code);
  for (std::string line; std::getline(text, line);)
    if (line.find("bitcast i") != std::string::npos && line.find(" x i1>") != std::string::npos) return line;
  return {};
}

TEST(MasksInMemory, NoIntegerBecomesAMask) {
  Function fn;
  fillConditionAcrossBarrier(fn);
  const std::string code = describeCode(fn, kSlots, wide(3), CodeText::kLlvm);
  EXPECT_NE(code.find("load <16 x i1>"), std::string::npos);  // the condition went through memory
  EXPECT_EQ(integerToMask(code), "");
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const random::Program p = random::generate(seed, {seed % 2 == 0 ? 8u : 16u, 60, 1024, false});
    passes::lowerMath(*p.fn);
    const TargetOptions target = wide(static_cast<uint32_t>(seed % 3) + 1);
    EXPECT_EQ(integerToMask(describeCode(*p.fn, p.slots, target, CodeText::kLlvm)), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace pumice::shader::codegen
