// Texels that compiled code reads and writes by itself, without the texture unit (backend/texture), with the same
// numbers bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "shaders/ir/type.h"

namespace pumice::shader::codegen {

// Channels R, G, B, A in this order, all of one width; those that are not there read 0, 0, 1.
struct TexelLayout {
  enum class Numeric : uint8_t { kUnorm, kFloat, kUint, kSint };
  uint16_t viewClass;   // abi::makeViewClass: of a 2D view, row-linear
  uint8_t channels;     // 1, 2, 4
  uint8_t channelBits;  // 8, 16, 32
  Numeric numeric;
  bool swapped;  // B, G, R, A

  uint32_t bytes() const { return channels * channelBits / 8u; }
  bool isFloat() const { return numeric <= Numeric::kFloat; }
  // How a texel is held between memory and numbers: eight-bit channels as one integer, others by channel.
  uint32_t units() const { return channelBits == 8 ? 1 : channels; }
  uint32_t unitBits() const { return channelBits == 8 ? channels * 8u : channelBits; }
};

// The likely layouts of the image that an access with texels of this kind meets, the likeliest first: that of the
// format that the shader states (a spv::ImageFormat), else the commonest.
std::vector<TexelLayout> likelyLayouts(uint8_t format, ir::Kind kind);

}  // namespace pumice::shader::codegen
