#include "backend/assembly/input_assembler.h"

#include <algorithm>
#include <numeric>

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
      const bool whole = cursor->runBegin == 0 && cursor->inRun == 0;
      const uint32_t made =
          walkRuns(draw, topology, indices, cursor, primitives - done, [](uint32_t, uint32_t, uint32_t) {});
      if (whole && made == 0) break;  // nor have the others any, up to four thousand million
      done += made;
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

  // Primitives inRun to inRun + count - 1 of the run that begins at place runBegin of the draw; instances in order.
  // read(place, count, out) gives the vertex indices of places.
  template <typename Read>
  void add(uint32_t instance, uint32_t runBegin, uint32_t inRun, uint32_t id, uint32_t count, Read&& read) {
    if (instance != instance_) endInstance();
    instance_ = instance;
    const uint32_t corners = topology_.corners;
    uint32_t* words = words_ + out_.primitiveCount * corners;
    const uint32_t begin = inRun * topology_.step;
    if (topology_.step == corners) {
      read(runBegin + begin, count * corners, words);
    } else {
      uint32_t places[kMaxPrimitives + 2];  // those of fans begin with the center
      const uint32_t first = topology_.fan ? begin + 1 : begin;
      if (topology_.fan) read(runBegin, 1, places);
      read(runBegin + first, count - 1 + corners - topology_.fan, places + topology_.fan);
      for (uint32_t i = 0; i < count; ++i) {
        uint32_t corner[3];
        topology_.corner(inRun + i, draw_.provokingLast, corner);
        for (uint32_t c = 0; c < corners; ++c)
          *words++ = places[topology_.fan && corner[c] == 0 ? 0 : corner[c] - begin];
      }
    }
    for (uint32_t i = 0; i < count; ++i) out_.primitiveId[out_.primitiveCount + i] = id + i;
    out_.primitiveCount += count;
  }

  // One more instance of `count` primitives, the same as the one before it, which is complete.
  void addSame(uint32_t instance, uint32_t count) {
    endInstance();
    const uint32_t first = out_.primitiveCount - count;
    const uint32_t vertices = out_.vertexCount - firstVertex_;
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t c = 0; c < 3; ++c) {
        const uint32_t n = out_.corners[first + i][c] + (c < topology_.corners ? vertices : 0);
        out_.corners[first + count + i][c] = static_cast<uint16_t>(n);
      }
    }
    std::copy_n(out_.primitiveId + first, count, out_.primitiveId + first + count);
    std::copy_n(out_.vertexIndex + firstVertex_, vertices, out_.vertexIndex + out_.vertexCount);
    std::fill_n(out_.instanceIndex + out_.vertexCount, vertices, draw_.firstInstance + instance);
    firstVertex_ = out_.vertexCount;
    out_.vertexCount += vertices;
    instance_ = instance;
    out_.primitiveCount += count;
    numbered_ = out_.primitiveCount;
  }

  void finish() {
    endInstance();
    const uint32_t padded = (out_.primitiveCount + 15) / 16 * 16;
    for (uint32_t i = out_.primitiveCount; i < padded; ++i) std::fill_n(out_.corners[i], 3, uint16_t{0});
  }

 private:
  // Numbers of the instance's vertices.
  void endInstance() {
    if (numbered_ == out_.primitiveCount) return;
    const uint32_t corners = topology_.corners;
    const uint32_t* words = words_ + numbered_ * corners;
    const uint32_t count = out_.primitiveCount - numbered_;
    firstVertex_ = out_.vertexCount;
    if (corners == 3) {
      numbers_.number(words, count * 3, draw_.firstInstance + instance_, out_.corners[numbered_]);
    } else {
      uint16_t numbers[2 * kMaxPrimitives];
      numbers_.number(words, count * corners, draw_.firstInstance + instance_, numbers);
      for (uint32_t i = 0; i < count; ++i) {
        uint16_t(&to)[3] = out_.corners[numbered_ + i];
        for (uint32_t c = 0; c < 3; ++c) to[c] = c < corners ? numbers[i * corners + c] : uint16_t{0};
      }
    }
    numbered_ = out_.primitiveCount;
  }

  const DrawInput& draw_;
  const Topology topology_;
  Assembled& out_;
  VertexNumbers numbers_;
  uint32_t instance_ = 0;         // of the last primitives
  uint32_t firstVertex_ = 0;      // of the last instance that has been numbered
  uint32_t numbered_ = 0;         // primitives whose vertices have numbers
  uint32_t words_[kMaxVertices];  // vertex indices of the primitives' corners
};

template <typename Read>
void assembleByNumber(const DrawInput& draw, Cursor cursor, uint32_t primitives, Maker* maker, Read&& read) {
  const uint32_t perInstance = topologyOf(draw.topology).primitives(draw.count);
  for (bool again = false; primitives != 0 && cursor.instance < draw.instanceCount && perInstance != 0;) {
    const uint32_t count = std::min(primitives, perInstance - cursor.primitive);
    if (again && count == perInstance)
      maker->addSame(cursor.instance, count);
    else
      maker->add(cursor.instance, 0, cursor.primitive, cursor.primitive, count, read);
    again = count == perInstance;
    primitives -= count;
    nextInstance(&cursor);
  }
}

template <typename Reader, typename Read>
void assembleRuns(const DrawInput& draw, const Reader& indices, Cursor cursor, uint32_t primitives, Maker* maker,
                  Read&& read) {
  const Topology topology = topologyOf(draw.topology);
  uint32_t done = 0;
  while (done < primitives && cursor.instance < draw.instanceCount) {
    uint32_t id = cursor.primitive;
    done += walkRuns(draw, topology, indices, &cursor, primitives - done,
                     [&](uint32_t begin, uint32_t from, uint32_t count) {
                       maker->add(cursor.instance, begin, from, id, count, read);
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
    assembleByNumber(draw, cursor, primitives, &maker, [&](uint32_t place, uint32_t count, uint32_t* words) {
      std::iota(words, words + count, draw.first + place);
    });
  } else {
    withIndices(*draw.indices, [&](const auto& indices) {
      const auto read = [&](uint32_t place, uint32_t count, uint32_t* words) {
        indices.read(uint64_t{draw.first} + place, count, static_cast<uint32_t>(draw.vertexOffset), words);
      };
      if (looksForRestarts(draw)) return assembleRuns(draw, indices, cursor, primitives, &maker, read);
      assembleByNumber(draw, cursor, primitives, &maker, read);
    });
  }
  maker.finish();
}

}  // namespace pumice::assembly
