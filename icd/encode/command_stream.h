// Writing side of a command stream (backend/abi/packets.h): chunks of host memory, filled front to back, linked by Jump
// packets. No heap node and no virtual call per command.
//
// Out of memory is sticky: the stream then goes on writing into its pool's dummy chunk, so that no vkCmd* function has
// to check, and vkEndCommandBuffer reports the error.
//
// Thread rules: those of the command pool (externally synchronised).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backend/abi/packets.h"

namespace pumice::icd {

// Where chunks come from: the allocation callbacks that the command pool was created with.
struct ChunkMemory {
  void* (*allocate)(void* context, size_t size_B, size_t align_B);  // nullptr when there is none
  void (*free)(void* context, void* memory);
  void* context;
};

struct StreamChunk {
  StreamChunk* next;
  uint32_t capacity_B;  // of data
  uint32_t used_B;
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(StreamChunk) % 16 == 0 && std::is_trivially_copyable_v<StreamChunk>);

// The chunks of one command pool: given to streams, taken back at reset, returned to the system by trim().
class ChunkPool {
 public:
  static constexpr uint32_t kFirstChunkBytes = 4096;
  static constexpr uint32_t kChunkBytes = 64 * 1024;
  // Most inline data of one packet: vkCmdUpdateBuffer's limit. Packets that could need more must be split.
  static constexpr uint32_t kMaxInlineBytes = 64 * 1024;
  // Holds the largest packet and what follows it.
  static constexpr uint32_t kDummyBytes = kMaxInlineBytes + 16 * 1024;

  explicit ChunkPool(const ChunkMemory& memory) : memory_(memory) {}
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // Allocates the dummy chunk; false when there is no memory for it. Call once, before the first stream writes.
  [[nodiscard]] bool initialize();

  // A chunk of at least `size_B` bytes of data, nullptr when there is no memory.
  StreamChunk* acquire(uint32_t size_B);
  // Takes a linked list of chunks back. Their content is poisoned in debug builds: nothing may still decode them.
  void release(StreamChunk* first);
  void trim();

  StreamChunk* dummy() { return dummy_; }

 private:
  ChunkMemory memory_;
  StreamChunk* small_ = nullptr;  // free chunks of kFirstChunkBytes
  StreamChunk* large_ = nullptr;  // free chunks of kChunkBytes; larger ones are not kept
  StreamChunk* dummy_ = nullptr;
};

class CommandStream {
 public:
  explicit CommandStream(ChunkPool& pool) : pool_(&pool) {}
  ~CommandStream() { reset(); }
  CommandStream(const CommandStream&) = delete;
  CommandStream& operator=(const CommandStream&) = delete;

  // Appends a packet with `extra_B` bytes of inline data behind its fixed part; the header is filled in, the rest is
  // uninitialised. Never nullptr. The pointer is valid until the next call.
  template <typename Packet>
  Packet* append(abi::PacketOp op, size_t extra_B = 0) {
    assert(extra_B <= ChunkPool::kMaxInlineBytes);
    const uint32_t size_B = alignUp8(sizeof(Packet) + extra_B);
    std::byte* packet = reserve(size_B);
    *reinterpret_cast<abi::PacketHeader*>(packet) = {op, 0, size_B};  // every packet begins with its header
    return reinterpret_cast<Packet*>(packet);
  }

  // A state block inside the stream, which packets point to; 8-byte aligned, immutable after recording.
  template <typename State>
  State* appendState() {
    static_assert(std::is_trivially_copyable_v<State> && alignof(State) <= 8);
    return reinterpret_cast<State*>(appendBytes(sizeof(State)));
  }
  std::byte* appendBytes(size_t size_B) {
    auto* header = append<abi::PacketHeader>(abi::PacketOp::kNop, size_B);
    return reinterpret_cast<std::byte*>(header + 1);
  }

  // Ends the stream with a Return. Afterwards first() may be submitted or called.
  void finish() { append<abi::PacketHeader>(abi::PacketOp::kReturn); }

  // Makes the stream one that ran out of memory: for failures outside of it that recording cannot report either.
  void fail();
  // Gives all chunks back. Nothing may still execute the stream.
  void reset();

  // First packet; nullptr if nothing was written or memory ran out.
  const std::byte* first() const { return outOfMemory_ || !first_ ? nullptr : first_->data(); }
  bool outOfMemory() const { return outOfMemory_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static uint32_t alignUp8(size_t n) { return static_cast<uint32_t>((n + 7) & ~size_t{7}); }

  // Room for a Jump is always kept at a chunk's end.
  std::byte* reserve(uint32_t size_B) {
    if (current_ && current_->capacity_B - current_->used_B >= size_B + sizeof(abi::JumpPacket)) [[likely]] {
      std::byte* p = current_->data() + current_->used_B;
      current_->used_B += size_B;
      bytes_ += size_B;
      return p;
    }
    return reserveInNewChunk(size_B);
  }
  std::byte* reserveInNewChunk(uint32_t size_B);

  ChunkPool* pool_;
  StreamChunk* first_ = nullptr;
  StreamChunk* current_ = nullptr;
  uint64_t bytes_ = 0;
  bool outOfMemory_ = false;
};

}  // namespace pumice::icd
