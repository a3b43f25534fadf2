// What the driver writes down on request.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/saxpy.spv.h"
#include "testing/temporary_directory.h"

namespace pumice::cts {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class DumpTest : public VulkanTest {
 protected:
  DumpTest() { setenv("PUMICE_DUMP_SHADERS", directory_.path().c_str(), 1); }
  ~DumpTest() override { unsetenv("PUMICE_DUMP_SHADERS"); }
  const TemporaryDirectory directory_;
};

TEST_F(DumpTest, ShadersAsModuleAndAsText) {
  createDevice();
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  makeCompute(k_saxpy, kTwo, 16);
  int modules = 0, texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    const std::string text = contents(entry.path());
    if (entry.path().extension() == ".spv") {
      ++modules;
      ASSERT_EQ(text.size(), sizeof k_saxpy);
      EXPECT_EQ(std::memcmp(text.data(), k_saxpy, sizeof k_saxpy), 0);
    } else {
      ++texts;
      EXPECT_EQ(entry.path().extension(), ".ir");
      const size_t read = text.find("; as read"), passed = text.find("; after all passes");
      EXPECT_LT(read, passed);
      EXPECT_NE(passed, std::string::npos);
      EXPECT_NE(text.find("Load"), std::string::npos);
    }
  }
  EXPECT_EQ(modules, 1);
  EXPECT_EQ(texts, 1);
}

// The directory is not there: the pipeline is made all the same.
TEST_F(DumpTest, NowhereToWriteIsNoError) {
  std::filesystem::remove_all(directory_.path());
  createDevice();
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  EXPECT_NE(makeCompute(k_saxpy, kTwo, 16).pipeline, VkPipeline{VK_NULL_HANDLE});
}

}  // namespace
}  // namespace pumice::cts
