// The command stream's packets of drawing. What packets.h says holds here: addresses and inline state, no API objects,
// nothing changes after recording has ended. docs/graphics.md has the whole.
//
// State is kept in *groups*, blocks in the stream (inside kNop packets) or owned by a pipeline. A draw names a
// DrawState, which names the groups; the encoder writes a group, and a new DrawState, when something in it has changed.
// So every draw is complete in itself and draws can be worked on in any order and at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/fragment_abi.h"
#include "backend/abi/packets.h"
#include "backend/abi/vertex_abi.h"

namespace pumice::abi {

// ---- State groups.

enum class AttributeRate : uint8_t { kVertex, kInstance };

// Vertex input: pipeline state, or dynamic.
struct VertexAttribute {
  uint32_t format;    // VkFormat
  uint32_t offset_B;  // in an element of the binding
  uint8_t slot;       // of VertexBlock::inputs; two slots if the shader's vector needs them
  uint8_t binding;
  AttributeRate rate;
  uint8_t slotCount;
  uint32_t divisor;  // instance rate: 0 = the same for all instances
};
static_assert(sizeof(VertexAttribute) == 16);

struct VertexInputState {
  uint32_t attributeCount;
  uint32_t unboundSlots;  // bit s: no attribute feeds slot s, it reads 0, 0, 0, 1
  VertexAttribute attributes[kMaxVertexAttributes];
};
static_assert(sizeof(VertexInputState) == 8 + 16 * kMaxVertexAttributes);

// What is bound. Elements outside of [0, size_B) read as robustBufferAccess says; address 0 reads zero.
struct VertexBuffer {
  uint64_t address;
  uint64_t size_B;
  uint64_t stride_B;
};

struct VertexBufferState {
  VertexBuffer buffers[kMaxVertexAttributes];
};
static_assert(sizeof(VertexBufferState) == 24 * kMaxVertexAttributes);

enum class IndexType : uint32_t { kUint16, kUint32, kUint8 };

struct IndexBufferState {
  uint64_t address;
  uint64_t size_B;  // an index past the end reads 0
  IndexType type;
  uint32_t reserved;
};
static_assert(sizeof(IndexBufferState) == 24);

struct Viewport {
  float x, y, width, height;  // height may be negative
  float minDepth, maxDepth;
};

struct Scissor {
  int32_t x, y;
  uint32_t width, height;
};

struct ViewportState {
  uint32_t count;
  uint32_t depthNegativeOneToOne;  // clip volume: -w <= z <= w
  Viewport viewports[kMaxViewports];
  Scissor scissors[kMaxViewports];
};
static_assert(sizeof(ViewportState) == 8 + 40 * kMaxViewports);

enum class LineMode : uint8_t { kRectangular, kBresenham, kRectangularSmooth };

enum RasterFlags : uint16_t {
  kRasterPrimitiveRestart = 1,
  kRasterDepthClip = 2,  // near and far planes clip
  kRasterDepthBias = 4,
  kRasterFrontClockwise = 8,
  kRasterCullFront = 16,
  kRasterCullBack = 32,
  kRasterDiscard = 64,
  kRasterProvokingLast = 128,
  kRasterStipple = 256,
};

// Primitive assembly and rasterisation.
struct RasterState {
  uint8_t topology;     // VkPrimitiveTopology
  uint8_t polygonMode;  // VkPolygonMode
  LineMode lineMode;
  uint8_t samples_log2;  // of rasterisation
  uint16_t flags;        // RasterFlags
  uint16_t stipplePattern;
  uint32_t stippleFactor;
  float lineWidth;
  float depthBiasConstant, depthBiasClamp, depthBiasSlope;
};
static_assert(sizeof(RasterState) == 28);

// Which attachments of the pass the subpass uses: index in BeginPassPacket's list, kNoAttachment if none.
inline constexpr uint8_t kNoAttachment = 0xFF;
struct TargetState {
  uint8_t color[kMaxColorAttachments];
  uint8_t depth, stencil;
  uint8_t reserved[6];
};
static_assert(sizeof(TargetState) == 16);

struct GraphicsPrograms {
  const VertexProgram* vertex;
  const FragmentProgram* fragment;  // nullptr: no attachment and no side effect is left to write
};

struct DrawState {
  const GraphicsPrograms* programs;
  const BindingState* bindings;
  const VertexInputState* vertexInput;
  const VertexBufferState* vertexBuffers;
  const IndexBufferState* indexBuffer;  // indexed draws alone
  const ViewportState* viewports;
  const RasterState* raster;
  const FragmentState* fragment;
  const TargetState* targets;
};
static_assert(sizeof(DrawState) == 72);

// ---- Draws.

// A draw that nothing has to be read for: one of vkCmdDrawMulti* is one packet.
struct DrawPacket {
  PacketHeader header;
  const DrawState* state;
  const std::byte* pushConstants;  // kMaxPushConstantBytes readable
  uint32_t first;                  // vertex, or index
  uint32_t count;
  uint32_t firstInstance;
  uint32_t instanceCount;
  int32_t vertexOffset;  // indexed
  uint32_t drawIndex;
};
static_assert(sizeof(DrawPacket) == 48);

// VkDrawIndirectCommand or VkDrawIndexedIndirectCommand, read when the Indirect stage's gate has opened.
struct DrawIndirectPacket {
  PacketHeader header;
  const DrawState* state;
  const std::byte* pushConstants;
  uint64_t argsAddress;
  uint64_t countAddress;  // 0: maxDrawCount draws
  uint32_t stride_B;
  uint32_t maxDrawCount;
};
static_assert(sizeof(DrawIndirectPacket) == 48);

// PacketHeader::flags of both.
enum DrawFlags : uint16_t {
  kDrawIndexed = 1,
};

// ---- Passes.

enum class LoadOp : uint8_t { kLoad, kClear, kDontCare };
enum class StoreOp : uint8_t { kStore, kDontCare };
enum class ResolveMode : uint8_t { kNone, kAverage, kSampleZero, kMin, kMax };

// One plane of an attachment: depth and stencil are two.
struct PassAttachment {
  Surface surface;  // slices are layers or views
  Surface resolve;  // resolveMode
  uint32_t format;  // VkFormat of the plane
  LoadOp loadOp;
  StoreOp storeOp;
  ResolveMode resolveMode;
  uint8_t loadViews;  // multiview: the views that begin here, bit by bit, which loadOp is for; others are loaded
  std::byte clearElement[16];
};
static_assert(sizeof(PassAttachment) == 104);

struct PassArea {
  uint32_t x, y, width, height;
};

// From here to kEndPass all packets are draws, clears, queries, calls, barriers between subpasses that are by region,
// and what the API allows beside them. Attachments outside of the area are left alone.
struct BeginPassPacket {
  PacketHeader header;
  PassArea area;
  uint32_t layerCount;
  uint32_t viewMask;  // 0: no multiview; else one layer per view
  uint16_t attachmentCount;
  uint8_t samples_log2;
  uint8_t tileEdge_log2;  // 4 to 7, chosen by the encoder from the bytes of a pixel
  uint32_t reserved;
  // attachmentCount PassAttachments follow.
};
static_assert(sizeof(BeginPassPacket) == 40);

struct EndPassPacket {
  PacketHeader header;
};
static_assert(sizeof(EndPassPacket) == 8);

// vkCmdClearAttachments: one attachment of the pass.
struct ClearAttachmentPacket {
  PacketHeader header;
  uint8_t attachment;
  uint8_t reserved[3];
  uint32_t viewMask;
  uint32_t rectCount;
  uint32_t reserved2;
  std::byte element[16];
  // rectCount ClearRects follow.
};
static_assert(sizeof(ClearAttachmentPacket) == 40);

struct ClearRect {
  PassArea area;
  uint32_t firstLayer, layerCount;
};
static_assert(sizeof(ClearRect) == 24);

enum class DrawQueryKind : uint32_t { kOcclusion, kPreciseOcclusion, kStatistics };

// Counts between begin and end, inside a pass or around passes. Multiview takes one query per view.
struct DrawQueryPacket {
  PacketHeader header;
  uint64_t slotAddress;  // of the first QuerySlot
  DrawQueryKind kind;
  uint32_t statistics;  // VkQueryPipelineStatisticFlags; one slot each
};
static_assert(sizeof(DrawQueryPacket) == 24);

}  // namespace pumice::abi
