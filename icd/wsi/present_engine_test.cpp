// The present engine with a window that remembers what it was shown, and GPU signals by the test.
#include "icd/wsi/present_engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>

namespace pumice::icd {
namespace {

using std::chrono::microseconds;

constexpr VkExtent2D kExtent{8, 8};

// What has been in the window: texel (0, 0) of each frame.
struct Record {
  std::mutex mutex;
  std::vector<uint32_t> shown;

  std::vector<uint32_t> copy() {
    std::lock_guard lock(mutex);
    return shown;
  }
};

class RecordingPresenter : public Presenter {
 public:
  RecordingPresenter(Record& record, uint64_t period_ns, uint32_t loseAfter)
      : record_(record), period_ns_(period_ns), loseAfter_(loseAfter) {}

  uint64_t period_ns() const override { return period_ns_; }
  VkResult begin(FrameTarget* out) override {
    *out = {{reinterpret_cast<std::byte*>(pixels_), kExtent.width * 4}, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), false};
    return VK_SUCCESS;
  }
  VkResult show() override {
    std::lock_guard lock(record_.mutex);
    for (uint32_t pixel : pixels_) EXPECT_EQ(pixel, pixels_[0]) << "a torn frame";
    record_.shown.push_back(pixels_[0]);
    return record_.shown.size() >= loseAfter_ ? VK_ERROR_SURFACE_LOST_KHR : VK_SUCCESS;
  }

 private:
  Record& record_;
  uint64_t period_ns_;
  uint32_t loseAfter_;
  uint32_t pixels_[kExtent.width * kExtent.height] = {};
};

struct Options {
  VkPresentModeKHR mode = VK_PRESENT_MODE_FIFO_KHR;
  uint32_t images = 3;
  uint64_t period_ns = 300'000;
  uint32_t loseAfter = ~0u;
  std::shared_ptr<HandOver> before;
};

class PresentEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    kmd::DeviceConfig config;
    config.workerCount = 1;
    config.heapLimit_B = 64 << 20;
    config.reservation_B = 1ull << 30;
    ASSERT_EQ(kmd::Device::open(config, &gpu_), kmd::Status::kOk);
  }

  // Images in plain memory, which is all that the engine reads.
  struct Images {
    std::vector<std::vector<uint32_t>> texels;
    std::vector<abi::Surface> surfaces;
    explicit Images(uint32_t count) : texels(count, std::vector<uint32_t>(kExtent.width * kExtent.height)) {
      for (auto& t : texels) {
        abi::Surface surface{};
        surface.address = reinterpret_cast<uint64_t>(t.data());
        surface.rowPitch_B = kExtent.width * 4;
        surface.elementBytes = 4;
        surface.sampleCount = 1;
        surfaces.push_back(surface);
      }
    }
  };

  std::unique_ptr<PresentEngine> make(const Images& images, Record& record, const Options& options) {
    auto engine = std::make_unique<PresentEngine>(PresentEngine::Config{
        *gpu_, std::make_unique<RecordingPresenter>(record, options.period_ns, options.loseAfter), options.mode,
        kExtent, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), false, images.surfaces, options.before});
    EXPECT_EQ(engine->start(), VK_SUCCESS);
    return engine;
  }

  // Draws and presents frame `n`; its drawing is finished by `finish`, which gets the point to signal.
  template <typename Finish>
  VkResult present(PresentEngine& engine, Images& images, uint32_t n, Finish&& finish) {
    uint32_t image = ~0u;
    const VkResult acquired = engine.acquire(UINT64_MAX, &image);
    if (acquired < 0) return acquired;
    const kmd::TimelinePoint ready = engine.nextReadyPoint(image);
    finish(ready, [&texels = images.texels[image], n] { std::fill(texels.begin(), texels.end(), n); });
    PresentRequest request{};
    request.image = image;
    request.readyValue = ready.value;
    request.presentId = n;
    return engine.present(request);
  }
  VkResult presentAtOnce(PresentEngine& engine, Images& images, uint32_t n) {
    return present(engine, images, n, [&](kmd::TimelinePoint ready, auto&& draw) {
      draw();
      EXPECT_EQ(gpu_->signalTimeline(ready.timeline, ready.value), kmd::Status::kOk);
    });
  }

  std::unique_ptr<kmd::Device> gpu_;
};

