#include "backend/draw/raster_piece.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>

#include "backend/draw/polygon_face.h"
#include "backend/raster/kernels.h"
#include "backend/raster/line_point.h"

namespace pumice::draw {

using raster::PixelRect;
using raster::PrimitiveSet;
using raster::ScreenVertices;
using raster::SetupState;

namespace {

constexpr float kSmallestPoint = 1, kLargestPoint = 1024;  // pointSizeRange
constexpr float kThinnestLine = 1, kThickestLine = 64;     // lineWidthRange

// NaN: the least.
float clampSize(float size, float least, float most) {
  return size > least ? std::min(size, most) : least;
}

PixelRect intersect(const PixelRect& a, const PixelRect& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

PixelRect rectOf(int64_t x, int64_t y, int64_t width, int64_t height) {
  const auto side = [](int64_t v) {
    return static_cast<int32_t>(std::clamp<int64_t>(v, 0, raster::kMaxFramebufferEdge));
  };
  return {side(x), side(y), side(x + width), side(y + height)};
}

raster::DepthKind depthKindOf(uint32_t format) {
  switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
      return raster::DepthKind::kUnorm16;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
      return raster::DepthKind::kUnorm24;
    default:
      return raster::DepthKind::kFloat;
  }
}

}  // namespace

RasterPiece::RasterPiece(const PassInfo& pass, const Piece& piece, const assembly::Assembled& assembled,
                         const raster::VertexOutputs& outputs, const void* payload)
    : pass_(pass),
      piece_(piece),
      a_(assembled),
      outputs_(outputs),
      payload_(payload),
      state_(*piece.state),
      raster_(*piece.state->raster),
      program_(*piece.state->programs->vertex),
      corners_(assembly::verticesPerPrimitive(piece.input.topology)),
      provoking_(piece.input.provokingLast ? corners_ - 1 : 0) {}

uint32_t RasterPiece::vertexWord(uint32_t row, uint32_t vertex) const {
  constexpr uint32_t kLanes = abi::kVertexBlockLanes;
  return outputs_.rows[vertex / kLanes * outputs_.rowCount + row][vertex % kLanes];
}

// Viewport and layer of a primitive are those that its provoking vertex has.
uint32_t RasterPiece::viewportOf(uint32_t primitive) const {
  if ((program_.flags & abi::kVertexWritesViewport) == 0) return 0;
  const uint32_t viewport = vertexWord(abi::kRowViewport, a_.corners[primitive][provoking_]);
  return viewport < state_.viewports->count ? viewport : 0;
}

uint32_t RasterPiece::layerOf(uint32_t primitive) const {
  if (pass_.hasViews() || (program_.flags & abi::kVertexWritesLayer) == 0) return piece_.layer;
  return vertexWord(abi::kRowLayer, a_.corners[primitive][provoking_]);
}

SetupState RasterPiece::setupOf(uint32_t viewport) const {
  const abi::ViewportState& v = *state_.viewports;
  const abi::Scissor& s = v.scissors[viewport];
  const uint16_t flags = raster_.flags;
  SetupState out;
  out.view = raster::makeViewTransform(v.viewports[viewport], v.depthNegativeOneToOne != 0,
                                       (flags & abi::kRasterDepthClip) != 0);
  out.clip = intersect(rectOf(s.x, s.y, s.width, s.height), pass_.grid.area);
  out.samples_log2 = raster_.samples_log2;
  out.frontClockwise = (flags & abi::kRasterFrontClockwise) != 0;
  out.cullFront = (flags & abi::kRasterCullFront) != 0;
  out.cullBack = (flags & abi::kRasterCullBack) != 0;
  out.provokingLast = (flags & abi::kRasterProvokingLast) != 0;
  out.clipDistanceCount = program_.clipDistanceCount;
  out.cullDistanceCount = program_.cullDistanceCount;
  out.varyingSlots = program_.varyingSlotCount;
  out.viewport = viewport;
  const uint8_t depth = state_.targets->depth;
  if ((flags & abi::kRasterDepthBias) != 0 && depth != abi::kNoAttachment && depth < pass_.packet->attachmentCount) {
    out.depthKind = depthKindOf(pass_.attachments()[depth].format);
    out.biasConstant = raster_.depthBiasConstant;
    out.biasSlope = raster_.depthBiasSlope;
    out.biasClamp = raster_.depthBiasClamp;
  }
  return out;
}

// The program says that it overwrites all that it covers; state that changes without the program may take that back.
bool RasterPiece::hides() const {
  const abi::FragmentProgram* program = state_.programs->fragment;
  if (!piece_.mayHide || !program || (program->flags & abi::kFragmentOccludes) == 0) return false;
  constexpr uint8_t kTests = abi::kDepthTest | abi::kDepthBounds | abi::kStencilTest;
  const abi::FragmentState& f = *state_.fragment;
  const uint32_t samples = (1u << (1u << raster_.samples_log2)) - 1;
  if ((f.depthFlags & kTests) != 0 || (f.sampleMask & samples) != samples) return false;
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
    if (state_.targets->color[i] != abi::kNoAttachment && (f.colorWriteEnable >> i & 1) == 0) return false;
  }
  return true;
}

