#include "icd/wsi/xcb_presenter.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backend/trace/log.h"
#include "icd/objects/timing.h"
#include "icd/wsi/xcb_refresh.h"

namespace pumice::icd {
namespace {

// Larger strips would only keep other clients of the server waiting.
constexpr uint64_t kMaxStripBytes = 1 << 20;

// How long a server may take to answer for a frame when the swapchain is being destroyed: one that is stopped never
// does, one that is only busy should still get the last frame.
constexpr uint64_t kGrace_ns = 1'000'000'000;

// Between two looks for an answer that another thread may have read from the socket.
constexpr uint64_t kShortestPause_ns = 50'000;
constexpr uint64_t kLongestPause_ns = 5'000'000;

class XcbPresenter : public Presenter {
 public:
  XcbPresenter(const XcbLibrary& x, xcb_connection_t* connection, xcb_window_t window, const XcbVisual& visual,
               VkExtent2D extent)
      : x_(x),
        connection_(connection),
        window_(window),
        visual_(visual),
        extent_(extent),
        pitch_B_((uint64_t{extent.width} * visual.form.bytes + 3) & ~uint64_t{3}),  // rows are padded to 32 bits
        period_ns_(displayPeriod_ns(x, connection, window)) {}
  ~XcbPresenter() override;

  VkResult init();

  uint64_t period_ns() const override { return period_ns_; }
  VkResult begin(FrameTarget* out) override;
  VkResult show() override;
  void interrupt() override { giveUpAt_ns_.store(monotonicNow_ns() + kGrace_ns, std::memory_order_relaxed); }

 private:
  uint64_t size_B() const { return pitch_B_ * extent_.height; }
  bool succeeded(xcb_void_cookie_t request) const;
  bool shareMemory();
  bool makePixmap();
  bool putStrips();
  xcb_get_geometry_reply_t* awaitGeometry(xcb_get_geometry_cookie_t request, bool* gaveUp);
  VkResult lookAtWindow(xcb_void_cookie_t update);

