// ETC2 and EAC: the specification's worked examples, and blocks of every mode built field by field.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "backend/formats/block_test_support.h"

namespace pumice::formats {
namespace {

using test::Rgba8;

/// A big-endian word, filled by bit numbers as the specification has them.
class Word {
 public:
  Word& set(int high, int low, int value) {
    const uint64_t mask = ((uint64_t{1} << (high - low + 1)) - 1) << low;
    bits_ = (bits_ & ~mask) | (static_cast<uint64_t>(value) << low & mask);
    return *this;
  }
  int get(int high, int low) const { return static_cast<int>(bits_ >> low) & ((1 << (high - low + 1)) - 1); }
  void store(std::byte* out) const {
    for (int i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(bits_ >> (56 - 8 * i));
  }
  /// The two index bits of texel (x, y).
  Word& setIndex(int x, int y, int index) {
    return set(16 + 4 * x + y, 16 + 4 * x + y, index >> 1).set(4 * x + y, 4 * x + y, index & 1);
  }

 private:
  uint64_t bits_ = 0;
};

std::vector<Rgba8> decode(VkFormat format, const Word& word) {
  std::byte block[8];
  word.store(block);
  return test::bytesOf(blockCodec(format), block);
}

int clamped(int value) {
  return std::clamp(value, 0, 255);
}
Rgba8 plus(const Rgba8& base, int d) {
  return {{clamped(base.c[0] + d), clamped(base.c[1] + d), clamped(base.c[2] + d), 255}};
}

constexpr int kSmall[8] = {2, 5, 9, 13, 18, 24, 33, 47};
constexpr int kLarge[8] = {8, 17, 29, 42, 60, 80, 106, 183};
constexpr int kDistance[8] = {3, 6, 11, 16, 23, 32, 41, 64};
constexpr Rgba8 kClear{{0, 0, 0, 0}};

/// Texels with all indices, and the color that paint(x, y, index) says.
void expectTexels(VkFormat format, Word word, const std::function<Rgba8(int, int, int)>& paint) {
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < 16; ++i) word.setIndex(i % 4, i / 4, (i + i / 4 + turn) & 3);
    const std::vector<Rgba8> got = decode(format, word);
    for (int i = 0; i < 16; ++i) {
      ASSERT_EQ(got[static_cast<size_t>(i)], paint(i % 4, i / 4, (i + i / 4 + turn) & 3)) << i % 4 << "," << i / 4;
    }
  }
}

Rgba8 modified(const Rgba8& base, int table, bool opaque, int index) {
  switch (index) {
    case 0:
      return plus(base, opaque ? kSmall[table] : 0);
    case 1:
      return plus(base, kLarge[table]);
    case 2:
      return opaque ? plus(base, -kSmall[table]) : kClear;
    default:
      return plus(base, -kLarge[table]);
  }
}

TEST(Etc2, ExamplesOfTheSpecification) {
  // "Individual" example: (4, 11, 9) with table 4, (14, 3, 8) with table 0.
  Word word;
  word.set(63, 60, 4).set(55, 52, 11).set(47, 44, 9).set(59, 56, 14).set(51, 48, 3).set(43, 40, 8);
  word.set(39, 37, 4).set(36, 34, 0).setIndex(0, 0, 3).setIndex(1, 0, 1).setIndex(2, 0, 0).setIndex(3, 0, 1);
  std::vector<Rgba8> texels = decode(VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, word);
  EXPECT_EQ(texels[0], (Rgba8{{8, 127, 93, 255}}));
  EXPECT_EQ(texels[1], (Rgba8{{128, 247, 213, 255}}));
  EXPECT_EQ(texels[2], (Rgba8{{240, 53, 138, 255}}));
  EXPECT_EQ(texels[3], (Rgba8{{246, 59, 144, 255}}));

  // "Differential" example: (29, 26, 8) with table 2 over (-4, -3, +3) with table 3.
  word = {};
  word.set(63, 59, 29).set(58, 56, -4).set(55, 51, 26).set(50, 48, -3).set(47, 43, 8).set(42, 40, 3);
  word.set(39, 37, 2).set(36, 34, 3).set(33, 33, 1).set(32, 32, 1).setIndex(3, 1, 1).setIndex(0, 3, 3);
  texels = decode(VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, word);
  EXPECT_EQ(texels[7], (Rgba8{{255, 243, 95, 255}}));
  EXPECT_EQ(texels[0], (Rgba8{{248, 223, 75, 255}}));
  EXPECT_EQ(texels[12], (Rgba8{{164, 147, 48, 255}}));
  EXPECT_EQ(texels[13], (Rgba8{{219, 202, 103, 255}}));

  // "Planar" example: (12, 64, 62), right (50, 5, 37), below (40, 112, 45), with its whole table of results.
  word = {};
  word.set(62, 57, 12).set(56, 56, 1).set(54, 49, 0).set(48, 48, 1).set(44, 43, 3).set(41, 39, 6);
  word.set(38, 34, 25).set(33, 33, 1).set(32, 32, 0).set(31, 25, 5).set(24, 19, 37);
  word.set(18, 13, 40).set(12, 6, 112).set(5, 0, 45);
  // With the free bits so, blue's sum alone leaves 0 to 31: that selects the mode.
  word.set(47, 45, 7).set(42, 42, 0);
  texels = decode(VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, word);
  constexpr int kPlanar[16][3] = {{48, 129, 251},  {87, 99, 226},   {126, 70, 201},  {164, 40, 175},
                                  {77, 153, 234},  {115, 123, 209}, {154, 94, 183},  {193, 64, 158},
                                  {105, 177, 217}, {144, 147, 191}, {183, 118, 166}, {221, 88, 141},
                                  {134, 201, 199}, {172, 171, 174}, {211, 142, 149}, {250, 112, 124}};
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(texels[i], (Rgba8{{kPlanar[i][0], kPlanar[i][1], kPlanar[i][2], 255}})) << i;
  }
}

