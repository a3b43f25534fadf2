// Finds data races in an interpreted workgroup: two invocations access the same byte, one of them writes, not both by
// atomics, and no workgroup barrier stands between. Order by atomics and memory barriers alone is not modelled: the
// programs that are checked here synchronise by control barriers.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace pumice::shader::ir {

class RaceDetector {
 public:
  struct Access {
    uint64_t group;       // workgroup
    uint32_t invocation;  // in the workgroup
    uint32_t epoch;       // number of workgroup barriers so far
    bool isWrite, isAtomic, isShared;
  };
  // False if the access races with an earlier one.
  bool access(uint64_t address, uint32_t bytes, const Access& a);

 private:
  struct Trace {
    uint64_t group = 0;
    uint32_t invocation = 0, epoch = 0;
    bool exists = false, isAtomic = false;
    bool several = false;  // accessed so by several invocations in this epoch
  };
  struct Cell {
    Trace write, read;
  };
  static bool conflicts(const Trace& t, const Access& a);
  static void record(Trace& t, const Access& a);

  std::unordered_map<uint64_t, Cell> cells_;  // by byte address
};

}  // namespace pumice::shader::ir