  const XcbLibrary& x_;
  xcb_connection_t* const connection_;
  const xcb_window_t window_;
  const XcbVisual visual_;
  const VkExtent2D extent_;
  const uint64_t pitch_B_;
  const uint64_t period_ns_;
  xcb_gcontext_t context_ = 0;
  xcb_shm_seg_t segment_ = 0;  // 0: no shared memory, then
  xcb_pixmap_t pixmap_ = 0;    // is where strips go
  std::byte* memory_ = nullptr;
  bool shown_ = false;  // memory_ holds the last frame
  std::atomic<uint64_t> giveUpAt_ns_{UINT64_MAX};
};

bool isLocal(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.ss_family == AF_UNIX;
}

XcbPresenter::~XcbPresenter() {
  if (segment_ != 0) x_.xcb_shm_detach(connection_, segment_);
  if (pixmap_ != 0) x_.xcb_free_pixmap(connection_, pixmap_);
  if (context_ != 0) x_.xcb_free_gc(connection_, context_);
  x_.xcb_flush(connection_);
  if (memory_ != nullptr) munmap(memory_, size_B());
}

// A round trip, unless a later request has been answered already.
bool XcbPresenter::succeeded(xcb_void_cookie_t request) const {
  xcb_generic_error_t* error = x_.xcb_request_check(connection_, request);
  if (error != nullptr) {
    PUMICE_DEBUG("wsi", "X error %u for request %u.%u", error->error_code, error->major_code, error->minor_code);
  }
  std::free(error);
  return error == nullptr && x_.xcb_connection_has_error(connection_) == 0;
}

VkResult XcbPresenter::init() {
  const xcb_gcontext_t context = x_.xcb_generate_id(connection_);
  const uint32_t noExposures = 0;
  if (!succeeded(x_.xcb_create_gc_checked(connection_, context, window_, XCB_GC_GRAPHICS_EXPOSURES, &noExposures))) {
    return VK_ERROR_SURFACE_LOST_KHR;
  }
  context_ = context;
  if (shareMemory()) return VK_SUCCESS;
  if (x_.xcb_connection_has_error(connection_) != 0) return VK_ERROR_SURFACE_LOST_KHR;
  PUMICE_DEBUG("wsi", "no memory is shared with the X server: frames go over the connection");
  void* memory = mmap(nullptr, size_B(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return VK_ERROR_OUT_OF_HOST_MEMORY;
  memory_ = static_cast<std::byte*>(memory);
  return makePixmap() ? VK_SUCCESS : VK_ERROR_SURFACE_LOST_KHR;
}

bool XcbPresenter::shareMemory() {
  // File descriptors pass through local sockets alone.
  if (!x_.hasShm() || !isLocal(x_.xcb_get_file_descriptor(connection_))) return false;
  const xcb_query_extension_reply_t* extension = x_.xcb_get_extension_data(connection_, x_.xcb_shm_id);
  if (extension == nullptr || extension->present == 0) return false;
  xcb_generic_error_t* error = nullptr;
  auto* version = x_.xcb_shm_query_version_reply(connection_, x_.xcb_shm_query_version(connection_), &error);
  const bool passesFiles = version != nullptr &&
                           (version->major_version > 1 || (version->major_version == 1 && version->minor_version >= 2));
  std::free(version);
  std::free(error);
  if (!passesFiles) return false;

  const int file = memfd_create("pumice-frame", MFD_CLOEXEC);
  if (file < 0) return false;
  void* memory = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size_B())) == 0) {
    memory = mmap(nullptr, size_B(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    close(file);
    return false;
  }
  const xcb_shm_seg_t segment = x_.xcb_generate_id(connection_);
  if (!succeeded(x_.xcb_shm_attach_fd_checked(connection_, segment, file, /*read_only=*/1))) {  // closes the file
    munmap(memory, size_B());
    return false;
  }
  memory_ = static_cast<std::byte*>(memory);
  segment_ = segment;
  return true;
}

bool XcbPresenter::makePixmap() {
  const xcb_pixmap_t pixmap = x_.xcb_generate_id(connection_);
  if (!succeeded(x_.xcb_create_pixmap_checked(connection_, visual_.depth, pixmap, window_,
                                              static_cast<uint16_t>(extent_.width),
                                              static_cast<uint16_t>(extent_.height)))) {
    return false;
  }
  pixmap_ = pixmap;
  return true;
}

VkResult XcbPresenter::begin(FrameTarget* out) {
  *out = {{memory_, pitch_B_}, visual_.form, shown_};
  return VK_SUCCESS;
}

// True when the pixmap holds the frame.
bool XcbPresenter::putStrips() {
  const uint64_t request_B = uint64_t{x_.xcb_get_maximum_request_length(connection_)} * 4;
  const uint64_t room_B = std::min<uint64_t>(request_B - std::min<uint64_t>(request_B, 64), kMaxStripBytes);
  const auto rows = static_cast<uint32_t>(std::max<uint64_t>(room_B / pitch_B_, 1));
  bool whole = true;
  for (uint32_t y = 0; y < extent_.height && whole; y += rows) {
    const uint32_t count = std::min(rows, extent_.height - y);
    whole = succeeded(x_.xcb_put_image_checked(
        connection_, XCB_IMAGE_FORMAT_Z_PIXMAP, pixmap_, context_, static_cast<uint16_t>(extent_.width),
        static_cast<uint16_t>(count), 0, static_cast<int16_t>(y), 0, visual_.depth,
        static_cast<uint32_t>(count * pitch_B_), reinterpret_cast<const uint8_t*>(memory_ + y * pitch_B_)));
  }
  return whole;
}

VkResult XcbPresenter::show() {
  const auto width = static_cast<uint16_t>(extent_.width), height = static_cast<uint16_t>(extent_.height);
  shown_ = true;
  if (segment_ != 0) {
    return lookAtWindow(x_.xcb_shm_put_image_checked(connection_, window_, context_, width, height, 0, 0, width, height,
                                                     0, 0, visual_.depth, XCB_IMAGE_FORMAT_Z_PIXMAP,
                                                     /*send_event=*/0, segment_, 0));
  }
  if (!putStrips()) return VK_ERROR_SURFACE_LOST_KHR;
  return lookAtWindow(x_.xcb_copy_area_checked(connection_, pixmap_, window_, context_, 0, 0, 0, 0, width, height));
}

// libxcb's own waiting cannot be interrupted. Who reads the socket gets everybody's answers, so the socket alone does
// not tell when ours is there. nullptr: there was an error, or it was given up.
xcb_get_geometry_reply_t* XcbPresenter::awaitGeometry(xcb_get_geometry_cookie_t request, bool* gaveUp) {
  x_.xcb_flush(connection_);
  void* reply = nullptr;
  xcb_generic_error_t* error = nullptr;
  uint64_t pause_ns = kShortestPause_ns;
  while (x_.xcb_poll_for_reply(connection_, request.sequence, &reply, &error) == 0) {
    if (monotonicNow_ns() >= giveUpAt_ns_.load(std::memory_order_relaxed)) {
      *gaveUp = true;
      return nullptr;
    }
    pollfd socket{x_.xcb_get_file_descriptor(connection_), POLLIN, 0};
    const timespec pause{0, static_cast<long>(pause_ns)};
    ppoll(&socket, 1, &pause, nullptr);
    pause_ns = std::min(pause_ns * 2, kLongestPause_ns);
  }
  std::free(error);
  return static_cast<xcb_get_geometry_reply_t*>(reply);
}

VkResult XcbPresenter::lookAtWindow(xcb_void_cookie_t update) {
  const xcb_get_geometry_cookie_t request = x_.xcb_get_geometry(connection_, window_);
  bool gaveUp = false;
  xcb_get_geometry_reply_t* reply = awaitGeometry(request, &gaveUp);
  if (gaveUp) {
    x_.xcb_discard_reply(connection_, update.sequence);
    x_.xcb_discard_reply(connection_, request.sequence);
    return VK_ERROR_OUT_OF_DATE_KHR;  // nobody will hear it: the swapchain is being destroyed
  }
  VkResult result = VK_ERROR_SURFACE_LOST_KHR;
  if (reply != nullptr) {
    result = reply->width == extent_.width && reply->height == extent_.height ? VK_SUCCESS : VK_SUBOPTIMAL_KHR;
  }
  std::free(reply);
  return succeeded(update) ? result : VK_ERROR_SURFACE_LOST_KHR;
}

}  // namespace

VkResult makeXcbPresenter(const XcbLibrary& x, xcb_connection_t* connection, uint32_t window, const XcbVisual& visual,
                          VkExtent2D extent, std::unique_ptr<Presenter>* out) {
  auto presenter = std::make_unique<XcbPresenter>(x, connection, window, visual, extent);
  const VkResult result = presenter->init();
  if (result == VK_SUCCESS) *out = std::move(presenter);
  return result;
}

}  // namespace pumice::icd
