// Seeded faults: wrong behaviour that a build with -DPUMICE_SEEDED_FAULTS=ON can be told to show, so that
// tools/seeded_faults.sh can prove that the test suite catches it. In every other build the question is the constant
// false and the code is gone.
//
//   if (PUMICE_SEEDED_FAULT("gate-drop-chain")) return;  // the barrier forgets the gates of its source
//
// The fault is chosen by the environment variable PUMICE_SEEDED_FAULT, read once. The names stand where the faults are;
// tools/seeded_faults.sh finds them there and prints the tests that catch each.
#pragma once

#ifdef PUMICE_SEEDED_FAULTS
#include <cstdlib>
#include <string_view>

namespace pumice::trace {

inline bool seededFault(std::string_view name) {
  static const char* chosen = std::getenv("PUMICE_SEEDED_FAULT");
  return chosen && name == chosen;
}

}  // namespace pumice::trace

#define PUMICE_SEEDED_FAULT(name) (::pumice::trace::seededFault(name))
#else
#define PUMICE_SEEDED_FAULT(name) (false)
#endif
