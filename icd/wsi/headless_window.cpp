// VK_EXT_headless_surface: nobody looks; images come back at the pace of the present mode.
#include "icd/wsi/native_window.h"

namespace pumice::icd {
namespace {

class HeadlessPresenter : public Presenter {
 public:
  VkResult begin(FrameTarget* out) override {
    *out = {};
    return VK_SUCCESS;
  }
  VkResult show() override { return VK_SUCCESS; }
};

class HeadlessWindow : public NativeWindow {
 public:
  bool canPresent() override { return true; }
  VkResult state(WindowState* out) override {
    // As a display of ten bits would.
    out->formats = {VK_FORMAT_B8G8R8A8_UNORM,           VK_FORMAT_B8G8R8A8_SRGB,
                    VK_FORMAT_R8G8B8A8_UNORM,           VK_FORMAT_R8G8B8A8_SRGB,
                    VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_A2R10G10B10_UNORM_PACK32};
    out->compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR |
                          VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    return VK_SUCCESS;
  }
  std::vector<VkPresentModeKHR> presentModes() const override {
    return {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
            VK_PRESENT_MODE_IMMEDIATE_KHR};
  }
  VkResult makePresenter(const PresenterInfo&, std::unique_ptr<Presenter>* out) override {
    *out = std::make_unique<HeadlessPresenter>();
    return VK_SUCCESS;
  }
};

}  // namespace

std::unique_ptr<NativeWindow> makeHeadlessWindow() {
  return std::make_unique<HeadlessWindow>();
}

}  // namespace pumice::icd
