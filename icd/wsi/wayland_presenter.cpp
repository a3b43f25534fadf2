#include "icd/wsi/wayland_presenter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "backend/trace/log.h"
#include "icd/objects/timing.h"

namespace pumice::icd {
namespace {

// One is shown, one is committed, one is written.
constexpr int kBufferCount = 3;

// Compositors send no frame callbacks to windows that nobody sees. A program that waits for its images is not stopped
// by that, only slowed down.
constexpr uint64_t kHiddenPeriod_ns = 250'000'000;

// Proxies are opaque to requests of the core library.
wl_proxy* proxy(void* object) {
  return static_cast<wl_proxy*>(object);
}

class WaylandPresenter : public Presenter {
 public:
  WaylandPresenter(const WaylandLibrary& library, wl_display* display, wl_surface* surface, const PresenterInfo& info)
      : wl_(library), display_(display), surface_(surface), info_(info), pitch_B_(uint64_t{info.extent.width} * 4) {}
  ~WaylandPresenter() override;

  VkResult init();

  uint64_t period_ns() const override { return info_.mode == VK_PRESENT_MODE_MAILBOX_KHR ? Presenter::period_ns() : 0; }
  VkResult begin(FrameTarget* out) override;
  VkResult show() override;
  void interrupt() override;

 private:
  struct Buffer {
    wl_buffer* buffer = nullptr;
    std::byte* memory = nullptr;
    bool busy = false;  // the compositor may read it
  };
  enum class Wait { kDone, kNotYet, kBroken };

  uint64_t size_B() const { return pitch_B_ * info_.extent.height; }
  bool makeBuffer(Buffer* out);
  wl_callback* startCallback(wl_proxy* object, uint32_t opcode, bool* pending);
  void dropCallback(wl_callback** callback);
  template <typename Condition>
  Wait dispatchUntil(uint64_t deadline_ns, Condition&& condition);

  static void onGlobal(void* self, wl_registry*, uint32_t name, const char* interface, uint32_t version);
  static void onGlobalRemove(void*, wl_registry*, uint32_t) {}
  static void onFormat(void*, wl_shm*, uint32_t) {}
  static void onRelease(void* buffer, wl_buffer*) { static_cast<Buffer*>(buffer)->busy = false; }
  static void onDone(void* pending, wl_callback*, uint32_t) { *static_cast<bool*>(pending) = false; }

  static constexpr wl_registry_listener kRegistryListener{onGlobal, onGlobalRemove};
  static constexpr wl_shm_listener kShmListener{onFormat};
  static constexpr wl_buffer_listener kBufferListener{onRelease};
  static constexpr wl_callback_listener kCallbackListener{onDone};

  template <typename Listener>
  void listen(void* object, const Listener& listener, void* data) {
    // The library takes any listener as an array of functions, and does not change it.
    wl_.wl_proxy_add_listener(proxy(object), reinterpret_cast<void (**)(void)>(const_cast<Listener*>(&listener)), data);
  }

  const WaylandLibrary& wl_;
  wl_display* const display_;
  wl_surface* const surface_;
  const PresenterInfo info_;
  const uint64_t pitch_B_;

