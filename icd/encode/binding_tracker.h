// What is bound at one bind point: sets, dynamic offsets, sets made of push descriptors. It goes into the stream as
// immutable blocks, and only when it changed since the last command that used it, so that one stream may run many times
// at once.
#pragma once

#include <vector>

#include "icd/encode/command_stream.h"

namespace pumice::icd {

class DescriptorSetShape;

class BindingTracker {
 public:
  void bindSet(uint32_t index, uint64_t address);
  void setDynamicOffset(uint32_t index, uint32_t offset_B);
  /// The memory of a set made of push descriptors, to be written by the caller. Valid until the next call. May throw
  /// std::bad_alloc.
  std::byte* pushSet(const DescriptorSetShape& shape, uint32_t index);

  /// The block that stands for what is bound now.
  const abi::BindingState* flush(CommandStream& stream);
  /// Nothing is bound.
  void forget();

 private:
  struct PushSet {
    uint32_t index;
    bool dirty;
    std::vector<std::byte> memory;
  };

  abi::BindingState bindings_{};
  std::vector<PushSet> pushSets_;
  const abi::BindingState* block_ = nullptr;  // what the stream holds already; nullptr: to be written
};

}  // namespace pumice::icd
