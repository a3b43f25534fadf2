// The generated data behind format_table.h; see gen/gen_format_table.py.
#pragma once

#include "backend/formats/format_table.h"

namespace pumice::formats {

inline constexpr uint16_t kNoFormat = 0xFFFF;

/// VkFormat numbers [first, first + count) and the index of each in kFormats.
struct FormatRange {
  uint32_t first;
  uint32_t count;
  const uint16_t* indices;
};

extern const FormatInfo kFormats[];
extern const uint32_t kFormatCount;
extern const FormatRange kRanges[];
extern const uint32_t kRangeCount;
extern const char* const kClassNames[];
extern const uint32_t kClassCount;

}  // namespace pumice::formats
