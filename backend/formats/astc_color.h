// Endpoint colors of ASTC's LDR endpoint modes. Khronos Data Format Specification, "LDR Endpoint Decoding".
#pragma once

#include <cstdint>

namespace pumice::formats::astc {

struct Endpoints {
  bool valid = false;  // false: an HDR mode, whose texels have the error color
  int32_t from[4];     // 0 to 255
  int32_t to[4];
};

/// values: as many as the mode takes, 2 for modes 0 to 3 up to 8 for 12 to 15.
Endpoints endpointsOf(unsigned mode, const uint8_t* values);

}  // namespace pumice::formats::astc
