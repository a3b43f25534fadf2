#include "backend/texture/view.h"

#include <cstring>

namespace pumice::texture {
namespace {

using abi::ViewShape;

const TexelFormat* usableFormat(uint16_t viewClass) {
  const TexelFormat& format = texelFormat(abi::formatIndex(viewClass));
  return format.kind == TexelKind::kNone ? nullptr : &format;
}

View bufferView(const abi::TexelBufferDescriptor& d) {
  // Of one row: a level's fields do not matter, because no view that is a buffer has a level table.
  View view{};
  if (d.address == 0 || d.elementCount == 0) return view;
  view.format = usableFormat(d.viewClass);
  view.address = reinterpret_cast<std::byte*>(d.address);
  view.width = d.elementCount;
  view.height = view.depth = view.layers = view.levelCount = view.samples = 1;
  view.shape = ViewShape::kBuffer;
  view.swizzle = abi::kIdentitySwizzle;
  return view;
}

View imageView(const abi::ImageDescriptor& d) {
  View view{};
  const ViewShape shape = abi::viewShape(d.viewClass);
  if (shape < ViewShape::k1D || shape > ViewShape::kCube) return view;
  if (d.address == 0 || d.levelTable == 0 || d.levelCount == 0) return view;
  if (d.width == 0 || d.height == 0 || d.depthOrLayers == 0) return view;
  if (shape == ViewShape::kCube && d.width != d.height) return view;  // filters rely on square faces
  const TexelFormat* format = usableFormat(d.viewClass);
  if (format == nullptr) return view;
  view.format = format;
  view.address = reinterpret_cast<std::byte*>(d.address);
  view.levelTable = reinterpret_cast<const abi::ImageLevel*>(d.levelTable);
  view.layerPitch_B = d.layerPitch_B;
  view.width = d.width;
  view.height = shape == ViewShape::k1D ? 1 : d.height;
  view.depth = shape == ViewShape::k3D ? d.depthOrLayers : 1;
  view.layers = shape == ViewShape::k3D ? 1 : d.depthOrLayers;
  view.samplePitch_B = d.samplePitch_B;
  view.samples = 1u << (d.samples_log2 & 7u);
  view.levelCount = d.levelCount;
  view.quadMajor = abi::isQuadMajor(d.viewClass);
  view.blockStride_B = 16 * format->bytes * view.samples;
  view.shape = shape;
  view.swizzle = d.swizzle;
  view.chroma = d.chroma;
  view.minLod = static_cast<float>(d.minLod_8) * (1.0f / 256.0f);
  return view;
}

}  // namespace

View loadView(uint64_t descriptor) {
  if (descriptor == 0) return {};
  // Both kinds are told apart by where their class lies: the class of an image stands where a texel buffer's
  // descriptor is reserved and zero.
  const auto* bytes = reinterpret_cast<const std::byte*>(descriptor);
  uint16_t imageClass;
  std::memcpy(&imageClass, bytes + offsetof(abi::ImageDescriptor, viewClass), sizeof imageClass);
  if (imageClass != 0) {
    abi::ImageDescriptor d;
    std::memcpy(&d, bytes, sizeof d);
    return imageView(d);
  }
  abi::TexelBufferDescriptor d;
  std::memcpy(&d, bytes, sizeof d);
  return abi::viewShape(d.viewClass) == ViewShape::kBuffer ? bufferView(d) : View{};
}

}  // namespace pumice::texture
