// Windows of a Wayland compositor, which is a small one of the test's own: it keeps what was committed, reads it again
// when its frame is over, and only then lets go of the buffer.
//
// covers: VK_KHR_wayland_surface, vkCreateWaylandSurfaceKHR, vkGetPhysicalDeviceWaylandPresentationSupportKHR
#include <sys/socket.h>
#include <vulkan/vulkan.h>
#include <wayland-client.h>
#include <wayland-server.h>
// Needs both of them.
#include <vulkan/vulkan_wayland.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "cts-subset/support/window_test.h"

namespace pumice::cts {
namespace {

using Clock = std::chrono::steady_clock;

struct Commit {
  int32_t width = 0, height = 0;
  uint32_t format = 0;
  std::vector<uint32_t> pixels;

  bool isAll(uint32_t pixel, uint32_t mask) const {
    for (uint32_t p : pixels) {
      if ((p & mask) != pixel) return false;
    }
    return !pixels.empty();
  }
};

class Compositor {
 public:
  Compositor() {
    int sockets[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    display_ = wl_display_create();
    wl_display_init_shm(display_);
    wl_global_create(display_, &wl_compositor_interface, 4, this, bindCompositor);
    wl_client_create(display_, sockets[0]);
    clientSocket_ = sockets[1];
    thread_ = std::thread([this] { run(); });
  }
  ~Compositor() { end(); }

  int clientSocket() const { return clientSocket_; }
  void setHidden(bool hidden) { hidden_ = hidden; }
  Commit last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  uint32_t commits() const { return commits_; }
  uint32_t changedWhileBusy() const { return changed_; }
  void end() {
    if (!thread_.joinable()) return;
    end_ = true;
    thread_.join();
    wl_display_destroy_clients(display_);
    wl_display_destroy(display_);
  }

 private:
  static constexpr std::chrono::milliseconds kFrame{16};

  void run() {
    auto next = Clock::now() + kFrame;
    while (!end_) {
      wl_display_flush_clients(display_);
      wl_event_loop_dispatch(wl_display_get_event_loop(display_), 2);
      if (Clock::now() < next) continue;
      next += kFrame;
      endFrame();
    }
  }

  void endFrame() {
    if (current_ != nullptr) changed_ += read(current_).pixels != last_.pixels;
    if (hidden_) return;
    wl_resource *callback, *after;
    wl_resource_for_each_safe(callback, after, &callbacks_) {
      wl_callback_send_done(callback, 0);
      wl_resource_destroy(callback);
    }
  }

  static Commit read(wl_resource* buffer) {
    Commit out;
    wl_shm_buffer* shm = wl_shm_buffer_get(buffer);
    wl_shm_buffer_begin_access(shm);
    out.width = wl_shm_buffer_get_width(shm);
    out.height = wl_shm_buffer_get_height(shm);
    out.format = wl_shm_buffer_get_format(shm);
    out.pixels.resize(static_cast<size_t>(out.width) * static_cast<size_t>(out.height));
    for (int32_t y = 0; y < out.height; ++y) {
      std::memcpy(out.pixels.data() + static_cast<size_t>(y) * static_cast<size_t>(out.width),
                  static_cast<std::byte*>(wl_shm_buffer_get_data(shm)) + y * wl_shm_buffer_get_stride(shm),
                  static_cast<size_t>(out.width) * 4);
    }
    wl_shm_buffer_end_access(shm);
    return out;
  }

  static Compositor& self(wl_resource* resource) {
    return *static_cast<Compositor*>(wl_resource_get_user_data(resource));
  }

  static void bindCompositor(wl_client* client, void* data, uint32_t version, uint32_t id) {
    static const struct wl_compositor_interface kRequests = {createSurface, nullptr};
    wl_resource* resource = wl_resource_create(client, &wl_compositor_interface, static_cast<int>(version), id);
    wl_resource_set_implementation(resource, &kRequests, data, nullptr);
  }
  static void createSurface(wl_client* client, wl_resource* compositor, uint32_t id) {
    static const struct wl_surface_interface kRequests = {
        [](wl_client*, wl_resource* surface) { wl_resource_destroy(surface); },
        attach,
        [](wl_client*, wl_resource*, int32_t, int32_t, int32_t, int32_t) {},
        frame,
        nullptr,
        nullptr,
        commit,
        nullptr,
        nullptr,
        nullptr,
        nullptr};
    wl_resource* surface = wl_resource_create(client, &wl_surface_interface, wl_resource_get_version(compositor), id);
    wl_resource_set_implementation(surface, &kRequests, wl_resource_get_user_data(compositor), nullptr);
  }
  static void attach(wl_client*, wl_resource* surface, wl_resource* buffer, int32_t, int32_t) {
    self(surface).attached_ = buffer;
  }
  static void frame(wl_client* client, wl_resource* surface, uint32_t id) {
    wl_resource* callback = wl_resource_create(client, &wl_callback_interface, 1, id);
    wl_resource_set_implementation(callback, nullptr, nullptr,
                                   [](wl_resource* r) { wl_list_remove(wl_resource_get_link(r)); });
    wl_list_insert(&self(surface).callbacks_, wl_resource_get_link(callback));
  }
  static void commit(wl_client*, wl_resource* surface) {
    Compositor& c = self(surface);
    if (c.attached_ == nullptr) return;
    c.dropCurrent(true);
    c.current_ = std::exchange(c.attached_, nullptr);
    c.destroyed_.listener.notify = [](wl_listener* listener, void*) {
      Compositor* owner = reinterpret_cast<Destroyed*>(listener)->owner;
      owner->dropCurrent(false);
    };
    wl_resource_add_destroy_listener(c.current_, &c.destroyed_.listener);
    std::lock_guard lock(c.mutex_);
    c.last_ = read(c.current_);
    ++c.commits_;
  }
  void dropCurrent(bool release) {
    if (current_ == nullptr) return;
    wl_list_remove(&destroyed_.listener.link);
    if (release) wl_buffer_send_release(current_);
    current_ = nullptr;
  }

  struct Destroyed {
    wl_listener listener;  // first: it is what the library hands out
    Compositor* owner;
  };

  wl_display* display_ = nullptr;
  int clientSocket_ = -1;
  std::thread thread_;
  std::atomic<bool> end_{false}, hidden_{false};
  std::atomic<uint32_t> commits_{0}, changed_{0};
  wl_resource *attached_ = nullptr, *current_ = nullptr;
  Destroyed destroyed_{{}, this};
  wl_list callbacks_{&callbacks_, &callbacks_};
  std::mutex mutex_;
  Commit last_;
};

class WaylandWindowTest : public WindowTest {
 protected:
  void SetUp() override {
    compositor_ = std::make_unique<Compositor>();
    display_ = wl_display_connect_to_fd(compositor_->clientSocket());
    ASSERT_NE(display_, nullptr);
    static const wl_registry_listener kListener{
        [](void* data, wl_registry* registry, uint32_t name, const char* interface, uint32_t) {
          if (std::strcmp(interface, "wl_compositor") != 0) return;
          *static_cast<void**>(data) = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
        },
        [](void*, wl_registry*, uint32_t) {}};
    registry_ = wl_display_get_registry(display_);
    wl_registry_add_listener(registry_, &kListener, &proxyOfCompositor_);
    wl_display_roundtrip(display_);
    ASSERT_NE(proxyOfCompositor_, nullptr);
    window_ = wl_compositor_create_surface(static_cast<wl_compositor*>(proxyOfCompositor_));
    createWindowDevice();
    INSTANCE_FN(vkCreateWaylandSurfaceKHR);
    VkWaylandSurfaceCreateInfoKHR info{VK_STRUCTURE_TYPE_WAYLAND_SURFACE_CREATE_INFO_KHR};
    info.display = display_;
    info.surface = window_;
    VK_OK(vkCreateWaylandSurfaceKHR(instance(), &info, nullptr, &surface_));
    defer([this] { vkDestroySurfaceKHR(instance(), surface_, nullptr); });
  }
  void TearDown() override {
    WindowTest::TearDown();
    wl_surface_destroy(window_);
    wl_proxy_destroy(static_cast<wl_proxy*>(proxyOfCompositor_));
    wl_registry_destroy(registry_);
    wl_display_disconnect(display_);
    EXPECT_EQ(compositor_->changedWhileBusy(), 0u) << "a buffer was written while the compositor had it";
  }

