// The driver's log: one line per event on stderr, chosen by PUMICE_LOG=error|warning|debug (default: error).
//
// Any thread may log at any time, GPU workers too: a line is formatted on the stack and written with one write(2), no
// lock and no heap. A level that is off costs one relaxed load. The level may be changed while the program runs.
#pragma once

#include <atomic>
#include <cstdint>

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

// printf-style; lines longer than about 1000 bytes are cut. `part` is the folder that speaks: "icd", "kmd", "shader"
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
