// Pipelines are created with quick code and get better code when they run hot: the switch is seen, leaves the same
// bits, and goes well whatever the application does meanwhile.
//
// covers: vkCreateComputePipelines, vkDestroyPipeline, vkGetPipelineCacheData, vkMergePipelineCaches
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/tiers.spv.h"
#include "testing/temporary_directory.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
constexpr uint32_t kGroups = 256;

// In a child process, for the driver's log: the lines that tell of better code.
class Log {
 public:
  Log() {
    setenv("PUMICE_LOG", "debug", 1);
    setenv("PUMICE_LOG_FILE", path_.c_str(), 1);
  }
  size_t switches() const {
    std::ifstream file(path_);
    size_t n = 0;
    for (std::string line; std::getline(file, line);) n += line.find("better code after") != std::string::npos;
    return n;
  }

 private:
  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("log");
};

class TierTest : public VulkanTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    unsetenv("PUMICE_TIER");
  }

  // The device and what the pipelines share.
  void prepare(bool validation = true) {
    createInstance({.validation = validation});
    createDevice();
    base_ = makeCompute(k_tiers, kTwo);
    in_ = makeBuffer(4 * 4096);
    out_ = makeBuffer(4 * 64 * kGroups);
    uint32_t seed = 1;
    for (float& v : in_.as<float>()) {
      seed = seed * 1664525u + 1013904223u;
      v = static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f;  // all bits in use
    }
    const std::array<TestBuffer, 2> buffers{in_, out_};
    bindBuffers(base_, buffers);
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = sizeof k_tiers;
    info.pCode = k_tiers;
    VK_OK(vkCreateShaderModule(device(), &info, nullptr, &module_));
    defer([this] { vkDestroyShaderModule(device(), module_, nullptr); });
  }

  // In a process of its own, with a log of its own and no validation layer: what `body` returns is expected to be true.
  void inProgram(const std::function<bool(const Log&)>& body) {
    EXPECT_EXIT(
        {
          bool ok = false;
          {
            const Log log;
            prepare(false);
            ok = body(log);
            destroyAll();
          }
          std::_Exit(ok ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
  }

  VkPipeline make(uint32_t salt, VkPipelineCache cache = VK_NULL_HANDLE, VkPipelineCreateFlags flags = 0) {
    const VkSpecializationMapEntry entry{0, 0, 4};
    const VkSpecializationInfo constants{1, &entry, 4, &salt};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.flags = flags;
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module_;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &constants;
    info.layout = base_.layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateComputePipelines(device(), cache, 1, &info, nullptr, &pipeline), VK_SUCCESS);
    return pipeline;
  }
  void destroy(VkPipeline pipeline) { vkDestroyPipeline(device(), pipeline, nullptr); }

  VkPipelineCache makeCache(std::span<const std::byte> data = {}) {
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    VkPipelineCache cache = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &info, nullptr, &cache), VK_SUCCESS);
    defer([this, cache] { vkDestroyPipelineCache(device(), cache, nullptr); });
    return cache;
  }
  size_t sizeOf(VkPipelineCache cache) {
    size_t size = 0;
    EXPECT_EQ(vkGetPipelineCacheData(device(), cache, &size, nullptr), VK_SUCCESS);
    return size;
  }

  void dispatch(VkPipeline pipeline, uint32_t times) {
    run([&](VkCommandBuffer c) {
      bindAll(c, base_);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      for (uint32_t i = 0; i < times; ++i) {
        vkCmdDispatch(c, kGroups, 1, 1);
        barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      }
    });
  }
  std::vector<uint32_t> results(VkPipeline pipeline) {
    std::memset(out_.bytes, 0xee, out_.size);
    dispatch(pipeline, 1);
    return {out_.as<uint32_t>().begin(), out_.as<uint32_t>().end()};
  }
  // Until the condition holds; false after a minute.
  template <typename Condition>
  [[nodiscard]] bool heatUntil(VkPipeline pipeline, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      dispatch(pipeline, 20);
    }
    return true;
  }

  Compute base_;
  TestBuffer in_, out_;
  VkShaderModule module_ = VK_NULL_HANDLE;
};

TEST_F(TierTest, BothTiersLeaveTheSameBits) {
  prepare();
  std::vector<std::vector<uint32_t>> found;
  for (const char* tier : {"quick", "better"}) {
    setenv("PUMICE_TIER", tier, 1);
    const VkPipeline pipeline = make(3);
    found.push_back(results(pipeline));
    destroy(pipeline);
  }
  unsetenv("PUMICE_TIER");
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0].front(), 0xeeeeeeeeu);
}

TEST_F(TierTest, AHotPipelineGetsBetterCode) {
  inProgram([&](const Log& log) {
    const VkPipeline quick = make(1, VK_NULL_HANDLE, VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT);
    const std::vector<uint32_t> before = results(quick);
    destroy(quick);
    const VkPipeline pipeline = make(1);
    bool ok = log.switches() == 0;  // none of them has been hot: it has not run
    ok = heatUntil(pipeline, [&] { return log.switches() == 1; }) && ok;
    ok = results(pipeline) == before && ok;
    destroy(pipeline);
    return ok;
  });
}

