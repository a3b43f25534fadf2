// Pipelines out of caches and made at once: the disk cache of a program that is started again, what a start must not
// do, creation with many infos and many threads, and what each of them tells.
//
// covers: vkCreateComputePipelines, feature:pipelineCreationCacheControl
// covers: VK_EXT_pipeline_creation_feedback, VK_EXT_pipeline_creation_cache_control
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/many.spv.h"
#include "shaders/tiers.spv.h"
#include "testing/temporary_directory.h"

namespace pumice::cts {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kInvocations = 64;

uint32_t input(uint32_t i) {
  return i * 2654435761u + 12345u;
}

// What many.comp computes.
std::array<uint32_t, kInvocations> expected(uint32_t salt) {
  std::array<uint32_t, kInvocations> tile{}, out{};
  for (uint32_t i = 0; i < kInvocations; ++i) {
    uint32_t v = input(i) ^ salt;
    for (uint32_t k = 0; k < 1 + salt % 5; ++k) v = v * 1664525u + 1013904223u;
    tile[i] = v;
  }
  for (uint32_t i = 0; i < kInvocations; ++i) {
    uint32_t v = tile[i];
    for (uint32_t k = 1; k < 8; ++k) v = (v << 1) + (tile[(i + k) & 63] ^ k);
    out[i] = v;
  }
  return out;
}

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

bool isMapped(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}
bool compilerIsLoaded() {
  return isMapped("libpumice_compiler");
}

// Each test starts programs (child processes) that share a directory. They are forks, so this process must not have
// used the driver before: with a test before it, a test runs in a process of its own.
class PipelineCacheTest : public VulkanTest {
 protected:
  void SetUp() override {
    if (isMapped("libvulkan_pumice")) {
      const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
      const std::string program = fs::read_symlink("/proc/self/exe").string();
      const std::string filter = std::string(test->test_suite_name()) + "." + test->name();
      EXPECT_EQ(std::system(("'" + program + "' '--gtest_filter=" + filter + "'").c_str()), 0);
      GTEST_SKIP() << "done in a process of its own";
    }
    temporary_.emplace();
    root_ = temporary_->path().string();
    setenv("PUMICE_CACHE", "1", 1);
    setenv("PUMICE_CACHE_DIR", directory().c_str(), 1);
    unsetenv("PUMICE_TIER");
  }
  void TearDown() override {
    VulkanTest::TearDown();
    temporary_.reset();
  }
  std::string directory() const { return root_ + "/cache"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(directory())) return found;
    for (const auto& file : fs::directory_iterator(directory())) found.push_back(file.path());
    return found;
  }

  // A program of its own, from the first call to the end of its instance. This process has made no instance.
  void program(const std::function<void()>& work) {
    std::fflush(stdout);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      work();
      destroyAll();
      std::fflush(stdout);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }

