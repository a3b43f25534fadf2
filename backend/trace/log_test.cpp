#include "backend/trace/log.h"

#include <gtest/gtest.h>

#include <string>

namespace pumice::trace {
namespace {

std::string logged(LogLevel threshold, void (*emit)()) {
  setLogLevel(threshold);
  testing::internal::CaptureStderr();
  emit();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LevelsFilter) {
  auto warn = [] { PUMICE_WARNING("test", "value %d", 42); };
  EXPECT_EQ(logged(LogLevel::kError, warn), "");
  const std::string line = logged(LogLevel::kWarning, warn);
  EXPECT_NE(line.find("warning] test: value 42\n"), std::string::npos) << line;
}

TEST(Log, LongLinesAreCutAndStillEndInANewline) {
  static const std::string kLong(5000, 'x');
  const std::string line = logged(LogLevel::kDebug, [] { PUMICE_DEBUG("test", "%s", kLong.c_str()); });
  EXPECT_LT(line.size(), 1200u);
  EXPECT_EQ(line.back(), '\n');
}

}  // namespace
}  // namespace pumice::trace
