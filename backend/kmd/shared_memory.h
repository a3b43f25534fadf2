// Memory that lies in a file without a name (memfd), so that other processes and devices can map it too: what Vulkan's
// opaque file descriptors are. The file is sealed: nobody can shrink it under a mapping.
//
// Threads: free functions without state.
#pragma once

#include <cstdint>

#include "backend/kmd/status.h"

namespace pumice::kmd {

// A new file of whole pages, all zeros, at least size_B bytes long. *file is the caller's to close.
Status createSharedFile(uint64_t size_B, int* file) noexcept;

// Whether the descriptor is a file that createSharedFile could have made, of at least size_B bytes, and may be written.
bool isSharedFile(int file, uint64_t size_B) noexcept;

// Maps the file's first size_B bytes and abi::kOverreadBytes behind them; at `address` (whole pages), or anywhere if
// that is 0. kInvalidAddress: `address` is not free.
Status mapSharedFile(int file, uint64_t size_B, uint64_t address, uint64_t* out) noexcept;
void unmapSharedFile(uint64_t address, uint64_t size_B) noexcept;

}  // namespace pumice::kmd
