// Any format whose components are whole bit fields of 8-, 16- or 32-bit elements, one component of the row after the
// other: what differs between formats is chosen outside the loops over texels.
#include <cstring>

#include "backend/formats/codec_kernels.h"
#include "backend/formats/fixed_point.h"
#include "backend/formats/half.h"
#include "backend/formats/srgb.h"

namespace pumice::formats {
namespace {

/// Where one component lies in a texel.
struct Field {
  size_t offset_B;  // of its element
  int shift;
  int bits;
  uint32_t mask;  // of the number, not shifted

  explicit Field(const Component& c)
      : offset_B(c.bitOffset / c.elementBits * (c.elementBits / 8u)),
        shift(c.bitOffset % c.elementBits),
        bits(c.bits),
        mask(c.bits == 32 ? ~0u : (1u << c.bits) - 1) {}
};

int channelOf(ComponentName name) {
  return name == ComponentName::kD || name == ComponentName::kS ? 0 : static_cast<int>(name);
}

// ---- one component: field to number
// ------------------------------------------------------------------------------------
int32_t signExtend(uint32_t value, int bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

struct FromUnorm {
  float largest;
  explicit FromUnorm(const Field& f) : largest(static_cast<float>(f.mask)) {}
  float operator()(uint32_t v) const { return unormToFloat(v, largest); }
};
struct FromSnorm {
  int bits;
  float largest;
  explicit FromSnorm(const Field& f) : bits(f.bits), largest(static_cast<float>(f.mask >> 1)) {}
  float operator()(uint32_t v) const { return snormToFloat(signExtend(v, bits), largest); }
};
struct FromUscaled {
  explicit FromUscaled(const Field&) {}
  float operator()(uint32_t v) const { return static_cast<float>(v); }
};
struct FromSscaled {
  int bits;
  explicit FromSscaled(const Field& f) : bits(f.bits) {}
  float operator()(uint32_t v) const { return static_cast<float>(signExtend(v, bits)); }
};
struct FromSrgb {
  explicit FromSrgb(const Field&) {}
  float operator()(uint32_t v) const { return kSrgbToLinear[v]; }
};
struct FromHalf {
  explicit FromHalf(const Field&) {}
  float operator()(uint32_t v) const { return halfToFloat(v); }
};
template <int MantissaBits>
struct FromUnsignedFloat {
  explicit FromUnsignedFloat(const Field&) {}
  float operator()(uint32_t v) const { return smallFloatToFloat<MantissaBits>(v); }
};
struct FromBits {  // unsigned integers, and floats of 32 bits with their NaNs as they are
  explicit FromBits(const Field&) {}
  uint32_t operator()(uint32_t v) const { return v; }
};
struct FromSint {
  int bits;
  explicit FromSint(const Field& f) : bits(f.bits) {}
  int32_t operator()(uint32_t v) const { return signExtend(v, bits); }
};

// ---- one component: number to field
// ------------------------------------------------------------------------------------
struct ToUnorm {
  double largest;
  explicit ToUnorm(const Field& f) : largest(f.mask) {}
  uint32_t operator()(float v) const { return floatToUnorm(v, largest); }
};
struct ToSnorm {
  double largest;
  explicit ToSnorm(const Field& f) : largest(f.mask >> 1) {}
  uint32_t operator()(float v) const { return static_cast<uint32_t>(floatToSnorm(v, largest)); }
};
struct ToUscaled {
  float largest;
  explicit ToUscaled(const Field& f) : largest(static_cast<float>(f.mask)) {}
  uint32_t operator()(float v) const { return static_cast<uint32_t>(floatToScaled(v, 0.0f, largest)); }
};
struct ToSscaled {
  float largest;
  explicit ToSscaled(const Field& f) : largest(static_cast<float>(f.mask >> 1)) {}
  uint32_t operator()(float v) const { return static_cast<uint32_t>(floatToScaled(v, -largest - 1.0f, largest)); }
};
struct ToSrgb {
  explicit ToSrgb(const Field&) {}
  uint32_t operator()(float v) const { return linearToSrgb8(v); }
};
struct ToHalf {
  explicit ToHalf(const Field&) {}
  uint32_t operator()(float v) const { return floatToHalf(v); }
};
template <int MantissaBits>
struct ToUnsignedFloat {
  explicit ToUnsignedFloat(const Field&) {}
  uint32_t operator()(float v) const { return floatToUnsignedFloat<MantissaBits>(v); }
};
struct ToUint {
  uint32_t largest;
  explicit ToUint(const Field& f) : largest(f.mask) {}
  uint32_t operator()(uint32_t v) const { return v < largest ? v : largest; }
};
struct ToSint {
  int32_t largest;
  explicit ToSint(const Field& f) : largest(static_cast<int32_t>(f.mask >> 1)) {}
  uint32_t operator()(int32_t v) const {
    const int32_t smallest = -largest - 1;
    return static_cast<uint32_t>(v < smallest ? smallest : v > largest ? largest : v);
  }
};

// ---- rows
// ----------------------------------------------------------------------------------------------------------------
/// A component of a row; channels are 32 bits wide and four make a texel.
template <typename Element, typename From, typename Number>
void decodeField(const Field& field, const std::byte* texels, size_t stride_B, size_t count, std::byte* channel) {
  const From from(field);
  texels += field.offset_B;
  for (size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, texels + i * stride_B, sizeof element);
    const Number number = from((static_cast<uint32_t>(element) >> field.shift) & field.mask);
    std::memcpy(channel + 16 * i, &number, sizeof number);
  }
}

/// keep: other components of the element are already there.
template <typename Element, typename To, typename Number>
void encodeField(const Field& field, const std::byte* channel, size_t count, std::byte* texels, size_t stride_B,
                 bool keep) {
  const To to(field);
  texels += field.offset_B;
  for (size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, channel + 16 * i, sizeof number);
    uint32_t word = (to(number) & field.mask) << field.shift;
    Element element;
    if (keep) {
      std::memcpy(&element, texels + i * stride_B, sizeof element);
      word |= element;
    }
    element = static_cast<Element>(word);
    std::memcpy(texels + i * stride_B, &element, sizeof element);
  }
}

template <typename From, typename Number = float>
void decodeAs(const Component& c, const std::byte* texels, size_t stride_B, size_t count, std::byte* channel) {
  const Field field(c);
  switch (c.elementBits) {
    case 8:
      return decodeField<uint8_t, From, Number>(field, texels, stride_B, count, channel);
    case 16:
      return decodeField<uint16_t, From, Number>(field, texels, stride_B, count, channel);
    default:
      return decodeField<uint32_t, From, Number>(field, texels, stride_B, count, channel);
  }
}

template <typename To, typename Number = float>
void encodeAs(const Component& c, const std::byte* channel, size_t count, std::byte* texels, size_t stride_B,
              bool keep) {
  const Field field(c);
  switch (c.elementBits) {
    case 8:
      return encodeField<uint8_t, To, Number>(field, channel, count, texels, stride_B, keep);
    case 16:
      return encodeField<uint16_t, To, Number>(field, channel, count, texels, stride_B, keep);
    default:
      return encodeField<uint32_t, To, Number>(field, channel, count, texels, stride_B, keep);
  }
}

void decodeComponent(const Component& c, const std::byte* texels, size_t stride_B, size_t count, std::byte* channel) {
  switch (c.numeric) {
    case NumericFormat::kUnorm:
      return decodeAs<FromUnorm>(c, texels, stride_B, count, channel);
    case NumericFormat::kSnorm:
      return decodeAs<FromSnorm>(c, texels, stride_B, count, channel);
    case NumericFormat::kUscaled:
      return decodeAs<FromUscaled>(c, texels, stride_B, count, channel);
    case NumericFormat::kSscaled:
      return decodeAs<FromSscaled>(c, texels, stride_B, count, channel);
    case NumericFormat::kSrgb:
      return decodeAs<FromSrgb>(c, texels, stride_B, count, channel);
    case NumericFormat::kUfloat:
      return c.bits == 11 ? decodeAs<FromUnsignedFloat<6>>(c, texels, stride_B, count, channel)
                          : decodeAs<FromUnsignedFloat<5>>(c, texels, stride_B, count, channel);
    case NumericFormat::kSfloat:
      return c.bits == 16 ? decodeAs<FromHalf>(c, texels, stride_B, count, channel)
                          : decodeAs<FromBits, uint32_t>(c, texels, stride_B, count, channel);
    case NumericFormat::kSint:
      return decodeAs<FromSint, int32_t>(c, texels, stride_B, count, channel);
    default:
      return decodeAs<FromBits, uint32_t>(c, texels, stride_B, count, channel);
  }
}

void encodeComponent(const Component& c, const std::byte* channel, size_t count, std::byte* texels, size_t stride_B,
                     bool keep) {
  switch (c.numeric) {
    case NumericFormat::kUnorm:
      return encodeAs<ToUnorm>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kSnorm:
      return encodeAs<ToSnorm>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kUscaled:
      return encodeAs<ToUscaled>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kSscaled:
      return encodeAs<ToSscaled>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kSrgb:
      return encodeAs<ToSrgb>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kUfloat:
      return c.bits == 11 ? encodeAs<ToUnsignedFloat<6>>(c, channel, count, texels, stride_B, keep)
                          : encodeAs<ToUnsignedFloat<5>>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kSfloat:
      return c.bits == 16 ? encodeAs<ToHalf>(c, channel, count, texels, stride_B, keep)
                          : encodeAs<ToUint, uint32_t>(c, channel, count, texels, stride_B, keep);
    case NumericFormat::kSint:
      return encodeAs<ToSint, int32_t>(c, channel, count, texels, stride_B, keep);
    default:
      return encodeAs<ToUint, uint32_t>(c, channel, count, texels, stride_B, keep);
  }
}

}  // namespace

