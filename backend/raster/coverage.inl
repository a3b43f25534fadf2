// Hierarchical coverage of a square: 64 -> 16 -> 4 -> pixels, sixteen cells at each level as one vector in quad-major order.

constexpr int32_t kCellX[kLanes] = {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3};
constexpr int32_t kCellY[kLanes] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};

// Bits of a block's number that are its x, spread; y one to the left.
constexpr uint32_t kMorton[16] = {0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85};

// Cells with x (or y) at or past k.
constexpr uint16_t kFromX[5] = {0xFFFF, 0xFAFA, 0xF0F0, 0xA0A0, 0};
constexpr uint16_t kFromY[5] = {0xFFFF, 0xFFCC, 0xFF00, 0xCC00, 0};

/// Cells of edge `cell` (a power of two) that meet the rectangle, which is in pixels from the first cell's corner.
PUMICE_INLINE uint32_t cellsInRect(const PixelRect& rect, int32_t cell) {
  const auto first = [&](int32_t p) { return p <= 0 ? 0 : p >= 4 * cell ? 4 : p / cell; };
  const auto last = [&](int32_t p) { return p <= 0 ? 0 : p >= 4 * cell ? 4 : (p + cell - 1) / cell; };
  return kFromX[first(rect.x0)] & ~kFromX[last(rect.x1)] & kFromY[first(rect.y0)] & ~kFromY[last(rect.y1)];
}

PUMICE_INLINE PixelRect moved(const PixelRect& rect, int32_t x, int32_t y) {
  return {rect.x0 - x, rect.y0 - y, rect.x1 - x, rect.y1 - y};
}

/// The edges that cross a square, in its 32-bit numbers (fixed_point.h): those that do not are zero and always pass.
template <uint32_t kEdges, uint32_t kSamples>
struct Crossing {
  int32_t a[kEdges], b[kEdges];
  int32_t origin[kEdges];             // e of sample 0 at the square's first pixel
  int32_t sample[kEdges][kSamples];   // what other samples add
  int32_t sampleMin[kEdges], sampleMax[kEdges];
  Int16 ramp[kEdges];                 // a x + b y of the pixels of a block

  /// False: nothing in the square is covered.
  PUMICE_INLINE bool setUp(const Edges& edges, int32_t x, int32_t y) {
    constexpr const SamplePattern& pattern = kSamplePatterns[kSamples == 8 ? 3 : kSamples / 2];
    const Int16 cellX = loadInts(kCellX);
    const Int16 cellY = loadInts(kCellY);
    for (uint32_t i = 0; i < kEdges; ++i) {
      const int64_t ea = edges.a[i];
      const int64_t eb = edges.b[i];
      const int64_t corner = edges.c[i] + ea * (int64_t{x} * kSubpixels) + eb * (int64_t{y} * kSubpixels);
      int64_t e[kSamples];
      for (uint32_t s = 0; s < kSamples; ++s)
        e[s] = (corner + ea * pattern.x[s] + eb * pattern.y[s]) >> kSubpixelBits;
      int64_t low = e[0];
      int64_t high = e[0];
      for (uint32_t s = 1; s < kSamples; ++s) {
        low = e[s] < low ? e[s] : low;
        high = e[s] > high ? e[s] : high;
      }
      const int64_t below = (kSquareEdge - 1) * ((ea < 0 ? ea : 0) + (eb < 0 ? eb : 0));
      const int64_t above = (kSquareEdge - 1) * ((ea > 0 ? ea : 0) + (eb > 0 ? eb : 0));
      if (high + above < 0) return false;
      const bool crosses = low + below < 0;
      a[i] = crosses ? edges.a[i] : 0;
      b[i] = crosses ? edges.b[i] : 0;
      origin[i] = crosses ? static_cast<int32_t>(e[0]) : 0;
      for (uint32_t s = 0; s < kSamples; ++s) sample[i][s] = crosses ? static_cast<int32_t>(e[s] - e[0]) : 0;
      sampleMin[i] = crosses ? static_cast<int32_t>(low - e[0]) : 0;
      sampleMax[i] = crosses ? static_cast<int32_t>(high - e[0]) : 0;
      ramp[i] = cellX * Int16(a[i]) + cellY * Int16(b[i]);
    }
    return true;
  }

  PUMICE_INLINE int32_t at(uint32_t i, int32_t x, int32_t y) const { return origin[i] + a[i] * x + b[i] * y; }

