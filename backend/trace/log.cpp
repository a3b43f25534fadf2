#include "backend/trace/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace pumice::trace {

constinit std::atomic<uint8_t> gLogLevel{0xff};

namespace {

constexpr int kFdUnopened = -1;
constinit std::atomic<LogSink> gSink{nullptr};
constinit std::atomic<int> gFd{kFdUnopened};

// Opened at the first line. Of two threads that both open the file, the second closes its own again.
int outputFd() {
  int fd = gFd.load(std::memory_order_acquire);
  if (fd != kFdUnopened) return fd;
  int opened = -1;
  if (const char* path = secure_getenv("PUMICE_LOG_FILE"); path && *path)
    opened = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (opened < 0) opened = STDERR_FILENO;
  if (gFd.compare_exchange_strong(fd, opened, std::memory_order_acq_rel)) return opened;
  if (opened != STDERR_FILENO) ::close(opened);
  return fd;
}

}  // namespace

LogSink setLogSink(LogSink sink) {
  return gSink.exchange(sink, std::memory_order_acq_rel);
}

void setLogLevel(LogLevel level) {
  gLogLevel.store(static_cast<uint8_t>(level), std::memory_order_relaxed);
}

LogLevel readLogLevelFromEnvironment() {
  LogLevel level = LogLevel::kError;
  if (const char* text = std::getenv("PUMICE_LOG")) {
    if (std::strcmp(text, "off") == 0) level = LogLevel::kOff;
    if (std::strcmp(text, "warning") == 0) level = LogLevel::kWarning;
    if (std::strcmp(text, "debug") == 0) level = LogLevel::kDebug;
  }
  // A level that setLogLevel has set meanwhile wins.
  uint8_t current = 0xff;
  if (!gLogLevel.compare_exchange_strong(current, static_cast<uint8_t>(level), std::memory_order_relaxed))
    return static_cast<LogLevel>(current);
  return level;
}

void writeLog(LogLevel level, const char* part, const char* format, ...) {
  static constexpr const char* kNames[] = {"", "error", "warning", "debug"};
  const int savedErrno = errno;
  char line[1100];
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  int used = std::snprintf(line, sizeof line, "[pumice %ld.%06ld %s] %s: ", static_cast<long>(now.tv_sec),
                           now.tv_nsec / 1000, kNames[static_cast<uint8_t>(level)], part);
  va_list args;
  va_start(args, format);
  const size_t room = sizeof line - 1 - static_cast<size_t>(used);
  const int wanted = std::vsnprintf(line + used, room, format, args);
  va_end(args);
  if (wanted > 0) used += static_cast<int>(std::min(static_cast<size_t>(wanted), room - 1));
  if (LogSink sink = gSink.load(std::memory_order_acquire)) {
    sink(level, {line, static_cast<size_t>(used)});
  } else {
    line[used++] = '\n';
    // A log that cannot be written is no reason to fail.
    [[maybe_unused]] const ssize_t written = ::write(outputFd(), line, static_cast<size_t>(used));
  }
  errno = savedErrno;
}

}  // namespace pumice::trace
