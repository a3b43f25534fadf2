// Texels of one level to one result. Vulkan specification: "Texel Filtering", "Depth Compare Operation".

/// Whether the reference passes against this depth: 1 or 0.
PUMICE_INLINE F comparedTexel(CompareOp op, const F& reference, const F& texel) {
  I passes{};
  switch (op) {
    case CompareOp::kNever:
      break;
    case CompareOp::kLess:
      passes = reference < texel;
      break;
    case CompareOp::kEqual:
      passes = reference == texel;
      break;
    case CompareOp::kLessOrEqual:
      passes = reference <= texel;
      break;
    case CompareOp::kGreater:
      passes = reference > texel;
      break;
    case CompareOp::kNotEqual:
      passes = reference != texel;
      break;
    case CompareOp::kGreaterOrEqual:
      passes = reference >= texel;
      break;
    case CompareOp::kAlways:
      passes = ~passes;
      break;
  }
  return select(passes, splat(1.0f), F{});
}

/// Depth comparison makes a texel 0 or 1.
PUMICE_INLINE void compareTexels(const Site& site, Texels& texels) {
  texels.c[0] = asBits(comparedTexel(site.sampler->compareOp, site.reference, asFloat(texels.c[0])));
  texels.c[1] = texels.c[2] = U{};
  texels.c[3] = asBits(splat(1.0f));
}

/// Wrapped indices; inside: no border.
[[gnu::noinline]] inline void siteTexels(const Site& site, const Level& level, const I& x, const I& y, const I& slice,
                                         const I& inside, Texels& out) {
  fetchTexels(*site.view, level, x, y, slice, inside & site.lanes, site.border, out);
  if (site.compare) compareTexels(site, out);
}

PUMICE_INLINE int32_t sizeOf(const Level& level, uint32_t dimension) {
  return static_cast<int32_t>(dimension == 0 ? level.width : dimension == 1 ? level.height : level.depth);
}

/// The two texels that a linear filter takes along an axis, not wrapped yet, and the second one's weight.
struct Span {
  I first;
  F weight;
};

PUMICE_INLINE Span linearSpan(const Site& site, const Level& level, uint32_t d) {
  const F position = texelPosition(site.address[d], site.position[d], sizeOf(level, d), site.normalized) - 0.5f;
  const I first = floorToInt(position);
  return {site.hasOffset ? first + site.offset[d] : first, position - toFloat(first)};
}

/// Indices are those of a footprint without offset, in the range where they repeat.
PUMICE_INLINE bool isNear(const Site& site) {
  return !site.hasOffset && site.normalized;
}

[[gnu::noinline]] inline void filterNearest(const Site& site, const Level& level, Texels& out) {
  I index[3] = {};
  I inside = I(-1);
  for (uint32_t d = 0; d < site.dimensions; ++d) {
    const int32_t size = sizeOf(level, d);
    const I texel = floorToInt(texelPosition(site.address[d], site.position[d], size, site.normalized));
    const I moved = site.hasOffset ? texel + site.offset[d] : texel;
    index[d] = wrapIndex(site.address[d], moved, size, isNear(site), inside);
  }
  siteTexels(site, level, index[0], index[1], site.dimensions == 3 ? index[2] : site.slice, inside, out);
}

/// Texel (i, j) of a seamless cube. Returns the lanes where it is a corner that no face has.
[[gnu::noinline]] inline I seamlessTexel(const Site& site, const Level& level, I i, I j, Texels& out) {
  const auto size = static_cast<int32_t>(level.width);
  const I last = splat(size - 1);
  const I x = clampInt(i, splat(0), last);
  const I y = clampInt(j, splat(0), last);
  const I outsideX = x != i;
  const I outsideY = y != j;
  if (!any((outsideX | outsideY) & site.lanes)) {
    siteTexels(site, level, x, y, site.slice, I(-1), out);
    return I{};
  }
  alignas(64) int32_t column[kLanes];
  alignas(64) int32_t row[kLanes];
  alignas(64) int32_t face[kLanes];
  alignas(64) int32_t folds[kLanes];
  store(column, clampInt(i, I(-1), splat(size)));
  store(row, clampInt(j, I(-1), splat(size)));
  store(face, site.face);
  store(folds, outsideX ^ outsideY);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (folds[l] != 0) foldOverEdge(face[l], column[l], row[l], size);
  }
  // Corners stay where clamping has put them; their texel is replaced later.
  const I slices = splat(static_cast<int32_t>(level.sliceCount) - 1);
  const I slice = clampInt(site.slice + loadI(face) - site.face, splat(0), slices);
  siteTexels(site, level, clampInt(loadI(column), splat(0), last), clampInt(loadI(row), splat(0), last), slice, I(-1),
             out);
  return outsideX & outsideY;
}

