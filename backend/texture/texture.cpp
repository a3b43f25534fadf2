#include "backend/texture/texture.h"

#include <bit>

#include "backend/texture/access.h"
#include "backend/texture/ycbcr.h"

namespace pumice::texture {
namespace {

using abi::ImageOp;

const Kernels& bestKernels() {
  static const Kernels* const best = [] {
    const Kernels* usable[3];
    return usable[usableKernels(usable) - 1];
  }();
  return *best;
}

bool usesSampler(ImageOp op) {
  return op == ImageOp::kSample || op == ImageOp::kGather || op == ImageOp::kQueryLod;
}

void accessView(abi::ImageCall* call, uint32_t lanes, const View& view, uint64_t samplerAddress,
                const Kernels& kernels) {
  if (!usesSampler(call->op)) {
    if (call->op == ImageOp::kRead) {
      kernels.read(call, lanes, view);
      if (view.format->kind == TexelKind::kWide || (call->flags & abi::kImage64) != 0) {  // A, which is not decoded
        for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane)
          if ((lanes >> lane & 1) != 0) call->texel[3][lane] = 1;
      }
    } else if (call->op == ImageOp::kWrite) {
      storeTexels(call, lanes, view);
    } else {
      accessAtomically(call, lanes, view);
    }
    return;
  }
  const Sampler sampler = loadSampler(samplerAddress);
  if (!sampler.exists || view.shape == abi::ViewShape::kBuffer) {
    readZero(call, lanes);
  } else if (call->op == ImageOp::kSample && sampler.conversion != 0) {
    sampleConverted(call, lanes, view, sampler, kernels);
  } else if (call->op == ImageOp::kSample) {
    kernels.sample(call, lanes, view, sampler);
  } else if (call->op == ImageOp::kGather) {
    kernels.gather(call, lanes, view, sampler);
  } else {
    kernels.queryLod(call, lanes, view, sampler);
  }
}

/// Apart, because the cache is large.
[[gnu::noinline]] void accessBlocks(abi::ImageCall* call, uint32_t lanes, View& view, uint64_t samplerAddress,
                                    const Kernels& kernels) {
  BlockCache blocks;
  view.blocks = &blocks;
  accessView(call, lanes, view, samplerAddress, kernels);
}

/// lanes share the descriptors of lane `first`.
void accessUniform(abi::ImageCall* call, uint32_t lanes, uint32_t first, const Kernels& kernels) {
  View view = loadView(call->image[first]);
  if (!view) {
    if (call->op != ImageOp::kWrite) readZero(call, lanes);
  } else if (view.format->kind == TexelKind::kBlock) {
    accessBlocks(call, lanes, view, call->sampler[first], kernels);
  } else {
    accessView(call, lanes, view, call->sampler[first], kernels);
  }
}

}  // namespace

void readZero(abi::ImageCall* call, uint32_t lanes) {
  for (auto& component : call->texel) {
    for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
      if ((lanes >> lane & 1) != 0) component[lane] = 0;
    }
  }
}

void accessImage(abi::ImageCall* call) {
  accessImage(call, bestKernels());
}

void accessImage(abi::ImageCall* call, const Kernels& kernels) {
  const uint32_t active = call->activeLanes;
  call->residentLanes = call->activeLanes;
  if (active == 0) return;
  if ((call->flags & abi::kImageUniformDescriptor) != 0) {
    if (call->op == ImageOp::kSample && kernels.trySample(call)) return;
    return accessUniform(call, active, 0, kernels);
  }
  // Waterfall: the lanes that share the first lane's descriptors, then those of the first lane that is left.
  const bool sampling = usesSampler(call->op);
  for (uint32_t left = active; left != 0;) {
    const auto first = static_cast<uint32_t>(std::countr_zero(left));
    uint32_t same = 0;
    for (uint32_t lane = first; lane < abi::kImageCallLanes; ++lane) {
      const bool equal =
          call->image[lane] == call->image[first] && (!sampling || call->sampler[lane] == call->sampler[first]);
      same |= (equal ? 1u : 0u) << lane;
    }
    same &= left;
    accessUniform(call, same, first, kernels);
    left &= ~same;
  }
}

}  // namespace pumice::texture
