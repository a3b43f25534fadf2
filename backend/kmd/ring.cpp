#include "backend/kmd/ring.h"

#include <cstring>
#include <new>

namespace pumice::kmd {
namespace {

constexpr size_t kSegmentBytes = 32 * 1024;

size_t recordBytes(const Submission& batch) {
  return sizeof(RingRecord) + batch.waits.size_bytes() + batch.streams.size_bytes() + batch.signals.size_bytes();
}

template <typename T>
std::byte* append(std::byte* to, std::span<const T> items) {
  if (!items.empty()) std::memcpy(to, items.data(), items.size_bytes());
  return to + items.size_bytes();
}

}  // namespace

SubmissionRing::SubmissionRing() {
  write_ = read_ = allocate(kSegmentBytes);
  if (!write_) throw std::bad_alloc();
}

SubmissionRing::~SubmissionRing() {
  while (read_) {
    Segment* next = read_->next;
    release(read_);
    read_ = next;
  }
  release(spare_.load(std::memory_order_relaxed));
}

SubmissionRing::Segment* SubmissionRing::allocate(size_t capacity_B) noexcept {
  void* memory = ::operator new(sizeof(Segment) + capacity_B, std::nothrow);
  return memory ? new (memory) Segment{nullptr, capacity_B} : nullptr;
}

void SubmissionRing::release(Segment* segment) noexcept {
  ::operator delete(segment);
}

Status SubmissionRing::push(std::span<const Submission> batches) noexcept {
  // One segment takes all, with room for the end mark, so that nothing can fail half way.
  size_t total_B = sizeof(RingRecord);
  for (const Submission& batch : batches) total_B += recordBytes(batch);
  if (total_B > UINT32_MAX) return Status::kOutOfHostMemory;
  if (writeOffset_B_ + total_B > write_->capacity_B) {
    Segment* segment = spare_.exchange(nullptr, std::memory_order_acquire);
    if (segment && segment->capacity_B < total_B) {
      release(segment);
      segment = nullptr;
    }
    if (!segment && !(segment = allocate(total_B > kSegmentBytes ? total_B : kSegmentBytes)))
      return Status::kOutOfHostMemory;
    segment->next = nullptr;
    write_->next = segment;
    new (write_->data() + writeOffset_B_) RingRecord{};
    write_ = segment;
    writeOffset_B_ = 0;
  }
  for (const Submission& batch : batches) {
    auto* record = new (write_->data() + writeOffset_B_)
        RingRecord{static_cast<uint32_t>(recordBytes(batch)), static_cast<uint32_t>(batch.waits.size()),
                   static_cast<uint32_t>(batch.streams.size()), static_cast<uint32_t>(batch.signals.size())};
    std::byte* at = reinterpret_cast<std::byte*>(record + 1);
    at = append(at, batch.waits);
    at = append(at, batch.streams);
    at = append(at, batch.signals);
    writeOffset_B_ += record->size_B;
  }
  tail_.store(tail_.load(std::memory_order_relaxed) + batches.size(), std::memory_order_release);
  return Status::kOk;
}

const RingRecord* SubmissionRing::front() noexcept {
  if (head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire)) return nullptr;
  auto* record = reinterpret_cast<const RingRecord*>(read_->data() + readOffset_B_);
  if (record->size_B == 0) {
    Segment* empty = read_;
    read_ = empty->next;
    readOffset_B_ = 0;
    release(spare_.exchange(empty, std::memory_order_acq_rel));
    record = reinterpret_cast<const RingRecord*>(read_->data());
  }
  return record;
}

void SubmissionRing::pop() noexcept {
  readOffset_B_ += reinterpret_cast<const RingRecord*>(read_->data() + readOffset_B_)->size_B;
  head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace pumice::kmd