TEST(Etc2, IndividualAndDifferentialModes) {
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    Word word;
    Rgba8 bases[2];
    const bool differential = repeat % 3 != 0;
    const bool opaque = repeat % 3 != 1;  // matters with punch-through alpha alone
    for (int c = 0; c < 3; ++c) {
      const int top = 63 - 8 * c;
      if (differential) {
        const int base = static_cast<int>(random() % 32);
        int delta = static_cast<int>(random() % 8) - 4;
        if (base + delta < 0 || base + delta > 31) delta = 0;
        word.set(top, top - 4, base).set(top - 5, top - 7, delta);
        bases[0].c[c] = test::repeatedBits(static_cast<uint32_t>(base), 5, 8);
        bases[1].c[c] = test::repeatedBits(static_cast<uint32_t>(base + delta), 5, 8);
      } else {
        const int first = static_cast<int>(random() % 16), second = static_cast<int>(random() % 16);
        word.set(top, top - 3, first).set(top - 4, top - 7, second);
        bases[0].c[c] = test::repeatedBits(static_cast<uint32_t>(first), 4, 8);
        bases[1].c[c] = test::repeatedBits(static_cast<uint32_t>(second), 4, 8);
      }
    }
    const int tables[2] = {static_cast<int>(random() % 8), static_cast<int>(random() % 8)};
    const bool flip = random() % 2 != 0;
    word.set(39, 37, tables[0]).set(36, 34, tables[1]).set(33, 33, differential ? 1 : 0).set(32, 32, flip ? 1 : 0);
    const auto paint = [&](bool solid) {
      return [&, solid](int x, int y, int index) {
        const int half = (flip ? y : x) / 2;
        return modified(bases[half], tables[half], solid, index);
      };
    };
    expectTexels(VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, word, paint(true));
    if (differential) {
      word.set(33, 33, opaque ? 1 : 0);
      expectTexels(VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK, word, paint(opaque));
    }
  }
}

/// Sets the free bits of a component so that its five-bit base and three-bit delta leave 0 to 31, or stay inside.
/// top: the base's highest bit.
void steer(Word* word, int top, std::initializer_list<int> freeBits, bool overflow) {
  const std::vector<int> bits(freeBits);
  for (int choice = 0; choice < 1 << bits.size(); ++choice) {
    for (size_t i = 0; i < bits.size(); ++i) word->set(bits[i], bits[i], choice >> i & 1);
    const int delta = word->get(top - 5, top - 7);
    const int sum = word->get(top, top - 4) + (delta >= 4 ? delta - 8 : delta);
    if ((sum < 0 || sum > 31) == overflow) return;
  }
  FAIL() << "no such block";
}

