// Events: set and reset by the device or the host, waited for in mid-stream. Owned by the device (StablePool: the
// command processor of a lost device may still look at one).
#pragma once

#include <atomic>
#include <cstdint>

namespace pumice::kmd {

class Event {
 public:
  // Sequentially consistent: paired with "queue says that it parks on events, then looks again".
  bool isSet() const { return set_.load(std::memory_order_seq_cst) != 0; }
  void write(bool set) { set_.store(set ? 1 : 0, std::memory_order_seq_cst); }

  Event* nextFree = nullptr;  // StablePool

 private:
  std::atomic<uint32_t> set_{0};
};

}  // namespace pumice::kmd
