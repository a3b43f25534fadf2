// The disk cache against a file system that does what file systems do: files that are cut, changed, missing, links,
// pipes, directories that are closed, full, deleted, and other processes in the same place.
#include "shaders/cache/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/trace/log.h"
#include "shaders/cache/disk_cache_eviction.h"
#include "testing/temporary_directory.h"

namespace pumice::shader::cache {
namespace {

namespace fs = std::filesystem;

CachedCode makeCode(uint32_t seed, size_t bytes = 300, bool quick = false) {
  CachedCode code;
  code.object.info = {{seed, 2, 3}, 16, 5, 6, 7, quick ? kCodeIsQuick : 0};
  code.compile_ns = 1'000 + seed;
  code.object.elf.resize(bytes);
  for (size_t i = 0; i < bytes; ++i) code.object.elf[i] = static_cast<std::byte>(i * 7 + seed);
  return code;
}

bool isSame(const CachedCode& a, const CachedCode& b) {
  return std::memcmp(&a.object.info, &b.object.info, sizeof a.object.info) == 0 && a.compile_ns == b.compile_ns &&
         a.object.elf == b.object.elf;
}

constexpr CacheKey kKey{0x1122334455667788, 0x99aabbccddeeff00};

std::atomic<int> gWarnings{0};

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    trace::setLogLevel(trace::LogLevel::kWarning);
    gWarnings = 0;
    sink_ = trace::setLogSink([](trace::LogLevel, std::string_view) { ++gWarnings; });
  }
  ~DiskCacheTest() override {
    trace::setLogSink(sink_);
    trace::setLogLevel(trace::LogLevel::kError);
  }

  std::string directory() const { return root_ + "/pumice"; }
  DiskCacheSettings settings(uint64_t limit_B = 64 << 20) const { return {directory(), limit_B}; }
  std::string path(const CacheKey& key = kKey) const { return directory() + "/" + DiskCache::fileName(key); }
  size_t files() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto& file : fs::directory_iterator(directory())) ++n;
    return n;
  }
  std::string content() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& bytes) const {
    std::ofstream out(path(), std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void setAge(const CacheKey& key, time_t seconds) const {
    const timespec at{time(nullptr) - seconds, 0};
    const timespec both[2] = {at, at};
    ASSERT_EQ(utimensat(AT_FDCWD, path(key).c_str(), both, 0), 0);
  }

  // In a child process, as an ordinary user even if the test is root's: the exit code is what `work` returns.
  static int inChild(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const TemporaryDirectory temporary_;
  const std::string root_ = temporary_.path().string();
  trace::LogSink sink_;
};

TEST_F(DiskCacheTest, WhatIsStoredIsFoundByEveryProcess) {
  DiskCache cache(settings());
  EXPECT_EQ(cache.find(kKey), nullptr);
  EXPECT_FALSE(fs::exists(directory()));  // looking makes nothing
  cache.store(kKey, makeCode(1));
  const DiskCache::Entry found = cache.find(kKey);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(isSame(*found, makeCode(1)));
  EXPECT_EQ(inChild([&] {
              DiskCache other(settings());
              const DiskCache::Entry there = other.find(kKey);
              return there != nullptr && isSame(*there, makeCode(1)) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(cache.find({kKey.low, kKey.high + 1}), nullptr);
  struct stat status {};
  ASSERT_EQ(stat(directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
  EXPECT_EQ(gWarnings, 0);
}

TEST_F(DiskCacheTest, QuickCodeReplacesNothing) {
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1, 300, true));
  cache.store(kKey, makeCode(2, 300, true));
  EXPECT_TRUE(isSame(*cache.find(kKey), makeCode(1, 300, true)));
  cache.store(kKey, makeCode(3));
  cache.store(kKey, makeCode(4, 300, true));
  EXPECT_TRUE(isSame(*cache.find(kKey), makeCode(3)));
}

TEST_F(DiskCacheTest, FilesCutAtEveryByteAreMissesAndAreMadeAgain) {
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1, 300, true));
  const std::string whole = content();
  ASSERT_GT(whole.size(), 300u);
  for (size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    gWarnings = 0;
    EXPECT_EQ(cache.find(kKey), nullptr) << length;
    EXPECT_EQ(gWarnings, 1) << length;
    EXPECT_EQ(cache.find(kKey), nullptr) << length;  // it is gone
    EXPECT_EQ(gWarnings, 1) << length;
    cache.store(kKey, makeCode(1, 300, true));
    ASSERT_EQ(content(), whole) << length;
  }
  replace(whole + "x");
  EXPECT_EQ(cache.find(kKey), nullptr);
}

TEST_F(DiskCacheTest, EveryChangedByteIsAMiss) {
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1));
  const std::string whole = content();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    replace(bad);
    EXPECT_EQ(cache.find(kKey), nullptr) << at;
  }
  replace(whole);
  EXPECT_NE(cache.find(kKey), nullptr);
  // The right content under another key.
  const CacheKey other{1, 2};
  fs::copy_file(path(), path(other));
  EXPECT_EQ(cache.find(other), nullptr);
}

