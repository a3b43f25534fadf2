// Damaged modules: whatever the words are, there is a status and no crash. Runs the reader behind the validator and
// without it, and the passes on whatever is accepted.
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"
#include "test_shaders/addresses.h"
#include "test_shaders/control.h"
#include "test_shaders/descriptors.h"
#include "test_shaders/fragment.h"
#include "test_shaders/layouts.h"
#include "test_shaders/saxpy.h"
#include "test_shaders/shared_reduce.h"
#include "test_shaders/spec.h"
#include "test_shaders/subgroup.h"

namespace pumice::shader::spirv {
namespace {

using Words = std::vector<uint32_t>;

std::vector<Words> modules() {
  auto copy = [](std::span<const uint32_t> w) { return Words(w.begin(), w.end()); };
  return {copy(saxpy),     copy(shared_reduce), copy(spec),     copy(layouts), copy(descriptors),
          copy(addresses), copy(control),       copy(subgroup), copy(fragment)};
}

ComputeCompileInfo infoOf(const Words& words) {
  ComputeCompileInfo info;
  info.spirv = words;
  return info;
}

FragmentCompileInfo fragmentInfoOf(const Words& words) {
  FragmentCompileInfo info;
  info.spirv = words;
  info.key.samples_log2 = 2;
  for (uint32_t l = 0; l < kMaxLinkedLocations; ++l)
    info.key.varyingSlot[l] = l < abi::kMaxVaryingSlots ? static_cast<uint8_t>(l) : kNotLinked;
  return info;
}

// Reads with both readers, as what it is. Returns whether the validating one accepted.
template <typename Info>
bool feedAs(const Info& info, ReadResult r) {
  EXPECT_NE(r.status, CompileStatus::kInternalError) << r.message;
  EXPECT_EQ(r.status == CompileStatus::kOk, r.function != nullptr);
  EXPECT_EQ(r.status == CompileStatus::kOk, r.message.empty());
  ReadResult bare = readUnvalidated(info);
  if (bare.function) {
    passes::runPasses(*bare.function, Tier::kBetter);
    EXPECT_EQ(ir::verify(*bare.function), "");
  }
  return r.function != nullptr;
}

bool feed(const Words& words) {
  const ComputeCompileInfo compute = infoOf(words);
  const FragmentCompileInfo fragments = fragmentInfoOf(words);
  const bool isCompute = feedAs(compute, readCompute(compute));
  return feedAs(fragments, readFragment(fragments)) || isCompute;
}

TEST(Fuzz, TruncatedAtEveryWord) {
  for (const Words& whole : modules()) {
    ASSERT_TRUE(feed(whole));
    // The larger ones at some words only, for time.
    const size_t step = whole.size() < 1000 ? 1 : 7;
    for (size_t n = 0; n < whole.size(); n += step) {
      const Words cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      const ComputeCompileInfo info = infoOf(cut);
      EXPECT_EQ(readCompute(info).status, CompileStatus::kInvalidSpirv) << n;
      EXPECT_NE(readUnvalidated(info).status, CompileStatus::kInternalError) << n;
      EXPECT_NE(readUnvalidated(fragmentInfoOf(cut)).status, CompileStatus::kInternalError) << n;
    }
  }
}

TEST(Fuzz, RandomWords) {
  std::mt19937 rng(1);
  for (int i = 0; i < 500; ++i) {
    Words w(rng() % 200);
    for (uint32_t& x : w) x = i % 2 ? rng() : (1 + rng() % 6) << 16 | rng() % 400;
    if (w.size() >= 5) {
      w[0] = 0x07230203;
      w[1] = 0x00010000 + (rng() % 7) * 0x100;
      w[3] = 1 + rng() % 300;
    }
    EXPECT_FALSE(feed(w));
  }
}

TEST(Fuzz, FlippedBits) {
  std::mt19937 rng(2);
  for (const Words& whole : modules())
    for (int i = 0; i < 150; ++i) {
      Words w = whole;
      for (uint32_t n = 1 + rng() % 3; n > 0; --n) w[5 + rng() % (w.size() - 5)] ^= 1u << rng() % 32;
      feed(w);
    }
}

// Ids exchanged for other ids: passes much more of the parser than flipped bits do.
TEST(Fuzz, ExchangedOperands) {
  std::mt19937 rng(3);
  for (const Words& whole : modules())
    for (int i = 0; i < 150; ++i) {
      Words w = whole;
      for (uint32_t n = 1 + rng() % 4; n > 0; --n) {
        size_t at = 5;
        for (size_t skip = rng() % 400; skip > 0 && at + (w[at] >> 16) < w.size(); --skip) at += w[at] >> 16;
        const uint32_t length = w[at] >> 16;
        if (length < 2) continue;
        w[at + 1 + rng() % (length - 1)] = rng() % 4 ? 1 + rng() % (w[3] - 1) : rng() % 8;
      }
      feed(w);
    }
}

// Whole instructions dropped, doubled or exchanged.
TEST(Fuzz, MovedInstructions) {
  std::mt19937 rng(4);
  for (const Words& whole : modules()) {
    std::vector<Words> instructions;
    for (size_t at = 5; at < whole.size(); at += whole[at] >> 16)
      instructions.emplace_back(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                whole.begin() + static_cast<std::ptrdiff_t>(at + (whole[at] >> 16)));
    for (int i = 0; i < 120; ++i) {
      std::vector<Words> list = instructions;
      const size_t a = rng() % list.size(), b = rng() % list.size();
      if (i % 3 == 0)
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(a));
      else if (i % 3 == 1)
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(a), list[b]);
      else
        std::swap(list[a], list[b]);
      Words w(whole.begin(), whole.begin() + 5);
      for (const Words& in : list) w.insert(w.end(), in.begin(), in.end());
      feed(w);
    }
  }
}

}  // namespace
}  // namespace pumice::shader::spirv
