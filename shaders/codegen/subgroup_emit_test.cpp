// Subgroup operations on one part, every S in every P, against lane-by-lane loops, with whole, partial and random
// masks.
#include "shaders/codegen/subgroup_emit.h"

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
using ir::ReduceOp;

struct Case {
  Op op;
  Kind kind;
  uint32_t cluster = 0;
  ReduceOp reduceOp = ReduceOp::kIAdd;
};

constexpr std::array kKinds = {Kind::kVoid, Kind::kBool, Kind::kI8,  Kind::kI16, Kind::kI32,
                               Kind::kI64,  Kind::kF16,  Kind::kF32, Kind::kF64};

std::vector<Case> casesOf(Kind k, uint32_t size) {
  if (k == Kind::kVoid) return {{Op::SubgroupElect, k}};
  std::vector<Case> cases;
  if (k == Kind::kBool) cases = {{Op::SubgroupAll, k}, {Op::SubgroupAny, k}, {Op::SubgroupBallot, k}};
  for (const Op op : {Op::SubgroupAllEqual, Op::SubgroupBroadcastFirst, Op::SubgroupShuffle, Op::SubgroupShuffleXor,
                      Op::SubgroupShuffleUp, Op::SubgroupShuffleDown}) {
    cases.push_back({op, k});
  }
  for (int r = 0; r <= static_cast<int>(ReduceOp::kFMax); r++) {
    const auto reduceOp = static_cast<ReduceOp>(r);
    if (!ir::reduceAccepts(reduceOp, k)) continue;
    cases.push_back({Op::SubgroupReduce, k, 0, reduceOp});
    if (size > 4) cases.push_back({Op::SubgroupReduce, k, size / 2, reduceOp});
    cases.push_back({Op::SubgroupInclusiveScan, k, 0, reduceOp});
    cases.push_back({Op::SubgroupExclusiveScan, k, 0, reduceOp});
  }
  return cases;
}

Kind resultKind(const Case& c) {
  if (c.op == Op::SubgroupBallot) return Kind::kI32;
  return c.op == Op::SubgroupElect || c.op == Op::SubgroupAllEqual ? Kind::kBool : c.kind;
}

using Lanes = std::array<uint64_t, 32>;

// One subgroup, in plain loops.
Lanes expected(const Case& c, uint32_t size, const Lanes& a, const Lanes& index, const std::array<bool, 32>& active) {
  Lanes r{};
  uint32_t first = 0;
  while (first < size && !active[first]) first++;
  if (first == size) return r;
  bool all = true, any = false, equal = true;
  uint64_t ballot = 0;
  for (uint32_t i = 0; i < size; i++) {
    if (!active[i]) continue;
    all = all && a[i] != 0;
    any = any || a[i] != 0;
    ballot |= (a[i] & 1) << i;
    const std::array<uint64_t, 2> pair = {a[first], a[i]};
    const bool isFloat = c.kind >= Kind::kF16 && c.kind <= Kind::kF64;
    if (c.op == Op::SubgroupAllEqual) {
      equal = equal && ir::evaluate(isFloat ? Op::FOEq : Op::IEq, c.kind, Kind::kBool, pair) == 1;
    }
  }
  if (c.op == Op::SubgroupReduce || c.op == Op::SubgroupInclusiveScan || c.op == Op::SubgroupExclusiveScan) {
    const uint64_t identity = ir::reduceIdentity(c.reduceOp, c.kind);
    const auto combine = [&](uint64_t x, uint64_t y) {
      const std::array<uint64_t, 2> pair = {x, y};
      return *ir::evaluate(ir::reduceStep(c.reduceOp), c.kind, c.kind, pair);
    };
    Lanes x{};
    for (uint32_t i = 0; i < size; i++) x[i] = active[i] ? a[i] : identity;
    const uint32_t cluster = c.cluster == 0 ? size : c.cluster;
    for (uint32_t d = 1; d < cluster; d *= 2) {
      const Lanes before = x;
      for (uint32_t i = 0; i < size; i++) {
        if (c.op == Op::SubgroupReduce) {
          x[i] = combine(before[i & ~d], before[i | d]);
        } else if (i >= d) {
          x[i] = combine(before[i - d], before[i]);
        }
      }
    }
    if (c.op != Op::SubgroupExclusiveScan) return x;
    for (uint32_t i = 0; i < size; i++) r[i] = i == 0 ? identity : x[i - 1];
    return r;
  }
  for (uint32_t i = 0; i < size; i++) {
    const uint64_t b = index[i] & 0xffffffffu;
    uint64_t from = ~0ull;
    switch (c.op) {
      case Op::SubgroupElect:
        r[i] = i == first;
        continue;
      case Op::SubgroupAll:
        r[i] = all;
        continue;
      case Op::SubgroupAny:
        r[i] = any;
        continue;
      case Op::SubgroupAllEqual:
        r[i] = equal;
        continue;
      case Op::SubgroupBallot:
        r[i] = ballot;
        continue;
      case Op::SubgroupBroadcastFirst:
        r[i] = a[first];
        continue;
      case Op::SubgroupShuffle:
        from = b % size;
        break;
      case Op::SubgroupShuffleXor:
        from = i ^ b;
        break;
      case Op::SubgroupShuffleUp:
        from = b <= i ? i - b : ~0ull;
        break;
      default:
        from = i + b;
        break;
    }
    r[i] = from < size && active[from] ? a[from] : 0;
  }
  return r;
}