void decodeGeneric(const FormatInfo& info, const void* texels, size_t stride_B, size_t count, void* rgba) {
  const uint32_t one = texelType(info) == TexelType::kFloat ? std::bit_cast<uint32_t>(1.0f) : 1;
  auto* out = static_cast<std::byte*>(rgba);
  bool present[4] = {};
  for (uint32_t i = 0; i < info.componentCount; ++i) {
    const Component& c = info.components[i];
    const int channel = channelOf(c.name);
    present[channel] = true;
    decodeComponent(c, static_cast<const std::byte*>(texels), stride_B, count, out + 4 * channel);
  }
  for (int channel = 0; channel < 4; ++channel) {
    if (present[channel]) continue;
    const uint32_t number = channel == 3 ? one : 0;
    for (size_t i = 0; i < count; ++i) std::memcpy(out + 16 * i + 4 * channel, &number, 4);
  }
}

void encodeGeneric(const FormatInfo& info, const void* rgba, size_t count, void* texels, size_t stride_B) {
  // Each element is written whole by its first component; there is no element without one.
  uint32_t written = 0;
  for (uint32_t i = 0; i < info.componentCount; ++i) {
    const Component& c = info.components[i];
    const uint32_t element = 1u << (c.bitOffset / c.elementBits);
    encodeComponent(c, static_cast<const std::byte*>(rgba) + 4 * channelOf(c.name), count,
                    static_cast<std::byte*>(texels), stride_B, (written & element) != 0);
    written |= element;
  }
}

}  // namespace pumice::formats
