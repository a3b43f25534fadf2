#include "backend/assembly/vertex_fetch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/assembly/vertex_gather.h"
#include "backend/formats/format_table.h"
#include "backend/formats/texel_codec.h"

namespace pumice::assembly {
namespace {

constexpr uint32_t kLanes = abi::kVertexBlockLanes;
constexpr uint32_t kMaxElementBytes = 32;  // four 64-bit components

alignas(64) constexpr std::byte kZeros[kMaxElementBytes]{};

// Where each vertex's element lies: its own place, or zeros.
struct Elements {
  const std::byte* at[kLanes];
  bool contiguous;  // all in order, one stride apart
  uint64_t stride_B;
};

void elementIndices(const abi::VertexAttribute& a, const FetchVertices& v, uint64_t (&out)[kLanes]) {
  if (a.rate == abi::AttributeRate::kVertex) {
    std::copy_n(v.vertexIndex, v.count, out);
    return;
  }
  for (uint32_t i = 0; i < v.count; ++i) {
    const uint32_t instance = v.instanceIndex[i] - v.firstInstance;
    out[i] = uint64_t{v.firstInstance} + (a.divisor != 0 ? instance / a.divisor : 0);
  }
}

void findElements(const abi::VertexAttribute& a, const abi::VertexBuffer& buffer, uint32_t element_B,
                  const FetchVertices& v, Elements* out) {
  const auto* base = reinterpret_cast<const std::byte*>(buffer.address);
  // Elements 0 to safe - 1 lie inside. No sum overflows: an index has 32 bits, a stride has at most 16 more, and what
  // does not fit below is left to the compare.
  const bool fits = base != nullptr && buffer.size_B >= uint64_t{a.offset_B} + element_B;
  const uint64_t room_B = fits ? buffer.size_B - a.offset_B - element_B : 0;
  const uint64_t safe = !fits ? 0 : buffer.stride_B == 0 ? UINT64_MAX : room_B / buffer.stride_B + 1;
  out->stride_B = buffer.stride_B;
  uint64_t index[kLanes];
  elementIndices(a, v, index);
  bool contiguous = true;
  for (uint32_t i = 0; i < v.count; ++i) {
    const bool inside = index[i] < safe;
    out->at[i] = inside ? base + a.offset_B + index[i] * buffer.stride_B : kZeros;
    contiguous &= inside && index[i] == index[0] + i;
  }
  out->contiguous = contiguous;
}

// Formats of 32-bit components are what the rows hold already.
uint32_t wordComponents(const formats::FormatInfo& info) {
  const bool words = info.packedBits == 0 && info.componentCount != 0 &&
                     std::all_of(info.components, info.components + info.componentCount,
                                 [](const formats::Component& c) { return c.bits == 32; });
  return words && info.blockBytes == 4 * info.componentCount ? info.componentCount : 0;
}

uint32_t one(formats::TexelType type) {
  return type == formats::TexelType::kFloat ? std::bit_cast<uint32_t>(1.0f) : 1;
}

template <uint32_t kComponents>
void fetchWords(const Elements& e, uint32_t count, uint32_t alpha, abi::VertexRow* rows) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t word[4] = {0, 0, 0, alpha};
    std::memcpy(word, e.at[i], 4 * kComponents);
    for (uint32_t c = 0; c < 4; ++c) rows[c][i] = word[c];
  }
}

void fetchWords(const Elements& e, uint32_t count, uint32_t components, uint32_t alpha, abi::VertexRow* rows) {
  switch (components) {
    case 1:
      return fetchWords<1>(e, count, alpha, rows);
    case 2:
      return fetchWords<2>(e, count, alpha, rows);
    case 3:
      return fetchWords<3>(e, count, alpha, rows);
    default:
      return fetchWords<4>(e, count, alpha, rows);
  }
}

// Decoded numbers of 32 bits, four a vertex, to rows; of 64 bits, to pairs of rows.
void toRows(const uint32_t* numbers, uint32_t count, uint32_t rowCount, uint32_t wordsPerVertex, abi::VertexRow* rows) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t r = 0; r < rowCount; ++r) rows[r][i] = numbers[i * wordsPerVertex + r];
  }
}

void fetchByCodec(const formats::TexelCodec& codec, const Elements& e, uint32_t count, uint32_t rowCount,
                  abi::VertexRow* rows) {
  alignas(64) uint32_t numbers[kLanes * 8];
  if (e.contiguous && e.stride_B != 0) {
    codec.decode(e.at[0], e.stride_B, count, numbers);
  } else {
    alignas(64) std::byte gathered[kLanes * kMaxElementBytes];
    for (uint32_t i = 0; i < count; ++i) std::memcpy(gathered + i * codec.texelBytes, e.at[i], codec.texelBytes);
    codec.decode(gathered, count, numbers);
  }
  toRows(numbers, count, rowCount, codec.channelBytes, rows);  // four components of one or two words
}

