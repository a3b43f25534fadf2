// Random compressed blocks and the texels that they stand for, by the words of the Khronos Data Format Specification.
// Only encodings whose texels follow from a few lines are made: of BC7 mode 6, of BC6H mode 11, of ETC2 the individual
// mode, of ASTC blocks of one color. (backend/formats has tests of every mode.)
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace pumice::cts {

struct CompressedFormat {
  const char* name;
  VkFormat format;
  uint32_t blockWidth, blockHeight, bytes;
  double step;  // of the least exact component: between neighbouring codes
  /// Fills `block` and the texels, row by row, as linear floats.
  void (*make)(const CompressedFormat& format, std::mt19937& random, std::byte* block,
               std::vector<std::array<double, 4>>& texels);
};

const std::vector<CompressedFormat>& compressedFormats();

}  // namespace pumice::cts
