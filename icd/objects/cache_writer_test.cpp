// The writer in the background, with a real directory, and with one that makes it wait.
#include "icd/objects/cache_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "testing/temporary_directory.h"

namespace pumice::icd {
namespace {

namespace fs = std::filesystem;
using shader::cache::CachedCode;
using shader::cache::CacheKey;
using shader::cache::DiskCache;

DiskCache::Entry makeCode(size_t bytes) {
  auto code = std::make_shared<CachedCode>();
  code->object.elf.assign(bytes, std::byte{7});
  return code;
}

class CacheWriterTest : public testing::Test {
 protected:
  std::shared_ptr<DiskCache> makeCache(const std::string& name = "cache") {
    return std::make_shared<DiskCache>(
        shader::cache::DiskCacheSettings{.directory = root_ + "/" + name, .limit_B = 256 << 20});
  }
  size_t files(const std::string& name = "cache") const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(root_ + "/" + name), {}));
  }

  static constexpr uint64_t kLong_ns = 60'000'000'000;
  const TemporaryDirectory temporary_;
  const std::string root_ = temporary_.path().string();
  std::optional<CacheWriter> writer_{std::in_place};
};

TEST_F(CacheWriterTest, WhatIsFlushedIsOnTheDisk) {
  const auto cache = makeCache();
  EXPECT_TRUE(writer_->flush(*cache, 0));  // nothing to do
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 50; ++i) writer_->write(cache, {i, t}, makeCode(1000));
      EXPECT_TRUE(writer_->flush(*cache, kLong_ns));
      for (uint64_t i = 0; i < 50; ++i) EXPECT_NE(cache->find({i, t}), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files(), 200u);
}

TEST_F(CacheWriterTest, ACacheEndsWithItsLastEntry) {
  auto cache = makeCache();
  const std::weak_ptr<DiskCache> watch = cache;
  writer_->write(cache, {1, 1}, makeCode(1000));
  const auto other = makeCache();
  cache.reset();
  writer_->write(other, {2, 2}, makeCode(1000));
  EXPECT_TRUE(writer_->flush(*other, kLong_ns));  // entries are written in order
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(files(), 2u);
}

// Entries of a megabyte take the writer longer than they take to be put in.
TEST_F(CacheWriterTest, AFlushEndsInTime) {
  const auto cache = makeCache();
  for (uint64_t i = 0; i < 60; ++i) writer_->write(cache, {i, 0}, makeCode(1 << 20));
  EXPECT_FALSE(writer_->flush(*cache, 0));
  EXPECT_TRUE(writer_->flush(*cache, kLong_ns));
  EXPECT_EQ(files(), 60u);
}

}  // namespace
}  // namespace pumice::icd
