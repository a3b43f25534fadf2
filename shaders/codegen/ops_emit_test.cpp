// Every operation, scalar and vector, at every vector width this machine can run, against the scalar semantics.
#include "shaders/codegen/ops_emit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "shaders/codegen/jit_test_util.h"
#include "shaders/ir/semantics.h"

namespace pumice::shader::codegen {
namespace {

using ir::Kind;
using ir::Op;

constexpr std::array kInts = {Kind::kI8, Kind::kI16, Kind::kI32, Kind::kI64};
constexpr std::array kFloats = {Kind::kF16, Kind::kF32, Kind::kF64};

struct Case {
  Op op;
  Kind from, to;
};

uint32_t operandCount(Op op) {
  static constexpr int kCounts[] = {
#define PUMICE_OP(name, operands, result, semantics) operands,
#include "shaders/ir/ops.def"
#undef PUMICE_OP
  };
  return static_cast<uint32_t>(kCounts[static_cast<size_t>(op)]);
}

std::vector<Case> casesOf(Kind k) {
  std::vector<Case> cases;
  const auto range = [&](Op first, Op last, bool toBool) {
    for (auto op = static_cast<uint16_t>(first); op <= static_cast<uint16_t>(last); op++) {
      cases.push_back({static_cast<Op>(op), k, toBool ? Kind::kBool : k});
    }
  };
  const auto isInt = std::find(kInts.begin(), kInts.end(), k) != kInts.end();
  cases.push_back({Op::Select, k, k});
  if (k == Kind::kBool) {
    range(Op::And, Op::Not, false);
    range(Op::IEq, Op::INe, true);
    return cases;
  }
  if (isInt) {
    range(Op::IAdd, Op::CountTrailingZeros, false);
    range(Op::IEq, Op::SLe, true);
    for (const Kind to : kInts) {
      if (ir::kindBits(to) > ir::kindBits(k)) {
        cases.push_back({Op::SExt, k, to});
        cases.push_back({Op::ZExt, k, to});
      } else if (to != k) {
        cases.push_back({Op::Trunc, k, to});
      }
    }
    for (const Kind to : kFloats) {
      cases.push_back({Op::SToF, k, to});
      cases.push_back({Op::UToF, k, to});
      if (ir::kindBits(to) == ir::kindBits(k)) cases.push_back({Op::Bitcast, k, to});
    }
    return cases;
  }
  range(Op::FOEq, Op::FULe, true);
  range(Op::FAdd, Op::FRoundEven, false);
  for (const Kind to : kInts) {
    cases.push_back({Op::FToS, k, to});
    cases.push_back({Op::FToU, k, to});
    if (ir::kindBits(to) == ir::kindBits(k)) cases.push_back({Op::Bitcast, k, to});
  }
  for (const Kind to : kFloats) {
    if (to == k) continue;
    cases.push_back({Op::FConvert, k, to});
    cases.push_back({Op::FConvertRtz, k, to});
  }
  return cases;
}

bool isNan(Kind k, uint64_t bits) {
  const bool isFloat = k >= Kind::kF16 && k <= Kind::kF64;
  return isFloat && (bits & (ir::kindMask(k) >> 1)) > ir::infinityBits(k);
}

// Values near every edge of a kind.
std::vector<uint64_t> specials(Kind k) {
  const uint32_t n = ir::kindBits(k);
  const uint64_t mask = ir::kindMask(k);
  std::vector<uint64_t> v = {0, 1, 2, 3, 7, mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) - 1, 0x55};
  if (k >= Kind::kF16 && k <= Kind::kF64) {
    for (const double d : {1.0,          -1.0,         0.5,          1.5,           2.5,
                           -2.5,         3.0,          127.0,        128.0,         255.0,
                           256.0,        255.5,        -128.0,       -129.0,        32767.0,
                           32768.0,      65535.0,      65536.0,      -32769.0,      2147483647.0,
                           2147483648.0, 4294967295.0, 4294967296.0, -2147483648.0, -2147483649.0,
                           0x1p62,       0x1p63,       -0x1p63,      0x1p64,        0x1p65,
                           65504.0,      65519.0,      65520.0,      0x1p-14,       0x1p-24,
                           0x1p-25,      0x1.8p-25,    0x1p-149,     0x1p-126,      0x1p-1022,
                           0x1.004p0,    0x1.002p0,    0x1.006p0,    0.1,           3.14159265358979}) {
      v.push_back(ir::fromDouble(k, d));
    }
    const uint64_t inf = ir::infinityBits(k), sign = 1ull << (n - 1);
    for (const uint64_t b : {inf, inf | 1, inf | (inf >> 1), inf - 1}) {
      v.push_back(b);
      v.push_back(b | sign);
    }
  }
  for (uint64_t& b : v) b &= mask;
  return v;
}

class OpsEmit : public testing::TestWithParam<std::tuple<uint32_t, uint32_t>> {};

void checkKind(Kind kind, const TargetFeatures& features, uint32_t lanes) {
  const std::vector<Case> cases = casesOf(kind);
  const uint32_t count = std::max(lanes, 1u);
  const uint32_t slot_B = 8 * count;
  // Operands in slots of 8 bytes a lane at their natural element size; operand 0 of Select comes from its own array.
  const test::JitFunction f(features, 5, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
    OpsEmitter ops(b, features);
    const auto loadAs = [&](Kind k, uint32_t argument) -> llvm::Value* {
      const bool isBool = k == Kind::kBool;
      llvm::Type* memory = llvmType(b.getContext(), isBool ? Kind::kI8 : k, lanes);
      llvm::Value* v = b.CreateAlignedLoad(memory, fn.getArg(argument), llvm::Align(1));
      return isBool ? b.CreateTrunc(v, llvmType(b.getContext(), k, lanes)) : v;
    };
    llvm::Value* operands[3] = {loadAs(kind, 0), loadAs(kind, 1), loadAs(kind, 2)};
    llvm::Value* condition = loadAs(Kind::kBool, 3);
    for (size_t i = 0; i < cases.size(); i++) {
      const Case& c = cases[i];
      llvm::Value* chosen[3] = {operands[0], operands[1], operands[2]};
      if (c.op == Op::Select) {
        chosen[0] = condition;
        chosen[1] = operands[0];
        chosen[2] = operands[1];
      }
      llvm::Value* r = ops.emit(c.op, c.from, c.to, std::span<llvm::Value* const>(chosen, operandCount(c.op)));
      EXPECT_EQ(r->getType(), llvmType(b.getContext(), c.to, lanes)) << ir::opName(c.op);
      if (c.to == Kind::kBool) r = b.CreateZExt(r, llvmType(b.getContext(), Kind::kI8, lanes));
      b.CreateAlignedStore(r, b.CreateConstGEP1_64(b.getInt8Ty(), fn.getArg(4), i * slot_B), llvm::Align(1));
    }
  });
  ASSERT_TRUE(f);

