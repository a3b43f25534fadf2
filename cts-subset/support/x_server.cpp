#include "cts-subset/support/x_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace pumice::cts {

XServer::XServer(const std::string& screen, std::vector<std::string> arguments) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  // The server picks a free display number and writes it there once it accepts clients.
  std::vector<std::string> words = {
      "Xvfb",     "-displayfd", std::to_string(ends[1]), "-screen", "0", screen, "-nolisten", "tcp",
      "-noreset", "-nocursor"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawnp(&process_, "Xvfb", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  char name[16] = ":";
  size_t got = 1;
  while (error == 0 && got + 1 < sizeof name && std::strchr(name, '\n') == nullptr) {
    const ssize_t n = read(ends[0], name + got, sizeof name - 1 - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  close(ends[0]);
  if (error != 0) throw std::runtime_error("Xvfb is missing: tools/setup.sh installs it");
  if (got == 1) throw std::runtime_error("Xvfb did not start");
  name[std::strcspn(name, "\n")] = 0;
  display_ = name;
}

void XServer::kill() {
  if (process_ == 0) return;
  ::kill(process_, SIGTERM);  // removes its socket and lock file
  goOn();                     // or it would not notice
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = 0;
}

void XServer::stop() {
  ::kill(process_, SIGSTOP);
}

void XServer::goOn() {
  ::kill(process_, SIGCONT);
}

bool Screenshot::isAll(uint32_t pixel, uint32_t mask) const {
  return !pixels.empty() &&
         std::all_of(pixels.begin(), pixels.end(), [&](uint32_t p) { return (p & mask) == (pixel & mask); });
}

XClient::XClient(const std::string& display) {
  connection_ = xcb_connect(display.c_str(), nullptr);
  EXPECT_EQ(xcb_connection_has_error(connection_), 0);
  if (xcb_connection_has_error(connection_) == 0) {
    screen_ = xcb_setup_roots_iterator(xcb_get_setup(connection_)).data;
  }
}

XClient::~XClient() {
  xcb_disconnect(connection_);
}

xcb_visualid_t XClient::visual(uint8_t depth) const {
  if (depth == 0) return screen_->root_visual;
  for (auto d = xcb_screen_allowed_depths_iterator(screen_); d.rem != 0; xcb_depth_next(&d)) {
    if (d.data->depth == depth && xcb_depth_visuals_length(d.data) != 0) return xcb_depth_visuals(d.data)->visual_id;
  }
  return 0;
}

xcb_window_t XClient::makeWindow(uint16_t width, uint16_t height, uint8_t depth) {
  const xcb_visualid_t id = visual(depth);
  const xcb_colormap_t colors = xcb_generate_id(connection_);
  xcb_create_colormap(connection_, XCB_COLORMAP_ALLOC_NONE, colors, screen_->root, id);
  const xcb_window_t window = xcb_generate_id(connection_);
  const uint32_t values[] = {0, colors};  // a border pixel, or the depth would have to be the parent's
  xcb_create_window(connection_, depth != 0 ? depth : screen_->root_depth, window, screen_->root, nextX_, 0, width,
                    height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, id, XCB_CW_BORDER_PIXEL | XCB_CW_COLORMAP, values);
  xcb_map_window(connection_, window);
  nextX_ = static_cast<int16_t>(nextX_ + width);
  sync();
  return window;
}

void XClient::resize(xcb_window_t window, uint16_t width, uint16_t height) {
  const uint32_t values[] = {width, height};
  xcb_configure_window(connection_, window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, values);
  sync();
}

void XClient::destroy(xcb_window_t window) {
  xcb_destroy_window(connection_, window);
  sync();
}

Screenshot XClient::screenshot(xcb_window_t window) const {
  Screenshot out;
  xcb_generic_error_t* error = nullptr;
  auto* geometry = xcb_get_geometry_reply(connection_, xcb_get_geometry(connection_, window), &error);
  if (geometry != nullptr) {
    auto* image = xcb_get_image_reply(
        connection_,
        xcb_get_image(connection_, XCB_IMAGE_FORMAT_Z_PIXMAP, window, 0, 0, geometry->width, geometry->height, ~0u),
        &error);
    if (image != nullptr) {
      out.width = geometry->width;
      out.height = geometry->height;
      out.pixels.resize(size_t{out.width} * out.height);
      const uint8_t* bytes = xcb_get_image_data(image);
      // Rows are padded to 32 bits.
      const size_t row_B = static_cast<size_t>(xcb_get_image_data_length(image)) / out.height;
      const size_t pixel_B = image->depth == 16 ? 2 : 4;
      for (size_t i = 0; i < out.pixels.size(); ++i) {
        std::memcpy(&out.pixels[i], bytes + i / out.width * row_B + i % out.width * pixel_B, pixel_B);
      }
      std::free(image);
    }
    std::free(geometry);
  }
  std::free(error);
  return out;
}

void XClient::sync() const {
  std::free(xcb_get_input_focus_reply(connection_, xcb_get_input_focus(connection_), nullptr));
}

bool XClient::hasEvents() const {
  sync();
  xcb_generic_event_t* event = xcb_poll_for_event(connection_);
  std::free(event);
  return event != nullptr;
}

}  // namespace pumice::cts
