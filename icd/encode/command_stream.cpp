#include "icd/encode/command_stream.h"

#include <cassert>
#include <cstring>
#include <initializer_list>
#include <new>

namespace pumice::icd {

namespace {

StreamChunk* pop(StreamChunk** list) {
  StreamChunk* chunk = *list;
  *list = chunk->next;
  chunk->next = nullptr;
  chunk->used_B = 0;
  return chunk;
}

}  // namespace

ChunkPool::~ChunkPool() {
  trim();
  if (dummy_) memory_.free(memory_.context, dummy_);
}

bool ChunkPool::initialize() {
  void* memory = memory_.allocate(memory_.context, sizeof(StreamChunk) + kDummyBytes, 16);
  if (!memory) return false;
  dummy_ = new (memory) StreamChunk{nullptr, kDummyBytes, 0};
  return true;
}

StreamChunk* ChunkPool::acquire(uint32_t size_B) {
  uint32_t capacity = kFirstChunkBytes;
  if (size_B > kFirstChunkBytes) {
    capacity = size_B > kChunkBytes ? size_B : kChunkBytes;
  }
  if (capacity == kFirstChunkBytes && small_) return pop(&small_);
  if (capacity == kChunkBytes && large_) return pop(&large_);
  void* memory = memory_.allocate(memory_.context, sizeof(StreamChunk) + capacity, 16);
  if (!memory) return nullptr;
  return new (memory) StreamChunk{nullptr, capacity, 0};
}

void ChunkPool::release(StreamChunk* first) {
  while (first) {
    StreamChunk* next = first->next;
#ifndef NDEBUG
    std::memset(first->data(), 0xdb, first->used_B);
#endif
    if (first->capacity_B == kFirstChunkBytes) {
      first->next = small_;
      small_ = first;
    } else if (first->capacity_B == kChunkBytes) {
      first->next = large_;
      large_ = first;
    } else {
      memory_.free(memory_.context, first);
    }
    first = next;
  }
}

void ChunkPool::trim() {
  for (StreamChunk** list : {&small_, &large_}) {
    while (*list) memory_.free(memory_.context, pop(list));
  }
}

void CommandStream::reset() {
  pool_->release(first_);
  first_ = current_ = nullptr;
  bytes_ = 0;
  outOfMemory_ = false;
}

void CommandStream::fail() {
  outOfMemory_ = true;
  pool_->release(first_);
  first_ = current_ = nullptr;
}

std::byte* CommandStream::reserveInNewChunk(uint32_t size_B) {
  if (!outOfMemory_) {
    // The first chunk is small (most streams are), later ones are not.
    const uint32_t wanted = size_B + static_cast<uint32_t>(sizeof(abi::JumpPacket));
    const uint32_t least = first_ ? ChunkPool::kChunkBytes : ChunkPool::kFirstChunkBytes;
    StreamChunk* chunk = pool_->acquire(wanted > least ? wanted : least);
    if (chunk) {
      if (current_) {
        auto* jump = reinterpret_cast<abi::JumpPacket*>(current_->data() + current_->used_B);
        *jump = {{abi::PacketOp::kJump, 0, sizeof(abi::JumpPacket)}, chunk->data()};
        current_->used_B += static_cast<uint32_t>(sizeof(abi::JumpPacket));
        current_->next = chunk;
      } else {
        first_ = chunk;
      }
      current_ = chunk;
      chunk->used_B = size_B;
      bytes_ += size_B;
      return chunk->data();
    }
    fail();
  }
  // Every reservation starts the dummy over; what is written there is never read.
  assert(size_B <= ChunkPool::kDummyBytes);
  return pool_->dummy()->data();
}

}  // namespace pumice::icd