/// The four texels around the position, (i0, j0), (i1, j0), (i0, j1), (i1, j1), and the weights of i1 and j1.
[[gnu::noinline]] inline void footprint(const Site& site, const Level& level, I slice, Texels (&texels)[4],
                                        F (&weight)[2]) {
  Span span[2];
  for (uint32_t d = 0; d < 2; ++d) {
    span[d] = linearSpan(site, level, d);
    weight[d] = span[d].weight;
  }
  if (site.seamless) {
    I corner[4];
    for (uint32_t k = 0; k < 4; ++k) {
      corner[k] = seamlessTexel(site, level, span[0].first + static_cast<int32_t>(k & 1),
                                span[1].first + static_cast<int32_t>(k >> 1), texels[k]);
    }
    if (!any((corner[0] | corner[1] | corner[2] | corner[3]) & site.lanes)) return;
    // The average of the three that exist.
    for (uint32_t c = 0; c < 4; ++c) {
      const F all[4] = {asFloat(texels[0].c[c]), asFloat(texels[1].c[c]), asFloat(texels[2].c[c]),
                        asFloat(texels[3].c[c])};
      for (uint32_t k = 0; k < 4; ++k) {
        const F others = all[(k + 1) & 3] + all[(k + 2) & 3] + all[(k + 3) & 3];
        texels[k].c[c] = select(corner[k], asBits(others * (1.0f / 3.0f)), texels[k].c[c]);
      }
    }
    return;
  }
  I index[2][2];
  I inside[2][2];
  for (uint32_t d = 0; d < 2; ++d) {
    for (uint32_t k = 0; k < 2; ++k) {
      inside[d][k] = I(-1);
      index[d][k] = wrapIndex(site.address[d], span[d].first + static_cast<int32_t>(k), sizeOf(level, d), isNear(site),
                              inside[d][k]);
    }
  }
  for (uint32_t k = 0; k < 4; ++k) {
    siteTexels(site, level, index[0][k & 1], index[1][k >> 1], slice, inside[0][k & 1] & inside[1][k >> 1], texels[k]);
  }
}

/// Two texels along an axis, or what is left of them after another axis. Reductions leave out texels of no weight.
PUMICE_INLINE F join(const Site& site, F a, F b, F weight) {
  const uint16_t flags = site.sampler->flags;
  if ((flags & abi::kSamplerReduceMin) != 0) return select((weight > 0.0f) & (b < a), b, a);
  if ((flags & abi::kSamplerReduceMax) != 0) return select((weight > 0.0f) & (b > a), b, a);
  return lerp(a, b, weight);
}
PUMICE_INLINE void joinTexels(const Site& site, Texels& a, const Texels& b, F weight) {
  for (uint32_t c = 0; c < 4; ++c) a.c[c] = asBits(join(site, asFloat(a.c[c]), asFloat(b.c[c]), weight));
}

[[gnu::noinline]] inline void filterPlane(const Site& site, const Level& level, I slice, Texels& out) {
  Texels texels[4];
  F weight[2];
  footprint(site, level, slice, texels, weight);
  joinTexels(site, texels[0], texels[1], weight[0]);
  joinTexels(site, texels[2], texels[3], weight[0]);
  joinTexels(site, texels[0], texels[2], weight[1]);
  out = texels[0];
}

[[gnu::noinline]] inline void filterLine(const Site& site, const Level& level, Texels& out) {
  const Span span = linearSpan(site, level, 0);
  Texels texels[2];
  for (uint32_t k = 0; k < 2; ++k) {
    I inside = I(-1);
    const I x =
        wrapIndex(site.address[0], span.first + static_cast<int32_t>(k), sizeOf(level, 0), isNear(site), inside);
    siteTexels(site, level, x, I{}, site.slice, inside, texels[k]);
  }
  joinTexels(site, texels[0], texels[1], span.weight);
  out = texels[0];
}

