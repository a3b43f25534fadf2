// The copy engine's conversions: blits and resolves. Called inside a guarded call, by any worker; units of one command
// are independent and write nothing but the texels of their own rows.
#pragma once

#include "backend/abi/packets.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {

Bands blitBands(const abi::BlitImagePacket& packet);
void blitImage(const abi::BlitImagePacket& packet, uint64_t beginUnit, uint64_t endUnit);

Bands resolveBands(const abi::ResolveImagePacket& packet);
void resolveImage(const abi::ResolveImagePacket& packet, uint64_t beginUnit, uint64_t endUnit);

}  // namespace pumice::gpu
