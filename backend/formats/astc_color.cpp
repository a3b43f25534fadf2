#include "backend/formats/astc_color.h"

#include <algorithm>

namespace pumice::formats::astc {
namespace {

/// The highest bit of a moves to b, and a becomes a signed number of six bits.
void transferBit(int32_t* a, int32_t* b) {
  *b = (*b >> 1) | (*a & 0x80);
  *a = (*a >> 1) & 0x3F;
  if ((*a & 0x20) != 0) *a -= 0x40;
}

void set(int32_t (&color)[4], int32_t r, int32_t g, int32_t b, int32_t a) {
  color[0] = r;
  color[1] = g;
  color[2] = b;
  color[3] = a;
}

/// Red and green move half-way to blue, which gives colors near gray more precision.
void setContracted(int32_t (&color)[4], int32_t r, int32_t g, int32_t b, int32_t a) {
  set(color, (r + b) >> 1, (g + b) >> 1, b, a);
}

/// Modes 8 and 12: both colors in full. The order of the sums says whether blue is contracted.
void direct(const int32_t* v, int32_t alpha0, int32_t alpha1, Endpoints* e) {
  if (v[1] + v[3] + v[5] >= v[0] + v[2] + v[4]) {
    set(e->from, v[0], v[2], v[4], alpha0);
    set(e->to, v[1], v[3], v[5], alpha1);
  } else {
    setContracted(e->from, v[1], v[3], v[5], alpha1);
    setContracted(e->to, v[0], v[2], v[4], alpha0);
  }
}

/// Modes 9 and 13: a color and a signed offset.
void offset(int32_t* v, int32_t alpha, int32_t alphaOffset, Endpoints* e) {
  for (int i = 0; i < 6; i += 2) transferBit(&v[i + 1], &v[i]);
  if (v[1] + v[3] + v[5] >= 0) {
    set(e->from, v[0], v[2], v[4], alpha);
    set(e->to, v[0] + v[1], v[2] + v[3], v[4] + v[5], alpha + alphaOffset);
  } else {
    setContracted(e->from, v[0] + v[1], v[2] + v[3], v[4] + v[5], alpha + alphaOffset);
    setContracted(e->to, v[0], v[2], v[4], alpha);
  }
}

}  // namespace

Endpoints endpointsOf(unsigned mode, const uint8_t* values) {
  Endpoints e;
  int32_t v[8] = {};
  std::copy_n(values, ((mode >> 2) + 1) * 2, v);
  e.valid = true;
  switch (mode) {
    case 0:  // luminance
      set(e.from, v[0], v[0], v[0], 255);
      set(e.to, v[1], v[1], v[1], 255);
      break;
    case 1: {  // luminance and offset
      const int32_t low = (v[0] >> 2) | (v[1] & 0xC0);
      const int32_t high = low + (v[1] & 0x3F);
      set(e.from, low, low, low, 255);
      set(e.to, high, high, high, 255);
      break;
    }
    case 4:  // luminance and alpha
      set(e.from, v[0], v[0], v[0], v[2]);
      set(e.to, v[1], v[1], v[1], v[3]);
      break;
    case 5:  // luminance and alpha, offsets
      transferBit(&v[1], &v[0]);
      transferBit(&v[3], &v[2]);
      set(e.from, v[0], v[0], v[0], v[2]);
      set(e.to, v[0] + v[1], v[0] + v[1], v[0] + v[1], v[2] + v[3]);
      break;
    case 6:   // RGB and a scale
    case 10:  // and two alphas
      set(e.from, v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, mode == 6 ? 255 : v[4]);
      set(e.to, v[0], v[1], v[2], mode == 6 ? 255 : v[5]);
      break;
    case 8:
      direct(v, 255, 255, &e);
      break;
    case 9:
      offset(v, 255, 0, &e);
      break;
    case 12:
      direct(v, v[6], v[7], &e);
      break;
    case 13:
      transferBit(&v[7], &v[6]);
      offset(v, v[6], v[7], &e);
      break;
    default:
      e.valid = false;
      return e;
  }
  for (int c = 0; c < 4; ++c) {
    e.from[c] = std::clamp(e.from[c], 0, 255);
    e.to[c] = std::clamp(e.to[c], 0, 255);
  }
  return e;
}

}  // namespace pumice::formats::astc