void RasterPiece::bin(SetWriter& sets, uint32_t first, bool hiding) const {
  sets.bin(first, raster_.samples_log2, hiding, [this](uint32_t source) { return layerOf(source); });
}

uint32_t RasterPiece::run(RasterScratch& scratch, SetWriter& sets) const {
  uint32_t made = 0;
  uint32_t ready = 0;  // bit: the viewport's screen is there
  // Consecutive primitives with the same viewport.
  for (Range range{0, 0}; range.begin < a_.primitiveCount; range.begin = range.end) {
    const uint32_t viewport = viewportOf(range.begin);
    range.end = range.begin + 1;
    if ((program_.flags & abi::kVertexWritesViewport) == 0)
      range.end = a_.primitiveCount;
    else
      while (range.end < a_.primitiveCount && viewportOf(range.end) == viewport) ++range.end;

    const SetupState state = setupOf(viewport);
    ScreenVertices& screen = scratch.screens[viewport];
    if ((ready >> viewport & 1) == 0) {
      for (uint32_t v = 0; v < a_.vertexCount; v += abi::kVertexBlockLanes)
        raster::kernels().transform(outputs_, state.view, v, screen);
      ready |= 1u << viewport;
    }
    if (state.clip.x0 >= state.clip.x1 || state.clip.y0 >= state.clip.y1) continue;
    made += corners_ == 1                                 ? points(range, screen, state, sets)
            : corners_ == 2                               ? lines(range, screen, state, sets)
            : raster_.polygonMode == VK_POLYGON_MODE_FILL ? triangles(range, screen, state, sets)
                                                          : outlines(range, screen, state, sets);
  }
  return made;
}

uint32_t RasterPiece::triangles(Range range, const ScreenVertices& screen, const SetupState& wide,
                                SetWriter& sets) const {
  SetupState state = wide;
  state.clip = intersect(wide.clip, wide.view.pixels);
  if (state.clip.x0 >= state.clip.x1 || state.clip.y0 >= state.clip.y1) return 0;
  const raster::SetDraw draw{payload_, 0, 3, raster_.samples_log2, false, 0};
  const bool hiding = hides();
  uint32_t made = 0;
  for (uint32_t next = range.begin; next < range.end;) {
    PrimitiveSet& set = sets.open(draw, 1);
    const uint32_t first = set.count;
    const uint32_t begun = next;
    next = raster::setUpTriangles({a_.corners, a_.primitiveId, range.end}, next, screen, outputs_, state, set);
    made += set.count - first;
    bin(sets, first, hiding);
    // One that has to be clipped may need more room than the set has.
    if (next == begun || next < range.end) sets.close();
  }
  return made;
}

uint32_t RasterPiece::lines(Range range, const ScreenVertices& screen, const SetupState& state, SetWriter& sets) const {
  const bool bresenham = raster_.lineMode == abi::LineMode::kBresenham;
  const float lineWidth = clampSize(raster_.lineWidth, kThinnestLine, kThickestLine);
  const raster::SetDraw draw{payload_, 0, 4, raster_.samples_log2, bresenham, 0};
  uint32_t made = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    PrimitiveSet& set = sets.open(draw, 1);
    const uint32_t first = set.count;
    raster::setUpLine(a_.corners[i][0], a_.corners[i][1], bresenham, lineWidth, a_.primitiveId[i], i, screen, outputs_,
                      state, set);
    made += set.count - first;
    binLines(sets, first, bresenham);
  }
  return made;
}

