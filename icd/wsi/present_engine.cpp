#include "icd/wsi/present_engine.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "backend/sched/async_signals.h"
#include "backend/trace/log.h"
#include "icd/objects/status_result.h"
#include "icd/objects/timing.h"
#include "icd/wsi/screenshot.h"

namespace pumice::icd {
namespace {

// std::chrono's steady clock is CLOCK_MONOTONIC.
std::chrono::steady_clock::time_point timePoint(uint64_t time_ns) {
  const auto most = static_cast<uint64_t>(std::chrono::steady_clock::time_point::max().time_since_epoch().count());
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(static_cast<int64_t>(std::min(time_ns, most / 2))));
}

template <typename Condition>
bool waitUntil(std::condition_variable& variable, std::unique_lock<std::mutex>& lock, uint64_t deadline_ns,
               Condition&& condition) {
  if (deadline_ns == UINT64_MAX) {
    variable.wait(lock, condition);
    return true;
  }
  return variable.wait_until(lock, timePoint(deadline_ns), condition);
}

}  // namespace

void FrameDamage::add(const FrameDamage& other) {
  if (all || other.all) {
    all = true;
    return;
  }
  if (other.bounds.extent.width == 0 || other.bounds.extent.height == 0) return;
  if (bounds.extent.width == 0 || bounds.extent.height == 0) {
    bounds = other.bounds;
    return;
  }
  const auto unite = [](int32_t& at, uint32_t& size, int32_t otherAt, uint32_t otherSize) {
    const int64_t end = std::max(int64_t{at} + size, int64_t{otherAt} + otherSize);
    at = std::min(at, otherAt);
    size = static_cast<uint32_t>(end - at);
  };
  unite(bounds.offset.x, bounds.extent.width, other.bounds.offset.x, other.bounds.extent.width);
  unite(bounds.offset.y, bounds.extent.height, other.bounds.offset.y, other.bounds.extent.height);
}

VkRect2D FrameDamage::within(VkExtent2D extent) const {
  if (all) return {{0, 0}, extent};
  const auto clip = [](int32_t at, uint32_t size, uint32_t most, int32_t* outAt, uint32_t* outSize) {
    const int64_t first = std::clamp<int64_t>(at, 0, most), end = std::clamp<int64_t>(int64_t{at} + size, 0, most);
    *outAt = static_cast<int32_t>(first);
    *outSize = static_cast<uint32_t>(end - first);
  };
  VkRect2D out{};
  clip(bounds.offset.x, bounds.extent.width, extent.width, &out.offset.x, &out.extent.width);
  clip(bounds.offset.y, bounds.extent.height, extent.height, &out.offset.y, &out.extent.height);
  return out;
}

PresentEngine::PresentEngine(Config&& config)
    : gpu_(config.gpu),
      presenter_(std::move(config.presenter)),
      mode_(config.mode),
      extent_(config.extent),
      form_(config.form),
      opaque_(config.opaque),
      before_(std::move(config.before)),
      clock_(mode_, presenter_->period_ns(), monotonicNow_ns()) {
  for (const abi::Surface& surface : config.images) images_.push_back({surface});
  free_.reserve(images_.size());
  queue_.reserve(images_.size());
  for (uint32_t i = 0; i < images_.size(); ++i) free_.push_back(i);
  missed_.all = false;
}

PresentEngine::~PresentEngine() {
  // The queues may still have to signal what presents wait for: those signals go to timelines of ours.
  for (const PresentImage& image : images_) {
    if (image.ready == nullptr) continue;
    const kmd::TimelinePoint point{image.ready, image.lastReady};
    // Or the device is lost: then nobody signals any more.
    static_cast<void>(gpu_.waitTimelines({&point, 1}, false, UINT64_MAX));
  }
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  presenter_->interrupt();
  if (thread_.joinable()) thread_.join();
  finishHandOver();
  for (const PresentImage& image : images_) gpu_.destroyTimeline(image.ready);
}

