// Atomic operations of a gang against the same operations lane by lane, in order.
#include "shaders/codegen/atomics_emit.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include "shaders/codegen/jit_test_util.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::codegen {
namespace {

using ir::Kind;
using ir::Op;

constexpr uint32_t kParts = 2;

Op plainOp(Op op) {
  switch (op) {
    case Op::AtomicIAdd:
      return Op::IAdd;
    case Op::AtomicUMin:
      return Op::UMin;
    case Op::AtomicUMax:
      return Op::UMax;
    case Op::AtomicSMin:
      return Op::SMin;
    case Op::AtomicSMax:
      return Op::SMax;
    case Op::AtomicAnd:
      return Op::And;
    case Op::AtomicOr:
      return Op::Or;
    case Op::AtomicXor:
      return Op::Xor;
    default:
      return Op::FAdd;
  }
}

struct Scenario {
  Op op;
  Kind kind;
  bool uniformAddress, uniformValue, resultUsed, oneThread;
};

// What AtomicFMin and AtomicFMax leave in memory.
template <typename T, typename Bits>
uint64_t extremeAs(bool least, uint64_t before, uint64_t value) {
  const T m = std::bit_cast<T>(static_cast<Bits>(before)), v = std::bit_cast<T>(static_cast<Bits>(value));
  return std::isnan(m) || (least ? v < m : v > m) ? value : before;
}
uint64_t extreme(const Scenario& s, uint64_t before, uint64_t value) {
  const bool least = s.op == Op::AtomicFMin;
  return s.kind == Kind::kF32 ? extremeAs<float, uint32_t>(least, before, value)
                              : extremeAs<double, uint64_t>(least, before, value);
}

void check(const Scenario& s, uint32_t width, uint32_t lanes) {
  SCOPED_TRACE(testing::Message() << ir::opName(s.op) << " kind " << int(s.kind) << " V " << width << " P " << lanes
                                  << " uniform " << s.uniformAddress << s.uniformValue << " result " << s.resultUsed
                                  << " one thread " << s.oneThread);
  const TargetFeatures features = targetFeatures(width);
  const uint32_t element_B = ir::kindBytes(s.kind);
  // Arguments: memory, addresses [P x k], mask bytes, values, comparators, results.
  const test::JitFunction f(features, 6, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
    OpsEmitter ops(b, features);
    SubgroupEmitter subgroups(ops, lanes, lanes);
    AtomicsEmitter atomics(ops, subgroups, lanes);
    llvm::LLVMContext& context = b.getContext();
    const auto part = [&](Kind k, uint32_t argument, uint32_t p) -> llvm::Value* {
      llvm::Value* at =
          b.CreateConstGEP1_64(b.getInt8Ty(), fn.getArg(argument), uint64_t{p} * lanes * ir::kindBytes(k));
      return b.CreateAlignedLoad(llvmType(context, k, lanes), at, llvm::Align(1));
    };
    std::vector<llvm::Value*> addresses, masks, values, comparators;
    for (uint32_t p = 0; p < kParts; p++) {
      addresses.push_back(part(Kind::kI64, 1, p));
      masks.push_back(b.CreateTrunc(part(Kind::kI8, 2, p), llvmType(context, Kind::kBool, lanes)));
      values.push_back(part(s.kind, 3, p));
      comparators.push_back(part(s.kind, 4, p));
    }
    if (s.uniformValue) values = {b.CreateExtractElement(values[0], uint64_t{0})};
    AtomicRequest r;
    r.op = s.op;
    r.kind = s.kind;
    r.resultUsed = s.resultUsed;
    r.oneThread = s.oneThread;
    r.masks = masks;
    if (s.uniformAddress) {
      r.uniformAddress = fn.getArg(0);
    } else {
      r.addresses = addresses;
    }
    if (s.op != Op::AtomicLoad) r.values = values;
    if (s.op == Op::AtomicCompareExchange) r.comparators = comparators;
    const std::vector<llvm::Value*> results = atomics.emit(r);
    EXPECT_EQ(results.size(), s.resultUsed && s.op != Op::AtomicStore ? kParts : 0);
    for (uint32_t p = 0; p < results.size(); p++) {
      llvm::Value* at = b.CreateConstGEP1_64(b.getInt8Ty(), fn.getArg(5), uint64_t{p} * lanes * element_B);
      b.CreateAlignedStore(results[p], at, llvm::Align(1));
    }
  });
  ASSERT_TRUE(f);
  std::mt19937_64 random(static_cast<uint64_t>(s.op) * 100 + lanes);
  const uint32_t count = lanes * kParts;
  for (uint32_t round = 0; round < 20; round++) {
    alignas(64) std::array<uint64_t, 8> memory{}, want{};
    std::vector<uint64_t> addresses(count), values(count), comparators(count), old(count);
    std::vector<std::byte> mask(count), valueBytes(count * element_B), comparatorBytes(count * element_B),
        out(count * element_B);
    const auto small = [&]() -> uint64_t {
      if (s.kind == Kind::kF32 || s.kind == Kind::kF64) {
        // Which NaN a sum gives is the processor's choice; an extreme gives one of its operands.
        const uint64_t n = random() % (s.op == Op::AtomicFMin || s.op == Op::AtomicFMax ? 110 : 100);
        if (n >= 105) return s.kind == Kind::kF32 ? 0x7fc00000 + n : 0x7ff8000000000000 + n;  // NaN
        if (n >= 100) return ir::fromDouble(s.kind, n % 2 == 0 ? 0.0 : -0.0);
        return ir::fromDouble(s.kind, double(n) / 3);
      }
      return random() & (random() % 2 == 0 ? ir::kindMask(s.kind) : 3);
    };
    for (uint64_t& m : memory) m = small() | small() << 32;
    want = memory;
    for (uint32_t i = 0; i < count; i++) {
      const size_t slot = s.uniformAddress ? 0 : random() % (64 / element_B);
      addresses[i] = reinterpret_cast<uint64_t>(memory.data()) + slot * element_B;
      mask[i] = static_cast<std::byte>(round == 0 || (round != 1 && random() % 2 == 0));
      values[i] = s.uniformValue && i > 0 ? values[0] : small();
      comparators[i] = small();
      std::memcpy(valueBytes.data() + i * element_B, &values[i], element_B);
      std::memcpy(comparatorBytes.data() + i * element_B, &comparators[i], element_B);
      // The reference works on its own copy.
      std::byte* p = reinterpret_cast<std::byte*>(want.data()) + slot * element_B;
      if (mask[i] == std::byte{0}) continue;
      uint64_t before = 0;
      std::memcpy(&before, p, element_B);
      uint64_t after = values[i];
      if (s.op == Op::AtomicLoad) {
        after = before;
      } else if (s.op == Op::AtomicCompareExchange) {
        after = before == comparators[i] ? values[i] : before;
      } else if (s.op == Op::AtomicFMin || s.op == Op::AtomicFMax) {
        after = extreme(s, before, values[i]);
      } else if (s.op != Op::AtomicStore && s.op != Op::AtomicExchange) {
        const std::array<uint64_t, 2> pair = {before, values[i]};
        after = *ir::evaluate(plainOp(s.op), s.kind, s.kind, pair);
      }
      std::memcpy(p, &after, element_B);
      old[i] = before;
    }
    f(memory.data(), addresses.data(), mask.data(), valueBytes.data(), comparatorBytes.data(), out.data());
    ASSERT_EQ(memory, want) << "round " << round;
    if (!s.resultUsed || s.op == Op::AtomicStore) continue;
    for (uint32_t i = 0; i < count; i++) {
      uint64_t got = 0;
      std::memcpy(&got, out.data() + i * element_B, element_B);
      ASSERT_EQ(got, old[i]) << "round " << round << " lane " << i;
    }
  }
}