TEST(Etc2, PaintedModes) {
  std::mt19937 random(2);
  const auto nibble = [&] { return static_cast<int>(random() % 16); };
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const int r1 = nibble(), g1 = nibble(), b1 = nibble(), r2 = nibble(), g2 = nibble(), b2 = nibble();
    const Rgba8 first{{17 * r1, 17 * g1, 17 * b1, 255}}, second{{17 * r2, 17 * g2, 17 * b2, 255}};
    const bool opaque = repeat % 2 == 0;
    const VkFormat format =
        opaque && repeat % 4 == 0 ? VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK : VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK;

    Word t;
    const int distance = static_cast<int>(random() % 8);
    t.set(60, 59, r1 >> 2).set(57, 56, r1 & 3).set(55, 52, g1).set(51, 48, b1).set(47, 44, r2).set(43, 40, g2);
    t.set(39, 36, b2).set(35, 34, distance >> 1).set(32, 32, distance & 1).set(33, 33, opaque ? 1 : 0);
    steer(&t, 63, {63, 62, 61, 58}, true);
    expectTexels(format, t, [&](int, int, int index) {
      const int d = kDistance[distance];
      return index == 0   ? first
             : index == 1 ? plus(second, d)
             : index == 3 ? plus(second, -d)
             : opaque     ? second
                          : kClear;
    });

    Word h;
    const int pair = static_cast<int>(random() % 4);
    h.set(62, 59, r1).set(58, 56, g1 >> 1).set(52, 52, g1 & 1).set(51, 51, b1 >> 3).set(49, 47, b1 & 7);
    h.set(46, 43, r2).set(42, 39, g2).set(38, 35, b2).set(34, 34, pair >> 1).set(32, 32, pair & 1);
    h.set(33, 33, opaque ? 1 : 0);
    steer(&h, 63, {63}, false);
    steer(&h, 55, {55, 54, 53, 50}, true);
    const bool ordered = std::lexicographical_compare(second.c, second.c + 3, first.c, first.c + 3) ||
                         std::equal(first.c, first.c + 3, second.c);
    expectTexels(format, h, [&](int, int, int index) {
      const int d = kDistance[pair * 2 + (ordered ? 1 : 0)];
      if (index == 2 && !opaque) return kClear;
      return plus(index < 2 ? first : second, index % 2 == 0 ? d : -d);
    });
  }
}

TEST(Etc2, PlanarMode) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    int raw[3][3];  // origin, right, below
    Rgba8 ends[3];
    for (int e = 0; e < 3; ++e) {
      for (int c = 0; c < 3; ++c) {
        const int bits = c == 1 ? 7 : 6;
        raw[e][c] = static_cast<int>(random() & ((1u << bits) - 1));
        ends[e].c[c] = test::repeatedBits(static_cast<uint32_t>(raw[e][c]), bits, 8);
      }
    }
    Word word;
    word.set(62, 57, raw[0][0]).set(56, 56, raw[0][1] >> 6).set(54, 49, raw[0][1]).set(48, 48, raw[0][2] >> 5);
    word.set(44, 43, raw[0][2] >> 3).set(41, 39, raw[0][2]).set(38, 34, raw[1][0] >> 1).set(32, 32, raw[1][0]);
    word.set(31, 25, raw[1][1])
        .set(24, 19, raw[1][2])
        .set(18, 13, raw[2][0])
        .set(12, 6, raw[2][1])
        .set(5, 0, raw[2][2]);
    const bool bit33 = repeat % 2 == 0;  // ignored with punch-through alpha
    word.set(33, 33, bit33 ? 1 : 0);
    steer(&word, 63, {63}, false);
    steer(&word, 55, {55}, false);
    steer(&word, 47, {47, 46, 45, 42}, true);
    const std::vector<Rgba8> got =
        decode(bit33 ? VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK : VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK, word);
    for (int i = 0; i < 16; ++i) {
      Rgba8 expected{{0, 0, 0, 255}};
      for (int c = 0; c < 3; ++c) {
        const double value =
            i % 4 * (ends[1].c[c] - ends[0].c[c]) / 4.0 + i / 4 * (ends[2].c[c] - ends[0].c[c]) / 4.0 + ends[0].c[c];
        expected.c[c] = clamped(static_cast<int>(std::floor(value + 0.5)));
      }
      ASSERT_EQ(got[static_cast<size_t>(i)], expected);
    }
  }
}

// The specification's first formula, in double precision, for every base, multiplier, table and index.
constexpr int kModifiers[16][8] = {
    {-3, -6, -9, -15, 2, 5, 8, 14}, {-3, -7, -10, -13, 2, 6, 9, 12}, {-2, -5, -8, -13, 1, 4, 7, 12},
    {-2, -4, -6, -13, 1, 3, 5, 12}, {-3, -6, -8, -12, 2, 5, 7, 11},  {-3, -7, -9, -11, 2, 6, 8, 10},
    {-4, -7, -8, -11, 3, 6, 7, 10}, {-3, -5, -8, -11, 2, 4, 7, 10},  {-2, -6, -8, -10, 1, 5, 7, 9},
    {-2, -5, -8, -10, 1, 4, 7, 9},  {-2, -4, -8, -10, 1, 3, 7, 9},   {-2, -5, -7, -10, 1, 4, 6, 9},
    {-3, -4, -7, -10, 2, 3, 6, 9},  {-1, -2, -3, -10, 0, 1, 2, 9},   {-4, -6, -8, -9, 3, 5, 7, 8},
    {-3, -5, -7, -9, 2, 4, 6, 8}};

