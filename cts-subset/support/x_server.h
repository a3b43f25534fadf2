// An X server of its own for a test: Xvfb, ended with the object. And a window in it, with what a screenshot shows.
#pragma once

#include <sys/types.h>
#include <xcb/xcb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pumice::cts {

class XServer {
 public:
  /// "WIDTHxHEIGHTxDEPTH", and more arguments of Xvfb. Throws, which fails the test, when it does not start.
  explicit XServer(const std::string& screen = "640x480x24", std::vector<std::string> arguments = {});
  ~XServer() { kill(); }
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  const std::string& display() const { return display_; }
  /// Its clients lose their connections without a warning.
  void kill();
  /// It answers nobody until it goes on: a client that asks it anything waits.
  void stop();
  void goOn();

 private:
  pid_t process_ = 0;
  std::string display_;
};

/// Pixels of a window as the server has them, rows without padding.
struct Screenshot {
  uint32_t width = 0, height = 0;
  std::vector<uint32_t> pixels;

  uint32_t at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x]; }
  /// Whether all have this value in the bits of the mask.
  bool isAll(uint32_t pixel, uint32_t mask) const;
};

/// A connection to a server.
class XClient {
 public:
  explicit XClient(const std::string& display);
  ~XClient();
  XClient(const XClient&) = delete;
  XClient& operator=(const XClient&) = delete;

  xcb_connection_t* connection() const { return connection_; }
  xcb_screen_t* screen() const { return screen_; }
  /// Of the root's visual, or of the first one of `depth`; 0 when there is none.
  xcb_visualid_t visual(uint8_t depth = 0) const;

  /// A window without background, mapped, with that visual's depth, to the right of the one before.
  xcb_window_t makeWindow(uint16_t width, uint16_t height, uint8_t depth = 0);
  void resize(xcb_window_t window, uint16_t width, uint16_t height);
  void destroy(xcb_window_t window);
  /// Empty when the window is not there any more.
  Screenshot screenshot(xcb_window_t window) const;
  /// Returns when the server has executed all that was sent.
  void sync() const;
  /// Whether an event or an error has come that nobody asked for.
  bool hasEvents() const;

 private:
  xcb_connection_t* connection_ = nullptr;
  xcb_screen_t* screen_ = nullptr;
  int16_t nextX_ = 0;
};

}  // namespace pumice::cts