  /// Sixteen cells from pixel (x, y) on: which have a sample that may be inside (no edge has all of the cell outside), and which
  /// are inside with all samples.
  PUMICE_INLINE void cells(int32_t x, int32_t y, uint32_t cell_log2, uint32_t& touched, uint32_t& full) const {
    const int32_t far = (1 << cell_log2) - 1;
    Int16 outside = 0;
    Int16 notFull = 0;
    for (uint32_t i = 0; i < kEdges; ++i) {
      const Int16 e = shiftLeft(ramp[i], cell_log2) + Int16(at(i, x, y));
      const int32_t below = far * ((a[i] < 0 ? a[i] : 0) + (b[i] < 0 ? b[i] : 0)) + sampleMin[i];
      const int32_t above = far * ((a[i] > 0 ? a[i] : 0) + (b[i] > 0 ? b[i] : 0)) + sampleMax[i];
      outside = outside | (e + Int16(above));
      notFull = notFull | (e + Int16(below));
    }
    touched = ~signs(outside) & 0xFFFFu;
    full = ~signs(notFull) & touched;
  }

  PUMICE_INLINE void add(uint32_t block, int32_t x, int32_t y, uint32_t inRect, BlockList& out) const {
    Int16 e[kEdges];
    for (uint32_t i = 0; i < kEdges; ++i) e[i] = ramp[i] + Int16(at(i, x, y));
    const uint32_t n = out.count;
    uint32_t any = 0;
    for (uint32_t s = 0; s < kSamples; ++s) {
      Int16 outside = kSamples == 1 ? e[0] : e[0] + Int16(sample[0][s]);
      for (uint32_t i = 1; i < kEdges; ++i)
        outside = outside | (kSamples == 1 ? e[i] : e[i] + Int16(sample[i][s]));
      const uint32_t mask = ~signs(outside) & inRect;
      out.coverage[s][n] = static_cast<uint16_t>(mask);
      any |= mask;
    }
    out.block[n] = static_cast<uint8_t>(block);
    out.count = n + (any != 0);
  }
};

template <uint32_t kSamples>
PUMICE_INLINE void addFull(uint32_t block, uint32_t mask, BlockList& out) {
  const uint32_t n = out.count++;
  out.block[n] = static_cast<uint8_t>(block);
  for (uint32_t s = 0; s < kSamples; ++s) out.coverage[s][n] = static_cast<uint16_t>(mask);
}

/// All sixteen blocks of a cell of 16x16 pixels.
template <uint32_t kSamples>
PUMICE_INLINE void addFullCell(uint32_t c16, BlockList& out) {
  const uint32_t n = out.count;
  out.count = n + kLanes;
  for (uint32_t i = 0; i < kLanes; ++i) out.block[n + i] = static_cast<uint8_t>(c16 << 4 | i);
  for (uint32_t s = 0; s < kSamples; ++s) __builtin_memset(&out.coverage[s][n], 0xFF, kLanes * sizeof(uint16_t));
}