TEST_F(TierTest, WithoutOptimizationTheQuickCodeStays) {
  inProgram([&](const Log& log) {
    const VkPipeline plain = make(1, VK_NULL_HANDLE, VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT);
    const VkPipeline other = make(2);
    dispatch(plain, 3000);
    // Would be served first, as it has run for longer.
    bool ok = heatUntil(other, [&] { return log.switches() == 1; });
    dispatch(plain, 20);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ok = ok && log.switches() == 1;
    destroy(plain);
    destroy(other);
    return ok;
  });
}

TEST_F(TierTest, AWarmCacheGivesBetterCodeAtOnce) {
  inProgram([&](const Log& log) {
    VkPipelineCache cache = makeCache();
    const VkPipeline first = make(1, cache);
    bool ok = heatUntil(first, [&] { return log.switches() == 1; });
    const std::vector<uint32_t> before = results(first);
    std::vector<std::byte> data(sizeOf(cache));
    size_t size = data.size();
    ok = vkGetPipelineCacheData(device(), cache, &size, data.data()) == VK_SUCCESS && ok;
    const VkPipeline warm = make(1, makeCache(data));
    ok = results(warm) == before && ok;
    dispatch(warm, 3000);
    const VkPipeline other = make(2);
    ok = heatUntil(other, [&] { return log.switches() == 2; }) && ok;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ok = log.switches() == 2 && ok;  // none for the warm one
    for (const VkPipeline pipeline : {first, warm, other}) destroy(pipeline);
    return ok;
  });
}

// An application asks for the size of the data, then for the data: that better code came in between is not its affair.
TEST_F(TierTest, CacheDataFitTheSizeThatWasTold) {
  prepare();
  VkPipelineCache cache = makeCache();
  const VkPipeline pipeline = make(4, cache);
  const size_t told = sizeOf(cache);
  std::vector<std::byte> data(told);
  // A merge sees better code as soon as it is there.
  const auto sizeOfCopy = [&] {
    const VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache copy = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &info, nullptr, &copy), VK_SUCCESS);
    EXPECT_EQ(vkMergePipelineCaches(device(), copy, 1, &cache), VK_SUCCESS);
    const size_t size = sizeOf(copy);
    vkDestroyPipelineCache(device(), copy, nullptr);
    return size;
  };
  ASSERT_TRUE(heatUntil(pipeline, [&] { return sizeOfCopy() != told; }));
  EXPECT_GT(sizeOfCopy(), told);  // or the next lines would prove nothing
  size_t size = told;
  EXPECT_EQ(vkGetPipelineCacheData(device(), cache, &size, data.data()), VK_SUCCESS);
  EXPECT_EQ(size, told);
  EXPECT_EQ(sizeOf(cache), sizeOfCopy());
  destroy(pipeline);
}

TEST_F(TierTest, PipelinesAndTheirCachesMayGoWhileBetterCodeIsMade) {
  prepare(false);
  for (uint32_t salt = 1; salt <= 30; ++salt) {
    const VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache = VK_NULL_HANDLE;
    VK_OK(vkCreatePipelineCache(device(), &info, nullptr, &cache));
    const VkPipeline pipeline = make(salt, cache);
    vkDestroyPipelineCache(device(), cache, nullptr);
    dispatch(pipeline, 20 * (salt % 30));  // cold, just hot, long hot
    destroy(pipeline);
  }
  const VkPipeline last = make(1);
  const std::vector<uint32_t> quick = results(last);
  dispatch(last, 1000);
  EXPECT_EQ(results(last), quick);
  destroy(last);
}

TEST_F(TierTest, DevicesMayGoWhileBetterCodeIsMade) {
  for (int round = 0; round < 15; ++round) {
    prepare(false);
    const VkPipeline pipeline = make(static_cast<uint32_t>(round));
    dispatch(pipeline, 100 + 30 * static_cast<uint32_t>(round));
    destroy(pipeline);
    destroyAll();
  }
}

TEST_F(TierTest, ExitWhileBetterCodeIsMade) {
  for (int wait_us : {0, 500, 3000}) {
    EXPECT_EXIT(
        {
          prepare(false);
          for (uint32_t salt = 1; salt <= 6; ++salt) dispatch(make(salt), 300);
          std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
          std::exit(7);
        },
        testing::ExitedWithCode(7), "");
  }
}

TEST_F(TierTest, ForkWhileBetterCodeIsMade) {
  prepare(false);
  std::vector<VkPipeline> pipelines;
  for (uint32_t salt = 1; salt <= 6; ++salt) {
    pipelines.push_back(make(salt));
    dispatch(pipelines.back(), 300);
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(5);  // a hang ends the child by a signal
    bool ok = vkQueueWaitIdle(queue()) == VK_ERROR_DEVICE_LOST;
    for (const VkPipeline pipeline : pipelines) destroy(pipeline);
    vkDestroyDevice(device(), nullptr);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const VkPipeline pipeline : pipelines) {
    const std::vector<uint32_t> before = results(pipeline);
    dispatch(pipeline, 300);
    EXPECT_EQ(results(pipeline), before);
    destroy(pipeline);
  }
}

}  // namespace
}  // namespace pumice::cts
