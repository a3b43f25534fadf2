// The second half of the front end: shaded vertices to triangles, lines and points in bins.
#pragma once

#include "backend/assembly/input_assembler.h"
#include "backend/draw/chunk.h"
#include "backend/draw/set_writer.h"
#include "backend/raster/viewport.h"

namespace pumice::draw {

/// Of one worker.
struct RasterScratch {
  raster::ScreenVertices screens[abi::kMaxViewports];  // by viewport, of those that are used
};

class RasterPiece {
 public:
  RasterPiece(const PassInfo& pass, const Piece& piece, const assembly::Assembled& assembled,
              const raster::VertexOutputs& outputs, const void* payload);

  /// Returns how many primitives there are after clipping and culling.
  uint32_t run(RasterScratch& scratch, SetWriter& sets) const;

 private:
  raster::SetupState setupOf(uint32_t viewport) const;
  uint32_t viewportOf(uint32_t primitive) const;
  uint32_t layerOf(uint32_t primitive) const;
  bool hides() const;
  uint32_t vertexWord(uint32_t row, uint32_t vertex) const;
  void bin(SetWriter& sets, uint32_t first, bool hiding) const;
  void binLines(SetWriter& sets, uint32_t first, bool bresenham) const;

  struct Range {
    uint32_t begin, end;
  };
  uint32_t triangles(Range range, const raster::ScreenVertices& screen, const raster::SetupState& state,
                     SetWriter& sets) const;
  uint32_t outlines(Range range, const raster::ScreenVertices& screen, const raster::SetupState& state,
                    SetWriter& sets) const;
  uint32_t lines(Range range, const raster::ScreenVertices& screen, const raster::SetupState& state,
                 SetWriter& sets) const;
  uint32_t points(Range range, const raster::ScreenVertices& screen, const raster::SetupState& state,
                  SetWriter& sets) const;
  float pointSize(uint32_t vertex) const;

  const PassInfo& pass_;
  const Piece& piece_;
  const assembly::Assembled& a_;
  const raster::VertexOutputs& outputs_;
  const void* payload_;
  const abi::DrawState& state_;
  const abi::RasterState& raster_;
  const abi::VertexProgram& program_;
  uint32_t corners_;
  uint32_t provoking_;  // which corner
};

/// A rectangle of a clear of attachments, as a primitive.
void addClearRectangle(const PassInfo& pass, const abi::PassArea& area, uint32_t layer, const raster::SetDraw& draw,
                       SetWriter& sets);

}  // namespace pumice::draw