TEST_F(DiskCacheTest, LinksPipesAndDirectoriesAreMisses) {
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1));
  const std::string target = root_ + "/target";
  fs::rename(path(), target);
  fs::create_symlink(target, path());
  EXPECT_EQ(cache.find(kKey), nullptr);
  cache.store(kKey, makeCode(2));
  EXPECT_FALSE(fs::is_symlink(path()));
  EXPECT_TRUE(isSame(*cache.find(kKey), makeCode(2)));
  fs::create_symlink(target, path({1, 1}));
  cache.store({1, 1}, makeCode(3));  // written beside, never through the link
  EXPECT_TRUE(isSame(*cache.find({1, 1}), makeCode(3)));
  EXPECT_EQ(fs::file_size(target), fs::file_size(path()));

  fs::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(cache.find(kKey), nullptr);  // and does not wait for a writer
  fs::remove(path());
  fs::create_directory(path());
  EXPECT_EQ(cache.find(kKey), nullptr);
  cache.store(kKey, makeCode(1));
  EXPECT_EQ(cache.find(kKey), nullptr);
  EXPECT_TRUE(fs::is_directory(path()));
}

TEST_F(DiskCacheTest, TheCacheItselfMayBeALink) {
  fs::create_directory(root_ + "/elsewhere");
  fs::create_directory_symlink(root_ + "/elsewhere", directory());
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1));
  EXPECT_NE(cache.find(kKey), nullptr);
}

TEST_F(DiskCacheTest, ADirectoryThatCannotBeMadeIsOneLine) {
  std::ofstream(root_ + "/file") << "x";
  for (const std::string& bad : {root_ + "/file/pumice", root_ + "/a/b/c/pumice", root_ + "/file"}) {
    gWarnings = 0;
    DiskCache cache({bad, 64 << 20});
    for (uint64_t i = 0; i < 5; ++i) {
      cache.store({i, 0}, makeCode(1));
      EXPECT_EQ(cache.find({i, 0}), nullptr);
    }
    EXPECT_EQ(gWarnings, 1) << bad;
  }
}

TEST_F(DiskCacheTest, DirectoriesThatOthersMayWriteAreRefused) {
  fs::create_directory(directory());
  ASSERT_EQ(chmod(directory().c_str(), 0777), 0);
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1));
  EXPECT_EQ(cache.find(kKey), nullptr);
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(gWarnings, 1);
}

