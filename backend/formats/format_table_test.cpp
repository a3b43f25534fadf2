// The expected values here are written by hand from the specification's tables and diagrams ("Compatible formats",
// "Bit mappings for packed formats"), not from the registry that the table is generated from.
#include "backend/formats/format_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>

namespace pumice::formats {
namespace {

struct Place {
  char name;
  int bits;
  int offset;
};

char letter(ComponentName name) {
  return "RGBADS"[static_cast<int>(name)];
}

void expectPlaces(VkFormat format, std::initializer_list<Place> places) {
  const FormatInfo& info = formatInfo(format);
  SCOPED_TRACE(info.name);
  ASSERT_EQ(info.componentCount, places.size());
  size_t i = 0;
  for (const Place& place : places) {
    EXPECT_EQ(letter(info.components[i].name), place.name);
    EXPECT_EQ(info.components[i].bits, place.bits);
    EXPECT_EQ(info.components[i].bitOffset, place.offset);
    ++i;
  }
}

TEST(FormatTable, LooksUpEveryFormatByItsNumber) {
  EXPECT_GE(allFormats().size(), 184u);
  int64_t before = 0;
  for (const FormatInfo& info : allFormats()) {
    EXPECT_EQ(&formatInfo(info.format), &info);
    EXPECT_TRUE(isKnown(info));
    EXPECT_GT(static_cast<int64_t>(info.format), before);
    before = info.format;
  }
  for (int core = 1; core <= 184; ++core) {
    EXPECT_TRUE(isKnown(formatInfo(static_cast<VkFormat>(core)))) << core;
  }
  EXPECT_STREQ(formatInfo(VK_FORMAT_R8G8B8A8_UNORM).name, "VK_FORMAT_R8G8B8A8_UNORM");
  EXPECT_STREQ(formatInfo(VK_FORMAT_A4B4G4R4_UNORM_PACK16).name, "VK_FORMAT_A4B4G4R4_UNORM_PACK16");
}

TEST(FormatTable, KnowsNothingOfOtherNumbers) {
  for (int64_t number : {int64_t{0}, int64_t{185}, int64_t{999999999}, int64_t{1000054008}, int64_t{1000065999},
                         int64_t{1000156034}, int64_t{1000340002}, int64_t{0x7FFFFFFF}}) {
    const FormatInfo& info = formatInfo(static_cast<VkFormat>(number));
    EXPECT_FALSE(isKnown(info)) << number;
    EXPECT_EQ(info.blockBytes, 0);
    EXPECT_EQ(formatAspects(info), 0u);
  }
}

TEST(FormatTable, PlacesOfPackedComponents) {
  expectPlaces(VK_FORMAT_R4G4_UNORM_PACK8, {{'R', 4, 4}, {'G', 4, 0}});
  expectPlaces(VK_FORMAT_B4G4R4A4_UNORM_PACK16, {{'B', 4, 12}, {'G', 4, 8}, {'R', 4, 4}, {'A', 4, 0}});
  expectPlaces(VK_FORMAT_A4R4G4B4_UNORM_PACK16, {{'A', 4, 12}, {'R', 4, 8}, {'G', 4, 4}, {'B', 4, 0}});
  expectPlaces(VK_FORMAT_R5G6B5_UNORM_PACK16, {{'R', 5, 11}, {'G', 6, 5}, {'B', 5, 0}});
  expectPlaces(VK_FORMAT_B5G5R5A1_UNORM_PACK16, {{'B', 5, 11}, {'G', 5, 6}, {'R', 5, 1}, {'A', 1, 0}});
  expectPlaces(VK_FORMAT_A1R5G5B5_UNORM_PACK16, {{'A', 1, 15}, {'R', 5, 10}, {'G', 5, 5}, {'B', 5, 0}});
  expectPlaces(VK_FORMAT_A8B8G8R8_SRGB_PACK32, {{'A', 8, 24}, {'B', 8, 16}, {'G', 8, 8}, {'R', 8, 0}});
  expectPlaces(VK_FORMAT_A2R10G10B10_SNORM_PACK32, {{'A', 2, 30}, {'R', 10, 20}, {'G', 10, 10}, {'B', 10, 0}});
  expectPlaces(VK_FORMAT_B10G11R11_UFLOAT_PACK32, {{'B', 10, 22}, {'G', 11, 11}, {'R', 11, 0}});
  expectPlaces(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, {{'B', 9, 18}, {'G', 9, 9}, {'R', 9, 0}});
  EXPECT_EQ(formatInfo(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32).sharedExponentBits, 5);
  expectPlaces(VK_FORMAT_X8_D24_UNORM_PACK32, {{'D', 24, 0}});
  expectPlaces(VK_FORMAT_R10X6_UNORM_PACK16, {{'R', 10, 6}});
  expectPlaces(VK_FORMAT_R12X4G12X4_UNORM_2PACK16, {{'R', 12, 4}, {'G', 12, 20}});
  expectPlaces(VK_FORMAT_B10X6G10X6R10X6G10X6_422_UNORM_4PACK16,
               {{'B', 10, 6}, {'G', 10, 22}, {'R', 10, 38}, {'G', 10, 54}});
  EXPECT_EQ(formatInfo(VK_FORMAT_R12X4G12X4_UNORM_2PACK16).components[1].elementBits, 16);
  EXPECT_EQ(formatInfo(VK_FORMAT_B10G11R11_UFLOAT_PACK32).components[0].elementBits, 32);
}

TEST(FormatTable, PlacesOfArrayComponents) {
  expectPlaces(VK_FORMAT_B8G8R8_UINT, {{'B', 8, 0}, {'G', 8, 8}, {'R', 8, 16}});
  expectPlaces(VK_FORMAT_B8G8R8A8_SRGB, {{'B', 8, 0}, {'G', 8, 8}, {'R', 8, 16}, {'A', 8, 24}});
  expectPlaces(VK_FORMAT_R16G16B16_SFLOAT, {{'R', 16, 0}, {'G', 16, 16}, {'B', 16, 32}});
  expectPlaces(VK_FORMAT_R64G64_UINT, {{'R', 64, 0}, {'G', 64, 64}});
  expectPlaces(VK_FORMAT_G8B8G8R8_422_UNORM, {{'G', 8, 0}, {'B', 8, 8}, {'G', 8, 16}, {'R', 8, 24}});
  EXPECT_EQ(formatInfo(VK_FORMAT_R16G16B16_SFLOAT).packedBits, 0);
  EXPECT_EQ(formatInfo(VK_FORMAT_R16G16B16_SFLOAT).components[2].elementBits, 16);
}

TEST(FormatTable, SizesOfBlocks) {
  struct Size {
    VkFormat format;
    int bytes, x, y, texels;
  };
  const Size sizes[] = {{VK_FORMAT_R8_UNORM, 1, 1, 1, 1},
                        {VK_FORMAT_R8G8B8_SRGB, 3, 1, 1, 1},
                        {VK_FORMAT_R16G16B16_UINT, 6, 1, 1, 1},
                        {VK_FORMAT_R32G32B32_SFLOAT, 12, 1, 1, 1},
                        {VK_FORMAT_R64G64B64A64_SFLOAT, 32, 1, 1, 1},
                        {VK_FORMAT_D32_SFLOAT_S8_UINT, 5, 1, 1, 1},
                        {VK_FORMAT_D16_UNORM_S8_UINT, 3, 1, 1, 1},
                        {VK_FORMAT_G8B8G8R8_422_UNORM, 4, 2, 1, 1},
                        {VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM, 6, 1, 1, 1},
                        {VK_FORMAT_BC1_RGBA_SRGB_BLOCK, 8, 4, 4, 16},
                        {VK_FORMAT_BC7_UNORM_BLOCK, 16, 4, 4, 16},
                        {VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK, 16, 4, 4, 16},
                        {VK_FORMAT_EAC_R11_SNORM_BLOCK, 8, 4, 4, 16},
                        {VK_FORMAT_ASTC_10x6_SRGB_BLOCK, 16, 10, 6, 60},
                        {VK_FORMAT_ASTC_12x12_UNORM_BLOCK, 16, 12, 12, 144},
                        {VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG, 8, 8, 4, 32}};
  for (const Size& size : sizes) {
    const FormatInfo& info = formatInfo(size.format);
    SCOPED_TRACE(info.name);
    EXPECT_EQ(info.blockBytes, size.bytes);
    EXPECT_EQ(info.blockExtent[0], size.x);
    EXPECT_EQ(info.blockExtent[1], size.y);
    EXPECT_EQ(info.blockExtent[2], 1);
    EXPECT_EQ(info.texelsPerBlock, size.texels);
  }
}

TEST(FormatTable, Compression) {
  EXPECT_EQ(formatInfo(VK_FORMAT_BC6H_SFLOAT_BLOCK).compression, Compression::kBc);
  EXPECT_EQ(formatInfo(VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK).compression, Compression::kEtc2);
  EXPECT_EQ(formatInfo(VK_FORMAT_EAC_R11G11_UNORM_BLOCK).compression, Compression::kEac);
  EXPECT_EQ(formatInfo(VK_FORMAT_ASTC_4x4_SRGB_BLOCK).compression, Compression::kAstcLdr);
  EXPECT_EQ(formatInfo(VK_FORMAT_ASTC_4x4_SFLOAT_BLOCK).compression, Compression::kAstcHdr);
  EXPECT_EQ(formatInfo(VK_FORMAT_R8_UNORM).compression, Compression::kNone);
  EXPECT_EQ(formatInfo(VK_FORMAT_BC4_SNORM_BLOCK).components[0].numeric, NumericFormat::kSnorm);
  EXPECT_EQ(formatInfo(VK_FORMAT_BC5_UNORM_BLOCK).componentCount, 2);
}

TEST(FormatTable, CompatibilityClasses) {
  const auto classOf = [](VkFormat format) { return formatInfo(format).compatibilityClass; };
  EXPECT_EQ(classOf(VK_FORMAT_R8G8B8A8_UNORM), classOf(VK_FORMAT_R32_SFLOAT));
  EXPECT_EQ(classOf(VK_FORMAT_R16G16B16A16_SFLOAT), classOf(VK_FORMAT_R64_UINT));
  EXPECT_NE(classOf(VK_FORMAT_R16G16B16A16_SFLOAT), classOf(VK_FORMAT_R16G16B16_SFLOAT));
  EXPECT_NE(classOf(VK_FORMAT_D32_SFLOAT), classOf(VK_FORMAT_R32_SFLOAT));
  EXPECT_NE(classOf(VK_FORMAT_BC1_RGB_UNORM_BLOCK), classOf(VK_FORMAT_BC1_RGBA_UNORM_BLOCK));
  EXPECT_STREQ(compatibilityClassName(classOf(VK_FORMAT_R8G8B8A8_UNORM)), "32-bit");
  EXPECT_STREQ(compatibilityClassName(255), "none");
}

TEST(FormatTable, PlanesAndAspects) {
  const FormatInfo& nv12 = formatInfo(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM);
  EXPECT_EQ(nv12.planeCount, 2);
  EXPECT_EQ(nv12.chroma, Chroma::k420);
  EXPECT_EQ(nv12.planes[1].format, VK_FORMAT_R8G8_UNORM);
  EXPECT_EQ(nv12.planes[1].widthDivisor, 2);
  EXPECT_EQ(nv12.planes[1].heightDivisor, 2);
  EXPECT_TRUE(isMultiPlanar(nv12));
  expectPlaces(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, {{'G', 8, 0}, {'B', 8, 0}, {'R', 8, 8}});
  expectPlaces(VK_FORMAT_G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16, {{'G', 10, 6}, {'B', 10, 6}, {'R', 10, 22}});
  EXPECT_EQ(nv12.components[2].plane, 1);
  EXPECT_EQ(aspectFormat(VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16, VK_IMAGE_ASPECT_PLANE_2_BIT),
            VK_FORMAT_R12X4_UNORM_PACK16);
  EXPECT_EQ(aspectFormat(nv12.format, VK_IMAGE_ASPECT_PLANE_2_BIT), VK_FORMAT_UNDEFINED);
  EXPECT_EQ(aspectFormat(VK_FORMAT_R8_UNORM, VK_IMAGE_ASPECT_PLANE_0_BIT), VK_FORMAT_UNDEFINED);
  EXPECT_EQ(aspectFormat(VK_FORMAT_R8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT), VK_FORMAT_R8_UNORM);
  EXPECT_EQ(aspectFormat(VK_FORMAT_R8_UNORM, VK_IMAGE_ASPECT_DEPTH_BIT), VK_FORMAT_UNDEFINED);
  EXPECT_EQ(aspectFormat(VK_FORMAT_UNDEFINED, VK_IMAGE_ASPECT_COLOR_BIT), VK_FORMAT_UNDEFINED);
  // Formats of one plane that still want a conversion.
  EXPECT_EQ(formatInfo(VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16).chroma, Chroma::k444);
  EXPECT_EQ(formatInfo(VK_FORMAT_G8B8G8R8_422_UNORM).chroma, Chroma::k422);
  EXPECT_FALSE(isMultiPlanar(formatInfo(VK_FORMAT_G8B8G8R8_422_UNORM)));
}

TEST(FormatTable, DepthAndStencilArePlanes) {
  const std::map<VkFormat, VkFormat> depthOf = {{VK_FORMAT_D16_UNORM_S8_UINT, VK_FORMAT_D16_UNORM},
                                                {VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_X8_D24_UNORM_PACK32},
                                                {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT}};
  for (const auto& [combined, depth] : depthOf) {
    const FormatInfo& info = formatInfo(combined);
    SCOPED_TRACE(info.name);
    EXPECT_EQ(aspectFormat(combined, VK_IMAGE_ASPECT_DEPTH_BIT), depth);
    EXPECT_EQ(aspectFormat(combined, VK_IMAGE_ASPECT_STENCIL_BIT), VK_FORMAT_S8_UINT);
    EXPECT_EQ(aspectFormat(combined, VK_IMAGE_ASPECT_COLOR_BIT), VK_FORMAT_UNDEFINED);
    EXPECT_EQ(aspectPlane(combined, VK_IMAGE_ASPECT_DEPTH_BIT), 0u);
    EXPECT_EQ(aspectPlane(combined, VK_IMAGE_ASPECT_STENCIL_BIT), 1u);
    EXPECT_EQ(info.planeCount, 2);
    EXPECT_FALSE(isMultiPlanar(info));
    EXPECT_EQ(formatAspects(info), VkImageAspectFlags{VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT});
    EXPECT_EQ(texelType(info), TexelType::kFloat);
  }
  EXPECT_EQ(formatInfo(VK_FORMAT_D32_SFLOAT_S8_UINT).components[0].numeric, NumericFormat::kSfloat);
  EXPECT_EQ(formatInfo(VK_FORMAT_D32_SFLOAT_S8_UINT).components[1].numeric, NumericFormat::kUint);
  EXPECT_EQ(formatAspects(formatInfo(VK_FORMAT_S8_UINT)), VkImageAspectFlags{VK_IMAGE_ASPECT_STENCIL_BIT});
  EXPECT_EQ(formatAspects(formatInfo(VK_FORMAT_D16_UNORM)), VkImageAspectFlags{VK_IMAGE_ASPECT_DEPTH_BIT});
  EXPECT_EQ(aspectPlane(VK_FORMAT_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT), 0u);
  EXPECT_EQ(texelType(formatInfo(VK_FORMAT_S8_UINT)), TexelType::kUint);
}

TEST(FormatTable, TexelTypes) {
  EXPECT_EQ(texelType(formatInfo(VK_FORMAT_R8_SINT)), TexelType::kSint);
  EXPECT_EQ(texelType(formatInfo(VK_FORMAT_R8_SSCALED)), TexelType::kFloat);
  EXPECT_EQ(texelType(formatInfo(VK_FORMAT_A2B10G10R10_UINT_PACK32)), TexelType::kUint);
  EXPECT_TRUE(isSrgb(formatInfo(VK_FORMAT_ASTC_8x5_SRGB_BLOCK)));
  EXPECT_TRUE(isSrgb(formatInfo(VK_FORMAT_A8B8G8R8_SRGB_PACK32)));
  EXPECT_TRUE(isSrgb(formatInfo(VK_FORMAT_R8_SRGB)));
  EXPECT_FALSE(isSrgb(formatInfo(VK_FORMAT_R8G8B8A8_UNORM)));
}

// Holds for every format, whatever the headers have.
TEST(FormatTable, EveryEntryIsConsistent) {
  for (const FormatInfo& info : allFormats()) {
    SCOPED_TRACE(info.name);
    ASSERT_GE(info.componentCount, 1);
    ASSERT_LE(info.componentCount, 4);
    ASSERT_GE(info.planeCount, 1);
    uint32_t planeBytes = 0;
    for (uint32_t plane = 0; plane < info.planeCount; ++plane) {
      const FormatInfo& part = formatInfo(info.planes[plane].format);
      ASSERT_TRUE(isKnown(part));
      EXPECT_EQ(part.planeCount, 1);
      planeBytes += part.blockBytes;
      if (info.planeCount == 1) {
        EXPECT_EQ(&part, &info);
      }
    }
    // D24_UNORM_S8_UINT counts 4 bytes and takes 5: its depth plane has 8 unused bits.
    EXPECT_EQ(planeBytes, info.blockBytes + (info.format == VK_FORMAT_D24_UNORM_S8_UINT ? 1u : 0u));
    if (isCompressed(info)) {
      EXPECT_EQ(info.texelsPerBlock, info.blockExtent[0] * info.blockExtent[1] * info.blockExtent[2]);
      continue;
    }
    std::set<int> taken[3];
    for (uint32_t i = 0; i < info.componentCount; ++i) {
      const Component& c = info.components[i];
      EXPECT_NE(c.numeric, NumericFormat::kNone);
      ASSERT_LT(c.plane, info.planeCount);
      ASSERT_GT(c.bits, 0);
      EXPECT_LE(c.bitOffset + c.bits, 8 * formatInfo(info.planes[c.plane].format).blockBytes);
      EXPECT_EQ(c.bitOffset / c.elementBits, (c.bitOffset + c.bits - 1) / c.elementBits) << "straddles elements";
      for (int bit = c.bitOffset; bit < c.bitOffset + c.bits; ++bit) {
        EXPECT_TRUE(taken[c.plane].insert(bit).second) << "bit " << bit << " belongs to two components";
      }
      // The name states letter and width.
      const std::string stated = letter(c.name) + std::to_string(c.bits);
      EXPECT_NE(std::strstr(info.name, stated.c_str()), nullptr) << stated;
    }
  }
}

}  // namespace
}  // namespace pumice::formats
