#include "backend/gpu/work.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>

#include "backend/gpu/image_blit.h"
#include "backend/gpu/image_copy.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kNoBase[3] = {0, 0, 0};

// One core streams about 10 GB/s: 64 KiB in 6 us.
constexpr uint64_t kCopyBlock_ns = 6'000;
// Copies larger than this would push everything else out of the caches, and their destination is not soon read again.
constexpr uint64_t kNonTemporalBytes = 8ull << 20;

// Workers look at the counter of a span this often: rare enough that the counter's cache line stays cheap, often enough
// that decoding, which goes first, does not wait long and the last chunks end together.
constexpr uint64_t kChunk_ns = 50'000;

// A unit of an image command: what its bytes take, and the way to its rows.
Work bandsWork(WorkKind kind, const Bands& bands, double bytesPer_ns) {
  Work work;
  work.kind = kind;
  work.unitCount = bands.unitCount();
  work.unitCost_ns = static_cast<uint32_t>(std::min(50 + static_cast<double>(bands.unitBytes()) / bytesPer_ns, 4e9));
  return work;
}

uint64_t blocks(uint64_t size_B) {
  return (size_B + kCopyBlockBytes - 1) / kCopyBlockBytes;
}

}  // namespace

DispatchState dispatchState(const Work& work) {
  if (work.kind == WorkKind::kDispatch && !work.fromIndirect) {
    const abi::DispatchPacket& packet = *work.dispatch;
    return {packet.program, packet.bindings, packet.pushConstants, packet.groupBase};
  }
  const abi::DispatchIndirectPacket& packet = *work.indirect;
  return {packet.program, packet.bindings, packet.pushConstants, kNoBase};
}

uint64_t invocationsOf(const Work& work) {
  uint64_t n = work.unitCount;
  for (const uint32_t size : programOf(work).localSize) n *= size;
  return n;
}

Work dispatchWork(const abi::DispatchPacket& packet) {
  Work work;
  work.kind = WorkKind::kDispatch;
  for (int i = 0; i < 3; ++i) work.groupCount[i] = packet.groupCount[i];
  work.unitCount = uint64_t{packet.groupCount[0]} * packet.groupCount[1] * packet.groupCount[2];
  work.dispatch = &packet;
  return work;
}

Work dispatchIndirectWork(const abi::DispatchIndirectPacket& packet) {
  Work work;
  work.kind = WorkKind::kDispatchIndirect;
  work.unitCount = 1;
  work.indirect = &packet;
  return work;
}

Work copyWork(uint64_t dst, uint64_t src, uint64_t size_B) {
  Work work;
  work.kind = WorkKind::kCopy;
  work.nonTemporal = size_B >= kNonTemporalBytes;
  work.unitCount = blocks(size_B);
  work.bytes = {dst, src, size_B};
  return work;
}

Work fillWork(uint64_t dst, uint64_t size_B, uint32_t value) {
  Work work = copyWork(dst, value, size_B);
  work.kind = WorkKind::kFill;
  return work;
}

Work copyQueriesWork(const abi::CopyQueriesPacket& packet) {
  Work work;
  work.kind = WorkKind::kCopyQueries;
  work.unitCount = packet.queryCount ? 1 : 0;
  work.queries = &packet;
  return work;
}

Work copyImageWork(const abi::CopyImagePacket& packet) {
  const Bands bands = copyBands(packet);
  Work work = bandsWork(WorkKind::kCopyImage, bands, 8);
  work.nonTemporal = bands.unitBytes() * bands.unitCount() >= kNonTemporalBytes;
  work.copyImage = &packet;
  return work;
}

Work clearImageWork(const abi::ClearImagePacket& packet) {
  Work work = bandsWork(WorkKind::kClearImage, clearBands(packet), 10);
  work.clearImage = &packet;
  return work;
}

// A texel takes about as long whatever its size: some nanoseconds when it is filtered.
Work blitImageWork(const abi::BlitImagePacket& packet) {
  const double texel_ns = packet.filter == VK_FILTER_NEAREST ? 3 : packet.filter == VK_FILTER_LINEAR ? 10 : 40;
  Work work = bandsWork(WorkKind::kBlitImage, blitBands(packet), packet.dst.elementBytes / texel_ns);
  work.blitImage = &packet;
  return work;
}

Work resolveImageWork(const abi::ResolveImagePacket& packet) {
  const double texel_ns = 1.5 * packet.src.sampleCount;
  Work work = bandsWork(WorkKind::kResolveImage, resolveBands(packet), packet.dst.elementBytes / texel_ns);
  work.resolveImage = &packet;
  return work;
}

uint64_t estimate_ns(const Work& work, uint64_t units) {
  uint64_t perUnit_ns = 0;
  switch (work.kind) {
    case WorkKind::kDispatch:
      perUnit_ns = __atomic_load_n(&programOf(work).groupCost_ns, __ATOMIC_RELAXED);
      break;
    case WorkKind::kDispatchIndirect:
      perUnit_ns = 100;  // reading the arguments; what they ask for is scheduled when it is known
      break;
    case WorkKind::kCopy:
    case WorkKind::kFill:
      perUnit_ns = work.bytes.size_B < kCopyBlockBytes ? work.bytes.size_B / 10 : kCopyBlock_ns;
      break;
    case WorkKind::kCopyQueries:
      perUnit_ns = uint64_t{work.queries->queryCount} * 10;
      break;
    case WorkKind::kCopyImage:
    case WorkKind::kClearImage:
    case WorkKind::kBlitImage:
    case WorkKind::kResolveImage:
    case WorkKind::kPassGeometry:
    case WorkKind::kPassTiles:
      perUnit_ns = work.unitCost_ns;
      break;
  }
  uint64_t total_ns;
  return __builtin_mul_overflow(perUnit_ns, units, &total_ns) ? UINT64_MAX : total_ns;
}

uint64_t chunkUnits(uint64_t unitCost_ns, uint64_t unitsLeft, uint32_t workers) {
  const uint64_t perUnit_ns = std::max<uint64_t>(1, unitCost_ns);
  const uint64_t share = unitsLeft / (2 * uint64_t{workers});
  return std::max<uint64_t>(1, std::min(kChunk_ns / perUnit_ns, workers == 1 ? unitsLeft : share));
}

void refineCost(const abi::ComputeProgram& program, uint64_t groups, uint64_t elapsed_ns) {
  const uint64_t old = std::max(1u, __atomic_load_n(&program.groupCost_ns, __ATOMIC_RELAXED));
  // One measurement may have been interrupted by another process: it counts for 16 times the old value at most.
  const uint64_t measured = std::clamp<uint64_t>(elapsed_ns / groups, 1, 16 * old);
  const uint64_t refined = std::clamp<uint64_t>((3 * old + measured + 2) / 4, 1, UINT32_MAX);
  if (refined != old) __atomic_store_n(&program.groupCost_ns, static_cast<uint32_t>(refined), __ATOMIC_RELAXED);
  if (!__atomic_load_n(&program.measured, __ATOMIC_RELAXED)) __atomic_store_n(&program.measured, 1, __ATOMIC_RELAXED);
}

}  // namespace pumice::gpu
