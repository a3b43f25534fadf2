// The device: the door (kmd::Device) with the machine behind it. Timelines, events, queues and loss are answered here;
// memory by the memory manager.
//
// Threads: as the door says.
#pragma once

#include "backend/gpu/machine.h"
#include "backend/kmd/door.h"
#include "backend/kmd/memory.h"

namespace pumice::gpu {

class DeviceImpl final : public kmd::Device {
 public:
  // What kmd::Device::open does, on an object that was just constructed.
  kmd::Status start(const kmd::DeviceConfig& config);

  kmd::Status allocate(const kmd::AllocationInfo& info, kmd::Allocation** out) override;
  void free(kmd::Allocation* allocation) override;
  kmd::MemoryManager& memory() { return *memory_; }
  kmd::HeapBudget budget() const override;
  bool contains(uint64_t address, uint64_t size_B) const override;

  kmd::Status createTimeline(uint64_t initial, kmd::Timeline** out) override;
  void destroyTimeline(kmd::Timeline* timeline) override;
  uint64_t timelineValue(const kmd::Timeline* timeline) const override;
  kmd::Status signalTimeline(kmd::Timeline* timeline, uint64_t value) override;
  kmd::Status waitTimelines(std::span<const kmd::TimelinePoint> points, bool any, uint64_t deadline_ns) override;

  kmd::Status createEvent(kmd::Event** out) override;
  void destroyEvent(kmd::Event* event) override;
  bool eventStatus(const kmd::Event* event) const override;
  void setEvent(kmd::Event* event, bool set) override;

  kmd::Status waitQuery(const abi::QuerySlot* slot) override;

  kmd::Status createQueue(const kmd::QueueInfo& info, kmd::Queue** out) override;
  void destroyQueue(kmd::Queue* queue) override;
  kmd::Status submit(kmd::Queue* queue, std::span<const kmd::Submission> batches) override;
  kmd::Status waitIdle(kmd::Queue* queue, uint64_t deadline_ns) override;
  kmd::QueueCounters counters(const kmd::Queue* queue) const override;

  bool lost() const override { return machine_.isLost(); }
  void lose(const char* reason) override { machine_.lose(reason); }
  uint32_t workerCount() const override { return machine_.pool->workerCount(); }

  Machine& machine() { return machine_; }

 private:
  // A lost device answers when its threads have let go of what the application may now free.
  kmd::Status lostStatus();

  std::unique_ptr<kmd::MemoryManager> memory_;  // goes last: shaders that still run may touch it
  Machine machine_;
};

}  // namespace pumice::gpu
