#include "backend/trace/log.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "testing/temporary_directory.h"

namespace pumice::trace {
namespace {

// The environment is read once per process, so each case runs in a child.
std::string linesOfChild(const char* level) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("log");
  const pid_t pid = fork();
  if (pid == 0) {
    gLogLevel.store(0xff);
    level ? setenv("PUMICE_LOG", level, 1) : unsetenv("PUMICE_LOG");
    setenv("PUMICE_LOG_FILE", path.c_str(), 1);
    PUMICE_ERROR("a", "E");
    PUMICE_WARNING("a", "W");
    PUMICE_DEBUG("a", "D");
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  std::ifstream file(path);
  std::string letters;
  for (std::string line; std::getline(file, line);) letters += line.back();
  return letters;
}

// The file is chosen at the first line of a process; tests that log to stderr run after this one or in other processes.
TEST(LogEnvironment, ChoosesLevelAndFile) {
  EXPECT_EQ(linesOfChild(nullptr), "E");
  EXPECT_EQ(linesOfChild("off"), "");
  EXPECT_EQ(linesOfChild("error"), "E");
  EXPECT_EQ(linesOfChild("warning"), "EW");
  EXPECT_EQ(linesOfChild("debug"), "EWD");
  EXPECT_EQ(linesOfChild("nonsense"), "E");
}

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

std::mutex g_mutex;
std::vector<std::string> g_lines;

void collect(LogLevel, std::string_view line) {
  std::lock_guard lock(g_mutex);
  g_lines.emplace_back(line);
}

TEST(Log, SinkReceivesLinesOfManyThreads) {
  setLogLevel(LogLevel::kDebug);
  g_lines.clear();
  LogSink earlier = setLogSink(collect);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 250; ++i) PUMICE_DEBUG("test", "queue %d item %d", t, i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(setLogSink(earlier), collect);
  ASSERT_EQ(g_lines.size(), 1000u);
  EXPECT_NE(g_lines[0].find(" debug] test: queue "), std::string::npos);
}

TEST(Log, QuietLinesEvaluateNothingAndErrnoIsKept) {
  int evaluated = 0;
  setLogLevel(LogLevel::kOff);
  PUMICE_ERROR("test", "%d", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  setLogLevel(LogLevel::kError);
  LogSink earlier = setLogSink([](LogLevel, std::string_view) { errno = EINVAL; });
  errno = ENOSPC;
  PUMICE_ERROR("test", "%d", ++evaluated);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(evaluated, 1);
  setLogSink(earlier);
}

}  // namespace
}  // namespace pumice::trace
