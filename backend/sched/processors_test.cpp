#include "backend/sched/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace pumice::sched {
namespace {

TEST(Processors, CountsTheAffinityMask) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(availableProcessors(), static_cast<uint32_t>(CPU_COUNT(&all)));
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE; cpu-- > 0;)
      if (CPU_ISSET(cpu, &all) && CPU_COUNT(&one) == 0) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(availableProcessors(), 1u);
  }).join();
}

}  // namespace
}  // namespace pumice::sched
