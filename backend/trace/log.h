// The driver's log: one line per event, chosen by PUMICE_LOG=off|error|warning|debug (default: error), on stderr or
// appended to the file that PUMICE_LOG_FILE names. A line names the object that it is about.
//
// Any thread may log at any time, GPU workers too: a line is formatted on the stack and written with one write(2), no
// lock and no heap. A level that is off costs one relaxed load. The level may be changed while the program runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace pumice::trace {

enum class LogLevel : uint8_t { kOff = 0, kError = 1, kWarning = 2, kDebug = 3 };

// 0xff = PUMICE_LOG not read yet.
extern std::atomic<uint8_t> gLogLevel;

void setLogLevel(LogLevel level);
LogLevel readLogLevelFromEnvironment();

inline bool logEnabled(LogLevel level) {
  uint8_t current = gLogLevel.load(std::memory_order_relaxed);
  if (current == 0xff) [[unlikely]]
    current = static_cast<uint8_t>(readLogLevelFromEnvironment());
  return static_cast<uint8_t>(level) <= current;
}

// For tests: receives each line (without its end of line) instead of the file; nullptr restores. It may be called from
// several threads at once. Returns the earlier sink.
using LogSink = void (*)(LogLevel level, std::string_view line);
LogSink setLogSink(LogSink sink);

// printf-style; errno is kept; lines longer than about 1000 bytes are cut. `part` is the folder that speaks: "icd",
// "kmd", "shader"
// ...
[[gnu::format(printf, 3, 4)]] void writeLog(LogLevel level, const char* part, const char* format, ...);

}  // namespace pumice::trace

#define PUMICE_LOG_AT(level, part, ...)                                                          \
  do {                                                                                           \
    if (::pumice::trace::logEnabled(level)) ::pumice::trace::writeLog(level, part, __VA_ARGS__); \
  } while (false)
#define PUMICE_ERROR(part, ...) PUMICE_LOG_AT(::pumice::trace::LogLevel::kError, part, __VA_ARGS__)
#define PUMICE_WARNING(part, ...) PUMICE_LOG_AT(::pumice::trace::LogLevel::kWarning, part, __VA_ARGS__)
#define PUMICE_DEBUG(part, ...) PUMICE_LOG_AT(::pumice::trace::LogLevel::kDebug, part, __VA_ARGS__)
