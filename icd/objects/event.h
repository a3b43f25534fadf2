// VkEvent: an event behind the door, set and reset by host and device, waited for in mid-stream.
#pragma once

#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class Event : public Object<Event, VkEvent, VK_OBJECT_TYPE_EVENT> {
 public:
  explicit Event(Device& device) : device_(device) {}
  ~Event();

  VkResult init();

  kmd::Event* gpuEvent() { return event_; }

 private:
  Device& device_;
  kmd::Event* event_ = nullptr;
};

}  // namespace pumice::icd
