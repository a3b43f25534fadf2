#include "icd/objects/object.h"

#include <mutex>
#include <utility>
#include <vector>

namespace pumice::icd {

struct ObjectExtra {
  std::string name;
  std::vector<std::pair<uint64_t, uint64_t>> data;  // slot, value
};

namespace {

// One lock for all objects: names and private data are set at loading time by tools, never in a frame's way.
constinit std::mutex gExtraLock;

}  // namespace

void ObjectBase::dropExtra() {
  delete extra_;
}

std::string ObjectBase::debugName() const {
  std::lock_guard lock(gExtraLock);
  return extra_ != nullptr ? extra_->name : std::string();
}

void ObjectBase::setDebugName(const char* name) {
  std::lock_guard lock(gExtraLock);
  if (extra_ == nullptr) extra_ = new ObjectExtra;
  extra_->name = name != nullptr ? name : "";
}

uint64_t ObjectBase::privateData(uint64_t slot) const {
  std::lock_guard lock(gExtraLock);
  if (extra_ == nullptr) return 0;
  for (const auto& [key, value] : extra_->data) {
    if (key == slot) return value;
  }
  return 0;
}

void ObjectBase::setPrivateData(uint64_t slot, uint64_t value) {
  std::lock_guard lock(gExtraLock);
  if (extra_ == nullptr) extra_ = new ObjectExtra;
  for (auto& [key, old] : extra_->data) {
    if (key == slot) {
      old = value;
      return;
    }
  }
  extra_->data.emplace_back(slot, value);
}

}  // namespace pumice::icd
