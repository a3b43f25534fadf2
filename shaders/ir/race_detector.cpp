#include "shaders/ir/race_detector.h"

namespace pumice::shader::ir {

bool RaceDetector::conflicts(const Trace& t, const Access& a) {
  if (!t.exists || (t.isAtomic && a.isAtomic)) return false;
  if (t.group != a.group) return !a.isShared;  // each workgroup has shared memory of its own
  return t.epoch == a.epoch && (t.several || t.invocation != a.invocation);
}

void RaceDetector::record(Trace& t, const Access& a) {
  const bool same = t.exists && t.group == a.group && t.epoch == a.epoch;
  const bool several = same && (t.several || t.invocation != a.invocation);
  t = {a.group, a.invocation, a.epoch, true, a.isAtomic && (!same || t.isAtomic), several};
}

bool RaceDetector::access(uint64_t address, uint32_t bytes, const Access& a) {
  for (uint64_t i = address; i < address + bytes; i++) {
    Cell& c = cells_[i];
    if (conflicts(c.write, a) || (a.isWrite && conflicts(c.read, a))) return false;
    record(a.isWrite ? c.write : c.read, a);
  }
  return true;
}

}  // namespace pumice::shader::ir
