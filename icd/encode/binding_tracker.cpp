#include "icd/encode/binding_tracker.h"

#include <algorithm>
#include <cstring>

#include "backend/trace/seeded_fault.h"
#include "icd/objects/descriptor_set_layout.h"

namespace pumice::icd {

void BindingTracker::bindSet(uint32_t index, uint64_t address) {
  bindings_.setAddress[index] = address;
  block_ = nullptr;
  std::erase_if(pushSets_, [&](const PushSet& s) { return s.index == index; });
}

void BindingTracker::setDynamicOffset(uint32_t index, uint32_t offset_B) {
  bindings_.dynamicOffset_B[index] = PUMICE_SEEDED_FAULT("dynamic-offset") ? 0 : offset_B;
  block_ = nullptr;
}

std::byte* BindingTracker::pushSet(const DescriptorSetShape& shape, uint32_t index) {
  auto at = std::find_if(pushSets_.begin(), pushSets_.end(), [&](const PushSet& s) { return s.index == index; });
  if (at == pushSets_.end()) at = pushSets_.insert(pushSets_.end(), PushSet{index, true, {}});
  at->memory.resize(shape.fullSize_B());
  shape.writeImmutableSamplers(at->memory.data(), UINT32_MAX);
  at->dirty = true;
  return at->memory.data();
}

const abi::BindingState* BindingTracker::flush(CommandStream& stream) {
  for (PushSet& set : pushSets_) {
    if (!set.dirty) continue;
    // A set is aligned like one in a pool; stream memory is host memory, which the GPU addresses alike.
    std::byte* block = stream.appendBytes(set.memory.size() + abi::kDescriptorAlignBytes);
    const uint64_t address = (reinterpret_cast<uint64_t>(block) + abi::kDescriptorAlignBytes - 1) &
                             ~uint64_t{abi::kDescriptorAlignBytes - 1};
    std::memcpy(reinterpret_cast<void*>(address), set.memory.data(), set.memory.size());
    bindings_.setAddress[set.index] = address;
    block_ = nullptr;
    set.dirty = false;
  }
  if (block_ == nullptr) {
    auto* block = stream.appendState<abi::BindingState>();
    *block = bindings_;
    block_ = block;
  }
  return block_;
}

void BindingTracker::forget() {
  bindings_ = {};
  pushSets_.clear();
  block_ = nullptr;
}

}  // namespace pumice::icd
