// The copy engine's image side: copies and clears. Called inside a guarded call, by any worker; units of one command
// are independent and write nothing but the elements of their own rows.
#pragma once

#include "backend/abi/packets.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {

Bands copyBands(const abi::CopyImagePacket& packet);
// nonTemporal: stores go past the caches, where they fill whole lines.
void copyImage(const abi::CopyImagePacket& packet, uint64_t beginUnit, uint64_t endUnit, bool nonTemporal);

Bands clearBands(const abi::ClearImagePacket& packet);
void clearImage(const abi::ClearImagePacket& packet, uint64_t beginUnit, uint64_t endUnit);

}  // namespace pumice::gpu