void check(uint32_t width, uint32_t lanes, uint32_t size, Kind kind, bool constantMask) {
  SCOPED_TRACE(testing::Message() << "V " << width << " P " << lanes << " S " << size << " constant " << constantMask);
  const TargetFeatures features = targetFeatures(width);
  const std::vector<Case> cases = casesOf(kind, size);
  const size_t slot_B = 8 * lanes;
  ir::Function owner;
  const test::JitFunction f(features, 4, [&](llvm::IRBuilder<>& b, llvm::Function& fn) {
    OpsEmitter ops(b, features);
    SubgroupEmitter subgroups(ops, lanes, size);
    llvm::LLVMContext& context = b.getContext();
    const auto loadVector = [&](Kind k, llvm::Value* from) -> llvm::Value* {
      if (k == Kind::kVoid) return nullptr;
      const bool isBool = k == Kind::kBool;
      llvm::Value* v = b.CreateAlignedLoad(llvmType(context, isBool ? Kind::kI8 : k, lanes), from, llvm::Align(1));
      return isBool ? b.CreateTrunc(v, llvmType(context, k, lanes)) : v;
    };
    llvm::Value* mask = constantMask ? llvm::Constant::getAllOnesValue(llvmType(context, Kind::kBool, lanes))
                                     : loadVector(Kind::kBool, fn.getArg(2));
    llvm::Value* index = loadVector(Kind::kI32, fn.getArg(1));
    for (size_t i = 0; i < cases.size(); i++) {
      const Case& c = cases[i];
      const auto at = [&](llvm::Value* base) { return b.CreateConstGEP1_64(b.getInt8Ty(), base, i * slot_B); };
      ir::Inst* inst = owner.newInst(c.op, {resultKind(c), 1});
      inst->imm = c.cluster;
      inst->imm2 = static_cast<uint32_t>(c.reduceOp);
      std::vector<llvm::Value*> operands;
      if (c.kind != Kind::kVoid) {
        inst->operands.push_back(owner.zero({c.kind, 1}));
        operands.push_back(loadVector(c.kind, at(fn.getArg(0))));
      }
      if (c.op >= Op::SubgroupShuffle && c.op <= Op::SubgroupShuffleDown) {
        inst->operands.push_back(owner.zero(ir::kI32));
        operands.push_back(index);
      }
      llvm::Value* r = subgroups.emit(*inst, operands, mask);
      EXPECT_EQ(r->getType(), llvmType(context, resultKind(c), lanes)) << ir::opName(c.op);
      if (resultKind(c) == Kind::kBool) r = b.CreateZExt(r, llvmType(context, Kind::kI8, lanes));
      b.CreateAlignedStore(r, at(fn.getArg(3)), llvm::Align(1));
    }
  });
  ASSERT_TRUE(f);

  std::mt19937_64 random(width * 1000 + lanes * 10 + size);
  uint32_t failures = 0;
  for (uint32_t round = 0; round < 24; round++) {
    std::vector<std::byte> in(slot_B * cases.size()), out(slot_B * cases.size()), mask(lanes);
    std::vector<uint32_t> index(lanes);
    std::vector<std::vector<uint64_t>> values(cases.size(), std::vector<uint64_t>(lanes));
    for (uint32_t l = 0; l < lanes; l++) {
      const bool on = constantMask || round == 0 || (round == 1 ? l < lanes / 2 : random() % 3 != 0);
      mask[l] = static_cast<std::byte>(on);
      index[l] = round % 3 == 0 ? static_cast<uint32_t>(random()) : static_cast<uint32_t>(random() % (size + 2));
    }
    for (size_t i = 0; i < cases.size(); i++) {
      const Kind k = cases[i].kind;
      if (k == Kind::kVoid) continue;
      const bool same = random() % 4 == 0;
      const uint64_t shared = random() & ir::kindMask(k);
      const uint32_t element_B = k == Kind::kBool ? 1 : ir::kindBytes(k);
      for (uint32_t l = 0; l < lanes; l++) {
        uint64_t v = random() & ir::kindMask(k);
        if (k >= Kind::kF16 && k <= Kind::kF64 && random() % 2 == 0) {
          v = ir::fromDouble(k, static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000) / 8);
        }
        if (k == Kind::kBool && round % 2 == 0) v = random() % 8 != 0;
        if (same) v = shared;
        values[i][l] = v;
        std::memcpy(in.data() + i * slot_B + l * element_B, &v, element_B);
      }
    }
    f(in.data(), index.data(), mask.data(), out.data());
    for (size_t i = 0; i < cases.size(); i++) {
      const Case& c = cases[i];
      const Kind rk = resultKind(c);
      const uint32_t result_B = rk == Kind::kBool ? 1 : ir::kindBytes(rk);
      for (uint32_t base = 0; base < lanes; base += size) {
        Lanes a{}, b{};
        std::array<bool, 32> active{};
        for (uint32_t l = 0; l < size; l++) {
          a[l] = values[i][base + l];
          b[l] = index[base + l];
          active[l] = mask[base + l] != std::byte{0};
        }
        const Lanes want = expected(c, size, a, b, active);
        for (uint32_t l = 0; l < size; l++) {
          if (!active[l]) continue;
          uint64_t got = 0;
          std::memcpy(&got, out.data() + i * slot_B + (base + l) * result_B, result_B);
          const bool isFloat = rk >= Kind::kF16 && rk <= Kind::kF64;
          const auto nan = [&](uint64_t v) { return isFloat && (v & (ir::kindMask(rk) >> 1)) > ir::infinityBits(rk); };
          if (got == want[l] || (nan(got) && nan(want[l]))) continue;
          ADD_FAILURE() << ir::opName(c.op) << " kind " << int(c.kind) << " op " << int(c.reduceOp) << " cluster "
                        << c.cluster << " round " << round << " lane " << base + l << std::hex << ": " << got
                        << ", should be " << want[l];
          if (++failures > 8) return;
        }
      }
    }
  }
}

class SubgroupEmit : public testing::TestWithParam<std::tuple<uint32_t, uint32_t>> {};

TEST_P(SubgroupEmit, MatchesLoops) {
  const auto [width, size] = GetParam();
  const uint32_t lanes = std::max(width, size);
  for (const Kind k : kKinds) {
    check(width, lanes, size, k, false);
    check(width, lanes, size, k, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, SubgroupEmit,
                         testing::Combine(testing::ValuesIn(test::runnableWidths()),
                                          testing::Values(4u, 8u, 16u, 32u)));

}  // namespace
}  // namespace pumice::shader::codegen
