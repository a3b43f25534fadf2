// The copy engine's inner loops. Addresses are GPU addresses, hence host pointers; sizes in bytes. Called inside a
// guarded call: they hold nothing.
#pragma once

#include <cstdint>

namespace pumice::gpu {

// The ranges do not overlap. nonTemporal: stores go past the caches.
void copyBytes(uint64_t dst, uint64_t src, uint64_t size_B, bool nonTemporal);
// dst and size are multiples of 4.
void fillBytes(uint64_t dst, uint64_t size_B, uint32_t value, bool nonTemporal);

}  // namespace pumice::gpu
