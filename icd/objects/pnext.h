// Looking up a structure in a pNext chain by its type.
#pragma once

#include "gen/struct_types.h"

namespace pumice::icd {

/// nullptr when the chain has none.
template <typename T>
const T* findInChain(const void* chain) {
  static_assert(kStructureType<T> != VK_STRUCTURE_TYPE_MAX_ENUM);
  for (auto* next = static_cast<const VkBaseInStructure*>(chain); next != nullptr; next = next->pNext) {
    if (next->sType == kStructureType<T>) return reinterpret_cast<const T*>(next);
  }
  return nullptr;
}

template <typename T>
T* findInChain(void* chain) {
  return const_cast<T*>(findInChain<T>(static_cast<const void*>(chain)));
}

}  // namespace pumice::icd