  std::mt19937_64 random(static_cast<uint64_t>(kind) * 1000 + lanes);
  const std::vector<uint64_t> edge = specials(kind);
  const uint32_t element_B = kind == Kind::kBool ? 1 : ir::kindBytes(kind);
  std::vector<std::byte> in[4], out(slot_B * cases.size());
  for (auto& i : in) i.resize(slot_B);
  const size_t pairs = edge.size() * edge.size();
  const size_t rounds = (pairs + count - 1) / count + 2000 / count;
  uint32_t failures = 0;
  for (size_t round = 0; round < rounds && failures < 8; round++) {
    std::vector<std::array<uint64_t, 4>> lanesIn(count);
    for (uint32_t l = 0; l < count; l++) {
      const size_t number = round * count + l;
      uint64_t a = random() & ir::kindMask(kind), b = random() & ir::kindMask(kind), c = random() & ir::kindMask(kind);
      if (number < pairs) {
        a = edge[number % edge.size()];
        b = edge[number / edge.size()];
        if (random() % 2 == 0) c = edge[random() % edge.size()];
      } else if (random() % 2 == 0) {
        b >>= random() % ir::kindBits(kind);  // small divisors and shifts
      } else if (random() % 2 == 0) {
        c = (a ^ b) & ir::kindMask(kind);
      }
      lanesIn[l] = {a, b, c, random() & 1};
      for (uint32_t k = 0; k < 4; k++) {
        std::memcpy(in[k].data() + l * (k == 3 ? 1 : element_B), &lanesIn[l][k], k == 3 ? 1 : element_B);
      }
    }
    f(in[0].data(), in[1].data(), in[2].data(), in[3].data(), out.data());
    for (size_t i = 0; i < cases.size(); i++) {
      const Case& c = cases[i];
      const uint32_t result_B = c.to == Kind::kBool ? 1 : ir::kindBytes(c.to);
      for (uint32_t l = 0; l < count; l++) {
        const auto& v = lanesIn[l];
        const std::array<uint64_t, 3> operands =
            c.op == Op::Select ? std::array{v[3], v[0], v[1]} : std::array{v[0], v[1], v[2]};
        const auto want =
            ir::evaluate(c.op, c.from, c.to, std::span<const uint64_t>(operands.data(), operandCount(c.op)));
        ASSERT_TRUE(want.has_value()) << ir::opName(c.op);
        uint64_t got = 0;
        std::memcpy(&got, out.data() + i * slot_B + l * result_B, result_B);
        if (got == *want || (isNan(c.to, got) && isNan(c.to, *want))) continue;
        failures++;
        ADD_FAILURE() << ir::opName(c.op) << " kind " << int(c.from) << " -> " << int(c.to) << std::hex << " (" << v[0]
                      << ", " << v[1] << ", " << v[2] << ") = " << got << ", should be " << *want;
        if (failures >= 8) return;
      }
    }
  }
}

