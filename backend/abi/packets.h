// The command stream. A stream is a chain of chunks; a chunk is a run of packets, each a multiple of 8 bytes, that ends
// in Jump (to the next chunk) or Return. Packets carry addresses and inline state, never API objects, and do not change
// after recording has ended: one stream may be executed many times, also at once.
//
// The encoder (icd/encode) writes them, the command processor (backend/gpu) decodes them, tools print them. Pointers in
// packets are to: GPU memory, blocks that a pipeline owns, or state blocks in the same stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/image_layout.h"
#include "backend/abi/shader_abi.h"
#include "backend/abi/stage.h"

namespace pumice::abi {

enum class PacketOp : uint16_t {
  kNop = 0,  // skips sizeBytes: padding, state blocks, data
  kJump,     // to the next chunk of the same stream
  kCall,     // a secondary command buffer; Return comes back
  kReturn,   // end of a stream
  kBarrier,
  kDispatch,
  kDispatchIndirect,
  kCopyBuffer,
  kFillBuffer,
  kUpdateBuffer,
  kCopyImage,
  kClearImage,
  kBlitImage,
  kResolveImage,
  kSetEvent,
  kResetEvent,
  kWaitEvents,
  kWriteTimestamp,
  kResetQueries,
  kBeginStatistics,
  kEndStatistics,
  kCopyQueries,
  kLabelBegin,  // debug labels, for traces and dumps only
  kLabelEnd,
  kBeginPass,  // draw_packets.h
  kEndPass,
  kDraw,
  kDrawIndirect,
  kClearAttachment,
  kBeginDrawQuery,
  kEndDrawQuery,
  kCount,
};

struct PacketHeader {
  PacketOp op;
  uint16_t flags;
  uint32_t sizeBytes;  // of the whole packet, header and inline data included; a multiple of 8
};
static_assert(sizeof(PacketHeader) == 8);

struct JumpPacket {
  PacketHeader header;
  const std::byte* target;
};
static_assert(sizeof(JumpPacket) == 16);

struct CallPacket {
  PacketHeader header;
  const std::byte* stream;
};
static_assert(sizeof(CallPacket) == 16);

// Execution dependency between everything earlier in src and everything later in dst, on this queue, across streams and
// submissions. Masks are already expanded (stage.h). Memory dependencies cost nothing: all caches are coherent.
struct BarrierPacket {
  PacketHeader header;
  StageMask src;
  StageMask dst;
};
static_assert(sizeof(BarrierPacket) == 16);

struct DispatchPacket {
  PacketHeader header;
  const ComputeProgram* program;
  const BindingState* bindings;
  const std::byte* pushConstants;  // kMaxPushConstantBytes readable
  uint32_t groupBase[3];
  uint32_t groupCount[3];
};
static_assert(sizeof(DispatchPacket) == 56);

struct DispatchIndirectPacket {
  PacketHeader header;
  const ComputeProgram* program;
  const BindingState* bindings;
  const std::byte* pushConstants;
  uint64_t argsAddress;  // VkDispatchIndirectCommand, read when the Indirect stage's gate has opened
};
static_assert(sizeof(DispatchIndirectPacket) == 40);

struct CopyBufferPacket {
  PacketHeader header;
  uint64_t src;
  uint64_t dst;
  uint64_t size_B;
};
static_assert(sizeof(CopyBufferPacket) == 32);

struct FillBufferPacket {
  PacketHeader header;
  uint64_t dst;
  uint64_t size_B;  // a multiple of 4
  uint32_t value;
  uint32_t reserved;
};
static_assert(sizeof(FillBufferPacket) == 32);

struct UpdateBufferPacket {
  PacketHeader header;
  uint64_t dst;
  uint64_t size_B;  // at most 65536; that many bytes follow the packet's fixed part, padded to 8
};
static_assert(sizeof(UpdateBufferPacket) == 24);

// One level of an image (or of one of its planes) with all its slices: array layers, or depth. Also a part of a buffer,
// seen as such. Coordinates and sizes of image commands are in elements (image_layout.h).
struct Surface {
  uint64_t address;        // of the element (0, 0) of the first slice
  uint64_t rowPitch_B;     // row-linear: between rows; quad-major: between rows of blocks
  uint64_t slicePitch_B;   // between array layers, or depth slices
  uint64_t samplePitch_B;  // between samples of an element: row-linear a row, quad-major a block
  uint8_t elementBytes;    // up to 32
  BlockOrder order;
  uint8_t sampleCount;
  uint8_t reserved;
  uint32_t blockPitch_B;  // quad-major: between neighbouring blocks of a row
};
static_assert(sizeof(Surface) == 40);

struct SurfaceOrigin {
  uint32_t x, y;
};

// Between images, or an image and a buffer, in either direction: elements of equal size are moved as they are, all
// samples of each. Regions that do not overlap may be copied at the same time: nothing outside of them is written.
struct CopyImagePacket {
  PacketHeader header;
  Surface dst;
  Surface src;
  SurfaceOrigin dstOrigin;
  SurfaceOrigin srcOrigin;
  uint32_t width, height, sliceCount;
  uint32_t reserved;
};
static_assert(sizeof(CopyImagePacket) == 120);

// Every element of a level, in all its slices and samples, becomes `element`.
struct ClearImagePacket {
  PacketHeader header;
  Surface dst;
  uint32_t width, height, sliceCount;
  uint32_t reserved;
  std::byte element[32];
};
static_assert(sizeof(ClearImagePacket) == 96);

// One layer, or one volume. Corners are as vkCmdBlitImage has them (offset 1 below offset 0 mirrors).
struct BlitImagePacket {
  PacketHeader header;
  Surface dst;
  Surface src;
  int32_t dstCorner[2][3];
  int32_t srcCorner[2][3];
  uint32_t srcExtent[3];  // of the whole level: coordinates are clamped to it
  uint32_t srcFormat;     // VkFormat of a texel or a compressed block; equal formats without filter are moved
  uint32_t dstFormat;
  uint32_t filter;  // VkFilter; cubic: of images that are no volumes
};
static_assert(sizeof(BlitImagePacket) == 160);

// All samples of each texel into one: their average, or sample 0 of integers.
struct ResolveImagePacket {
  PacketHeader header;
  Surface dst;
  Surface src;
  SurfaceOrigin dstOrigin;
  SurfaceOrigin srcOrigin;
  uint32_t width, height, sliceCount;
  uint32_t format;  // VkFormat of both
};
static_assert(sizeof(ResolveImagePacket) == 120);

// Events: `event` is the address of a kmd::Event, which outlives the execution of the stream (Vulkan: an event must not
// be destroyed while submitted commands refer to it).
struct EventPacket {  // kSetEvent, kResetEvent: takes effect when earlier work in `src` is complete
  PacketHeader header;
  void* event;
  StageMask src;
  uint32_t reserved;
};
static_assert(sizeof(EventPacket) == 24);

struct WaitEventsPacket {  // parks the processor until all are set, then gates `dst` behind them
  PacketHeader header;
  StageMask src;
  StageMask dst;
  uint32_t eventCount;  // that many void* follow
  uint32_t reserved;
};
static_assert(sizeof(WaitEventsPacket) == 24);

// A query slot: `available` is written last, with release order.
struct QuerySlot {
  uint64_t value;
  uint64_t available;
};
static_assert(sizeof(QuerySlot) == 16);

struct TimestampPacket {
  PacketHeader header;
  uint64_t slotAddress;  // of a QuerySlot; written when earlier work in `src` is complete, in ns of CLOCK_MONOTONIC
  StageMask src;
  uint32_t reserved;
};
static_assert(sizeof(TimestampPacket) == 24);

struct ResetQueriesPacket {
  PacketHeader header;
  uint64_t slotAddress;  // of the first QuerySlot
  uint32_t slotCount;
  uint32_t reserved;
};
static_assert(sizeof(ResetQueriesPacket) == 24);

// Between the two, which stand in one stream or in streams called from it, compute invocations of dispatches are
// counted (a PacketHeader begins); the end writes the query when earlier compute work is complete.
struct EndStatisticsPacket {
  PacketHeader header;
  uint64_t slotAddress;  // of the query's first slot
  uint32_t slotCount;
  uint32_t invocationsSlot;  // which slot gets the count, the others get zero; kNoSlot: none
};
static_assert(sizeof(EndStatisticsPacket) == 24);
inline constexpr uint32_t kNoSlot = ~0u;

struct CopyQueriesPacket {
  PacketHeader header;
  uint64_t slotAddress;  // of the first query's first slot
  uint32_t queryCount;
  uint32_t slotsPerQuery;
  uint64_t dst;
  uint64_t stride_B;
  uint32_t vkResultFlags;  // VkQueryResultFlags
  uint32_t reserved;
};
static_assert(sizeof(CopyQueriesPacket) == 48);

struct LabelPacket {  // a NUL-terminated name follows
  PacketHeader header;
  float color[4];
};
static_assert(sizeof(LabelPacket) == 24);

}  // namespace pumice::abi
