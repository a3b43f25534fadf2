// VkPrivateDataSlot: a number that no other slot of the process ever had.
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class PrivateDataSlot : public Object<PrivateDataSlot, VkPrivateDataSlot, VK_OBJECT_TYPE_PRIVATE_DATA_SLOT> {
 public:
  explicit PrivateDataSlot(Device&) : id_(nextId()) {}
  VkResult init() { return VK_SUCCESS; }

  uint64_t id() const { return id_; }

 private:
  static uint64_t nextId();

  uint64_t id_;
};

}  // namespace pumice::icd
