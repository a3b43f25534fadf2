#include "backend/sched/processors.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace pumice::sched {

uint32_t availableProcessors() noexcept {
  // cpu_set_t ends at 1,024 CPUs, and the kernel refuses a mask that is shorter than its own.
  constexpr size_t kMostCpus = size_t{1} << 20;
  for (size_t cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) return 1;
    const size_t size_B = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(0, size_B, set) == 0;
    const int error = errno;
    const int count = known ? CPU_COUNT_S(size_B, set) : 1;
    CPU_FREE(set);
    if (known || error != EINVAL) return static_cast<uint32_t>(std::max(1, count));
  }
  return 1;
}

}  // namespace pumice::sched