  void prepare(std::span<const uint32_t> spirv = k_many, bool validation = false) {
    createInstance({.validation = validation});
    VkPhysicalDevicePipelineCreationCacheControlFeatures features{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES};
    features.pipelineCreationCacheControl = VK_TRUE;
    createDevice({.extensions = {VK_EXT_PIPELINE_CREATION_CACHE_CONTROL_EXTENSION_NAME,
                                 VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME},
                  .features = &features});
    VkDescriptorSetLayoutBinding bindings[2] = {};
    for (uint32_t i = 0; i < 2; ++i) {
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    setInfo.bindingCount = 2;
    setInfo.pBindings = bindings;
    VK_OK(vkCreateDescriptorSetLayout(device(), &setInfo, nullptr, &setLayout_));
    VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layoutInfo.setLayoutCount = 1;
    layoutInfo.pSetLayouts = &setLayout_;
    VK_OK(vkCreatePipelineLayout(device(), &layoutInfo, nullptr, &layout_));
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    poolInfo.maxSets = 1;
    poolInfo.poolSizeCount = 1;
    poolInfo.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool));
    VkDescriptorSetAllocateInfo wish{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    wish.descriptorPool = pool;
    wish.descriptorSetCount = 1;
    wish.pSetLayouts = &setLayout_;
    VK_OK(vkAllocateDescriptorSets(device(), &wish, &set_));
    in_ = makeBuffer(4 * 4096);
    out_ = makeBuffer(4 * 64 * 256);
    for (uint32_t i = 0; i < 4096; ++i) in_.as<uint32_t>()[i] = input(i);
    const VkDescriptorBufferInfo buffers[2] = {{in_.buffer, 0, VK_WHOLE_SIZE}, {out_.buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set_;
    write.descriptorCount = 2;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers;
    vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
    module_ = makeModule(spirv);
    defer([this, pool] {
      vkDestroyDescriptorPool(device(), pool, nullptr);
      vkDestroyPipelineLayout(device(), layout_, nullptr);
      vkDestroyDescriptorSetLayout(device(), setLayout_, nullptr);
    });
  }
  VkShaderModule makeModule(std::span<const uint32_t> spirv) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = spirv.size_bytes();
    info.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateShaderModule(device(), &info, nullptr, &module), VK_SUCCESS);
    defer([this, module] { vkDestroyShaderModule(device(), module, nullptr); });
    return module;
  }
  VkPipelineCache makeCache() {
    const VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &info, nullptr, &cache), VK_SUCCESS);
    defer([this, cache] { vkDestroyPipelineCache(device(), cache, nullptr); });
    return cache;
  }

  // One call with a pipeline for each salt; `alter` may change the infos.
  using Infos = std::vector<VkComputePipelineCreateInfo>;
  VkResult create(uint32_t firstSalt, std::span<VkPipeline> out, VkPipelineCache cache = VK_NULL_HANDLE,
                  const std::function<void(Infos&)>& alter = {}) {
    static constexpr VkSpecializationMapEntry kEntry{0, 0, 4};
    std::vector<uint32_t> salts(out.size());
    std::vector<VkSpecializationInfo> constants(out.size());
    Infos infos(out.size(), {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO});
    for (uint32_t i = 0; i < out.size(); ++i) {
      salts[i] = firstSalt + i;
      constants[i] = {1, &kEntry, 4, &salts[i]};
      infos[i].stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
      infos[i].stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
      infos[i].stage.module = module_;
      infos[i].stage.pName = "main";
      infos[i].stage.pSpecializationInfo = &constants[i];
      infos[i].layout = layout_;
    }
    if (alter) alter(infos);
    std::fill(out.begin(), out.end(), reinterpret_cast<VkPipeline>(uintptr_t{1}));
    return vkCreateComputePipelines(device(), cache, static_cast<uint32_t>(out.size()), infos.data(), nullptr,
                                    out.data());
  }
  void destroy(std::span<const VkPipeline> pipelines) {
    for (const VkPipeline pipeline : pipelines) vkDestroyPipeline(device(), pipeline, nullptr);
  }
  void dispatch(VkPipeline pipeline, uint32_t groups = 1, uint32_t times = 1) {
    run([&](VkCommandBuffer c) {
      vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      for (uint32_t i = 0; i < times; ++i) {
        vkCmdDispatch(c, groups, 1, 1);
        barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      }
    });
  }
  void checkResult(VkPipeline pipeline, uint32_t salt) {
    dispatch(pipeline);
    const std::array<uint32_t, kInvocations> want = expected(salt);
    EXPECT_TRUE(std::equal(want.begin(), want.end(), out_.as<uint32_t>().begin())) << "salt " << salt;
  }
  void createAndCheck(uint32_t firstSalt, uint32_t count) {
    std::vector<VkPipeline> pipelines(count);
    VK_OK(create(firstSalt, pipelines));
    for (uint32_t i = 0; i < count; ++i) checkResult(pipelines[i], firstSalt + i);
    destroy(pipelines);
  }

  std::optional<TemporaryDirectory> temporary_;
  std::string root_;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkShaderModule module_ = VK_NULL_HANDLE;
  TestBuffer in_, out_;
};

