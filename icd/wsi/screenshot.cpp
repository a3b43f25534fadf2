#include "icd/wsi/screenshot.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "backend/trace/log.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace pumice::icd {
namespace {

constexpr PixelForm kRgba8{4, 0xff, 0xff00, 0xff0000, 0xff000000};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct Sink {
  std::FILE* file;
  bool ok = true;
};

void append(void* context, void* data, int size) {
  auto* sink = static_cast<Sink*>(context);
  sink->ok = sink->ok && std::fwrite(data, 1, static_cast<size_t>(size), sink->file) == static_cast<size_t>(size);
}

}  // namespace

Screenshot& Screenshot::ofProcess() {
  static Screenshot shot = [] {
    const char* path = std::getenv("PUMICE_SCREENSHOT");
    const char* frame = std::getenv("PUMICE_SCREENSHOT_FRAME");
    return Screenshot(path != nullptr ? path : "", frame != nullptr ? std::strtoull(frame, nullptr, 10) : 1);
  }();
  return shot;
}

void Screenshot::write(const abi::Surface& image, const PixelForm& form, VkExtent2D extent) const noexcept {
  const uint64_t pitch_B = uint64_t{4} * extent.width;
  const std::unique_ptr<std::byte[]> pixels(new (std::nothrow) std::byte[pitch_B * extent.height]);
  if (!pixels) {
    PUMICE_ERROR("wsi", "%s: no memory for a screenshot", path_.c_str());
    return;
  }
  writePixels(image, form, {{0, 0}, extent}, {pixels.get(), pitch_B}, kRgba8, true);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path_.c_str(), "wb"));
  Sink sink{file.get()};
  const bool written =
      file && stbi_write_png_to_func(append, &sink, static_cast<int>(extent.width), static_cast<int>(extent.height), 4,
                                     pixels.get(), static_cast<int>(pitch_B)) != 0;
  if (!written || !sink.ok || std::fflush(file.get()) != 0) {
    PUMICE_ERROR("wsi", "%s: the screenshot cannot be written: %s", path_.c_str(), std::strerror(errno));
  }
}

}  // namespace pumice::icd
