// What a swapchain's images go through: free, acquired, queued, shown, free again; and the thread that shows them. One
// per swapchain. Knows windows only as a Presenter, and of the API only modes and results.
//
// Threads: every function may be called by any thread at once; acquire() and waitForPresent() block on the present
// thread, no other does, but for the destructor. The present thread blocks on the GPU's timelines and on the window
// system; it never holds the lock meanwhile.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "backend/kmd/door.h"
#include "icd/wsi/frame_clock.h"
#include "icd/wsi/native_window.h"

namespace pumice::icd {

/// What a frame changes (VkPresentRegionKHR): the rectangle around it.
struct FrameDamage {
  bool all = true;
  VkRect2D bounds{};  // if not all; may be empty

  void add(const FrameDamage& other);
  VkRect2D within(VkExtent2D extent) const;
};

struct PresentRequest {
  uint32_t image;
  uint64_t readyValue;  // of the image's timeline: what the present waits for has happened
  uint64_t presentId = 0;
  FrameDamage damage;
};

/// From a retired swapchain to the one that replaces it: the old one's queued frames come first.
struct HandOver {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

class PresentEngine {
 public:
  struct Config {
    kmd::Device& gpu;
    std::unique_ptr<Presenter> presenter;
    VkPresentModeKHR mode;
    VkExtent2D extent;
    PixelForm form;  // of the images
    bool opaque;
    std::vector<abi::Surface> images;
    std::shared_ptr<HandOver> before;  // nullptr: no swapchain was replaced
  };

  explicit PresentEngine(Config&& config);
  /// What is queued is not waited for, but the last frame is shown: it is what stays in the window.
  ~PresentEngine();
  PresentEngine(const PresentEngine&) = delete;
  PresentEngine& operator=(const PresentEngine&) = delete;

  /// Once, before anything else. VK_ERROR_OUT_OF_HOST_MEMORY when there can be no thread.
  VkResult start();

  /// VK_SUCCESS or VK_SUBOPTIMAL_KHR with an image, VK_NOT_READY (no timeout), VK_TIMEOUT, or an error.
  VkResult acquire(uint64_t timeout_ns, uint32_t* image);
  /// Takes back what acquire() gave and nobody needs (VkReleaseSwapchainImagesInfoEXT, failures).
  void release(uint32_t image);

  /// A timeline and the value on it that the next present of the image waits for.
  kmd::TimelinePoint nextReadyPoint(uint32_t image);
  /// The result is what is known of the window now. Of a retired engine the frame is not shown.
  VkResult present(const PresentRequest& request);

  VkResult waitForPresent(uint64_t presentId, uint64_t timeout_ns);

  /// No image can be acquired any more; what is queued is still shown. Idempotent.
  std::shared_ptr<HandOver> retire();

 private:
  void run();
  std::optional<PresentRequest> nextInOrder();
  std::optional<PresentRequest> nextNewest();
  void show(const PresentRequest& frame);
  void sleepUntil(uint64_t time_ns);
  bool awaitReady(const PresentRequest& request, uint64_t deadline_ns);
  void awaitPredecessor();
  void fail(VkResult error);
  void freeLocked(uint32_t image);
  VkResult resultLocked() const;
  void finishHandOver();

  kmd::Device& gpu_;
  const std::unique_ptr<Presenter> presenter_;
  const VkPresentModeKHR mode_;
  const VkExtent2D extent_;
  const PixelForm form_;
  const bool opaque_;
  struct PresentImage {
    abi::Surface surface;
    kmd::Timeline* ready = nullptr;
    uint64_t lastReady = 0;  // externally synchronised, as presenting is
  };
  std::vector<PresentImage> images_;
  std::shared_ptr<HandOver> before_;
  const std::shared_ptr<HandOver> after_ = std::make_shared<HandOver>();

  std::mutex mutex_;
  std::condition_variable work_;     // for the present thread: queue_, stop_, retired_
  std::condition_variable changed_;  // for applications: free_, status_, shownId_, retired_
  // No image is in one of them twice: their memory is there from the beginning, adding to them cannot fail.
  std::vector<uint32_t> free_;  // the longest unused first
  std::vector<PresentRequest> queue_;
  VkResult status_ = VK_SUCCESS;  // of the window; errors stay
  uint64_t shownId_ = 0;
  bool stop_ = false;
  bool retired_ = false;
  bool busy_ = false;  // the present thread has a frame that is not in queue_

  // The present thread's own.
  FrameClock clock_;
  FrameDamage missed_;  // what frames that were dropped would have changed
  std::thread thread_;
};

}  // namespace pumice::icd
