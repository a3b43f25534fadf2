// How many CPUs this process may run on. Any thread; no lock.
#pragma once

#include <cstdint>

namespace pumice::sched {

// The CPUs of the calling thread's affinity mask, of machines of any size; at least 1.
uint32_t availableProcessors() noexcept;

}  // namespace pumice::sched
