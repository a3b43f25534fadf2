#include "backend/kmd/fault.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/trace/log.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::kmd {

namespace {

struct Scope {
  sigjmp_buf jump;
  Scope* outer;
  FaultRecord record;
};

// Read by the signal handler. Initial-exec: the general model may allocate at a thread's first access.
[[gnu::tls_model("initial-exec")]] thread_local constinit Scope* tScope = nullptr;

constexpr int kSignals[] = {SIGSEGV, SIGBUS};

constinit std::atomic<bool> gInstalled{false};
// Written before our handlers are in place, constant afterwards.
struct sigaction gEarlier[2];

struct sigaction& earlierAction(int signal) {
  return gEarlier[signal == SIGSEGV ? 0 : 1];
}

void useDefaultAction(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

// What the calling convention wants kept: rounding and exception masks of SSE and x87.
struct FloatControl {
#if defined(__x86_64__)
  FloatControl() : mxcsr(_mm_getcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87));
  }
  void restore() const {
    _mm_setcsr(mxcsr);
    asm volatile("fldcw %0" ::"m"(x87));
  }
  unsigned mxcsr;
  unsigned short x87;
#else
  void restore() const {}
#endif
};

// si_code > 0: raised by the kernel for an instruction of this thread. Otherwise kill(), raise() and the like.
bool raisedByInstruction(const siginfo_t* info) {
  return info->si_code > 0;
}

void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& earlier = earlierAction(signal);
  // sa_handler and sa_sigaction share their storage.
  const bool callable = earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN;
  if (!callable) {
    if (earlier.sa_handler == SIG_IGN && !raisedByInstruction(info)) return;
    // The default action ends the process, at the same instruction and with its true registers in the core file: an
    // instruction faults again after the return, a sent signal is sent again (it arrives when the mask is restored).
    useDefaultAction(signal);
    if (!raisedByInstruction(info)) raise(signal);
    return;
  }
  // As the kernel would have called it: with its mask. The return from our handler restores the thread's own.
  sigset_t mask = earlier.sa_mask;
  if (!(earlier.sa_flags & SA_NODEFER)) sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  if (earlier.sa_flags & SA_NODEFER) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if (earlier.sa_flags & SA_SIGINFO)
    earlier.sa_sigaction(signal, info, context);
  else
    earlier.sa_handler(signal);
}

void onFault(int signal, siginfo_t* info, void* rawContext) {
  Scope* scope = tScope;
  if (!scope || !raisedByInstruction(info)) {
    const int savedErrno = errno;
    chain(signal, info, rawContext);
    errno = savedErrno;
    return;
  }
  auto* context = static_cast<ucontext_t*>(rawContext);
  FaultRecord& record = scope->record;
  record = {};
  record.signal = signal;
  // A non-canonical address raises a protection fault that carries no address.
  record.addressKnown = info->si_code != SI_KERNEL;
  record.address = record.addressKnown ? reinterpret_cast<uintptr_t>(info->si_addr) : 0;
#if defined(__x86_64__)
  record.instruction = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  record.write = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
  record.instruction = context->uc_mcontext.pc;
#endif
  // The jump skips the return that would restore the mask.
  if (!PUMICE_SEEDED_FAULT("fault-mask")) pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, nullptr);
  siglongjmp(scope->jump, static_cast<int>(GuardedExit::kFault));
}

// dlclose must not take the handlers' code away.
void pinLibrary() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&onFault), &info) != 0 && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

void installFaultHandler() noexcept {
  if (gInstalled.exchange(true, std::memory_order_acq_rel)) return;
  pinLibrary();
  // The earlier actions are read before ours go in, so that a fault on another thread meanwhile finds them.
  for (int signal : kSignals) sigaction(signal, nullptr, &earlierAction(signal));
  for (int signal : kSignals) {
    struct sigaction action {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, nullptr) != 0)
      PUMICE_WARNING("kmd", "cannot catch signal %d: faults of shaders will end the process", signal);
  }
}

GuardedExit runGuarded(void (*fn)(void*), void* context, FaultRecord* record) noexcept {
  Scope scope;
  scope.outer = tScope;
  const FloatControl floatControl;
  // Mask not saved: that would be a system call per chunk. The handler restores it by hand.
  const int code = sigsetjmp(scope.jump, 0);
  if (code == 0) {
    tScope = &scope;
    // The compiler must not move the call out of the scope.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    fn(context);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    tScope = scope.outer;
    return GuardedExit::kReturned;
  }
  tScope = scope.outer;
  floatControl.restore();  // the kernel enters a handler with a fresh state
  const auto exit = static_cast<GuardedExit>(code);
  if (record && exit == GuardedExit::kFault) *record = scope.record;
  return exit;
}

void leaveGuarded() noexcept {
  Scope* scope = tScope;
  if (!scope) {
    PUMICE_ERROR("kmd", "a shader left outside of a guarded call (a driver bug)");
    std::abort();
  }
  siglongjmp(scope->jump, static_cast<int>(GuardedExit::kLeft));
}

bool insideGuarded() noexcept {
  return tScope != nullptr;
}

AltSignalStack::AltSignalStack() noexcept {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // The kernel's frame alone is 3 to 11 KiB with AVX-512 or AMX; an earlier handler wants room, too.
  const long wanted = sysconf(_SC_SIGSTKSZ);
  size_t bytes = std::max<size_t>(64 * 1024, wanted > 0 ? static_cast<size_t>(wanted) : 0);
  bytes = (bytes + page - 1) / page * page;
  void* mapping = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return;
  mprotect(mapping, page, PROT_NONE);
  stack_t stack{};
  stack.ss_sp = static_cast<std::byte*>(mapping) + page;
  stack.ss_size = bytes;
  if (sigaltstack(&stack, nullptr) != 0) {
    munmap(mapping, bytes + page);
    return;
  }
  mapping_ = mapping;
  mappingBytes_ = bytes + page;
}

AltSignalStack::~AltSignalStack() {
  if (!mapping_) return;
  stack_t disable{};
  disable.ss_flags = SS_DISABLE;
  sigaltstack(&disable, nullptr);
  munmap(mapping_, mappingBytes_);
}

}  // namespace pumice::kmd
