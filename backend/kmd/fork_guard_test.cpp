#include "backend/kmd/fork_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pumice::kmd {
namespace {

int exitCodeOf(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkGuard, ChildAndGrandchildKnow) {
  // In a child of its own, so that the order of tests does not matter: the guard stays armed once it is.
  const pid_t parent = fork();
  if (parent == 0) {
    armForkGuard();
    armForkGuard();
    if (inForkedChild()) _exit(1);
    const pid_t child = fork();
    if (child == 0) {
      if (!inForkedChild()) _exit(2);
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(inForkedChild() ? 0 : 3);
      _exit(exitCodeOf(grandchild));
    }
    const int code = exitCodeOf(child);
    _exit(inForkedChild() ? 4 : code);
  }
  EXPECT_EQ(exitCodeOf(parent), 0);
}

}  // namespace
}  // namespace pumice::kmd