// Element numbers as 32-bit numbers: those that do not fit are greater than any of a buffer below 2^31 bytes.
void elementIndices(const abi::VertexAttribute& a, const FetchVertices& v, uint32_t (&out)[kLanes]) {
  if (a.divisor == 0) {
    std::fill_n(out, v.count, v.firstInstance);
    return;
  }
  uint32_t instance = v.instanceIndex[0] - v.firstInstance;
  uint32_t element = instance / a.divisor;
  for (uint32_t i = 0; i < v.count; ++i) {
    const uint32_t next = v.instanceIndex[i] - v.firstInstance;
    if (next != instance) element = (instance = next) / a.divisor;  // vertices of an instance follow each other
    out[i] = element > ~v.firstInstance ? ~0u : v.firstInstance + element;
  }
}

// False: not by gathering.
bool gatherAttribute(const abi::VertexAttribute& a, const abi::VertexBuffer& buffer, const formats::FormatInfo& info,
                     const FetchVertices& v, abi::VertexRow* rows) {
  static const GatherFunctions* const functions = gatherFunctions();
  const bool unorm8 = a.format == VK_FORMAT_R8G8B8A8_UNORM;
  const uint32_t components = wordComponents(info);
  if (!functions || (components == 0 && !unorm8) || a.slotCount != 1) return false;
  constexpr uint64_t kMost_B = uint64_t{1} << 31;
  const uint64_t end_B = uint64_t{a.offset_B} + info.blockBytes;
  if (buffer.address == 0 || buffer.size_B < end_B || buffer.size_B >= kMost_B || buffer.stride_B == 0 ||
      buffer.stride_B >= kMost_B)
    return false;
  uint32_t index[kLanes];
  if (a.rate != abi::AttributeRate::kVertex) elementIndices(a, v, index);
  const GatherSource from{reinterpret_cast<const std::byte*>(buffer.address) + a.offset_B,
                          static_cast<uint32_t>(buffer.stride_B),
                          static_cast<uint32_t>((buffer.size_B - end_B) / buffer.stride_B + 1),
                          a.rate == abi::AttributeRate::kVertex ? v.vertexIndex : index, v.count};
  if (unorm8)
    functions->unorm8(from, rows);
  else
    functions->words(from, components, one(formats::texelType(info)), rows);
  return true;
}

void fetchAttribute(const abi::VertexAttribute& a, const abi::VertexBuffer& buffer, const FetchVertices& v,
                    abi::VertexRow* rows) {
  const uint32_t rowCount = 4u * a.slotCount;
  const auto format = static_cast<VkFormat>(a.format);
  const formats::FormatInfo& info = formats::formatInfo(format);
  if (gatherAttribute(a, buffer, info, v, rows)) return;
  for (uint32_t r = 0; v.count < kLanes && r < rowCount; ++r) std::fill(rows[r] + v.count, rows[r] + kLanes, 0);
  Elements elements;
  findElements(a, buffer, info.blockBytes, v, &elements);
  if (const uint32_t components = wordComponents(info); components != 0 && rowCount == 4) {
    return fetchWords(elements, v.count, components, one(formats::texelType(info)), rows);
  }
  const formats::TexelCodec codec = formats::texelCodec(format);
  if (!codec || info.blockBytes > kMaxElementBytes) {  // no vertex format: nothing can have been made with it
    for (uint32_t r = 0; r < rowCount; ++r) std::fill_n(rows[r], v.count, 0);
    return;
  }
  // A wide format that the shader reads two components of has one slot.
  fetchByCodec(codec, elements, v.count, std::min(rowCount, uint32_t{codec.channelBytes}), rows);
}

}  // namespace

void fetchVertices(const abi::VertexInputState& input, const abi::VertexBufferState& buffers, uint32_t slotCount,
                   const FetchVertices& vertices, abi::VertexRow* rows) {
  for (uint32_t slot = 0; slot < slotCount; ++slot) {
    if ((input.unboundSlots >> slot & 1) == 0) continue;
    abi::VertexRow* of = rows + 4 * slot;
    for (uint32_t c = 0; c < 4; ++c) std::fill_n(of[c], kLanes, c == 3 ? one(formats::TexelType::kFloat) : 0);
  }
  for (uint32_t i = 0; i < input.attributeCount; ++i) {
    const abi::VertexAttribute& a = input.attributes[i];
    fetchAttribute(a, buffers.buffers[a.binding], vertices, rows + 4 * a.slot);
  }
}

}  // namespace pumice::assembly