VkResult PresentEngine::start() {
  for (PresentImage& image : images_) {
    if (const VkResult r = toResult(gpu_.createTimeline(0, &image.ready)); r != VK_SUCCESS) return r;
  }
  try {
    sched::AsyncSignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    PUMICE_ERROR("wsi", "no thread for a swapchain");
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  return VK_SUCCESS;
}

// ---- The application's side -----------------------------------------------------------------------------------------

VkResult PresentEngine::resultLocked() const {
  if (status_ < 0) return status_;
  return retired_ ? VK_ERROR_OUT_OF_DATE_KHR : status_;
}

VkResult PresentEngine::acquire(uint64_t timeout_ns, uint32_t* image) {
  std::unique_lock lock(mutex_);
  const auto decided = [this] { return !free_.empty() || resultLocked() < 0; };
  if (!decided()) {
    if (timeout_ns == 0) return gpu_.lost() ? VK_ERROR_DEVICE_LOST : VK_NOT_READY;
    if (!waitUntil(changed_, lock, deadlineAfter(timeout_ns), decided)) return VK_TIMEOUT;
  }
  const VkResult result = resultLocked();
  if (result < 0) return result;
  *image = free_.front();
  free_.erase(free_.begin());
  return result;
}

void PresentEngine::release(uint32_t image) {
  std::lock_guard lock(mutex_);
  freeLocked(image);
}

kmd::TimelinePoint PresentEngine::nextReadyPoint(uint32_t image) {
  return {images_[image].ready, images_[image].lastReady + 1};
}

VkResult PresentEngine::present(const PresentRequest& request) {
  images_[request.image].lastReady = request.readyValue;
  VkResult result;
  {
    std::lock_guard lock(mutex_);
    result = resultLocked();
    if (result < 0) {
      freeLocked(request.image);
      return result;
    }
    queue_.push_back(request);
  }
  work_.notify_one();
  return result;
}

VkResult PresentEngine::waitForPresent(uint64_t presentId, uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  // A retired swapchain still shows what is queued.
  const auto failed = [this] { return status_ < 0 || (retired_ && queue_.empty() && !busy_); };
  const auto decided = [&] { return shownId_ >= presentId || failed(); };
  if (!waitUntil(changed_, lock, timeout_ns == 0 ? 0 : deadlineAfter(timeout_ns), decided)) return VK_TIMEOUT;
  return shownId_ >= presentId ? VK_SUCCESS : resultLocked();
}

std::shared_ptr<HandOver> PresentEngine::retire() {
  {
    std::lock_guard lock(mutex_);
    retired_ = true;
  }
  work_.notify_all();
  changed_.notify_all();
  return after_;
}

// ---- The present thread ---------------------------------------------------------------------------------------------

void PresentEngine::run() {
  for (;;) {
    const std::optional<PresentRequest> frame = mode_ == VK_PRESENT_MODE_MAILBOX_KHR ? nextNewest() : nextInOrder();
    if (!frame) return;
    try {
      show(*frame);
    } catch (const std::bad_alloc&) {
      fail(VK_ERROR_OUT_OF_HOST_MEMORY);
    }
  }
}

void PresentEngine::freeLocked(uint32_t image) {
  free_.push_back(image);
  changed_.notify_all();
}

void PresentEngine::fail(VkResult error) {
  {
    std::lock_guard lock(mutex_);
    if (status_ >= 0) status_ = error;
  }
  changed_.notify_all();
}

void PresentEngine::finishHandOver() {
  {
    std::lock_guard lock(after_->mutex);
    after_->done = true;
  }
  after_->changed.notify_all();
}

// False when the time was not reached, or the device was lost.
bool PresentEngine::awaitReady(const PresentRequest& request, uint64_t deadline_ns) {
  const kmd::TimelinePoint point{images_[request.image].ready, request.readyValue};
  const kmd::Status status = gpu_.waitTimelines({&point, 1}, false, deadline_ns);
  if (status == kmd::Status::kDeviceLost) fail(VK_ERROR_DEVICE_LOST);
  return status == kmd::Status::kOk;
}

// FIFO and IMMEDIATE: one after the other. When the swapchain is being destroyed only the last one counts.
std::optional<PresentRequest> PresentEngine::nextInOrder() {
  std::unique_lock lock(mutex_);
  for (;;) {
    busy_ = false;
    if (queue_.empty() && retired_) {
      lock.unlock();
      finishHandOver();
      changed_.notify_all();
      lock.lock();
    }
    work_.wait(lock, [this] { return !queue_.empty() || stop_ || (retired_ && !after_->done); });
    if (queue_.empty()) {
      if (stop_) return std::nullopt;
      continue;
    }
    const PresentRequest frame = queue_.front();
    queue_.erase(queue_.begin());
    busy_ = true;
    if (stop_ && !queue_.empty()) {
      missed_.add(frame.damage);
      freeLocked(frame.image);
      continue;
    }
    lock.unlock();
    const bool ready = awaitReady(frame, UINT64_MAX);
    lock.lock();
    if (ready && status_ >= 0) return frame;
    freeLocked(frame.image);
  }
}

// MAILBOX: the newest frame that is ready when its turn comes; those before it are dropped as soon as it is ready.
std::optional<PresentRequest> PresentEngine::nextNewest() {
  std::optional<PresentRequest> newest;
  uint64_t turn_ns = 0;
  std::unique_lock lock(mutex_);
  busy_ = false;
  for (;;) {
    if (queue_.empty() && retired_ && !newest) {
      lock.unlock();
      finishHandOver();
      changed_.notify_all();
      lock.lock();
    }
    const auto more = [&] { return !queue_.empty() || stop_ || (!newest && retired_ && !after_->done); };
    waitUntil(work_, lock, newest ? turn_ns : UINT64_MAX, more);
    if (queue_.empty()) {
      if (newest) return newest;  // its turn, or the end
      if (stop_) return std::nullopt;
      continue;
    }
    const PresentRequest frame = queue_.front();
    lock.unlock();
    const bool ready = awaitReady(frame, newest ? turn_ns : UINT64_MAX);
    lock.lock();
    if (!ready && status_ >= 0) return newest;  // its turn has come
    queue_.erase(queue_.begin());
    busy_ = true;
    if (newest) {
      missed_.add(newest->damage);
      freeLocked(newest->image);
      newest.reset();
    }
    if (status_ < 0) {
      freeLocked(frame.image);
      continue;
    }
    newest = frame;
    if (turn_ns == 0) turn_ns = clock_.turn(monotonicNow_ns());
  }
}

// Or until the swapchain is about to be destroyed.
void PresentEngine::sleepUntil(uint64_t time_ns) {
  std::unique_lock lock(mutex_);
  waitUntil(work_, lock, time_ns, [this] { return stop_; });
}

void PresentEngine::awaitPredecessor() {
  if (before_ == nullptr) return;
  std::unique_lock lock(before_->mutex);
  before_->changed.wait(lock, [this] { return before_->done; });
  lock.unlock();
  before_.reset();
}

void PresentEngine::show(const PresentRequest& frame) {
  awaitPredecessor();
  Screenshot::ofProcess().frame(images_[frame.image].surface, form_, extent_);
  FrameTarget target;
  VkResult result = presenter_->begin(&target);
  const bool written = result >= 0 && target.rows.first != nullptr;
  if (written) {
    missed_.add(frame.damage);
    if (!target.holdsLastFrame) missed_.all = true;
    writePixels(images_[frame.image].surface, form_, missed_.within(extent_), target.rows, target.form, opaque_);
    missed_ = {false, {}};
    std::lock_guard lock(mutex_);
    freeLocked(frame.image);  // the frame lies elsewhere by now
  }
  if (result >= 0) {
    if (mode_ != VK_PRESENT_MODE_MAILBOX_KHR) sleepUntil(clock_.turn(monotonicNow_ns()));
    clock_.shown(monotonicNow_ns());
    result = presenter_->show();
  }
  {
    std::lock_guard lock(mutex_);
    if (!written) free_.push_back(frame.image);
    if (status_ >= 0) status_ = result;
    if (result >= 0) shownId_ = std::max(shownId_, frame.presentId);
  }
  changed_.notify_all();
}

}  // namespace pumice::icd
