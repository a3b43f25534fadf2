// What the tests of this folder share: a device, a writer of streams, and programs that are plain C++ functions.
// Buffers are the tests' own arrays: an address is an address.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "backend/abi/packets.h"
#include "backend/gpu/device.h"
#include "backend/sched/futex.h"

namespace pumice::gpu::test {

using abi::Stage;
using abi::StageMask;
using kmd::Status;

inline constexpr StageMask kCompute = abi::stageBit(Stage::kCompute);
inline constexpr StageMask kTransfer = abi::stageBit(Stage::kTransfer);
inline constexpr StageMask kFragment = abi::stageBit(Stage::kFragment);
inline constexpr StageMask kHost = abi::stageBit(Stage::kHost);
inline constexpr StageMask kIndirect = abi::stageBit(Stage::kIndirect);
inline constexpr StageMask kAll = abi::kAllStages;

// The device as the door hands it out, with short ways to its objects.
class TestDevice {
 public:
  explicit TestDevice(kmd::DeviceConfig config = {.workerCount = 3}) {
    config.reservation_B = 1ull << 30;
    EXPECT_EQ(kmd::Device::open(config, &device_), Status::kOk);
  }

  kmd::Device* operator->() { return device_.get(); }
  Machine& machine() { return static_cast<DeviceImpl&>(*device_).machine(); }

  kmd::Timeline* timeline(uint64_t initial = 0) {
    kmd::Timeline* result = nullptr;
    EXPECT_EQ(device_->createTimeline(initial, &result), Status::kOk);
    return result;
  }
  kmd::Event* event() {
    kmd::Event* result = nullptr;
    EXPECT_EQ(device_->createEvent(&result), Status::kOk);
    return result;
  }
  kmd::Queue* queue(kmd::Engine engine = kmd::Engine::kUniversal, float priority = 0.5f) {
    kmd::Queue* result = nullptr;
    EXPECT_EQ(device_->createQueue({engine, priority}, &result), Status::kOk);
    return result;
  }
  Status wait(kmd::Timeline* timeline, uint64_t value, uint64_t timeout_ns = 60'000'000'000) {
    const kmd::TimelinePoint point{timeline, value};
    return device_->waitTimelines({&point, 1}, false, sched::monotonicNow_ns() + timeout_ns);
  }
  Status idle(kmd::Queue* queue, uint64_t timeout_ns = 60'000'000'000) {
    return device_->waitIdle(queue, sched::monotonicNow_ns() + timeout_ns);
  }

