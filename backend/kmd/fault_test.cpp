#include "backend/kmd/fault.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PUMICE_TEST_SANITIZED 1
#else
#define PUMICE_TEST_SANITIZED 0
#endif

namespace pumice::kmd {
namespace {

#define UNINSTRUMENTED __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

// Accesses that are meant to fault; not instrumented, as compiled shaders are not.
UNINSTRUMENTED void pokeAt(void* context) {
  *static_cast<volatile int*>(context) = 1;
}
UNINSTRUMENTED void peekAt(void* context) {
  [[maybe_unused]] const int value = *static_cast<volatile int*>(context);
}
void leaveAtOnce(void*) {
  leaveGuarded();
}
void doNothing(void*) {}

template <typename F>
int exitStatusOf(F child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

class Fault : public testing::Test {
 protected:
  static void SetUpTestSuite() { installFaultHandler(); }
};

TEST_F(Fault, ReturnsNormally) {
  int value = 0;
  EXPECT_EQ(runGuarded(pokeAt, &value, nullptr), GuardedExit::kReturned);
  EXPECT_EQ(value, 1);
  EXPECT_FALSE(insideGuarded());
}

TEST_F(Fault, NullWriteIsCaught) {
  FaultRecord record;
  EXPECT_EQ(runGuarded(pokeAt, nullptr, &record), GuardedExit::kFault);
  EXPECT_TRUE(record.addressKnown);
  EXPECT_EQ(record.address, 0u);
  EXPECT_EQ(record.signal, SIGSEGV);
  EXPECT_NE(record.instruction, 0u);
#if defined(__x86_64__)
  EXPECT_TRUE(record.write);
#endif
  EXPECT_FALSE(insideGuarded());
}

TEST_F(Fault, ReadOfProtectedPageGivesItsAddress) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  FaultRecord record;
  char* address = static_cast<char*>(page) + 100;
  EXPECT_EQ(runGuarded(peekAt, address, &record), GuardedExit::kFault);
  EXPECT_EQ(record.address, reinterpret_cast<uintptr_t>(address));
  EXPECT_FALSE(record.write);
  munmap(page, 4096);
}

TEST_F(Fault, NonCanonicalAddressIsCaughtWithoutAddress) {
  FaultRecord record;
  EXPECT_EQ(runGuarded(peekAt, reinterpret_cast<void*>(0x8000'0000'0000'0000ull), &record), GuardedExit::kFault);
#if defined(__x86_64__)
  EXPECT_FALSE(record.addressKnown);
#endif
}

TEST_F(Fault, BusErrorPastTheEndOfAFile) {
  const int fd = memfd_create("fault_test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(page, MAP_FAILED);
  FaultRecord record;
  EXPECT_EQ(runGuarded(peekAt, page, &record), GuardedExit::kFault);
  EXPECT_EQ(record.signal, SIGBUS);
  munmap(page, 4096);
  close(fd);
}

TEST_F(Fault, LeaveEndsTheInnermostCall) {
  EXPECT_EQ(runGuarded(leaveAtOnce, nullptr, nullptr), GuardedExit::kLeft);
  struct Nested {
    GuardedExit inner;
    bool wentOn = false;
  } nested{};
  const auto outer = runGuarded(
      [](void* context) {
        auto* n = static_cast<Nested*>(context);
        n->inner = runGuarded(pokeAt, nullptr, nullptr);
        n->wentOn = insideGuarded();
        leaveGuarded();
      },
      &nested, nullptr);
  EXPECT_EQ(nested.inner, GuardedExit::kFault);
  EXPECT_TRUE(nested.wentOn);
  EXPECT_EQ(outer, GuardedExit::kLeft);
}

TEST_F(Fault, MaskAndRoundingModeSurvive) {
  sigset_t before, after, add;
  sigemptyset(&add);
  sigaddset(&add, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &add, nullptr);
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::fesetround(FE_UPWARD);
  EXPECT_EQ(runGuarded(pokeAt, nullptr, nullptr), GuardedExit::kFault);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  pthread_sigmask(SIG_UNBLOCK, &add, nullptr);
}

TEST_F(Fault, ManyThreadsAndManyFaults) {
  std::atomic<int> caught{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&caught, t] {
      AltSignalStack stack;
      for (uintptr_t i = 0; i < 500; ++i) {
        FaultRecord record;
        void* address = reinterpret_cast<void*>(8 * i + static_cast<uintptr_t>(t));
        if (runGuarded(pokeAt, address, &record) == GuardedExit::kFault &&
            record.address == reinterpret_cast<uintptr_t>(address))
          ++caught;
        if (runGuarded(doNothing, nullptr, nullptr) != GuardedExit::kReturned) caught = -100000;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(caught, 4 * 500);
}

// Outside guarded code the process ends as it would without us: by the default action's signal.
TEST_F(Fault, UnguardedFaultEndsTheProcessBySignal) {
  if (PUMICE_TEST_SANITIZED) GTEST_SKIP() << "the sanitizer's own handler comes after ours and exits";
  const auto poke = [] {
    const rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    pokeAt(nullptr);
    return 0;
  };
  int status = exitStatusOf(poke);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  status = exitStatusOf([] {
    raise(SIGBUS);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

// ---- Chaining. These need a handler from before ours, so they run in a fresh process. ---------------

constinit std::atomic<int> gEarlierCalls{0};
constinit std::atomic<bool> gUsr1Blocked{false};
sigjmp_buf gRecovery;

void earlierHandler(int, siginfo_t* info, void*) {
  ++gEarlierCalls;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  gUsr1Blocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGSEGV) == 1;
  if (info->si_code > 0) siglongjmp(gRecovery, 1);
}

int chainScenario() {
  struct sigaction action {};
  action.sa_sigaction = earlierHandler;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, nullptr);
  installFaultHandler();
  // Guarded: the earlier handler does not see it.
  if (runGuarded(pokeAt, nullptr, nullptr) != GuardedExit::kFault || gEarlierCalls != 0) return 10;
  // Not guarded: it does, with its own mask, and may leave by its own jump.
  if (sigsetjmp(gRecovery, 1) == 0) {
    pokeAt(nullptr);
    return 11;
  }
  if (gEarlierCalls != 1 || !gUsr1Blocked) return 12;
  // A sent signal is the earlier handler's, also inside guarded code, which goes on.
  if (runGuarded([](void*) { raise(SIGSEGV); }, nullptr, nullptr) != GuardedExit::kReturned) return 13;
  if (gEarlierCalls != 2) return 14;
  // A handler of the application that comes later wins, and may chain to ours.
  static struct sigaction ours;
  action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
    ++gEarlierCalls;
    ours.sa_sigaction(signal, info, context);
  };
  sigaction(SIGSEGV, &action, &ours);
  if (runGuarded(pokeAt, nullptr, nullptr) != GuardedExit::kFault || gEarlierCalls != 3) return 15;
  return 0;
}

int ignoreScenario() {
  signal(SIGSEGV, SIG_IGN);
  installFaultHandler();
  raise(SIGSEGV);  // ignored, as before
  return runGuarded(pokeAt, nullptr, nullptr) == GuardedExit::kFault ? 0 : 20;
}

// Recurses until the worker's stack ends; the handler must run on the alternate stack.
UNINSTRUMENTED int recurse(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

int overflowScenario() {
  installFaultHandler();
  int result = 30;
  std::thread worker([&result] {
    AltSignalStack stack;
    FaultRecord record;
    const auto exit = runGuarded([](void*) { recurse(0); }, nullptr, &record);
    if (exit == GuardedExit::kFault && record.write) result = 0;
  });
  worker.join();
  return result;
}

// Runs the scenario in a new process image, where our handlers are not installed yet.
int statusOfFresh(const char* scenario) {
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("PUMICE_FAULT_SCENARIO", scenario, 1);
    execl("/proc/self/exe", "fault_scenario", static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

// Takes over before GoogleTest's main when the environment names a scenario.
[[gnu::constructor]] void runScenarioInstead() {
  const char* scenario = getenv("PUMICE_FAULT_SCENARIO");
  if (!scenario) return;
  switch (scenario[0]) {
    case 'c':
      _exit(chainScenario());
    case 'i':
      _exit(ignoreScenario());
    default:
      _exit(overflowScenario());
  }
}

TEST(FaultFresh, ChainsToTheEarlierHandler) {
  EXPECT_EQ(statusOfFresh("chain"), 0);
}

TEST(FaultFresh, IgnoredSignalsStayIgnoredAndGuardedFaultsAreCaught) {
  EXPECT_EQ(statusOfFresh("ignore"), 0);
}

TEST(FaultFresh, StackOverflowIsCaughtOnTheAlternateStack) {
  if (PUMICE_TEST_SANITIZED) GTEST_SKIP() << "sanitizers bring their own alternate stack and frames";
  EXPECT_EQ(statusOfFresh("overflow"), 0);
}

}  // namespace
}  // namespace pumice::kmd
