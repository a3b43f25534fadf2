// Small functions made by hand: machine code against the interpreter at every subgroup size, vector width and gang
// width.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/target_features.h"
#include "shaders/ir/builder.h"
#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"

namespace pumice::shader::codegen {
namespace {

using namespace ir;

constexpr uint32_t kWords = 1024;  // of each of the two buffers

__attribute__((noreturn)) void leave(void*) {
  std::abort();
}

// Set 0: binding 0 is input, binding 1 output, both of kWords words, or `boundBytes` of them.
struct Memory {
  std::array<abi::BufferDescriptor, 2> set{};
  abi::BindingState state{};
  std::vector<uint32_t> in, out;
  alignas(64) std::array<std::byte, abi::kMaxPushConstantBytes> push{};
  std::vector<std::byte> workspace;
  abi::ComputeEnv env{};
  abi::RuntimeTable runtime{};
  uint32_t cancel = 0;

  Memory(uint32_t sharedBytes, uint32_t frameBytes, uint32_t boundBytes, uint32_t groups) : in(kWords), out(kWords) {
    for (uint32_t i = 0; i < kWords; ++i) in[i] = i * 2654435761u;
    set[0] = {reinterpret_cast<uint64_t>(in.data()), boundBytes};
    set[1] = {reinterpret_cast<uint64_t>(out.data()), boundBytes};
    state.setAddress[0] = reinterpret_cast<uint64_t>(set.data());
    workspace.resize(sharedBytes + frameBytes + abi::kSinkBytes + 4096);
    auto at = (reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64;
    const auto take = [&](size_t bytes) {
      auto* p = reinterpret_cast<std::byte*>(at);
      at += (bytes + 63) / 64 * 64 + 64;
      return p;
    };
    runtime.readClock = +[]() -> uint64_t { return 1; };
    runtime.leave = leave;
    env.runtime = &runtime;
    env.bindings = &state;
    env.pushConstants = push.data();
    env.cancelWord = &cancel;
    env.shared = take(sharedBytes);
    env.frame = take(frameBytes);
    env.sink = take(abi::kSinkBytes);
    env.groupCount[0] = groups;
    env.groupCount[1] = env.groupCount[2] = 1;
  }
};

constexpr abi::BindingSlot kSlots[] = {{0, 0, 1, 0, 16, abi::kNotDynamic}, {0, 1, 1, 16, 16, abi::kNotDynamic}};

using Fill = std::function<void(Function&, Builder&)>;

// `fill` builds the body up to its terminator.
void expectSame(uint32_t localX, uint32_t localY, const Fill& fill, uint32_t groups = 1,
                uint32_t boundBytes = kWords * 4) {
  for (const uint32_t s : {4u, 16u, 32u})
    for (const uint32_t v : {4u, 8u, 16u})
      for (const uint32_t k : {1u, 4u}) {
        if (v > hostVectorLanes()) continue;
        Function fn;
        fn.localSize[0] = localX;
        fn.localSize[1] = localY;
        fn.subgroupSize = s;
        fn.sharedBytes = 4096;
        Builder b(fn);
        fill(fn, b);
        b.br(fn.body);
        ASSERT_EQ(verify(fn), "") << print(fn);
        Memory expected(4096, 64, boundBytes, groups);
        ASSERT_EQ(interpret(fn, kSlots, expected.env, 0, groups), "");
        TargetOptions target;
        target.vectorLanes = v;
        target.gangVectors = k;
        const CompileResult r = generateCode(fn, kSlots, target);
        ASSERT_EQ(r.status, CompileStatus::kOk) << r.message;
        const auto loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
        ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
        Memory got(4096, r.object.info.frameBytes, boundBytes, groups);
        reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&got.env, 0, groups);
        EXPECT_EQ(expected.out, got.out) << "S " << s << " V " << v << " k " << k;
        cache::CodeArena::instance().free(loaded.code.block);
      }
}

struct Ops {
  Function& fn;
  Builder& b;
  Value* constant(uint32_t v) { return fn.constantI32(v); }
  Value* buffer(uint32_t binding) {
    Inst* i = b.inst(Op::BufferDescriptor, kBufferRef, std::initializer_list<Value*>{});
    i->binding = binding;
    return i->result;
  }
  Value* load(Value* index, uint32_t scale = 4, Type t = kI32) {
    return b.load(t, MemRef{.space = Space::kBuffer, .scale_B = scale}, {buffer(0), index});
  }
  void store(Value* index, Value* v, uint32_t scale = 4) {
    b.store(MemRef{.space = Space::kBuffer, .scale_B = scale}, {buffer(1), index}, v);
  }
  Value* loadShared(Value* index) { return b.load(kI32, MemRef{.space = Space::kShared, .scale_B = 4}, {index}); }
  void storeShared(Value* index, Value* v) { b.store(MemRef{.space = Space::kShared, .scale_B = 4}, {index}, v); }
  Value* index() { return b.builtin(Op::LocalInvocationIndex); }
  Value* global(uint32_t size) {
    return b.binary(Op::IAdd, b.binary(Op::IMul, b.builtin(Op::WorkgroupId, 0), constant(size)), index());
  }
  void barrier() { b.inst(Op::ControlBarrier, kVoid, std::initializer_list<Value*>{}); }
};

TEST(Generate, CopiesContiguousElements) {
  expectSame(
      64, 1,
      [](Function& fn, Builder& b) {
        Ops o{fn, b};
        Value* i = o.global(64);
        o.store(i, b.binary(Op::IAdd, o.load(i), o.constant(7)));
      },
      4);
}

TEST(Generate, LanesPastTheWorkgroupStoreNothing) {
  for (const uint32_t n : {1u, 3u, 17u, 50u})
    expectSame(
        n, 1,
        [n](Function& fn, Builder& b) {
          Ops o{fn, b};
          Value* i = o.global(n);
          o.store(i, o.load(i));
        },
        3);
}

TEST(Generate, RangesAreKept) {
  // The bound ends inside a vector, and indices just below zero wrap round.
  for (const uint32_t bytes : {0u, 4u, 100u, 102u, 252u})
    expectSame(
        64, 1,
        [](Function& fn, Builder& b) {
          Ops o{fn, b};
          Value* i = o.index();
          Value* left = o.load(b.binary(Op::ISub, i, o.constant(1)));
          Value* pair = o.load(i, 8, Type{Kind::kI32, 2});
          Value* odd = o.load(b.binary(Op::IMul, i, o.constant(3)));
          Value* sum = b.binary(Op::IAdd, b.binary(Op::IAdd, left, odd),
                                b.binary(Op::Xor, b.extract(pair, 0), b.extract(pair, 1)));
          o.store(b.binary(Op::IAdd, i, o.constant(3)), sum);
        },
        1, bytes);
}

TEST(Generate, TuplesAndSmallStrides) {
  for (const uint8_t n : {2, 3, 4})
    expectSame(32, 2, [n](Function& fn, Builder& b) {
      Ops o{fn, b};
      Value* i = o.index();
      Value* tuple = o.load(i, 4u * n, Type{Kind::kI32, n});
      o.store(i, tuple, 4u * n);
      Value* every = b.binary(Op::IMul, i, o.constant(n));
      Value* last = o.load(b.binary(Op::IAdd, every, o.constant(n - 1u)));
      o.store(b.binary(Op::IAdd, i, o.constant(512)), last);
    });
}

TEST(Generate, EarlyReturnAndFastCopies) {
  for (const uint32_t n : {0u, 5u, 64u, 100u, 256u})
    expectSame(
        64, 1,
        [n](Function& fn, Builder& b) {
          Ops o{fn, b};
          Value* i = o.global(64);
          Construct* c = b.openIf(b.binary(Op::ULt, i, o.constant(n)));
          o.store(i, b.binary(Op::IMul, o.load(i), o.load(b.binary(Op::IAdd, i, o.constant(900)))));
          b.br(c);
          b.openElse();
          b.br(c);
          b.close();
        },
        4);
}

TEST(Generate, DivergentLoopsBlendTheirResults) {
  expectSame(64, 1, [](Function& fn, Builder& b) {
    Ops o{fn, b};
    Value* i = o.index();
    Value* limit = b.binary(Op::And, o.load(i), o.constant(31));
    Construct* out = b.openBlock();
    Value* sum = b.result(out, kI32);
    Construct* loop = b.openLoop({o.constant(0), i});
    Value* n = loop->params[0];
    Value* acc = loop->params[1];
    b.openIf(b.binary(Op::ULt, n, limit));
    b.br(loop, {b.binary(Op::IAdd, n, o.constant(1)), b.binary(Op::IAdd, acc, o.load(b.binary(Op::IAdd, n, i)))});
    b.openElse();
    b.br(out, {acc});
    b.close();
    b.unreachable();
    b.close();
    b.unreachable();
    b.close();
    o.store(i, sum);
  });
}

TEST(Generate, ReductionWithBarriers) {
  expectSame(
      128, 1,
      [](Function& fn, Builder& b) {
        Ops o{fn, b};
        Value* i = o.index();
        o.storeShared(i, o.load(o.global(128)));
        o.barrier();
        Construct* out = b.openBlock();
        Construct* loop = b.openLoop({o.constant(64)});
        Value* k = loop->params[0];
        b.openIf(b.binary(Op::ULt, o.constant(0), k));
        Construct* some = b.openIf(b.binary(Op::ULt, i, k));
        o.storeShared(i, b.binary(Op::IAdd, o.loadShared(i), o.loadShared(b.binary(Op::IAdd, i, k))));
        b.br(some);
        b.openElse();
        b.br(some);
        b.close();
        o.barrier();
        b.br(loop, {b.binary(Op::UShr, k, o.constant(1))});
        b.openElse();
        b.br(out);
        b.close();
        b.unreachable();
        b.close();
        b.unreachable();
        b.close();
        Construct* first = b.openIf(b.binary(Op::IEq, i, o.constant(0)));
        o.store(b.builtin(Op::WorkgroupId, 0), o.loadShared(o.constant(0)));
        b.br(first);
        b.openElse();
        b.br(first);
        b.close();
      },
      3);
}

TEST(Generate, ValuesAndParametersCrossBarriers) {
  expectSame(16, 8, [](Function& fn, Builder& b) {
    Ops o{fn, b};
    Value* i = o.index();
    Value* kept = o.load(i);
    Construct* out = b.openBlock();
    Value* sum = b.result(out, kI32);
    Construct* loop = b.openLoop({o.constant(0), kept, i});
    Value* n = loop->params[0];
    b.openIf(b.binary(Op::ULt, n, o.constant(3)));
    o.storeShared(i, loop->params[1]);
    o.barrier();
    Value* other = o.loadShared(b.binary(Op::Xor, i, b.binary(Op::Shl, o.constant(17), n)));
    o.barrier();
    // The two varying parameters change places.
    b.br(loop, {b.binary(Op::IAdd, n, o.constant(1)), b.binary(Op::IAdd, loop->params[2], other), loop->params[1]});
    b.openElse();
    b.br(out, {b.binary(Op::Xor, loop->params[1], loop->params[2])});
    b.close();
    b.unreachable();
    b.close();
    b.unreachable();
    b.close();
    o.store(i, b.binary(Op::IAdd, sum, kept));
  });
}

// Legal where no invocation of the workgroup reaches the barrier: control around it may diverge in that workgroup.
TEST(Generate, WorkgroupsThatPassByABarrierMayDiverge) {
  expectSame(
      64, 1,
      [](Function& fn, Builder& b) {
        Ops o{fn, b};
        Value* i = o.index();
        Value* at = o.global(64);
        Value* even = b.binary(Op::IEq, b.binary(Op::And, b.builtin(Op::WorkgroupId, 0), o.constant(1)), o.constant(0));
        Construct* outer = b.openBlock();
        Construct* inner = b.openBlock();
        // In odd workgroups a part of the lanes leaves, the rest passes by the barrier.
        Value* odd = b.unary(Op::Not, even);
        Construct* some = b.openIf(
            b.binary(Op::And, odd, b.binary(Op::ULt, b.binary(Op::And, o.load(i), o.constant(7)), o.constant(3))));
        o.store(at, o.constant(1));
        b.br(inner);
        b.openElse();
        b.br(some);
        b.close();
        Construct* which = b.openIf(even);
        o.storeShared(i, o.load(at));
        o.barrier();
        o.store(at, o.loadShared(b.binary(Op::Xor, i, o.constant(63))));
        b.br(which);
        b.openElse();
        o.store(at, o.constant(2));
        b.br(outer);
        b.close();
        b.br(outer);
        b.close();
        o.store(b.binary(Op::IAdd, at, o.constant(512)), o.constant(3));
        b.br(outer);
        b.close();
      },
      4);
}

TEST(Generate, BarrierUnderAConditionOfTheData) {
  // The same in the workgroup, but nothing proves it; and different in workgroups without a barrier in their way.
  expectSame(
      64, 1,
      [](Function& fn, Builder& b) {
        Ops o{fn, b};
        Value* i = o.index();
        Value* at = o.global(64);
        Value* group = b.builtin(Op::WorkgroupId, 0);
        Value* lane = b.binary(Op::And, o.load(i), o.constant(1));
        // Workgroup 0: all false; 1: all true; 2 and up: by lane, and then no barrier.
        Value* isSecond = b.binary(Op::IEq, group, o.constant(1));
        Value* mixed =
            b.binary(Op::And, b.binary(Op::ULt, o.constant(1), group), b.binary(Op::IEq, lane, o.constant(1)));
        Construct* c = b.openIf(b.binary(Op::Or, isSecond, mixed));
        Value* r = b.result(c, kI32);
        Construct* inside = b.openIf(isSecond);
        o.storeShared(i, at);
        o.barrier();
        o.store(b.binary(Op::IAdd, at, o.constant(512)), o.loadShared(b.binary(Op::Xor, i, o.constant(21))));
        b.br(inside);
        b.openElse();
        b.br(inside);
        b.close();
        b.br(c, {o.constant(5)});
        b.openElse();
        b.br(c, {i});
        b.close();
        o.store(at, r);
      },
      4);
}

TEST(Generate, DivergentSwitch) {
  expectSame(64, 1, [](Function& fn, Builder& b) {
    Ops o{fn, b};
    Value* i = o.index();
    Value* selector = b.binary(Op::And, o.load(i), o.constant(3));
    Construct* out = b.openBlock();
    Construct* otherwise = b.openBlock();
    Construct* second = b.openBlock();
    Construct* first = b.openBlock();
    const SwitchCase cases[] = {{0, first}, {2, second}, {0, otherwise}};
    b.brTable(selector, cases);
    b.close();
    o.store(i, o.constant(10));
    b.br(second);  // falls through
    b.close();
    o.store(b.binary(Op::IAdd, i, o.constant(64)), o.constant(20));
    b.br(out);
    b.close();
    o.store(b.binary(Op::IAdd, i, o.constant(128)), selector);
    b.br(out);
    b.close();
  });
}

TEST(Generate, PrivateArrays) {
  expectSame(32, 1, [](Function& fn, Builder& b) {
    Ops o{fn, b};
    fn.locals.push_back({32, 4, "table"});
    Value* i = o.index();
    const MemRef mem{.space = Space::kLocal, .scale_B = 4};
    const MemRef bytes{.space = Space::kLocal, .align_log2 = 0, .scale_B = 1};
    b.store(mem, {b.binary(Op::And, o.load(i), o.constant(7))}, i);
    b.store(mem, {o.constant(9)}, i);  // out of range
    b.store(bytes, {o.constant(5)}, b.convert(Op::Trunc, kI8, i));
    Value* one = b.load(kI32, mem, {b.binary(Op::And, i, o.constant(15))});
    Value* pair = b.load(kI64, MemRef{.space = Space::kLocal, .align_log2 = 3, .scale_B = 8}, {o.constant(0)});
    o.store(i, b.binary(Op::IAdd, one, b.convert(Op::Trunc, kI32, b.binary(Op::UShr, pair, fn.constant(kI64, 31)))));
  });
}

}  // namespace
}  // namespace pumice::shader::codegen