/// At most two by two blocks, in blocks from (firstX, firstY) to (endX, endY): each is looked at. Nothing of the square is
/// needed, so edges begin at the first of the blocks. An edge that is further away than these blocks reach is moved
/// nearer, so that its values fit 32 bits: their signs are the same.
template <uint32_t kEdges, uint32_t kSamples>
PUMICE_INLINE void coverFew(const Edges& edges, int32_t x, int32_t y, const PixelRect& rect, int32_t firstX, int32_t firstY,
                            int32_t endX, int32_t endY, BlockList& out) {
  constexpr const SamplePattern& pattern = kSamplePatterns[kSamples == 8 ? 3 : kSamples / 2];
  constexpr int64_t kFar = int64_t{1} << 30;  // blocks reach 14 * 2^23
  const Int16 cellX = loadInts(kCellX);
  const Int16 cellY = loadInts(kCellY);
  const int64_t left = int64_t{x + firstX * 4} * kSubpixels;
  const int64_t top = int64_t{y + firstY * 4} * kSubpixels;
  // All four edges as one vector.
  typedef int32_t Four __attribute__((vector_size(16)));
  typedef int64_t WideFour __attribute__((vector_size(32)));
  Four a;
  Four b;
  WideFour c;
  __builtin_memcpy(&a, edges.a, sizeof(a));
  __builtin_memcpy(&b, edges.b, sizeof(b));
  __builtin_memcpy(&c, edges.c, sizeof(c));
  const WideFour wideA = __builtin_convertvector(a, WideFour);
  const WideFour wideB = __builtin_convertvector(b, WideFour);
  int32_t origin[kSamples][kMaxEdges];
  for (uint32_t s = 0; s < kSamples; ++s) {
    WideFour e = (c + wideA * (left + pattern.x[s]) + wideB * (top + pattern.y[s])) >> kSubpixelBits;
    e = e < -kFar ? WideFour{} - kFar : e;
    e = e > kFar ? WideFour{} + kFar : e;
    const Four near = __builtin_convertvector(e, Four);
    __builtin_memcpy(origin[s], &near, sizeof(near));
  }
  Int16 ramp[kEdges];
  for (uint32_t i = 0; i < kEdges; ++i) ramp[i] = cellX * Int16(edges.a[i]) + cellY * Int16(edges.b[i]);
  const auto inBlock = [](int32_t pixel) { return pixel <= 0 ? 0 : pixel >= 4 ? 4 : pixel; };
  const auto columnsOf = [&](int32_t bx) {
    return uint32_t{kFromX[inBlock(rect.x0 - bx * 4)]} & ~uint32_t{kFromX[inBlock(rect.x1 - bx * 4)]};
  };
  const uint32_t columns[2] = {columnsOf(firstX), columnsOf(firstX + 1)};
  for (int32_t by = firstY; by < endY; ++by) {
    const uint32_t rows = uint32_t{kFromY[inBlock(rect.y0 - by * 4)]} & ~uint32_t{kFromY[inBlock(rect.y1 - by * 4)]};
    for (int32_t bx = firstX; bx < endX; ++bx) {
      const uint32_t inRect = columns[bx - firstX] & rows;
      const uint32_t n = out.count;
      uint32_t any = 0;
      for (uint32_t s = 0; s < kSamples; ++s) {
        Int16 outside = 0;
        for (uint32_t i = 0; i < kEdges; ++i) {
          const int32_t step = (edges.a[i] * (bx - firstX) + edges.b[i] * (by - firstY)) * 4;
          outside = outside | (ramp[i] + Int16(origin[s][i] + step));
        }
        const uint32_t mask = ~signs(outside) & inRect;
        out.coverage[s][n] = static_cast<uint16_t>(mask);
        any |= mask;
      }
      out.block[n] = static_cast<uint8_t>(kMorton[bx] | kMorton[by] << 1);
      out.count = n + (any != 0);
    }
  }
}

template <uint32_t kEdges, uint32_t kSamples>
void cover(const Edges& edges, int32_t x, int32_t y, const PixelRect& rect, BlockList& out) {
  out.count = 0;
  const int32_t firstX = rect.x0 >> 2;
  const int32_t firstY = rect.y0 >> 2;
  const int32_t endX = (rect.x1 + 3) >> 2;
  const int32_t endY = (rect.y1 + 3) >> 2;
  if (endX - firstX <= 2 && endY - firstY <= 2)
    return coverFew<kEdges, kSamples>(edges, x, y, rect, firstX, firstY, endX, endY, out);
  Crossing<kEdges, kSamples> crossing;
  if (!crossing.setUp(edges, x, y)) return;

  uint32_t touched16;
  uint32_t full16;
  crossing.cells(0, 0, 4, touched16, full16);
  for (uint32_t left16 = touched16 & cellsInRect(rect, 16); left16; left16 &= left16 - 1) {
    const uint32_t c16 = static_cast<uint32_t>(__builtin_ctz(left16));
    const int32_t x16 = kCellX[c16] * 16;
    const int32_t y16 = kCellY[c16] * 16;
    const PixelRect rect16 = moved(rect, x16, y16);
    const bool inside16 = rect16.x0 <= 0 && rect16.y0 <= 0 && rect16.x1 >= 16 && rect16.y1 >= 16;
    if ((full16 >> c16 & 1) && inside16) {
      addFullCell<kSamples>(c16, out);
      continue;
    }
    uint32_t touched4 = 0xFFFF;
    uint32_t full4 = 0xFFFF;
    if (!(full16 >> c16 & 1)) crossing.cells(x16, y16, 2, touched4, full4);
    if (!inside16) touched4 &= cellsInRect(rect16, 4);
    for (uint32_t left4 = touched4; left4; left4 &= left4 - 1) {
      const uint32_t c4 = static_cast<uint32_t>(__builtin_ctz(left4));
      const int32_t x4 = kCellX[c4] * 4;
      const int32_t y4 = kCellY[c4] * 4;
      const uint32_t inRect = inside16 ? 0xFFFFu : cellsInRect(moved(rect16, x4, y4), 1);
      if (full4 >> c4 & 1)
        addFull<kSamples>(c16 << 4 | c4, inRect, out);
      else
        crossing.add(c16 << 4 | c4, x16 + x4, y16 + y4, inRect, out);
    }
  }
}