  wl_event_queue* queue_ = nullptr;
  wl_proxy* displayWrapper_ = nullptr;  // the application's objects, with our queue for what they make
  wl_proxy* surfaceWrapper_ = nullptr;
  wl_proxy* registry_ = nullptr;
  wl_proxy* shm_ = nullptr;
  Buffer buffers_[kBufferCount];
  Buffer* next_ = nullptr;
  wl_callback* frame_ = nullptr;  // the compositor's "now is the time for the next one"
  bool framePending_ = false;
  int wake_ = -1;  // an eventfd
  std::atomic<bool> interrupted_{false};
};

WaylandPresenter::~WaylandPresenter() {
  dropCallback(&frame_);
  for (const Buffer& b : buffers_) {
    if (b.buffer != nullptr) {
      wl_.wl_proxy_marshal_flags(proxy(b.buffer), WL_BUFFER_DESTROY, nullptr, 1, WL_MARSHAL_FLAG_DESTROY);
    }
    if (b.memory != nullptr) munmap(b.memory, size_B());
  }
  if (shm_ != nullptr) wl_.wl_proxy_destroy(shm_);
  if (registry_ != nullptr) wl_.wl_proxy_destroy(registry_);
  if (surfaceWrapper_ != nullptr) wl_.wl_proxy_wrapper_destroy(surfaceWrapper_);
  if (displayWrapper_ != nullptr) wl_.wl_proxy_wrapper_destroy(displayWrapper_);
  if (queue_ != nullptr) wl_.wl_event_queue_destroy(queue_);
  wl_.wl_display_flush(display_);
  if (wake_ >= 0) close(wake_);
}

VkResult WaylandPresenter::init() {
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  queue_ = wl_.wl_display_create_queue(display_);
  displayWrapper_ = static_cast<wl_proxy*>(wl_.wl_proxy_create_wrapper(display_));
  surfaceWrapper_ = static_cast<wl_proxy*>(wl_.wl_proxy_create_wrapper(surface_));
  if (wake_ < 0 || queue_ == nullptr || displayWrapper_ == nullptr || surfaceWrapper_ == nullptr) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  wl_.wl_proxy_set_queue(displayWrapper_, queue_);
  wl_.wl_proxy_set_queue(surfaceWrapper_, queue_);
  registry_ = wl_.wl_proxy_marshal_flags(displayWrapper_, WL_DISPLAY_GET_REGISTRY, wl_.wl_registry_interface,
                                         wl_.wl_proxy_get_version(displayWrapper_), 0, nullptr);
  if (registry_ == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
  listen(registry_, kRegistryListener, this);
  // The answer to a sync comes after all globals.
  bool pending = true;
  wl_callback* sync = startCallback(displayWrapper_, WL_DISPLAY_SYNC, &pending);
  const Wait wait = dispatchUntil(UINT64_MAX, [&] { return !pending; });
  dropCallback(&sync);
  if (wait != Wait::kDone || shm_ == nullptr) {
    PUMICE_ERROR("wsi", "the Wayland compositor has no wl_shm, or is gone");
    return VK_ERROR_SURFACE_LOST_KHR;
  }
  for (Buffer& b : buffers_) {
    if (!makeBuffer(&b)) return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  return VK_SUCCESS;
}

void WaylandPresenter::onGlobal(void* data, wl_registry*, uint32_t name, const char* interface, uint32_t) {
  auto& self = *static_cast<WaylandPresenter*>(data);
  if (std::strcmp(interface, self.wl_.wl_shm_interface->name) != 0 || self.shm_ != nullptr) return;
  self.shm_ = self.wl_.wl_proxy_marshal_flags(self.registry_, WL_REGISTRY_BIND, self.wl_.wl_shm_interface, 1, 0, name,
                                              self.wl_.wl_shm_interface->name, 1u, nullptr);
  if (self.shm_ != nullptr) self.listen(self.shm_, kShmListener, nullptr);
}

// A pool for each buffer: a pool's size is a signed 32-bit number.
bool WaylandPresenter::makeBuffer(Buffer* out) {
  if (size_B() > INT32_MAX) return false;
  const int file = memfd_create("pumice-frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return false;
  void* memory = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size_B())) == 0) {
    memory = mmap(nullptr, size_B(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory != MAP_FAILED) {
    out->memory = static_cast<std::byte*>(memory);
    wl_proxy* pool = wl_.wl_proxy_marshal_flags(shm_, WL_SHM_CREATE_POOL, wl_.wl_shm_pool_interface, 1, 0, nullptr,
                                                file, static_cast<int32_t>(size_B()));
    if (pool != nullptr) {
      const uint32_t format = info_.opaque ? WL_SHM_FORMAT_XRGB8888 : WL_SHM_FORMAT_ARGB8888;
      wl_proxy* buffer =
          wl_.wl_proxy_marshal_flags(pool, WL_SHM_POOL_CREATE_BUFFER, wl_.wl_buffer_interface, 1, 0, nullptr, 0,
                                     static_cast<int32_t>(info_.extent.width),
                                     static_cast<int32_t>(info_.extent.height), static_cast<int32_t>(pitch_B_), format);
      wl_.wl_proxy_marshal_flags(pool, WL_SHM_POOL_DESTROY, nullptr, 1, WL_MARSHAL_FLAG_DESTROY);
      out->buffer = reinterpret_cast<wl_buffer*>(buffer);
      if (buffer != nullptr) listen(buffer, kBufferListener, out);
    }
  }
  close(file);  // the library has sent a copy of it
  return out->buffer != nullptr;
}

wl_callback* WaylandPresenter::startCallback(wl_proxy* object, uint32_t opcode, bool* pending) {
  wl_proxy* callback = wl_.wl_proxy_marshal_flags(object, opcode, wl_.wl_callback_interface,
                                                  wl_.wl_proxy_get_version(object), 0, nullptr);
  *pending = callback != nullptr;
  if (callback != nullptr) listen(callback, kCallbackListener, pending);
  return reinterpret_cast<wl_callback*>(callback);
}

void WaylandPresenter::dropCallback(wl_callback** callback) {
  if (*callback != nullptr) wl_.wl_proxy_destroy(proxy(*callback));
  *callback = nullptr;
}

// Reads and handles events of our queue until the condition holds. Works beside the application's own readers.
template <typename Condition>
WaylandPresenter::Wait WaylandPresenter::dispatchUntil(uint64_t deadline_ns, Condition&& condition) {
  for (;;) {
    if (wl_.wl_display_dispatch_queue_pending(display_, queue_) < 0) return Wait::kBroken;
    if (condition()) return Wait::kDone;
    const uint64_t now_ns = monotonicNow_ns();
    if (interrupted_.load(std::memory_order_acquire) || now_ns >= deadline_ns) return Wait::kNotYet;
    if (wl_.wl_display_prepare_read_queue(display_, queue_) != 0) continue;  // more has come meanwhile
    short events = POLLIN;
    if (wl_.wl_display_flush(display_) < 0) {
      if (errno != EAGAIN) {
        wl_.wl_display_cancel_read(display_);
        return Wait::kBroken;
      }
      events |= POLLOUT;  // the socket is full: flush again when there is room
    }
    pollfd files[2] = {{wl_.wl_display_get_fd(display_), events, 0}, {wake_, POLLIN, 0}};
    const uint64_t left_ms = deadline_ns == UINT64_MAX ? INT32_MAX : (deadline_ns - now_ns) / 1'000'000 + 1;
    poll(files, 2, static_cast<int>(std::min<uint64_t>(left_ms, INT32_MAX)));
    if ((files[0].revents & ~POLLOUT) != 0) {
      if (wl_.wl_display_read_events(display_) < 0) return Wait::kBroken;
    } else {
      wl_.wl_display_cancel_read(display_);
    }
  }
}

VkResult WaylandPresenter::begin(FrameTarget* out) {
  if (info_.mode == VK_PRESENT_MODE_FIFO_KHR) {
    const uint64_t deadline_ns = monotonicNow_ns() + kHiddenPeriod_ns;
    if (dispatchUntil(deadline_ns, [this] { return !framePending_; }) == Wait::kBroken) {
      return VK_ERROR_SURFACE_LOST_KHR;
    }
  }
  const auto idle = [this] {
    next_ = std::find_if(buffers_, buffers_ + kBufferCount, [](const Buffer& b) { return !b.busy; });
    return next_ != buffers_ + kBufferCount;
  };
  const Wait wait = dispatchUntil(UINT64_MAX, idle);
  if (wait == Wait::kBroken) return VK_ERROR_SURFACE_LOST_KHR;
  if (wait == Wait::kNotYet) return VK_ERROR_OUT_OF_DATE_KHR;  // nobody will hear it: the swapchain is being destroyed
  *out = {{next_->memory, pitch_B_}, kWaylandPixel, false};
  return VK_SUCCESS;
}

VkResult WaylandPresenter::show() {
  dropCallback(&frame_);
  const uint32_t version = wl_.wl_proxy_get_version(surfaceWrapper_);
  wl_.wl_proxy_marshal_flags(surfaceWrapper_, WL_SURFACE_ATTACH, nullptr, version, 0, next_->buffer, 0, 0);
  wl_.wl_proxy_marshal_flags(surfaceWrapper_, WL_SURFACE_DAMAGE, nullptr, version, 0, 0, 0, INT32_MAX, INT32_MAX);
  frame_ = startCallback(surfaceWrapper_, WL_SURFACE_FRAME, &framePending_);
  wl_.wl_proxy_marshal_flags(surfaceWrapper_, WL_SURFACE_COMMIT, nullptr, version, 0);
  next_->busy = true;
  // The compositor has taken the commit when it answers what comes after it.
  bool pending = true;
  wl_callback* sync = startCallback(displayWrapper_, WL_DISPLAY_SYNC, &pending);
  wl_.wl_display_flush(display_);
  const Wait wait = dispatchUntil(UINT64_MAX, [&] { return !pending; });
  dropCallback(&sync);
  return wait == Wait::kBroken ? VK_ERROR_SURFACE_LOST_KHR : VK_SUCCESS;
}

void WaylandPresenter::interrupt() {
  interrupted_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof one));
}

}  // namespace

VkResult makeWaylandPresenter(const WaylandLibrary& library, wl_display* display, wl_surface* surface,
                              const PresenterInfo& info, std::unique_ptr<Presenter>* out) {
  auto presenter = std::make_unique<WaylandPresenter>(library, display, surface, info);
  const VkResult result = presenter->init();
  if (result == VK_SUCCESS) *out = std::move(presenter);
  return result;
}

}  // namespace pumice::icd
