// The GPU's address map. GPU address == host pointer, so these constants are what capture/replay, the loader of
// object code, descriptors and device addresses all rely on.
#pragma once

#include <cstdint>

namespace pumice::abi {

// A device reserves [base, base + size) with PROT_NONE. The first device of a process gets the documented base when
// nothing else lives there, so that captured buffer addresses can be replayed; the size is halved until the system
// grants it. The base lies inside TSan's middle application range (0x5500'0000'0000 .. 0x5680'0000'0000), above ASan's
// shadow (which ends at 0x1000'7fff'8000) and below where the kernel puts position-independent programs
// (0x5555'5555'4000 and up): 256 GiB end at 0x5540'0000'0000.
inline constexpr uint64_t kReservationBase = 0x5500'0000'0000ull;
inline constexpr uint64_t kReservationBytes = 256ull << 30;
inline constexpr uint64_t kMinReservationBytes = 1ull << 30;

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kHugePageBytes = 2ull << 20;

// Allocations below this come from slabs: a fresh page costs 14 us to touch, a map+touch+unmap 57 us, and a process has
// only 65,530 mappings.
inline constexpr uint64_t kSlabLimitBytes = 2ull << 20;

// Every resource address is a multiple of this: one cache line, and one 16-lane vector of 32-bit elements.
inline constexpr uint64_t kResourceAlignBytes = 64;

// Each device memory allocation is followed by at least this many addressable bytes (its own rounding, or a shared
// padding page), so that a vector load which begins inside a buffer never leaves the reservation's committed pages. The
// bytes hold no meaning.
inline constexpr uint64_t kOverreadBytes = 64;

}  // namespace pumice::abi
