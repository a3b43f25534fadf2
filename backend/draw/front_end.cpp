#include "backend/draw/front_end.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "backend/assembly/vertex_fetch.h"
#include "backend/draw/raster_piece.h"
#include "backend/draw/varyings.h"
#include "backend/raster/kernels.h"

namespace pumice::draw {
namespace {

constexpr uint32_t kLanes = abi::kVertexBlockLanes;
constexpr uint32_t kBlocks = assembly::kMaxVertices / kLanes;
// Blocks that are fetched and shaded together: their rows stay in the first-level cache.
constexpr uint32_t kBlocksPerCall = 4;

// Sets of one chunk; more than a chunk can have blocks.
constexpr uint32_t kSetsPerChunk_log2 = 20;

}  // namespace

// What is not written is not touched: pages of rows that no program uses are never there.
struct FrontEnd::Scratch {
  assembly::Assembled assembled;
  RasterScratch raster;
  alignas(64) abi::VertexRow inputs[kBlocksPerCall * 4 * abi::kMaxVertexAttributes];
  alignas(64) abi::VertexRow outputs[kBlocks * abi::kMaxVertexOutputRows];
};

void FrontEnd::ScratchDeleter::operator()(Scratch* scratch) const {
  std::free(scratch);
}

FrontEnd::FrontEnd() {
  constexpr size_t kSize_B = (sizeof(Scratch) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, kSize_B);
  if (!memory) throw std::bad_alloc();
  scratch_.reset(new (memory) Scratch);
}

bool FrontEnd::run(const PassInfo& pass, const Chunk& chunk, const WorkerEnv& worker, ChunkMemory& memory,
                   raster::TileList* lists, raster::TileEntry** current) {
  SetWriter sets(pass.grid, memory, lists, current, chunk.order << kSetsPerChunk_log2);
  pass_ = &pass;
  worker_ = &worker;
  memory_ = &memory;
  sets_ = &sets;
  program_ = nullptr;
  for (uint32_t i = 0; i < chunk.pieceCount; ++i) {
    if (chunk.pieces[i].clear)
      clear(chunk.pieces[i]);
    else if (!draw(chunk.pieces[i]))
      return false;
  }
  sets.close();
  return true;
}

RunningProgram FrontEnd::running() const {
  if (!program_) return {"none", 0};
  return {program_->debugName ? program_->debugName : "unnamed", program_->codeHash};
}

bool FrontEnd::draw(const Piece& piece) {
  const abi::DrawState& state = *piece.state;
  assembly::Assembled& a = scratch_->assembled;
  assembly::assemble(piece.input, piece.cursor, piece.primitives, &a);
  if (piece.queries.statistics) countAssembly(piece);
  if (a.primitiveCount == 0) return true;
  if (!shadeVertices(piece)) return false;
  if ((state.raster->flags & abi::kRasterDiscard) != 0) return true;
  if (!state.programs->fragment && !piece.queries.occlusion && !piece.queries.statistics) return true;

  auto* payload = new (memory_->allocate(sizeof(ChunkDraw)))
      ChunkDraw{&state, nullptr, piece.pushConstants, nullptr, piece.queries};
  rasterize(piece, *payload);
  return true;
}

// Vertices are counted where a draw begins, as many as it names.
void FrontEnd::countAssembly(const Piece& piece) const {
  const assembly::Assembled& a = scratch_->assembled;
  const QueryTargets& q = piece.queries;
  if (piece.cursor == assembly::Cursor{}) {
    addStatistic(q, VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT,
                 uint64_t{piece.input.count} * piece.input.instanceCount);
  }
  addStatistic(q, VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT, a.primitiveCount);
  addStatistic(q, VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT, a.vertexCount);
}

bool FrontEnd::shadeVertices(const Piece& piece) {
  const abi::DrawState& state = *piece.state;
  const abi::VertexProgram& program = *state.programs->vertex;
  // Code may be replaced by better one while it is in use: its frame is at least what it is after its entry is read.
  const abi::VertexEntry entry = __atomic_load_n(&program.entry, __ATOMIC_ACQUIRE);
  if (!worker_->arena->reserve(0, __atomic_load_n(&program.frameBytes, __ATOMIC_RELAXED))) return false;
  abi::VertexEnv env{};
  env.common = {worker_->runtime, state.bindings,          piece.pushConstants,   worker_->cancelWord,
                nullptr,          worker_->arena->frame(), worker_->arena->sink()};
  const assembly::DrawInput& input = piece.input;
  env.baseVertex = input.indices ? static_cast<uint32_t>(input.vertexOffset) : input.first;
  env.baseInstance = input.firstInstance;
  env.drawIndex = piece.drawIndex;
  env.viewIndex = piece.view;
  env.workerIndex = worker_->workerIndex;

  assembly::Assembled& a = scratch_->assembled;
  const uint32_t blocks = (a.vertexCount + kLanes - 1) / kLanes;
  for (uint32_t v = a.vertexCount; v < blocks * kLanes; ++v) {
    a.vertexIndex[v] = a.vertexIndex[a.vertexCount - 1];
    a.instanceIndex[v] = a.instanceIndex[a.vertexCount - 1];
  }
  const uint32_t inputRows = 4u * program.inputSlotCount;
  const uint32_t outputRows = abi::kRowVaryings + 4u * program.varyingSlotCount;
  program_ = &program;
  for (uint32_t first = 0; first < blocks; first += kBlocksPerCall) {
    const uint32_t count = std::min(kBlocksPerCall, blocks - first);
    abi::VertexBlock call[kBlocksPerCall];
    for (uint32_t b = 0; b < count; ++b) {
      const uint32_t vertex = (first + b) * kLanes;
      const uint32_t vertices = std::min(kLanes, a.vertexCount - vertex);
      abi::VertexRow* rows = scratch_->inputs + b * inputRows;
      if (program.inputSlotCount != 0) {
        assembly::fetchVertices(*state.vertexInput, *state.vertexBuffers, program.inputSlotCount,
                                {a.vertexIndex + vertex, a.instanceIndex + vertex, vertices, input.firstInstance},
                                rows);
      }
      call[b] = {rows,
                 scratch_->outputs + (first + b) * outputRows,
                 a.vertexIndex + vertex,
                 a.instanceIndex + vertex,
                 vertices,
                 0};
    }
    cost_.run(program, count, [&] { entry(&env, call, count); });
  }
  program_ = nullptr;
  outputs_ = {scratch_->outputs, outputRows,
              static_cast<uint32_t>(program.clipDistanceCount + program.cullDistanceCount)};
  return true;
}

void FrontEnd::rasterize(const Piece& piece, ChunkDraw& payload) {
  const RasterPiece raster{*pass_, piece, scratch_->assembled, outputs_, &payload};
  const uint32_t made = raster.run(scratch_->raster, *sets_);
  addStatistic(piece.queries, VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT, scratch_->assembled.primitiveCount);
  addStatistic(piece.queries, VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT, made);
  // Vertices of primitives that nobody sees stay where they are.
  const uint32_t slots = piece.state->programs->vertex->varyingSlotCount;
  if (made == 0 || slots == 0 || !piece.state->programs->fragment) return;
  const uint32_t vertices = scratch_->assembled.vertexCount;
  auto* rows = reinterpret_cast<float(*)[4]>(memory_->allocate(vertices * slots * 16));
  gatherVaryings(outputs_, vertices, slots, rows);
  payload.varyings = rows;
}

void FrontEnd::clear(const Piece& piece) {
  const abi::ClearAttachmentPacket& packet = *piece.clear;
  const abi::ClearRect* rects = rectsOf(packet);
  auto* payload = new (memory_->allocate(sizeof(ChunkDraw))) ChunkDraw{nullptr, &packet, nullptr, nullptr, {}};
  const auto samples_log2 = pass_->packet->samples_log2;
  assembly::Cursor at = piece.cursor;
  const auto layersOf = [&](uint32_t rect) { return clearedLayers(*pass_, rects[rect]); };
  for (uint32_t i = 0; i < piece.primitives; ++i) {
    while (layersOf(at.instance) == 0) ++at.instance;
    const abi::ClearRect& r = rects[at.instance];
    const uint32_t layers = layersOf(at.instance);
    const uint32_t layer = pass_->hasViews() ? at.primitive : r.firstLayer + at.primitive;
    const bool wanted = !pass_->hasViews() || (packet.viewMask >> pass_->sliceOfLayer(layer) & 1) != 0;
    if (wanted) addClearRectangle(*pass_, r.area, layer, {payload, 0, 4, samples_log2, false, 0}, *sets_);
    at = at.primitive + 1 < layers ? assembly::Cursor{at.instance, at.primitive + 1, 0, 0}
                                   : assembly::Cursor{at.instance + 1, 0, 0, 0};
  }
}

}  // namespace pumice::draw