TEST_F(PresentEngineTest, FifoShowsAllInOrder) {
  Images images(3);
  Record record;
  const auto engine = make(images, record, {});
  for (uint32_t n = 1; n <= 200; ++n) ASSERT_EQ(presentAtOnce(*engine, images, n), VK_SUCCESS);
  ASSERT_EQ(engine->waitForPresent(200, UINT64_MAX), VK_SUCCESS);
  const std::vector<uint32_t> shown = record.copy();
  ASSERT_EQ(shown.size(), 200u);
  for (uint32_t n = 1; n <= 200; ++n) EXPECT_EQ(shown[n - 1], n);
}

TEST_F(PresentEngineTest, MailboxShowsTheNewest) {
  Images images(4);
  Record record;
  const auto engine = make(images, record, {.mode = VK_PRESENT_MODE_MAILBOX_KHR, .images = 4});
  for (uint32_t n = 1; n <= 2000; ++n) ASSERT_EQ(presentAtOnce(*engine, images, n), VK_SUCCESS);
  ASSERT_EQ(engine->waitForPresent(2000, UINT64_MAX), VK_SUCCESS);
  const std::vector<uint32_t> shown = record.copy();
  EXPECT_LT(shown.size(), 2000u);
  EXPECT_EQ(shown.back(), 2000u);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
}

// Frames are drawn by another thread, each some time after it was presented.
TEST_F(PresentEngineTest, WaitsForDrawing) {
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    Images images(3);
    Record record;
    const auto engine = make(images, record, {.mode = mode});
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::function<void()>> jobs;
    bool end = false;
    std::thread drawer([&] {
      std::mt19937 random(1);
      std::unique_lock lock(mutex);
      while (!end || !jobs.empty()) {
        changed.wait(lock, [&] { return end || !jobs.empty(); });
        while (!jobs.empty()) {
          const auto job = jobs.front();
          jobs.erase(jobs.begin());
          lock.unlock();
          std::this_thread::sleep_for(microseconds(random() % 300));
          job();
          lock.lock();
        }
      }
    });
    for (uint32_t n = 1; n <= 150; ++n) {
      ASSERT_EQ(present(*engine, images, n,
                        [&](kmd::TimelinePoint ready, auto draw) {
                          std::lock_guard lock(mutex);
                          jobs.push_back([this, ready, draw] {
                            draw();
                            EXPECT_EQ(gpu_->signalTimeline(ready.timeline, ready.value), kmd::Status::kOk);
                          });
                          changed.notify_one();
                        }),
                VK_SUCCESS);
    }
    ASSERT_EQ(engine->waitForPresent(150, UINT64_MAX), VK_SUCCESS);
    {
      std::lock_guard lock(mutex);
      end = true;
    }
    changed.notify_one();
    drawer.join();
    const std::vector<uint32_t> shown = record.copy();
    EXPECT_EQ(shown.back(), 150u);
    EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
    if (mode != VK_PRESENT_MODE_MAILBOX_KHR) {
      EXPECT_EQ(shown.size(), 150u);
    }
  }
}

TEST_F(PresentEngineTest, LastFrameStaysWhenDestroyed) {
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    for (uint32_t round = 0; round < 30; ++round) {
      Images images(3);
      Record record;
      auto engine = make(images, record, {.mode = mode, .period_ns = 3'000'000});
      for (uint32_t n = 1; n <= 1 + round % 3; ++n) ASSERT_EQ(presentAtOnce(*engine, images, n), VK_SUCCESS);
      engine.reset();
      EXPECT_EQ(record.copy().back(), 1 + round % 3);
    }
  }
}

