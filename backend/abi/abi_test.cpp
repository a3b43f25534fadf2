#include <gtest/gtest.h>

#include <set>

#include "backend/abi/draw_packets.h"
#include "backend/abi/image_layout.h"
#include "backend/abi/memory_map.h"
#include "backend/abi/packets.h"

namespace pumice::abi {
namespace {

TEST(ImageLayout, QuadMajorIsAPermutationWhoseQuadsAreTwoByTwo) {
  std::set<uint32_t> seen;
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 4; ++x) {
      seen.insert(quadMajorIndex(x, y));
      EXPECT_EQ(quadMajorIndex(x, y) / 4, (x / 2) + 2 * (y / 2));
      EXPECT_EQ(quadMajorIndex(x, y) % 4, (x % 2) + 2 * (y % 2));
    }
  EXPECT_EQ(seen.size(), 16u);
}

TEST(Stage, ScopesGrowAlongTheLogicalOrder) {
  EXPECT_EQ(expandSource(stageBit(Stage::kTransfer)), stageBit(Stage::kTransfer));
  EXPECT_EQ(expandSource(stageBit(Stage::kFragment)), kGraphicsStages);
  EXPECT_EQ(expandSource(stageBit(Stage::kCompute)), stageBit(Stage::kCompute) | stageBit(Stage::kIndirect));
  EXPECT_EQ(expandDestination(stageBit(Stage::kIndirect)), kGraphicsStages | stageBit(Stage::kCompute));
  EXPECT_EQ(expandDestination(stageBit(Stage::kGeometry)), stageBit(Stage::kGeometry) | stageBit(Stage::kFragment));
  EXPECT_EQ(expandDestination(0), 0u);
}

TEST(MemoryMap, ReservationStaysClearOfSanitizersAndPrograms) {
  EXPECT_GE(kReservationBase, 0x5500'0000'0000ull);
  EXPECT_LE(kReservationBase + kReservationBytes, 0x5555'5555'4000ull);
}

}  // namespace
}  // namespace pumice::abi
