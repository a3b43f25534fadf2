#include "backend/gpu/device.h"

#include <new>

#include "backend/gpu/progress.h"
#include "backend/gpu/queue.h"
#include "backend/gpu/watchdog.h"
#include "backend/kmd/fault.h"
#include "backend/kmd/shared_door.h"
#include "backend/sched/processors.h"

namespace pumice::gpu {
namespace {

void withSignalStack(void (*work)(void*), void* context) {
  kmd::AltSignalStack stack;
  work(context);
}

}  // namespace

kmd::Status DeviceImpl::start(const kmd::DeviceConfig& config) {
  if (const kmd::Status status = kmd::MemoryManager::open(config, &memory_); status != kmd::Status::kOk) return status;
  machine_.config = config;
  const uint32_t workers = config.workerCount ? config.workerCount : sched::availableProcessors();
  machine_.contexts.reset(new (std::nothrow) ShaderContext[workers]);
  if (!machine_.contexts) return kmd::Status::kOutOfHostMemory;
  if (config.watchdog_ns) {
    machine_.watchdog.reset(new (std::nothrow) Watchdog(machine_, config.watchdog_ns));
    if (!machine_.watchdog) return kmd::Status::kOutOfHostMemory;
  }
  kmd::installFaultHandler();
  machine_.pool = sched::Pool::start(workers, withSignalStack);
  return machine_.pool ? kmd::Status::kOk : kmd::Status::kOutOfHostMemory;
}

kmd::Status DeviceImpl::lostStatus() {
  machine_.awaitQuiescence();
  return kmd::Status::kDeviceLost;
}

// ---- Memory -------------------------------------------------------------------------------------------------------

kmd::Status DeviceImpl::allocate(const kmd::AllocationInfo& info, kmd::Allocation** out) {
  return memory_->allocate(info, out);
}

void DeviceImpl::free(kmd::Allocation* allocation) {
  memory_->free(allocation);
}

kmd::HeapBudget DeviceImpl::budget() const {
  return memory_->budget();
}

bool DeviceImpl::contains(uint64_t address, uint64_t size_B) const {
  return memory_->contains(address, size_B);
}

// ---- Timelines ----------------------------------------------------------------------------------------------------

kmd::Status DeviceImpl::createTimeline(uint64_t initial, kmd::Timeline** out) {
  kmd::Timeline* timeline = machine_.timelines.acquire();
  timeline->reset(initial);
  *out = timeline;
  return kmd::Status::kOk;
}

void DeviceImpl::destroyTimeline(kmd::Timeline* timeline) {
  if (!timeline) return;
  timeline->dropWaiters();
  machine_.timelines.release(timeline);
}

uint64_t DeviceImpl::timelineValue(const kmd::Timeline* timeline) const {
  return timeline->value();
}

kmd::Status DeviceImpl::signalTimeline(kmd::Timeline* timeline, uint64_t value) {
  Progress progress(machine_, nullptr);
  progress.signal(timeline, value);
  progress.drain();
  return kmd::Status::kOk;
}

kmd::Status DeviceImpl::waitTimelines(std::span<const kmd::TimelinePoint> points, bool any, uint64_t deadline_ns) {
  const kmd::Status status = kmd::waitForPoints(points, any, deadline_ns, machine_.lost);
  return status == kmd::Status::kDeviceLost ? lostStatus() : status;
}

// ---- Events -------------------------------------------------------------------------------------------------------

kmd::Status DeviceImpl::createEvent(kmd::Event** out) {
  *out = machine_.events.acquire();
  (*out)->write(false);
  return kmd::Status::kOk;
}

void DeviceImpl::destroyEvent(kmd::Event* event) {
  if (event) machine_.events.release(event);
}

bool DeviceImpl::eventStatus(const kmd::Event* event) const {
  return event->isSet();
}

void DeviceImpl::setEvent(kmd::Event* event, bool set) {
  Progress progress(machine_, nullptr);
  progress.writeEvent(event, set);
  progress.drain();
}

// ---- Queries ------------------------------------------------------------------------------------------------------

kmd::Status DeviceImpl::waitQuery(const abi::QuerySlot* slot) {
  return machine_.queryWaiters.wait(slot, machine_.lost) ? kmd::Status::kOk : lostStatus();
}

// ---- Queues -------------------------------------------------------------------------------------------------------

kmd::Status DeviceImpl::createQueue(const kmd::QueueInfo& info, kmd::Queue** out) {
  sched::MutexLock lock(machine_.queuesMutex);
  machine_.queues.reserve(machine_.queues.size() + 1);
  machine_.queues.push_back(std::make_unique<Queue>(machine_, info, static_cast<uint32_t>(machine_.queues.size())));
  *out = machine_.queues.back().get();
  return kmd::Status::kOk;
}

// The object stays with the machine (see Machine::queues).
void DeviceImpl::destroyQueue(kmd::Queue*) {
  if (machine_.isLost()) machine_.awaitQuiescence();
}

kmd::Status DeviceImpl::submit(kmd::Queue* handle, std::span<const kmd::Submission> batches) {
  auto* queue = static_cast<Queue*>(handle);
  if (machine_.isLost()) return lostStatus();
  if (const kmd::Status status = queue->ring().push(batches); status != kmd::Status::kOk) return status;
  {
    Progress progress(machine_, nullptr);
    progress.poke(queue);
    progress.drain();
  }
  return machine_.isLost() ? lostStatus() : kmd::Status::kOk;
}

kmd::Status DeviceImpl::waitIdle(kmd::Queue* handle, uint64_t deadline_ns) {
  const kmd::TimelinePoint point{&handle->retired(), handle->ring().tail()};
  return waitTimelines({&point, 1}, false, deadline_ns);
}

kmd::QueueCounters DeviceImpl::counters(const kmd::Queue* queue) const {
  return queue->counters();
}

}  // namespace pumice::gpu

namespace pumice::kmd {

Status Device::open(const DeviceConfig& config, std::unique_ptr<Device>* out) {
  std::unique_ptr<gpu::DeviceImpl> device(new (std::nothrow) gpu::DeviceImpl);
  if (!device) return Status::kOutOfHostMemory;
  const Status status = device->start(config);
  if (status == Status::kOk) *out = std::move(device);
  return status;
}

// There is no other kind of device.
Status allocateShared(Device& device, const AllocationInfo& info, Allocation** out) {
  return static_cast<gpu::DeviceImpl&>(device).memory().allocateShared(info, out);
}

Status importFile(Device& device, int file, uint64_t size_B, Allocation** out) {
  return static_cast<gpu::DeviceImpl&>(device).memory().importFile(file, size_B, out);
}

Status importHost(Device& device, void* memory, uint64_t size_B, Allocation** out) {
  return static_cast<gpu::DeviceImpl&>(device).memory().importHost(memory, size_B, out);
}

}  // namespace pumice::kmd