TEST_F(PipelineCacheTest, AWarmStartNeverLoadsTheCompilerAndIsTwentyTimesFaster) {
  constexpr uint32_t kPipelines = 100;
  const auto start = [&](const std::string& timeFile, bool warm) {
    program([&] {
      prepare();
      std::vector<VkPipeline> pipelines(kPipelines);
      const auto begin = std::chrono::steady_clock::now();
      for (uint32_t i = 0; i < kPipelines; ++i) VK_OK(create(i, {&pipelines[i], 1}));  // one by one, as programs do
      std::ofstream(timeFile) << millisecondsSince(begin);
      for (uint32_t i = 0; i < kPipelines; ++i) checkResult(pipelines[i], i);
      EXPECT_EQ(compilerIsLoaded(), !warm);
      destroy(pipelines);
    });
    double time = 0;
    std::ifstream(timeFile) >> time;
    return time;
  };
  const std::string timeFile = root_ + "/time";
  double cold = 1e9, warm = 1e9;  // the best of a few: other programs run too
  for (int round = 0; round < 3; ++round) {
    fs::remove_all(directory());
    cold = std::min(cold, start(timeFile, false));
    EXPECT_EQ(files().size(), kPipelines);
    warm = std::min(warm, start(timeFile, true));
  }
  RecordProperty("cold_ms", std::to_string(cold));
  RecordProperty("warm_ms", std::to_string(warm));
  EXPECT_GE(cold, 20 * warm) << cold << " ms and " << warm << " ms";
}

// What the background has made of a hot program is what the next start begins with.
TEST_F(PipelineCacheTest, AWarmStartBeginsWithBetterCode) {
  setenv("PUMICE_LOG", "debug", 1);
  const std::string log = root_ + "/log";
  setenv("PUMICE_LOG_FILE", log.c_str(), 1);
  const auto switches = [&] {
    std::ifstream file(log);
    size_t n = 0;
    for (std::string line; std::getline(file, line);) n += line.find("better code after") != std::string::npos;
    return n;
  };
  const auto heat = [&](bool untilSwitch) {
    prepare(k_tiers);
    VkPipeline pipeline = VK_NULL_HANDLE;
    VK_OK(create(1, {&pipeline, 1}));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int i = 0; untilSwitch ? switches() == 0 : i < 150; ++i) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      dispatch(pipeline, 256, 20);
    }
    destroy({&pipeline, 1});
  };
  program([&] { heat(true); });
  ASSERT_EQ(switches(), 1u);
  ASSERT_EQ(files().size(), 1u);
  program([&] {
    heat(false);
    EXPECT_FALSE(compilerIsLoaded());
  });
  EXPECT_EQ(switches(), 1u);  // no second one
}

TEST_F(PipelineCacheTest, StartingADeviceTouchesNoFile) {
  const auto start = [&](bool withPipeline) {
    program([&] {
      unsetenv("PUMICE_CACHE_DIR");
      setenv("XDG_CACHE_HOME", (root_ + "/xdg").c_str(), 1);
      prepare();
      if (withPipeline) createAndCheck(1, 1);
    });
  };
  start(false);
  EXPECT_FALSE(fs::exists(root_ + "/xdg"));
  setenv("PUMICE_CACHE", "0", 1);
  start(true);
  EXPECT_FALSE(fs::exists(root_ + "/xdg"));
  unsetenv("PUMICE_CACHE");  // on by default
  start(true);
  ASSERT_TRUE(fs::exists(root_ + "/xdg/pumice"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ + "/xdg/pumice"), {}), 1);
}

