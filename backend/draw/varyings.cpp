#include "backend/draw/varyings.h"

#include <immintrin.h>

#include <algorithm>

namespace pumice::draw {

// Four vertices' slot at a time is a transposition of four by four.
void gatherVaryings(const raster::VertexOutputs& outputs, uint32_t vertices, uint32_t slots, float (*out)[4]) {
  constexpr uint32_t kLanes = abi::kVertexBlockLanes;
  for (uint32_t block = 0; block * kLanes < vertices; ++block) {
    const uint32_t count = std::min(kLanes, vertices - block * kLanes);
    const abi::VertexRow* rows = outputs.rows + block * outputs.rowCount + abi::kRowVaryings;
    float(*to)[4] = out + block * kLanes * slots;
    for (uint32_t slot = 0; slot < slots; ++slot) {
      for (uint32_t v = 0; v < count; v += 4) {
        __m128 c[4];
        for (uint32_t i = 0; i < 4; ++i) c[i] = _mm_loadu_ps(reinterpret_cast<const float*>(rows[slot * 4 + i]) + v);
        _MM_TRANSPOSE4_PS(c[0], c[1], c[2], c[3]);
        for (uint32_t i = 0; i < 4 && v + i < count; ++i) _mm_storeu_ps(to[(v + i) * slots + slot], c[i]);
      }
    }
  }
}

}  // namespace pumice::draw
