// The door: the only way from the user-mode driver to the machine, as a kernel driver's ioctl interface would be. It
// owns memory, queues and timelines; it knows no Vulkan handle and no pNext chain.
//
// Threads: every function may be called from any thread at once unless it says otherwise. None may be called from a GPU
// worker. No function blocks on anything but what its comment names. Handles are plain pointers to objects that the
// device owns; destroy functions want no use of the handle in flight (as the Vulkan valid usage does).
//
// Nothing throws except std::bad_alloc out of a create function, which leaves no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/abi/packets.h"
#include "backend/abi/stage.h"
#include "backend/kmd/status.h"

namespace pumice::kmd {

class Allocation;
class Timeline;
class Event;
class Queue;

struct DeviceConfig {
  uint32_t workerCount = 0;      // GPU workers ("compute units"); 0 = CPUs in the process's affinity mask
  uint64_t heapLimit_B = 0;      // 0 = from RAM and the cgroup limit
  uint64_t reservation_B = 0;    // 0 = abi::kReservationBytes; halved until the system grants it
  uint64_t watchdog_ns = 0;      // a queue without progress for so long loses the device; 0 = never
  bool inlineSmallSpans = true;  // spans of under ~20 us run on the worker that decoded them
  uint64_t drawArena_B = 0;      // what passes of one queue may take for primitives; 0 = 32 MiB or more
};

// ---- Memory -------------------------------------------------------------------------------------------------------

struct AllocationInfo {
  uint64_t size_B = 0;
  uint64_t align_B = 0;       // 0 = abi::kResourceAlignBytes; else a power of two
  uint64_t fixedAddress = 0;  // capture/replay: place here or fail with kInvalidAddress
  bool zero = true;           // contents are zero (pages from the system are; recycled slab ranges get cleared)
  bool lazy = false;          // transient attachments: address range now, pages on first touch, not counted until then
};

struct HeapBudget {
  uint64_t size_B;    // the heap's size: min(RAM, cgroup limit) at open, or DeviceConfig::heapLimit_B
  uint64_t budget_B;  // what this process may use now, its usage included; never above size_B
  uint64_t usage_B;   // committed by all devices of this process, and lazy_B
  uint64_t lazy_B;    // what has been touched of this device's lazy allocations
};

// Committed by all devices of this process, lazy allocations not counted. All devices are one machine and share its
// heap.
uint64_t processHeapUsage_B();

// Heap size before any device exists: no reservation, no thread.
uint64_t systemHeapBytes(uint64_t heapLimit_B);

// ---- Timelines ----------------------------------------------------------------------------------------------------

struct TimelinePoint {
  Timeline* timeline;
  uint64_t value;
};

// A wait of a submission: work in `dst` stages starts after the point is reached.
struct SubmitWait {
  Timeline* timeline;
  uint64_t value;
  abi::StageMask dst;
};

// A signal of a submission: happens after everything earlier on the queue in `src` stages (kAllStages for fences).
struct SubmitSignal {
  Timeline* timeline;
  uint64_t value;
  abi::StageMask src;
};

// One batch. The spans are only read during submit(). The streams are read until the batch's signals have happened (or,
// for a batch without any, until queueIdle returns): the caller keeps them alive and unchanged until then.
struct Submission {
  std::span<const SubmitWait> waits;
  std::span<const std::byte* const> streams;  // first packets of primary command buffers, in order
  std::span<const SubmitSignal> signals;
};

// ---- Queues -------------------------------------------------------------------------------------------------------

enum class Engine : uint8_t { kUniversal, kCompute, kCopy };

struct QueueInfo {
  Engine engine = Engine::kUniversal;
  float priority = 0.5f;  // 0 .. 1, only a hint to the order in which workers take spans
};

// Plain counters anyone may read at any time (never torn, not synchronised with each other).
struct QueueCounters {
  uint64_t ringHead;       // submissions taken by the command processor
  uint64_t ringTail;       // submissions given
  uint64_t retired;        // submissions whose signals have happened
  uint64_t packets;        // packets decoded
  uint64_t spansInFlight;  // spans not complete
};

// ---- The device ---------------------------------------------------------------------------------------------------

class Device {
 public:
  // Reserves the address range and starts the workers. kOutOfDeviceMemory when not even kMinReservationBytes can be
  // had, kOutOfHostMemory when threads or tables cannot.
  static Status open(const DeviceConfig& config, std::unique_ptr<Device>* out);
  // Waits for nothing: cancels what runs, joins the workers. Allocations still alive are released with the range.
  virtual ~Device() = default;

  // -- memory
  virtual Status allocate(const AllocationInfo& info, Allocation** out) = 0;
  virtual void free(Allocation* allocation) = 0;  // nullptr allowed
  virtual HeapBudget budget() const = 0;
  // Whether [address, address + size) lies inside one live allocation (validation of raw addresses, dumps).
  virtual bool contains(uint64_t address, uint64_t size_B) const = 0;

  // -- timelines
  virtual Status createTimeline(uint64_t initial, Timeline** out) = 0;
  virtual void destroyTimeline(Timeline* timeline) = 0;
  virtual uint64_t timelineValue(const Timeline* timeline) const = 0;
  // Host signal. Values only grow (the caller's valid usage); wakes waiters and parked queues.
  virtual Status signalTimeline(Timeline* timeline, uint64_t value) = 0;
  // Blocks until all (or any) of the points are reached, the deadline passes (CLOCK_MONOTONIC ns; UINT64_MAX = never, 0
  // = poll) or the device is lost. A lost device still reports points that were reached as kOk.
  virtual Status waitTimelines(std::span<const TimelinePoint> points, bool any, uint64_t deadline_ns) = 0;

  // -- events
  virtual Status createEvent(Event** out) = 0;
  virtual void destroyEvent(Event* event) = 0;
  virtual bool eventStatus(const Event* event) const = 0;
  virtual void setEvent(Event* event, bool set) = 0;  // host set and reset; set wakes parked queues

  // -- queries
  // Blocks until a queue has made the slot available (at once if it is), or the device is lost.
  virtual Status waitQuery(const abi::QuerySlot* slot) = 0;

  // -- queues
  virtual Status createQueue(const QueueInfo& info, Queue** out) = 0;
  virtual void destroyQueue(Queue* queue) = 0;  // idle, or lost
  // Puts the batches into the queue's ring and rings the doorbell once. Externally synchronised per queue. Does not
  // block on the GPU (a full ring grows). A batch without work and with met waits behind an idle queue retires before
  // the return; the calling thread may decode packets, it never runs a shader.
  virtual Status submit(Queue* queue, std::span<const Submission> batches) = 0;
  virtual Status waitIdle(Queue* queue, uint64_t deadline_ns) = 0;
  virtual QueueCounters counters(const Queue* queue) const = 0;

  // -- loss
  virtual bool lost() const = 0;
  // Sets the cancel word: running shaders leave at their next check, queues stop, every waiter returns. `reason` is a
  // literal and goes to the log.
  virtual void lose(const char* reason) = 0;

  virtual uint32_t workerCount() const = 0;
};

// Facts of an allocation; constant during its life, so free of locks.
uint64_t allocationAddress(const Allocation* allocation);  // == host pointer
uint64_t allocationSize(const Allocation* allocation);
// Bytes that have physical memory now (vkGetDeviceMemoryCommitment); at most the size. A snapshot; takes no lock.
uint64_t allocationCommitted(const Allocation* allocation);

}  // namespace pumice::kmd