TEST_F(PipelineCacheTest, FeedbackTellsTheApplicationsCacheFromTheDisk) {
  const auto makeOne = [&](VkPipelineCache cache, bool mustBeWarm, VkPipelineCreationFeedbackFlags* flags) {
    VkPipelineCreationFeedback all{}, stage{};
    VkPipelineCreationFeedbackCreateInfo feedback{VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, nullptr,
                                                  &all, 1, &stage};
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = create(7, {&pipeline, 1}, cache, [&](Infos& infos) {
      infos[0].pNext = &feedback;
      if (mustBeWarm) infos[0].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
    });
    EXPECT_EQ(all.flags, stage.flags);
    *flags = all.flags;
    if (result == VK_SUCCESS) checkResult(pipeline, 7);
    destroy({&pipeline, 1});
    return result;
  };
  constexpr VkPipelineCreationFeedbackFlags kValid = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
  constexpr VkPipelineCreationFeedbackFlags kHit = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  VkPipelineCreationFeedbackFlags flags = 0;
  program([&] {
    prepare(k_many, true);
    EXPECT_EQ(makeOne(VK_NULL_HANDLE, true, &flags), VK_PIPELINE_COMPILE_REQUIRED);
    EXPECT_EQ(makeOne(VK_NULL_HANDLE, false, &flags), VK_SUCCESS);
    EXPECT_EQ(flags, kValid);
  });
  program([&] {
    prepare(k_many, true);
    VkPipelineCache cache = makeCache();
    EXPECT_EQ(makeOne(cache, true, &flags), VK_SUCCESS);  // from the disk
    EXPECT_EQ(flags, kValid);
    EXPECT_EQ(makeOne(cache, true, &flags), VK_SUCCESS);  // from the cache, into which it has come
    EXPECT_EQ(flags, kValid | kHit);
    EXPECT_FALSE(compilerIsLoaded());
  });
}

TEST_F(PipelineCacheTest, WhateverHappensToTheCachePipelinesAreMade) {
  const auto start = [&] {
    program([&] {
      prepare();
      createAndCheck(1, 3);
    });
  };
  start();
  ASSERT_EQ(files().size(), 3u);
  for (size_t keep : {size_t{0}, size_t{40}, size_t{88}, size_t{500}}) {
    for (const fs::path& file : files()) fs::resize_file(file, std::min<uintmax_t>(keep, fs::file_size(file) - 1));
    start();
    EXPECT_EQ(files().size(), 3u);
  }
  for (const fs::path& file : files()) {
    fs::remove(file);
    fs::create_symlink("/dev/zero", file);
  }
  start();
  for (const fs::path& file : files()) EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file)));
  for (const char* closed : {"/proc/pumice", "/dev/null", "/dev/null/pumice", "relative"}) {
    setenv("PUMICE_CACHE_DIR", closed, 1);
    start();
  }
  ASSERT_EQ(chmod(directory().c_str(), 0777), 0);  // not to be trusted
  setenv("PUMICE_CACHE_DIR", directory().c_str(), 1);
  start();
}

TEST_F(PipelineCacheTest, DumpsShowShadersThatTheCacheHas) {
  program([&] {
    prepare();
    createAndCheck(1, 1);
  });
  const std::string dumps = root_ + "/dumps";
  fs::create_directory(dumps);
  program([&] {
    setenv("PUMICE_DUMP_SHADERS", dumps.c_str(), 1);
    prepare();
    createAndCheck(1, 1);
  });
  EXPECT_FALSE(fs::is_empty(dumps));
}

TEST_F(PipelineCacheTest, ManyThreadsWithManyPipelinesEach) {
  setenv("PUMICE_CACHE", "0", 1);
  prepare();
  constexpr uint32_t kThreads = 6, kEach = 20;
  std::vector<VkPipeline> pipelines(kThreads * kEach);
  std::array<VkResult, kThreads> results{};
  VkPipelineCache cache = makeCache();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&, t] { results[t] = create(t * kEach, std::span(pipelines).subspan(t * kEach, kEach), cache); });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < pipelines.size(); ++i) {
    ASSERT_EQ(results[i / kEach], VK_SUCCESS);
    checkResult(pipelines[i], i);
  }
  destroy(pipelines);
}

