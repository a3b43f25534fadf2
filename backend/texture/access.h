// The operations of accessImage, each for lanes that share one view (and sampler). Lanes that do not take part keep
// their texels.
#pragma once

#include "backend/texture/sampler.h"
#include "backend/texture/view.h"

namespace pumice::texture {

/// The sixteen-lane loops, compiled for several instruction sets. All give the same bits.
struct Kernels {
  void (*read)(abi::ImageCall* call, uint32_t lanes, const View& view);
  void (*sample)(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler);
  void (*gather)(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler);
  void (*queryLod)(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler);
  /// A call of kSample with uniform descriptors, from its descriptors on. False: it is none of those that there are
  /// most of, and nothing has been done.
  bool (*trySample)(abi::ImageCall* call);
};

extern const Kernels kKernelsBaseline;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;

/// Those that this machine can run, best last.
uint32_t usableKernels(const Kernels* out[3]);

/// accessImage() with kernels of one's choice.
void accessImage(abi::ImageCall* call, const Kernels& kernels);

void storeTexels(const abi::ImageCall* call, uint32_t lanes, const View& view);
void accessAtomically(abi::ImageCall* call, uint32_t lanes, const View& view);

/// What null descriptors read as.
void readZero(abi::ImageCall* call, uint32_t lanes);

}  // namespace pumice::texture