TEST_P(OpsEmit, MatchesSemantics) {
  const auto [width, lanes] = GetParam();
  const TargetFeatures features = targetFeatures(width);
  for (const Kind k :
       {Kind::kBool, Kind::kI8, Kind::kI16, Kind::kI32, Kind::kI64, Kind::kF16, Kind::kF32, Kind::kF64}) {
    SCOPED_TRACE(testing::Message() << "kind " << int(k));
    checkKind(k, features, lanes);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, OpsEmit,
                         testing::Combine(testing::ValuesIn(test::runnableWidths()), testing::Values(0u, 4u, 16u)));

// Constant divisors take another way (LLVM's multiplications).
TEST(OpsEmitDivision, ByConstants) {
  for (const uint32_t width : test::runnableWidths()) {
    const TargetFeatures features = targetFeatures(width);
    const std::vector<uint32_t> divisors = {0, 1, 2, 3, 7, 10, 255, 0x80000000u, 0xffffffffu, 0x7fffffffu, 641};
    constexpr std::array kOps = {Op::UDiv, Op::SDiv, Op::URem, Op::SRem};
    const test::JitFunction f(features, 2, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
      OpsEmitter ops(b, features);
      llvm::Value* a = b.CreateAlignedLoad(llvmType(b.getContext(), Kind::kI32, 16), fn.getArg(0), llvm::Align(4));
      uint64_t at = 0;
      for (const uint32_t d : divisors) {
        for (const Op op : kOps) {
          llvm::Value* operands[2] = {a, ops.constant(Kind::kI32, d, 16)};
          llvm::Value* r = ops.emit(op, Kind::kI32, Kind::kI32, operands);
          b.CreateAlignedStore(r, b.CreateConstGEP1_64(b.getInt8Ty(), fn.getArg(1), at++ * 64), llvm::Align(4));
        }
      }
    });
    ASSERT_TRUE(f);
    const std::array<uint32_t, 16> in = {0,          1,          2,          3,   99,  100,  0x80000000u, 0x80000001u,
                                         0x7fffffff, 0xffffffff, 0xfffffffe, 640, 641, 1282, 123456789,   0xdeadbeef};
    std::vector<uint32_t> out(divisors.size() * kOps.size() * 16);
    f(in.data(), out.data());
    size_t at = 0;
    for (const uint32_t d : divisors) {
      for (const Op op : kOps) {
        for (size_t l = 0; l < 16; l++, at++) {
          const std::array<uint64_t, 2> operands = {in[l], d};
          EXPECT_EQ(out[at], ir::evaluate(op, Kind::kI32, Kind::kI32, operands)) << ir::opName(op) << in[l] << "/" << d;
        }
      }
    }
  }
}

// One divisor for all lanes takes the way over its reciprocal.
TEST(OpsEmitDivision, BySplats) {
  constexpr std::array kOps = {Op::UDiv, Op::SDiv, Op::URem, Op::SRem};
  for (const uint32_t width : test::runnableWidths()) {
    for (const Kind kind : {Kind::kI8, Kind::kI16, Kind::kI32, Kind::kI64}) {
      const TargetFeatures features = targetFeatures(width);
      const uint32_t element_B = ir::kindBytes(kind);
      const test::JitFunction f(features, 3, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
        OpsEmitter ops(b, features);
        llvm::Value* a = b.CreateAlignedLoad(llvmType(b.getContext(), kind, 16), fn.getArg(0), llvm::Align(1));
        llvm::Value* d = b.CreateAlignedLoad(llvmType(b.getContext(), kind), fn.getArg(1), llvm::Align(1));
        for (size_t i = 0; i < kOps.size(); i++) {
          llvm::Value* operands[2] = {a, b.CreateVectorSplat(16, d)};
          llvm::Value* r = ops.emit(kOps[i], kind, kind, operands);
          b.CreateAlignedStore(r, b.CreateConstGEP1_64(b.getInt8Ty(), fn.getArg(2), i * 128), llvm::Align(1));
        }
      });
      ASSERT_TRUE(f);
      std::mt19937_64 random(9);
      const std::vector<uint64_t> edge = specials(kind);
      for (int round = 0; round < 20000; round++) {
        uint64_t d = random() & ir::kindMask(kind);
        if (round % 2 == 0) d >>= random() % ir::kindBits(kind);
        if (round % 8 == 1) d = edge[random() % edge.size()];
        std::array<uint64_t, 16> in{};
        std::array<std::byte, 128> bytes{};
        std::array<std::byte, 512> out{};
        for (size_t l = 0; l < 16; l++) {
          in[l] = random() & ir::kindMask(kind);
          if (l % 4 == 1) in[l] = edge[random() % edge.size()];
          // Multiples of the divisor and their neighbours.
          if (l % 4 == 2 && d != 0) in[l] = (in[l] / d * d - random() % 2) & ir::kindMask(kind);
          std::memcpy(bytes.data() + l * element_B, &in[l], element_B);
        }
        f(bytes.data(), &d, out.data());
        for (size_t i = 0; i < kOps.size(); i++) {
          for (size_t l = 0; l < 16; l++) {
            uint64_t got = 0;
            std::memcpy(&got, out.data() + i * 128 + l * element_B, element_B);
            const std::array<uint64_t, 2> operands = {in[l], d};
            ASSERT_EQ(got, ir::evaluate(kOps[i], kind, kind, operands))
                << ir::opName(kOps[i]) << " " << in[l] << " by " << d << ", V " << width;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pumice::shader::codegen
