// Element sizes as constants, so that a copy of an element is one move.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pumice::gpu {

/// Calls use.operator()<bytes>() for the sizes that elements of up to 16 bytes have.
template <typename Use>
void withElementBytes(uint32_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use.template operator()<1>();
    case 2:
      return use.template operator()<2>();
    case 3:
      return use.template operator()<3>();
    case 4:
      return use.template operator()<4>();
    case 6:
      return use.template operator()<6>();
    case 8:
      return use.template operator()<8>();
    case 12:
      return use.template operator()<12>();
    default:
      return use.template operator()<16>();
  }
}

}  // namespace pumice::gpu