void RasterPiece::binLines(SetWriter& sets, uint32_t first, bool bresenham) const {
  // Edges of a line of all samples are those of pixel centers.
  sets.bin(first, bresenham ? 0 : raster_.samples_log2, false, [this](uint32_t source) { return layerOf(source); });
}

float RasterPiece::pointSize(uint32_t vertex) const {
  if ((program_.flags & abi::kVertexWritesPointSize) == 0) return 1;
  return clampSize(outputs_.at(abi::kRowPointSize, vertex), kSmallestPoint, kLargestPoint);
}

uint32_t RasterPiece::points(Range range, const ScreenVertices& screen, const SetupState& state,
                             SetWriter& sets) const {
  const raster::SetDraw draw{payload_, 0, 4, raster_.samples_log2, false, 0};
  uint32_t made = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    PrimitiveSet& set = sets.open(draw, 1);
    const uint32_t first = set.count;
    const uint16_t vertex = a_.corners[i][0];
    raster::setUpPoint(vertex, pointSize(vertex), a_.primitiveId[i], i, screen, state, set);
    made += set.count - first;
    bin(sets, first, false);
  }
  return made;
}

// Polygon modes line and point: edges or vertices of the triangle, with its facing, its bias and its provoking vertex.
uint32_t RasterPiece::outlines(Range range, const ScreenVertices& screen, const SetupState& state,
                               SetWriter& sets) const {
  const bool asLines = raster_.polygonMode == VK_POLYGON_MODE_LINE;
  const bool bresenham = asLines && raster_.lineMode == abi::LineMode::kBresenham;
  const float lineWidth = clampSize(raster_.lineWidth, kThinnestLine, kThickestLine);
  const raster::SetDraw draw{payload_, 0, 4, raster_.samples_log2, bresenham, 0};
  uint32_t made = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const uint16_t(&v)[3] = a_.corners[i];
    const PolygonFace face = faceOf(v, screen, outputs_, state);
    if (face.culled) continue;
    PrimitiveSet& set = sets.open(draw, 3);
    const uint32_t first = set.count;
    for (uint32_t k = 0; k < 3; ++k) {
      if (asLines)
        raster::setUpLine(v[k], v[(k + 1) % 3], bresenham, lineWidth, a_.primitiveId[i], i, screen, outputs_, state,
                          set);
      else
        raster::setUpPoint(v[k], pointSize(v[k]), a_.primitiveId[i], i, screen, state, set);
    }
    for (uint32_t n = first; n < set.count; ++n) {
      abi::PrimitiveRecord& record = set.records[n];
      if (face.back) record.flags |= abi::kPrimitiveBackFacing;
      record.provokingVertex = v[provoking_] * state.varyingSlots;
      record.depth.atOrigin += face.bias;
      record.depthMin += face.bias;
      record.depthMax += face.bias;
    }
    made += set.count - first;
    if (asLines)
      binLines(sets, first, bresenham);
    else
      bin(sets, first, false);
  }
  return made;
}

void addClearRectangle(const PassInfo& pass, const abi::PassArea& area, uint32_t layer, const raster::SetDraw& draw,
                       SetWriter& sets) {
  const PixelRect rect = intersect(rectOf(area.x, area.y, area.width, area.height), pass.grid.area);
  if (rect.x0 >= rect.x1 || rect.y0 >= rect.y1) return;
  PrimitiveSet& set = sets.open(draw, 1);
  const uint32_t n = set.count++;
  set.edges[n] = {};  // never negative: all of the rectangle
  set.rects[n] = {static_cast<uint16_t>(rect.x0), static_cast<uint16_t>(rect.y0), static_cast<uint16_t>(rect.x1),
                  static_cast<uint16_t>(rect.y1)};
  set.source[n] = 0;
  sets.bin(n, draw.samples_log2, false, [layer](uint32_t) { return layer; });
}

}  // namespace pumice::draw