// Nobody's rights, where root has too many.
TEST_F(DiskCacheTest, ReadOnlyAndClosedDirectories) {
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  constexpr uid_t kNobody = 65534;
  const auto asUser = [](const std::function<int()>& work) {
    return inChild([&] {
      if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) return 77;
      return work();
    });
  };
  ASSERT_EQ(asUser([&] {
              DiskCache cache(settings());
              cache.store(kKey, makeCode(1));
              return cache.find(kKey) != nullptr ? 0 : 1;
            }),
            0);
  EXPECT_EQ(asUser([&] {
              chmod(directory().c_str(), 0500);
              DiskCache cache(settings());
              if (cache.find(kKey) == nullptr) return 1;
              for (uint64_t i = 0; i < 3; ++i) cache.store({i, i}, makeCode(2));
              if (cache.find({1, 1}) != nullptr) return 2;
              return gWarnings == 1 ? 0 : 3;
            }),
            0);
  EXPECT_EQ(asUser([&] {
              chmod(path().c_str(), 0000);
              DiskCache cache(settings());
              for (int i = 0; i < 3; ++i) {
                if (cache.find(kKey) != nullptr) return 1;
              }
              return gWarnings == 1 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(asUser([&] {
              chmod(directory().c_str(), 0000);
              DiskCache cache(settings());
              for (uint64_t i = 0; i < 3; ++i) {
                if (cache.find(kKey) != nullptr) return 1;
                cache.store({i, i}, makeCode(2));
              }
              return gWarnings == 1 ? 0 : 2;
            }),
            0);
  // Root takes nothing from a user's directory.
  if (geteuid() == 0) {
    ASSERT_EQ(chmod(directory().c_str(), 0700), 0);
    ASSERT_EQ(chmod(path().c_str(), 0600), 0);
    DiskCache cache(settings());
    EXPECT_EQ(cache.find(kKey), nullptr);
    EXPECT_EQ(gWarnings, 1);
  }
}

// A write that ends in the midst: nothing of it stays.
TEST_F(DiskCacheTest, FilesThatMayNotGrow) {
  EXPECT_EQ(inChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{4096, 4096};
              setrlimit(RLIMIT_FSIZE, &limit);
              DiskCache cache(settings());
              cache.store(kKey, makeCode(1, 100'000));
              if (cache.find(kKey) != nullptr) return 1;
              if (gWarnings != 1) return 2;
              cache.store({1, 1}, makeCode(2));  // not even tried so soon
              return cache.find({1, 1}) == nullptr ? 0 : 3;
            }),
            0);
  EXPECT_EQ(files(), 0u);
}

TEST_F(DiskCacheTest, AFullDisk) {
  fs::create_directory(directory());
  const int code = inChild([&] {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(CLONE_NEWNS) != 0) {  // not root: root in a world of its own
      if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
      std::ofstream("/proc/self/setgroups") << "deny";
      std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
      std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
      if (geteuid() != 0) return 77;
    }
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (mount("tmpfs", directory().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) return 77;
    DiskCache cache(settings());
    uint64_t stored = 0;
    for (uint64_t i = 0; i < 40; ++i) {
      cache.store({i, 0}, makeCode(static_cast<uint32_t>(i), 6000));
      stored += cache.find({i, 0}) != nullptr;
    }
    if (stored < 4 || stored > 20) return 1;
    if (gWarnings != 1) return 2;
    for (uint64_t i = 0; i < stored; ++i) {
      if (!isSame(*cache.find({i, 0}), makeCode(static_cast<uint32_t>(i), 6000))) return 3;
    }
    return files() == stored ? 0 : 4;  // no half-written file
  });
  if (code == 77) GTEST_SKIP() << "this system lets no test mount a small disk";
  EXPECT_EQ(code, 0);
}

TEST_F(DiskCacheTest, ADirectoryThatIsDeletedIsMadeAgain) {
  DiskCache cache(settings());
  cache.store(kKey, makeCode(1));
  fs::remove_all(directory());
  EXPECT_EQ(cache.find(kKey), nullptr);
  cache.store(kKey, makeCode(2));
  const DiskCache::Entry found = cache.find(kKey);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(isSame(*found, makeCode(2)));
}

TEST_F(DiskCacheTest, TheLimitHoldsAndWhatWasUsedStays) {
  constexpr uint64_t kLimit = 1 << 20;
  DiskCache cache(settings(kLimit));
  for (uint64_t i = 0; i < 60; ++i) {
    cache.store({i, 0}, makeCode(static_cast<uint32_t>(i), 16'000));  // 16 KiB with the header
    setAge({i, 0}, 100'000 - static_cast<time_t>(i));
  }
  EXPECT_NE(cache.find({3, 0}), nullptr);  // old, but in use
  std::ofstream(directory() + "/a file of somebody else") << std::string(kLimit, 'x');
  for (uint64_t i = 100; i < 110; ++i) cache.store({i, 0}, makeCode(1, 16'000));
  uint64_t bytes = 0, entries = 0;
  for (const auto& file : fs::directory_iterator(directory())) {
    if (file.path().filename().string().size() != 32) continue;
    bytes += file.file_size();
    ++entries;
  }
  EXPECT_LE(bytes, kLimit);
  EXPECT_GE(entries, 50u);  // seven eighths and what came after
  EXPECT_NE(cache.find({3, 0}), nullptr);
  EXPECT_EQ(cache.find({0, 0}), nullptr);
  EXPECT_EQ(cache.find({1, 0}), nullptr);
  EXPECT_NE(cache.find({59, 0}), nullptr);
  EXPECT_NE(cache.find({109, 0}), nullptr);
  EXPECT_TRUE(fs::exists(directory() + "/a file of somebody else"));
  cache.store({7, 7}, makeCode(1, kLimit / 4));  // larger than a cache of this size is for
  EXPECT_EQ(cache.find({7, 7}), nullptr);
}

TEST_F(DiskCacheTest, WhatDeadProcessesLeftHalfWrittenGoes) {
  fs::create_directory(directory());
  ASSERT_EQ(chmod(directory().c_str(), 0700), 0);
  const std::string old = directory() + "/" + kTemporaryPrefix + "1",
                    fresh = directory() + "/" + kTemporaryPrefix + "2";
  std::ofstream(old) << "x";
  std::ofstream(fresh) << "x";
  const timespec at{time(nullptr) - 10'000, 0};
  const timespec both[2] = {at, at};
  ASSERT_EQ(utimensat(AT_FDCWD, old.c_str(), both, 0), 0);
  DiskCache(settings()).store(kKey, makeCode(1));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

// Writers, readers and evictions of several processes in one directory: what is found is always whole.
TEST_F(DiskCacheTest, SeveralProcessesAtOnce) {
  std::vector<pid_t> children;
  for (uint32_t child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      DiskCache cache(settings(1 << 20));
      uint32_t seed = child, hits = 0;
      for (int i = 0; i < 3000; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t which = (seed >> 8) % 100;
        const CachedCode code = makeCode(which, 8'000 + 100 * which);
        if (seed >> 31) {
          cache.store({which, 0}, code);
        } else if (const DiskCache::Entry found = cache.find({which, 0})) {
          if (!isSame(*found, code)) _exit(1);
          ++hits;
        }
      }
      _exit(gWarnings == 0 && hits > 0 ? 0 : 2);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

// ---- where it is ----------------------------------------------------------------------------------------------------

std::map<std::string, std::string> gVariables;
const char* variable(const char* name) {
  const auto at = gVariables.find(name);
  return at != gVariables.end() ? at->second.c_str() : nullptr;
}
DiskCacheSettings with(std::map<std::string, std::string> variables) {
  gVariables = std::move(variables);
  return diskCacheSettings(variable);
}

TEST(DiskCacheSettingsTest, TheEnvironmentSaysWhereAndHowMuch) {
  EXPECT_EQ(with({{"HOME", "/home/u"}}).directory, "/home/u/.cache/pumice");
  EXPECT_EQ(with({{"HOME", "/home/u"}}).limit_B, 512u << 20);
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/x"}}).directory, "/x/pumice");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "relative"}}).directory, "/home/u/.cache/pumice");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", ""}}).directory, "/home/u/.cache/pumice");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/x"}, {"PUMICE_CACHE_DIR", "/y"}}).directory, "/y");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE_DIR", "y"}}).directory, "");
  EXPECT_EQ(with({}).directory, "");
  EXPECT_EQ(with({{"HOME", "relative"}}).directory, "");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE", "0"}}).directory, "");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE_MIB", "0"}}).directory, "");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE_MIB", "3"}}).limit_B, 3u << 20);
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE_MIB", "many"}}).limit_B, 512u << 20);
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"PUMICE_CACHE_MIB", "18446744073709551615"}}).limit_B, uint64_t{1} << 50);
}

