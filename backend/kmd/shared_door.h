// The door's part for memory outside of a device's reservation: what others can map too, or have allocated. Apart from
// door.h because few need it; what that says of threads and handles holds here. Such allocations are freed as all
// others are.
#pragma once

#include <cstdint>

#include "backend/kmd/door.h"

namespace pumice::kmd {

// In a file that others can map: zeros, not lazy. A fixed address wants whole pages.
Status allocateShared(Device& device, const AllocationInfo& info, Allocation** out);

// Memory that somebody else allocated does not count as used: whoever made it counts it.

// The file of another allocation, of whichever device or process. The allocation owns the descriptor from then on; if
// this fails, the caller does. kInvalidAddress: no such file, or a shorter one.
Status importFile(Device& device, int file, uint64_t size_B, Allocation** out);

// The application's own memory, which outlives the allocation. kInvalidAddress: not at a multiple of
// abi::kResourceAlignBytes.
Status importHost(Device& device, void* memory, uint64_t size_B, Allocation** out);

// The file that an allocation of the first two functions lies in, owned by the allocation; else -1.
int allocationFile(const Allocation* allocation);

}  // namespace pumice::kmd