 private:
  std::unique_ptr<kmd::Device> device_;
};

// A program whose workgroups call a C++ function. `payload` reaches it through the push constants.
struct Program {
  explicit Program(abi::ComputeEntry entry, uint32_t cost_ns = 100, const char* name = "test") {
    program.entry = entry;
    program.localSize[0] = program.localSize[1] = program.localSize[2] = 1;
    program.subgroupSize = 16;
    program.groupCost_ns = cost_ns;
    program.debugName = name;
  }
  abi::ComputeProgram program = {};
};

// The first bytes of the push constants.
template <typename T>
T payload(const abi::ComputeEnv* env) {
  T value;
  std::memcpy(&value, env->pushConstants, sizeof(value));
  return value;
}

// Writes one stream. Packets may not move, so that each lies in a block of its own; blocks are linked by jumps.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::byte* begin() {
    end();
    return first_;
  }

  template <typename Packet>
  Packet* put(abi::PacketOp op, Packet packet, size_t extra_B = 0) {
    const size_t size_B = (sizeof(Packet) + extra_B + 7) & ~size_t{7};
    std::byte* at = reserve(size_B);
    packet.header = {op, 0, static_cast<uint32_t>(size_B)};
    std::memcpy(at, &packet, sizeof(packet));
    return reinterpret_cast<Packet*>(at);
  }

  void barrier(StageMask src, StageMask dst) { put(abi::PacketOp::kBarrier, abi::BarrierPacket{{}, src, dst}); }
  template <typename T>
  void dispatch(const Program& program, const T& value, uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) {
    put(abi::PacketOp::kDispatch,
        abi::DispatchPacket{{}, &program.program, nullptr, push(value), {0, 0, 0}, {x, y, z}});
  }
  template <typename T>
  void dispatchIndirect(const Program& program, const T& value, const void* args) {
    put(abi::PacketOp::kDispatchIndirect,
        abi::DispatchIndirectPacket{{}, &program.program, nullptr, push(value), reinterpret_cast<uint64_t>(args)});
  }
  void copy(const void* src, void* dst, uint64_t size_B) {
    put(abi::PacketOp::kCopyBuffer,
        abi::CopyBufferPacket{{}, reinterpret_cast<uint64_t>(src), reinterpret_cast<uint64_t>(dst), size_B});
  }
  void fill(void* dst, uint64_t size_B, uint32_t value) {
    put(abi::PacketOp::kFillBuffer, abi::FillBufferPacket{{}, reinterpret_cast<uint64_t>(dst), size_B, value, 0});
  }
  void update(void* dst, const void* data, uint64_t size_B) {
    auto* packet =
        put(abi::PacketOp::kUpdateBuffer, abi::UpdateBufferPacket{{}, reinterpret_cast<uint64_t>(dst), size_B}, size_B);
    std::memcpy(packet + 1, data, size_B);
  }
  void setEvent(kmd::Event* event, StageMask src) {
    put(abi::PacketOp::kSetEvent, abi::EventPacket{{}, event, src, 0});
  }
  void resetEvent(kmd::Event* event, StageMask src) {
    put(abi::PacketOp::kResetEvent, abi::EventPacket{{}, event, src, 0});
  }
  void waitEvents(std::initializer_list<kmd::Event*> events, StageMask src, StageMask dst) {
    auto* packet =
        put(abi::PacketOp::kWaitEvents, abi::WaitEventsPacket{{}, src, dst, static_cast<uint32_t>(events.size()), 0},
            events.size() * sizeof(void*));
    std::memcpy(packet + 1, events.begin(), events.size() * sizeof(void*));
  }
  void timestamp(abi::QuerySlot* slot, StageMask src) {
    put(abi::PacketOp::kWriteTimestamp, abi::TimestampPacket{{}, reinterpret_cast<uint64_t>(slot), src, 0});
  }
  void beginStatistics() {
    struct Bare {
      abi::PacketHeader header;
    };
    put(abi::PacketOp::kBeginStatistics, Bare{});
  }
  void endStatistics(abi::QuerySlot* slots, uint32_t count, uint32_t which) {
    put(abi::PacketOp::kEndStatistics, abi::EndStatisticsPacket{{}, reinterpret_cast<uint64_t>(slots), count, which});
  }
  void resetQueries(abi::QuerySlot* slots, uint32_t count) {
    put(abi::PacketOp::kResetQueries, abi::ResetQueriesPacket{{}, reinterpret_cast<uint64_t>(slots), count, 0});
  }
  void copyQueries(const abi::QuerySlot* slots, uint32_t count, void* dst, uint64_t stride_B, uint32_t flags) {
    put(abi::PacketOp::kCopyQueries,
        abi::CopyQueriesPacket{
            {}, reinterpret_cast<uint64_t>(slots), count, 1, reinterpret_cast<uint64_t>(dst), stride_B, flags, 0});
  }
  void call(Stream& callee) { put(abi::PacketOp::kCall, abi::CallPacket{{}, callee.begin()}); }
  void label(const char* name) {
    auto* packet = put(abi::PacketOp::kLabelBegin, abi::LabelPacket{}, std::strlen(name) + 1);
    std::strcpy(reinterpret_cast<char*>(packet + 1), name);
  }

 private:
  static constexpr size_t kChunkBytes = 4096;
  static constexpr size_t kTail_B = sizeof(abi::JumpPacket);  // always left for a jump or a return

  std::byte* reserve(size_t size_B) {
    if (!current_ || used_B_ + size_B + kTail_B > capacity_B_) {
      const size_t capacity_B = std::max(kChunkBytes, size_B + kTail_B);
      chunks_.emplace_back(capacity_B / 8);
      auto* chunk = reinterpret_cast<std::byte*>(chunks_.back().data());
      if (current_) {
        const abi::JumpPacket jump{{abi::PacketOp::kJump, 0, sizeof(abi::JumpPacket)}, chunk};
        std::memcpy(current_ + used_B_, &jump, sizeof(jump));
      } else {
        first_ = chunk;
      }
      current_ = chunk;
      capacity_B_ = capacity_B;
      used_B_ = 0;
    }
    std::byte* at = current_ + used_B_;
    used_B_ += size_B;
    return at;
  }

  void end() {
    if (ended_) return;
    reserve(0);
    const abi::PacketHeader header{abi::PacketOp::kReturn, 0, sizeof(abi::PacketHeader)};
    std::memcpy(current_ + used_B_, &header, sizeof(header));
    ended_ = true;
  }

  template <typename T>
  const std::byte* push(const T& value) {
    static_assert(sizeof(T) <= abi::kMaxPushConstantBytes);
    pushes_.push_back({});
    std::memcpy(pushes_.back().bytes, &value, sizeof(value));
    return pushes_.back().bytes;
  }

  struct Push {
    std::byte bytes[abi::kMaxPushConstantBytes];
  };
  std::deque<std::vector<uint64_t>> chunks_;
  std::deque<Push> pushes_;
  std::byte* first_ = nullptr;
  std::byte* current_ = nullptr;
  size_t used_B_ = 0, capacity_B_ = 0;
  bool ended_ = false;
};

// One batch, submitted.
struct Batch {
  std::vector<kmd::SubmitWait> waits;
  std::vector<const std::byte*> streams;
  std::vector<kmd::SubmitSignal> signals;

  Batch& wait(kmd::Timeline* timeline, uint64_t value, StageMask dst = kAll) {
    waits.push_back({timeline, value, dst});
    return *this;
  }
  Batch& run(Stream& stream) {
    streams.push_back(stream.begin());
    return *this;
  }
  Batch& signal(kmd::Timeline* timeline, uint64_t value, StageMask src = kAll) {
    signals.push_back({timeline, value, src});
    return *this;
  }
  Status submit(TestDevice& device, kmd::Queue* queue) const {
    const kmd::Submission submission{waits, streams, signals};
    return device->submit(queue, {&submission, 1});
  }
};

}  // namespace pumice::gpu::test
