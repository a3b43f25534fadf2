// Faults of shaders. A worker runs compiled code inside a guarded call; when the code touches an address that is not
// there, or leaves of its own will (cancel), the guarded call returns and says how. Nothing is unwound: guarded code
// holds no lock and owns nothing (RuntimeTable's rule).
//
// Signals are the net below, best effort: the promise is kept by bounds checks. Handlers chain: a fault outside guarded
// code goes to the handler that was there before ours, and a handler that the application installs later wins.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pumice::kmd {

struct FaultRecord {
  uint64_t address = 0;      // that was touched; meaningful if addressKnown (not for non-canonical addresses)
  uint64_t instruction = 0;  // that touched it
  int signal = 0;            // SIGSEGV or SIGBUS
  bool addressKnown = false;
  bool write = false;
};

enum class GuardedExit : uint8_t {
  kReturned,
  kLeft,   // leaveGuarded() was called
  kFault,  // *record says where
};

// Installs the process-wide handlers for SIGSEGV and SIGBUS once; any thread, any number of times. Called when the
// first device opens. The library stays in memory from then on, because the handlers cannot be taken out safely.
void installFaultHandler() noexcept;

// Calls fn(context) so that faults and leaveGuarded() come back here. Nests. Costs a few nanoseconds; the signal mask
// and the floating-point control state are those of the call again when it returns. `record` may be nullptr.
GuardedExit runGuarded(void (*fn)(void*), void* context, FaultRecord* record) noexcept;

// Ends the innermost guarded call of this thread (RuntimeTable::leave). Aborts when there is none: a driver bug.
[[noreturn]] void leaveGuarded() noexcept;

bool insideGuarded() noexcept;

// A signal stack for the calling thread, so that code which overflows its stack can still be caught. A thread that has
// one already keeps it. Construct and destroy on the same thread.
class AltSignalStack {
 public:
  AltSignalStack() noexcept;
  ~AltSignalStack();
  AltSignalStack(const AltSignalStack&) = delete;
  AltSignalStack& operator=(const AltSignalStack&) = delete;

 private:
  void* mapping_ = nullptr;  // a guard page, then the stack
  size_t mappingBytes_ = 0;
};

}  // namespace pumice::kmd
