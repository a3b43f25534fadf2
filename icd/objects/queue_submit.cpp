// vkQueueSubmit and vkQueueSubmit2: batches become submissions at the door.
#include <span>
#include <vector>

#include "gen/entrypoints.h"
#include "icd/encode/stage_masks.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/device.h"
#include "icd/objects/fence.h"
#include "icd/objects/pnext.h"
#include "icd/objects/queue.h"
#include "icd/objects/semaphore.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {
namespace {

// Fills the queue's scratch arrays; they are sized first, so that spans into them stay valid.
class SubmissionBuilder {
 public:
  SubmissionBuilder(SubmitScratch& scratch, size_t batches, size_t waits, size_t streams, size_t signals)
      : s_(scratch) {
    s_.waits.clear();
    s_.streams.clear();
    s_.signals.clear();
    s_.batches.clear();
    s_.signalled.clear();
    s_.waits.reserve(waits);
    s_.streams.reserve(streams);
    s_.signals.reserve(signals);
    s_.batches.reserve(batches);
    s_.signalled.reserve(signals);
  }

  void beginBatch() { first_ = {s_.waits.size(), s_.streams.size(), s_.signals.size()}; }

  void wait(VkSemaphore handle, uint64_t value, VkPipelineStageFlags2 stages) {
    Semaphore& semaphore = *Semaphore::from(handle);
    // Waiting with no stage (BOTTOM_OF_PIPE) still orders the batch's signals after the wait: hold everything.
    const abi::StageMask mask = destinationStages(stages);
    s_.waits.push_back({semaphore.timeline(), semaphore.waitValue(value), mask != 0 ? mask : abi::kAllStages});
  }

  void stream(VkCommandBuffer handle) {
    if (const std::byte* first = CommandBuffer::from(handle)->firstPacket()) s_.streams.push_back(first);
  }

  void signal(VkSemaphore handle, uint64_t value, VkPipelineStageFlags2 stages) {
    Semaphore& semaphore = *Semaphore::from(handle);
    s_.signals.push_back({semaphore.timeline(), semaphore.signalValue(value), sourceStages(stages)});
    s_.signalled.push_back(&semaphore);
  }

  void fence(VkFence handle) {
    if (handle == VK_NULL_HANDLE) return;
    const kmd::TimelinePoint point = Fence::from(handle)->point();
    s_.signals.push_back({point.timeline, point.value, abi::kAllStages});
  }

  void endBatch() {
    s_.batches.push_back({{s_.waits.data() + first_.waits, s_.waits.size() - first_.waits},
                          {s_.streams.data() + first_.streams, s_.streams.size() - first_.streams},
                          {s_.signals.data() + first_.signals, s_.signals.size() - first_.signals}});
  }

 private:
  SubmitScratch& s_;
  struct {
    size_t waits, streams, signals;
  } first_{};
};

VkResult submit(Queue& queue) {
  const SubmitScratch& scratch = queue.scratch();
  const VkResult result = toResult(queue.device().gpu().submit(queue.gpuQueue(), scratch.batches));
  // Vulkan 1.3, 6.5: a submission that failed for want of memory leaves the semaphores as they were.
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    for (Semaphore* semaphore : scratch.signalled) semaphore->signalNotSubmitted();
  }
  return result;
}

// Only a fence: it signals after everything that was submitted before.
VkResult submitFence(Queue& queue, VkFence fence) {
  if (fence == VK_NULL_HANDLE) return queue.device().gpu().lost() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
  SubmissionBuilder builder(queue.scratch(), 1, 0, 0, 1);
  builder.beginBatch();
  builder.fence(fence);
  builder.endBatch();
  return submit(queue);
}

uint64_t valueAt(const uint64_t* values, uint32_t count, uint32_t i) {
  return i < count ? values[i] : 0;
}

