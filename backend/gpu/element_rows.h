// Elements of one row of a plane, whatever its order, side by side and back.
#pragma once

#include <cstring>

#include "backend/gpu/element_bytes.h"
#include "backend/gpu/quad_rows.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {

inline void readRow(const Plane& from, uint32_t x, uint32_t y, uint32_t count, std::byte* out) {
  if (!from.quads) {
    std::memcpy(out, from.element(x, y), size_t{count} * from.elementBytes);
    return;
  }
  withElementBytes(from.elementBytes, [&]<size_t kBytes>() { QuadRows<kBytes>::readRow(from, x, y, count, out); });
}

inline void writeRow(const Plane& to, uint32_t x, uint32_t y, uint32_t count, const std::byte* elements) {
  if (!to.quads) {
    std::memcpy(to.element(x, y), elements, size_t{count} * to.elementBytes);
    return;
  }
  withElementBytes(to.elementBytes, [&]<size_t kBytes>() { QuadRows<kBytes>::writeRow(to, x, y, count, elements); });
}

}  // namespace pumice::gpu