// A copy of this program that belongs to another user and runs with that user's rights.
TEST(DiskCacheSettingsTest, ProgramsWithMoreRightsThanTheirUserHaveNone) {
  if (const char* inside = std::getenv("PUMICE_TEST_SETUID"); inside != nullptr) {
    _exit(diskCacheSettings().directory.empty() ? 42 : 43);
  }
  if (geteuid() != 0) GTEST_SKIP() << "only root can make such a program here";
  const TemporaryDirectory directory;
  const fs::path copy = directory.path() / "program";
  const auto runCopy = [&] {
    const std::string command = "PUMICE_TEST_SETUID=1 HOME=/home/u " + copy.string() +
                                " --gtest_filter='DiskCacheSettingsTest.Prog*' > /dev/null 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  fs::copy_file("/proc/self/exe", copy);
  ASSERT_EQ(chmod(copy.c_str(), 0755), 0);
  const int plain = runCopy();
  ASSERT_EQ(chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  const int setuid = runCopy();
  EXPECT_EQ(plain, 43);
  struct statvfs mounted {};
  ASSERT_EQ(statvfs(fs::temp_directory_path().c_str(), &mounted), 0);
  if ((mounted.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "no setuid programs on this file system";
  EXPECT_EQ(setuid, 42);
}

}  // namespace
}  // namespace pumice::shader::cache