// Of vkQueueSubmit and vkQueueBindSparse, whose structures have the same members: `add(builder, batch)` adds what a
// batch does between its waits and its signals; `waitStages(batch, k)` are those that a wait holds up.
template <typename Info, typename WaitStages, typename Add>
void addBatches(SubmissionBuilder& builder, std::span<const Info> infos, VkFence fence, WaitStages&& waitStages,
                Add&& add) {
  for (const Info& in : infos) {
    const VkTimelineSemaphoreSubmitInfo none{};
    const auto* values = findInChain<VkTimelineSemaphoreSubmitInfo>(in.pNext);
    if (values == nullptr) values = &none;
    builder.beginBatch();
    for (uint32_t k = 0; k < in.waitSemaphoreCount; ++k) {
      builder.wait(in.pWaitSemaphores[k], valueAt(values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, k),
                   waitStages(in, k));
    }
    add(builder, in);
    for (uint32_t k = 0; k < in.signalSemaphoreCount; ++k) {
      builder.signal(in.pSignalSemaphores[k],
                     valueAt(values->pSignalSemaphoreValues, values->signalSemaphoreValueCount, k),
                     VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    }
    if (&in == &infos.back()) builder.fence(fence);
    builder.endBatch();
  }
}

}  // namespace

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue handle, uint32_t submitCount, const VkSubmitInfo* pSubmits,
                                             VkFence fence) {
  Queue& queue = *Queue::from(handle);
  if (submitCount == 0) return submitFence(queue, fence);
  const std::span infos(pSubmits, submitCount);
  size_t waits = 0, streams = 0, signals = 1;
  for (const VkSubmitInfo& in : infos) {
    waits += in.waitSemaphoreCount;
    streams += in.commandBufferCount;
    signals += in.signalSemaphoreCount;
  }
  SubmissionBuilder builder(queue.scratch(), submitCount, waits, streams, signals);
  addBatches(
      builder, infos, fence, [](const VkSubmitInfo& in, uint32_t k) { return in.pWaitDstStageMask[k]; },
      [](SubmissionBuilder& to, const VkSubmitInfo& in) {
        for (uint32_t k = 0; k < in.commandBufferCount; ++k) to.stream(in.pCommandBuffers[k]);
      });
  return submit(queue);
}

// No resource can be sparse, so there is nothing to bind: what is left of a batch is its semaphores.
VKAPI_ATTR VkResult VKAPI_CALL vkQueueBindSparse(VkQueue handle, uint32_t bindInfoCount,
                                                 const VkBindSparseInfo* pBindInfo, VkFence fence) {
  Queue& queue = *Queue::from(handle);
  if (bindInfoCount == 0) return submitFence(queue, fence);
  const std::span infos(pBindInfo, bindInfoCount);
  size_t waits = 0, signals = 1;
  for (const VkBindSparseInfo& in : infos) {
    waits += in.waitSemaphoreCount;
    signals += in.signalSemaphoreCount;
  }
  SubmissionBuilder builder(queue.scratch(), bindInfoCount, waits, 0, signals);
  addBatches(
      builder, infos, fence, [](const VkBindSparseInfo&, uint32_t) { return VK_PIPELINE_STAGE_ALL_COMMANDS_BIT; },
      [](SubmissionBuilder&, const VkBindSparseInfo&) {});
  return submit(queue);
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit2(VkQueue handle, uint32_t submitCount, const VkSubmitInfo2* pSubmits,
                                              VkFence fence) {
  Queue& queue = *Queue::from(handle);
  if (submitCount == 0) return submitFence(queue, fence);
  size_t waits = 0, streams = 0, signals = 1;
  for (uint32_t i = 0; i < submitCount; ++i) {
    waits += pSubmits[i].waitSemaphoreInfoCount;
    streams += pSubmits[i].commandBufferInfoCount;
    signals += pSubmits[i].signalSemaphoreInfoCount;
  }
  SubmissionBuilder builder(queue.scratch(), submitCount, waits, streams, signals);
  for (uint32_t i = 0; i < submitCount; ++i) {
    const VkSubmitInfo2& in = pSubmits[i];
    builder.beginBatch();
    for (uint32_t k = 0; k < in.waitSemaphoreInfoCount; ++k) {
      const VkSemaphoreSubmitInfo& w = in.pWaitSemaphoreInfos[k];
      builder.wait(w.semaphore, w.value, w.stageMask);
    }
    for (uint32_t k = 0; k < in.commandBufferInfoCount; ++k) builder.stream(in.pCommandBufferInfos[k].commandBuffer);
    for (uint32_t k = 0; k < in.signalSemaphoreInfoCount; ++k) {
      const VkSemaphoreSubmitInfo& s = in.pSignalSemaphoreInfos[k];
      builder.signal(s.semaphore, s.value, s.stageMask);
    }
    if (i + 1 == submitCount) builder.fence(fence);
    builder.endBatch();
  }
  return submit(queue);
}

}  // namespace pumice::icd