template <typename F>
void forEacBlocks(F f) {
  for (int base = 0; base < 256; ++base) {
    for (int multiplier = 0; multiplier < 16; ++multiplier) {
      for (int table = 0; table < 16; ++table) {
        Word word;
        word.set(63, 56, base).set(55, 52, multiplier).set(51, 48, table);
        for (int i = 0; i < 16; ++i) word.set(47 - 3 * i, 45 - 3 * i, (i + base) & 7);
        // Texel number i goes down the columns: x = i / 4.
        f(word, base, multiplier, [&](int x, int y) { return kModifiers[table][(4 * x + y + base) & 7]; });
      }
    }
  }
}

TEST(Eac, Alpha8) {
  const BlockCodec codec = blockCodec(VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK);
  const BlockCodec opaque = blockCodec(VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK);
  forEacBlocks([&](const Word& word, int base, int multiplier, auto modifier) {
    std::byte block[16];
    word.store(block);
    word.store(block + 8);  // any color
    const std::vector<Rgba8> got = test::bytesOf(codec, block), color = test::bytesOf(opaque, block + 8);
    for (int i = 0; i < 16; ++i) {
      Rgba8 expected = color[static_cast<size_t>(i)];
      expected.c[3] = clamped(base + modifier(i % 4, i / 4) * multiplier);
      ASSERT_EQ(got[static_cast<size_t>(i)], expected);
    }
  });
}

TEST(Eac, ElevenBits) {
  for (bool isSigned : {false, true}) {
    const BlockCodec codec = blockCodec(isSigned ? VK_FORMAT_EAC_R11_SNORM_BLOCK : VK_FORMAT_EAC_R11_UNORM_BLOCK);
    ASSERT_EQ(codec.decodedFormat, isSigned ? VK_FORMAT_R16_SNORM : VK_FORMAT_R16_UNORM);
    forEacBlocks([&](const Word& word, int base, int multiplier, auto modifier) {
      std::byte block[8];
      word.store(block);
      const std::vector<float> floats = test::floatsOf(codec, block);
      uint16_t texels[16];
      codec.decode(block, texels, 8);
      const double factor = multiplier == 0 ? 0.125 : multiplier;
      for (int i = 0; i < 16; ++i) {
        const double first =
            isSigned ? std::max<int>(static_cast<int8_t>(base), -127) / 127.875 : (base + 0.5) / 255.875;
        const double sum = first + modifier(i % 4, i / 4) * factor / (isSigned ? 127.875 : 255.875);
        const double expected = std::clamp(sum, isSigned ? -1.0 : 0.0, 1.0);
        ASSERT_NEAR(static_cast<double>(floats[static_cast<size_t>(4 * i)]), expected, 1e-6);
        ASSERT_EQ(floats[static_cast<size_t>(4 * i + 3)], 1.0f);
        // To 16 bits the magnitude's bits are repeated.
        const auto code = static_cast<int>(std::lround(std::fabs(expected) * (isSigned ? 1023 : 2047)));
        const int wide = test::repeatedBits(static_cast<uint32_t>(code), isSigned ? 10 : 11, isSigned ? 15 : 16);
        ASSERT_EQ(isSigned ? static_cast<int16_t>(texels[i]) : texels[i], expected < 0 ? -wide : wide);
      }
    });
  }
}

TEST(Eac, TwoChannels) {
  std::mt19937_64 random(4);
  for (bool isSigned : {false, true}) {
    const BlockCodec one = blockCodec(isSigned ? VK_FORMAT_EAC_R11_SNORM_BLOCK : VK_FORMAT_EAC_R11_UNORM_BLOCK);
    const BlockCodec two = blockCodec(isSigned ? VK_FORMAT_EAC_R11G11_SNORM_BLOCK : VK_FORMAT_EAC_R11G11_UNORM_BLOCK);
    for (int n = 0; n < 500; ++n) {
      const uint64_t block[2] = {random(), random()};
      const std::vector<float> red = test::floatsOf(one, &block[0]), green = test::floatsOf(one, &block[1]);
      const std::vector<float> both = test::floatsOf(two, block);
      uint16_t red16[16], green16[16], both16[32];
      one.decode(&block[0], red16, 8);
      one.decode(&block[1], green16, 8);
      two.decode(block, both16, 16);
      for (size_t i = 0; i < 16; ++i) {
        ASSERT_EQ(both[4 * i], red[4 * i]);
        ASSERT_EQ(both[4 * i + 1], green[4 * i]);
        ASSERT_EQ(both16[2 * i], red16[i]);
        ASSERT_EQ(both16[2 * i + 1], green16[i]);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::formats