[[gnu::noinline]] inline void filterVolume(const Site& site, const Level& level, Texels& out) {
  const Span span = linearSpan(site, level, 2);
  Texels planes[2];
  Site of = site;
  for (uint32_t k = 0; k < 2; ++k) {
    I inside = I(-1);
    const I z =
        wrapIndex(site.address[2], span.first + static_cast<int32_t>(k), sizeOf(level, 2), isNear(site), inside);
    of.lanes = site.lanes & inside;  // the others see the border in the whole plane
    filterPlane(of, level, z & inside, planes[k]);
  }
  joinTexels(site, planes[0], planes[1], span.weight);
  out = planes[0];
}

#include "backend/texture/hot_texel.inl"
//
#include "backend/texture/hot_load.inl"
//
#include "backend/texture/hot_plane.inl"
//
#include "backend/texture/hot_site.inl"

/// Catmull-Rom weights of the texels at -1, 0, 1 and 2.
PUMICE_INLINE void cubicWeights(F a, F (&weight)[4]) {
  const F a2 = a * a;
  const F a3 = a2 * a;
  weight[0] = 0.5f * (-a + 2.0f * a2 - a3);
  weight[1] = 0.5f * (2.0f - 5.0f * a2 + 3.0f * a3);
  weight[2] = 0.5f * (a + 4.0f * a2 - 3.0f * a3);
  weight[3] = 0.5f * (a3 - a2);
}

/// Of 1D and 2D; cubes and volumes have no cubic filter and take the linear one.
[[gnu::noinline]] inline void filterCubic(const Site& site, const Level& level, Texels& out) {
  F weight[2][4];
  I index[2][4] = {};
  I inside[2][4];
  const uint32_t rows = site.dimensions == 1 ? 1 : 4;
  for (I& mask : inside[1]) mask = I(-1);
  for (uint32_t d = 0; d < site.dimensions; ++d) {
    const Span span = linearSpan(site, level, d);
    cubicWeights(span.weight, weight[d]);
    for (uint32_t k = 0; k < 4; ++k) {
      inside[d][k] = I(-1);
      index[d][k] =
          wrapIndex(site.address[d], span.first + (static_cast<int32_t>(k) - 1), sizeOf(level, d), false, inside[d][k]);
    }
  }
  const uint16_t reduction = site.sampler->flags & (abi::kSamplerReduceMin | abi::kSamplerReduceMax);
  for (uint32_t k = 0; k < 4 * rows; ++k) {
    const uint32_t i = k & 3;
    const uint32_t j = k >> 2;
    Texels texel;
    siteTexels(site, level, index[0][i], index[1][j], site.slice, inside[0][i] & inside[1][j], texel);
    const F factor = rows == 1 ? weight[0][i] : weight[0][i] * weight[1][j];
    for (uint32_t c = 0; c < 4; ++c) {
      const F value = asFloat(texel.c[c]);
      F total = k == 0 ? reduction != 0 ? value : F{} : asFloat(out.c[c]);
      total = reduction != 0 ? join(site, total, value, splat(1.0f)) : total + factor * value;
      out.c[c] = asBits(total);
    }
  }
}

/// site.lanes: one at least.
PUMICE_INLINE void filterLevel(const Site& site, const Level& level, Filter filter, Texels& out) {
  const bool isFloat = site.view->format->type == formats::TexelType::kFloat;
  const bool nearest = filter == Filter::kNearest || !isFloat;
  const bool cubic = !nearest && filter == Filter::kCubic && site.view->shape != abi::ViewShape::kCube;
  if (!cubic && tryHotPlane(site, level, !nearest, out)) return;
  if (nearest) return filterNearest(site, level, out);
  if (site.dimensions == 3) return filterVolume(site, level, out);
  if (cubic) return filterCubic(site, level, out);
  if (site.dimensions == 1) return filterLine(site, level, out);
  filterPlane(site, level, site.slice, out);
}
