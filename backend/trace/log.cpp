#include "backend/trace/log.h"

#include <unistd.h>
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace pumice::trace {

constinit std::atomic<uint8_t> gLogLevel{0xff};

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
  setLogLevel(level);
  return level;
}

void writeLog(LogLevel level, const char* part, const char* format, ...) {
  static constexpr const char* kNames[] = {"", "error", "warning", "debug"};
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
  line[used++] = '\n';
  // A log that cannot be written is no reason to fail.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, static_cast<size_t>(used));
}

}  // namespace pumice::trace
