// Walks a stream packet by packet: follows jumps and calls, comes back from calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::draw {

class PacketWalker {
 public:
  PacketWalker() = default;
  explicit PacketWalker(const std::byte* at) : depth_(1) { stack_[0] = at; }

  /// The packet at hand, which is no jump, call or return. nullptr: the stream ends here, or is corrupt.
  const abi::PacketHeader* packet() {
    while (depth_ != 0) {
      const std::byte*& at = stack_[depth_ - 1];
      const auto* header = reinterpret_cast<const abi::PacketHeader*>(at);
      switch (header->op) {
        case abi::PacketOp::kJump:
          at = reinterpret_cast<const abi::JumpPacket*>(header)->target;
          break;
        case abi::PacketOp::kCall:
          if (depth_ == kMaxDepth || header->sizeBytes == 0) return nullptr;
          at += header->sizeBytes;
          stack_[depth_++] = reinterpret_cast<const abi::CallPacket*>(header)->stream;
          break;
        case abi::PacketOp::kReturn:
          if (--depth_ == 0) return nullptr;
          break;
        default:
          return header->sizeBytes < sizeof(abi::PacketHeader) ? nullptr : header;
      }
    }
    return nullptr;
  }
  /// Past the packet at hand.
  void advance() {
    const std::byte*& at = stack_[depth_ - 1];
    at += reinterpret_cast<const abi::PacketHeader*>(at)->sizeBytes;
  }
  const std::byte* position() const { return stack_[depth_ - 1]; }
  /// Whether the packet at hand stands in the stream that the walk began in.
  bool atTop() const { return depth_ == 1; }

 private:
  static constexpr uint32_t kMaxDepth = 16;
  const std::byte* stack_[kMaxDepth] = {};
  uint32_t depth_ = 0;
};

}  // namespace pumice::draw