// Vulkan 1.3, 10.4: what can be made is made; after a failure of a pipeline that asks for it, nothing more.
TEST_F(PipelineCacheTest, FailuresInTheMidstOfMany) {
  setenv("PUMICE_CACHE", "0", 1);
  setenv("PUMICE_LOG", "off", 1);
  prepare();
  std::vector<uint32_t> words(std::begin(k_many), std::end(k_many));
  words.resize(words.size() / 2);
  VkShaderModule broken = makeModule(words);
  constexpr uint32_t kCount = 12;
  struct Case {
    VkPipelineCreateFlags atThird, atEighth;
    uint32_t made;  // a bit each
  };
  constexpr uint32_t kAll = (1u << kCount) - 1, kWithoutBoth = kAll & ~(1u << 3) & ~(1u << 8);
  constexpr VkPipelineCreateFlags kEarly = VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT;
  for (const Case& c : {Case{0, 0, kWithoutBoth}, Case{kEarly, 0, 7u}, Case{0, kEarly, 0xf7u}}) {
    std::vector<VkPipeline> pipelines(kCount);
    std::array<VkPipelineCreationFeedback, kCount> all{}, stages{};
    std::vector<VkPipelineCreationFeedbackCreateInfo> feedback(
        kCount, {VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO});
    const VkResult result = create(100, pipelines, VK_NULL_HANDLE, [&](Infos& infos) {
      for (uint32_t i = 0; i < kCount; ++i) {
        all[i].flags = stages[i].flags = ~0u;
        feedback[i].pPipelineCreationFeedback = &all[i];
        feedback[i].pipelineStageCreationFeedbackCount = 1;
        feedback[i].pPipelineStageCreationFeedbacks = &stages[i];
        infos[i].pNext = &feedback[i];
      }
      infos[3].stage.module = infos[8].stage.module = broken;
      infos[3].flags = c.atThird;
      infos[8].flags = c.atEighth;
    });
    EXPECT_LT(result, 0);
    for (uint32_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(pipelines[i] != VK_NULL_HANDLE, (c.made >> i & 1) != 0) << i;
      EXPECT_LE(all[i].flags, 1u) << i;
      EXPECT_EQ(all[i].flags, stages[i].flags) << i;
      if (pipelines[i] != VK_NULL_HANDLE) {
        EXPECT_EQ(all[i].flags, 1u);
        checkResult(pipelines[i], 100 + i);
      }
    }
    destroy(pipelines);
  }
  // A compile that is needed but forbidden is no error; an error beside it is told.
  std::vector<VkPipeline> pipelines(3);
  EXPECT_EQ(create(200, pipelines, VK_NULL_HANDLE,
                   [](Infos& infos) { infos[1].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT; }),
            VK_PIPELINE_COMPILE_REQUIRED);
  EXPECT_NE(pipelines[0], VK_NULL_HANDLE);
  EXPECT_EQ(pipelines[1], VK_NULL_HANDLE);
  EXPECT_NE(pipelines[2], VK_NULL_HANDLE);
  destroy(pipelines);
  EXPECT_LT(create(200, pipelines, VK_NULL_HANDLE,
                   [&](Infos& infos) {
                     infos[1].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
                     infos[2].stage.module = broken;
                   }),
            0);
  destroy(pipelines);
  // The third needs what the second has compiled into the cache, the first does not wait for it.
  const VkPipelineCache cache = makeCache();
  EXPECT_EQ(create(300, pipelines, cache,
                   [](Infos& infos) {
                     for (VkComputePipelineCreateInfo& info : infos)
                       info.stage.pSpecializationInfo = infos[0].stage.pSpecializationInfo;
                     infos[0].flags = infos[2].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
                   }),
            VK_PIPELINE_COMPILE_REQUIRED);
  EXPECT_EQ(pipelines[0], VK_NULL_HANDLE);
  for (uint32_t i = 1; i < 3; ++i) {
    ASSERT_NE(pipelines[i], VK_NULL_HANDLE);
    checkResult(pipelines[i], 300);
  }
  destroy(pipelines);
  // So it is none of the failures that end a call early.
  ASSERT_EQ(create(400, pipelines, cache,
                   [](Infos& infos) {
                     infos[1].stage.pSpecializationInfo = infos[0].stage.pSpecializationInfo;
                     infos[1].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT | kEarly;
                   }),
            VK_SUCCESS);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_NE(pipelines[i], VK_NULL_HANDLE) << i;
    checkResult(pipelines[i], i == 1 ? 400 : 400 + i);
  }
  destroy(pipelines);
}

}  // namespace
}  // namespace pumice::cts