// The old swapchain's frames come before the new one's, whether it lives on or not; both are used by threads of their
// own.
TEST_F(PresentEngineTest, HandOver) {
  for (uint32_t round = 0; round < 30; ++round) {
    const VkPresentModeKHR mode = round % 3 == 0   ? VK_PRESENT_MODE_FIFO_KHR
                                  : round % 3 == 1 ? VK_PRESENT_MODE_MAILBOX_KHR
                                                   : VK_PRESENT_MODE_IMMEDIATE_KHR;
    Images oldImages(3), newImages(3);
    Record record;
    auto old = make(oldImages, record, {.mode = mode});
    for (uint32_t n = 1; n <= 3; ++n) ASSERT_EQ(presentAtOnce(*old, oldImages, n), VK_SUCCESS);
    auto next = make(newImages, record, {.mode = mode, .before = old->retire()});
    uint32_t image = 0;
    EXPECT_EQ(old->acquire(UINT64_MAX, &image), VK_ERROR_OUT_OF_DATE_KHR);
    std::thread destroyer([&] {
      if (round % 2 == 0) old.reset();
    });
    ASSERT_EQ(presentAtOnce(*next, newImages, 10), VK_SUCCESS);
    ASSERT_EQ(next->waitForPresent(10, UINT64_MAX), VK_SUCCESS);
    destroyer.join();
    const std::vector<uint32_t> shown = record.copy();
    EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
    EXPECT_EQ(shown.back(), 10u);
    ASSERT_GE(shown.size(), 2u);
    EXPECT_EQ(shown[shown.size() - 2], 3u);
  }
}

TEST_F(PresentEngineTest, LostWindowFreesAllThatWait) {
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR}) {
    Images images(2);
    Record record;
    const auto engine = make(images, record, {.mode = mode, .loseAfter = 5});
    std::thread waiter([&] { EXPECT_EQ(engine->waitForPresent(1'000'000, UINT64_MAX), VK_ERROR_SURFACE_LOST_KHR); });
    VkResult result = VK_SUCCESS;
    for (uint32_t n = 1; result == VK_SUCCESS; ++n) result = presentAtOnce(*engine, images, n);
    EXPECT_EQ(result, VK_ERROR_SURFACE_LOST_KHR);
    waiter.join();
  }
}

TEST_F(PresentEngineTest, LostDeviceFreesAllThatWait) {
  Images images(2);
  Record record;
  const auto engine = make(images, record, {});
  const auto never = [](kmd::TimelinePoint, auto&&) {};
  ASSERT_EQ(present(*engine, images, 1, never), VK_SUCCESS);
  ASSERT_EQ(present(*engine, images, 2, never), VK_SUCCESS);
  std::thread waiter([&] { EXPECT_EQ(engine->waitForPresent(1, UINT64_MAX), VK_ERROR_DEVICE_LOST); });
  std::thread acquirer([&] {
    uint32_t image = 0;
    EXPECT_EQ(engine->acquire(UINT64_MAX, &image), VK_ERROR_DEVICE_LOST);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  gpu_->lose("test");
  waiter.join();
  acquirer.join();
}

TEST(FrameDamage, Union) {
  FrameDamage damage{false, {}};
  damage.add({false, {{10, 20}, {5, 6}}});
  damage.add({false, {{0, 0}, {0, 7}}});  // empty
  EXPECT_EQ(damage.bounds.offset.x, 10);
  damage.add({false, {{-5, 22}, {7, 100}}});
  const VkRect2D all = damage.within({14, 64});
  EXPECT_EQ(all.offset.x, 0);
  EXPECT_EQ(all.offset.y, 20);
  EXPECT_EQ(all.extent.width, 14u);
  EXPECT_EQ(all.extent.height, 44u);
  damage.add({});
  EXPECT_TRUE(damage.all);
  EXPECT_EQ(damage.within({3, 4}).extent.height, 4u);
}

}  // namespace
}  // namespace pumice::icd
