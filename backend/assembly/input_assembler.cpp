#include "backend/assembly/input_assembler.h"

#include <algorithm>

#include "backend/assembly/index_reader.h"
#include "backend/assembly/topology.h"
#include "backend/assembly/vertex_numbers.h"

namespace pumice::assembly {
namespace {

bool looksForRestarts(const DrawInput& draw) {
  return draw.restart && draw.indices != nullptr;
}

// The end of the run that begins at `begin`: its length in indices is what lies between. `limit` bounds the search.
template <typename Reader>
uint32_t runEnd(const DrawInput& draw, const Reader& indices, uint32_t begin, uint32_t limit) {
  uint32_t at = begin;
  while (at < limit && indices[uint64_t{draw.first} + at] != Reader::kRestart) ++at;
  return at;
}

// Walks the runs of the instance from a place on. Calls run(begin, from, count) for every run's primitives `from` to
// `from + count - 1`; stops after `primitives` or at the instance's end. Returns how many there were.
template <typename Reader, typename Run>
uint32_t walkRuns(const DrawInput& draw, const Topology& topology, const Reader& indices, Cursor* cursor,
                  uint32_t primitives, Run&& run) {
  uint32_t done = 0;
  while (done < primitives && cursor->runBegin < draw.count) {
    // No further than the last primitive that is asked for needs it: long runs are looked at once, not once per piece.
    const uint64_t vertices =
        uint64_t{topology.step} * (uint64_t{cursor->inRun} + primitives - done - 1) + topology.corners;
    // What lies before this place has been looked at.
    const uint32_t seen =
        cursor->runBegin + (cursor->inRun == 0 ? 0 : topology.step * (cursor->inRun - 1) + topology.corners);
    const auto limit = static_cast<uint32_t>(std::min<uint64_t>(draw.count, cursor->runBegin + vertices));
    const uint32_t end = runEnd(draw, indices, seen, limit);
    const uint32_t count = topology.primitives(end - cursor->runBegin) - cursor->inRun;
    if (count != 0) run(cursor->runBegin, cursor->inRun, count);
    done += count;
    cursor->primitive += count;
    cursor->inRun += count;
    if (end == limit && limit != draw.count) break;  // as many as were asked for; the run goes on
    cursor->runBegin = end == draw.count ? draw.count : end + 1;
    cursor->inRun = 0;
  }
  return done;
}

// Goes on to the next instance when this one has ended.
void nextInstance(Cursor* cursor) {
  *cursor = {cursor->instance + 1, 0, 0, 0};
}

uint32_t advanceWithRestarts(const DrawInput& draw, Cursor* cursor, uint32_t primitives) {
  const Topology topology = topologyOf(draw.topology);
  return withIndices(*draw.indices, [&](const auto& indices) {
    uint32_t done = 0;
    while (done < primitives && cursor->instance < draw.instanceCount) {
      done += walkRuns(draw, topology, indices, cursor, primitives - done, [](uint32_t, uint32_t, uint32_t) {});
      if (done < primitives) nextInstance(cursor);
    }
    return done;
  });
}

// Makes primitives of one piece.
class Maker {
 public:
  Maker(const DrawInput& draw, Assembled* out)
      : draw_(draw), topology_(topologyOf(draw.topology)), out_(*out), numbers_(*out) {
    out_.primitiveCount = out_.vertexCount = 0;
  }

  // vertexOf(place in the draw) is the vertex's index.
  template <typename VertexOf>
  void add(uint32_t instance, uint32_t runBegin, uint32_t inRun, uint32_t id, uint32_t count, VertexOf&& vertexOf) {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t corner[3];
      topology_.corner(inRun + i, draw_.provokingLast, corner);
      uint16_t(&numbers)[3] = out_.corners[out_.primitiveCount];
      for (uint32_t c = 0; c < 3; ++c) {
        numbers[c] = c < topology_.corners
                         ? numbers_.number(vertexOf(runBegin + corner[c]), draw_.firstInstance + instance)
                         : uint16_t{0};
      }
      out_.primitiveId[out_.primitiveCount++] = id + i;
    }
  }

  void finish() {
    const uint32_t padded = (out_.primitiveCount + 15) / 16 * 16;
    for (uint32_t i = out_.primitiveCount; i < padded; ++i) std::fill_n(out_.corners[i], 3, uint16_t{0});
  }

 private:
  const DrawInput& draw_;
  const Topology topology_;
  Assembled& out_;
  VertexNumbers numbers_;
};

template <typename VertexOf>
void assembleByNumber(const DrawInput& draw, Cursor cursor, uint32_t primitives, Maker* maker, VertexOf&& vertexOf) {
  const uint32_t perInstance = topologyOf(draw.topology).primitives(draw.count);
  while (primitives != 0 && cursor.instance < draw.instanceCount && perInstance != 0) {
    const uint32_t count = std::min(primitives, perInstance - cursor.primitive);
    maker->add(cursor.instance, 0, cursor.primitive, cursor.primitive, count, vertexOf);
    primitives -= count;
    nextInstance(&cursor);
  }
}

template <typename Reader>
void assembleRuns(const DrawInput& draw, const Reader& indices, Cursor cursor, uint32_t primitives, Maker* maker) {
  const Topology topology = topologyOf(draw.topology);
  const auto vertexOf = [&](uint32_t at) {
    return indices[uint64_t{draw.first} + at] + static_cast<uint32_t>(draw.vertexOffset);
  };
  uint32_t done = 0;
  while (done < primitives && cursor.instance < draw.instanceCount) {
    uint32_t id = cursor.primitive;
    done += walkRuns(draw, topology, indices, &cursor, primitives - done,
                     [&](uint32_t begin, uint32_t from, uint32_t count) {
                       maker->add(cursor.instance, begin, from, id, count, vertexOf);
                       id += count;
                     });
    if (done < primitives) nextInstance(&cursor);
  }
}

}  // namespace

bool isSupported(VkPrimitiveTopology topology) {
  return topology >= VK_PRIMITIVE_TOPOLOGY_POINT_LIST && topology <= VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN;
}

uint32_t verticesPerPrimitive(VkPrimitiveTopology topology) {
  return topologyOf(topology).corners;
}

uint32_t advance(const DrawInput& draw, Cursor* cursor, uint32_t primitives) {
  if (looksForRestarts(draw)) return advanceWithRestarts(draw, cursor, primitives);
  const uint64_t perInstance = topologyOf(draw.topology).primitives(draw.count);
  if (perInstance == 0) return 0;
  const uint64_t at = cursor->instance * perInstance + cursor->primitive;
  const uint64_t to = std::min(at + primitives, draw.instanceCount * perInstance);
  cursor->instance = static_cast<uint32_t>(to / perInstance);
  cursor->primitive = static_cast<uint32_t>(to % perInstance);
  return static_cast<uint32_t>(to - at);
}

void assemble(const DrawInput& draw, Cursor cursor, uint32_t primitives, Assembled* out) {
  primitives = std::min(primitives, kMaxPrimitives);
  Maker maker(draw, out);
  if (draw.indices == nullptr) {
    assembleByNumber(draw, cursor, primitives, &maker, [&](uint32_t at) { return draw.first + at; });
  } else {
    withIndices(*draw.indices, [&](const auto& indices) {
      if (looksForRestarts(draw)) return assembleRuns(draw, indices, cursor, primitives, &maker);
      assembleByNumber(draw, cursor, primitives, &maker, [&](uint32_t at) {
        return indices[uint64_t{draw.first} + at] + static_cast<uint32_t>(draw.vertexOffset);
      });
    });
  }
  maker.finish();
}

}  // namespace pumice::assembly