  std::unique_ptr<Compositor> compositor_;
  wl_display* display_ = nullptr;
  wl_registry* registry_ = nullptr;
  void* proxyOfCompositor_ = nullptr;
  wl_surface* window_ = nullptr;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
};

TEST_F(WaylandWindowTest, PictureOfEveryFormatAndMode) {
  INSTANCE_FN(vkGetPhysicalDeviceWaylandPresentationSupportKHR);
  EXPECT_TRUE(vkGetPhysicalDeviceWaylandPresentationSupportKHR(physicalDevice(), 0, display_));
  EXPECT_EQ(capabilities(surface_).currentExtent.width, 0xffffffffu);
  Chain chain;
  uint32_t width = 31;
  for (VkFormat format : {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R8G8B8A8_UNORM}) {
    for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR}) {
      Chain next;  // each another size, taking over from the one before
      VK_OK(
          makeChain(surface_, {.format = format, .mode = mode, .extent = {width, 20}, .old = chain.swapchain}, &next));
      if (chain.swapchain != VK_NULL_HANDLE) destroyChain(chain);
      chain = next;
      for (uint32_t i = 0; i < 8; ++i) VK_OK(presentColor(chain, {1, 0, static_cast<float>(i % 2), 1}));
      VK_OK(presentColor(chain, {1, 0, 0, 0.5f}));
      VK_OK(awaitShown(chain));
      const Commit last = compositor_->last();
      EXPECT_EQ(last.width, static_cast<int32_t>(width));
      EXPECT_EQ(last.height, 20);
      EXPECT_EQ(last.format, uint32_t{WL_SHM_FORMAT_XRGB8888});
      EXPECT_TRUE(last.isAll(0xff0000, 0xffffff));
      width += 7;
    }
  }
  destroyChain(chain);
  VK_OK(makeChain(surface_, {.alpha = VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR}, &chain));
  VK_OK(presentColor(chain, {0.2f, 0.4f, 0, 0.4f}));
  VK_OK(awaitShown(chain));
  EXPECT_EQ(compositor_->last().format, uint32_t{WL_SHM_FORMAT_ARGB8888});
  EXPECT_TRUE(compositor_->last().isAll(0x66336600, ~0u));
  destroyChain(chain);
}

// FIFO: a frame for each of the compositor's, none lost; hidden windows go on, slowly.
TEST_F(WaylandWindowTest, FifoFollowsTheCompositor) {
  Chain chain;
  VK_OK(makeChain(surface_, {}, &chain));
  VK_OK(presentColor(chain, {1, 1, 1, 1}));
  VK_OK(awaitShown(chain));
  const auto start = Clock::now();
  for (uint32_t i = 0; i < 30; ++i) VK_OK(presentColor(chain, {1, 0, static_cast<float>(i % 2), 1}));
  VK_OK(awaitShown(chain));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(29 * 16 - 20));
  EXPECT_EQ(compositor_->commits(), 31u);
  compositor_->setHidden(true);
  for (uint32_t i = 0; i < 3; ++i) VK_OK(presentColor(chain, {0, 1, 0, 1}));
  VK_OK(awaitShown(chain));
  VK_OK(presentColor(chain, {0, 0, 1, 1}));
  destroyChain(chain);  // does not wait for the compositor
  EXPECT_EQ(compositor_->changedWhileBusy(), 0u);
}

TEST_F(WaylandWindowTest, CompositorGoesAway) {
  Chain chain;
  VK_OK(makeChain(surface_, {.mode = VK_PRESENT_MODE_MAILBOX_KHR}, &chain));
  VK_OK(presentColor(chain, {1, 1, 1, 1}));
  compositor_->end();
  const VkResult result = presentUntilNoticed(chain);
  EXPECT_EQ(result, VK_ERROR_SURFACE_LOST_KHR);
  destroyChain(chain);
}

}  // namespace
}  // namespace pumice::cts