class AtomicsEmit : public testing::TestWithParam<uint32_t> {};

TEST_P(AtomicsEmit, MatchesLanesInOrder) {
  const uint32_t width = GetParam();
  for (uint16_t o = static_cast<uint16_t>(Op::AtomicLoad); o <= static_cast<uint16_t>(Op::AtomicFMax); o++) {
    const auto op = static_cast<Op>(o);
    for (const Kind kind : {Kind::kI32, Kind::kI64, Kind::kF32, Kind::kF64}) {
      const bool isFloat = kind == Kind::kF32 || kind == Kind::kF64;
      const bool any = op == Op::AtomicLoad || op == Op::AtomicStore || op == Op::AtomicExchange;
      if (!any && isFloat != (op >= Op::AtomicFAdd)) continue;
      for (unsigned bits = 0; bits < 16; bits++) {
        if (kind == Kind::kI64 && bits % 3 != 0) continue;  // a sample; I32 does all

        const Scenario s{op, kind, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
        check(s, width, width);
        if (HasFatalFailure()) return;
      }
    }
  }
  check({Op::AtomicIAdd, Kind::kI32, true, true, true, false}, width, 32);
  check({Op::AtomicIAdd, Kind::kI64, true, false, true, false}, width, 32);
  check({Op::AtomicXor, Kind::kI32, false, false, true, false}, width, 32);
}

INSTANTIATE_TEST_SUITE_P(Widths, AtomicsEmit, testing::ValuesIn(test::runnableWidths()));

// Two threads count in the same word.
TEST(AtomicsEmitThreads, NothingIsLost) {
  const uint32_t width = test::runnableWidths().back();
  const TargetFeatures features = targetFeatures(width);
  for (const bool uniform : {true, false}) {
    const test::JitFunction f(features, 1, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
      OpsEmitter ops(b, features);
      SubgroupEmitter subgroups(ops, width, width);
      AtomicsEmitter atomics(ops, subgroups, width);
      std::vector<llvm::Value*> masks = {llvm::Constant::getAllOnesValue(llvmType(b.getContext(), Kind::kBool, width))};
      std::vector<llvm::Value*> values = {b.getInt32(1)};
      std::vector<llvm::Value*> addresses = {
          b.CreateVectorSplat(width, b.CreatePtrToInt(fn.getArg(0), b.getInt64Ty()))};
      AtomicRequest r;
      r.resultUsed = false;
      r.masks = masks;
      r.values = values;
      if (uniform) {
        r.uniformAddress = fn.getArg(0);
      } else {
        r.addresses = addresses;
      }
      atomics.emit(r);
    });
    ASSERT_TRUE(f);
    uint32_t counter = 0;
    const auto work = [&] {
      for (int i = 0; i < 20000; i++) f(&counter);
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(counter, 40000u * width);
  }
}

}  // namespace
}  // namespace pumice::shader::codegen
