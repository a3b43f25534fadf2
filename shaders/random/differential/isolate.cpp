// Runs checks in child processes: machine code that is wrong may crash, hang or destroy the process that runs it.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "shaders/random/differential/check.h"

namespace pumice::shader::random {
namespace {

using Clock = std::chrono::steady_clock;

// What a child tells its parent, through a pipe: fixed size, so that writes are whole.
struct Message {
  uint64_t seed;
  uint32_t stage;    // index of the setting that begins, if !isReport
  uint8_t isReport;  // else: `verdict`, `text`
  Verdict verdict;
  char text[400];
};

void send(int fd, const Message& m) {
  if (write(fd, &m, sizeof m) != static_cast<ssize_t>(sizeof m)) _exit(3);
}

// A child process and the last that was heard of it.
class Child {
 public:
  // Runs `body(fd)` in the child, which then ends without running destructors.
  explicit Child(const std::function<void(int fd)>& body) {
    int fds[2];
    if (pipe(fds) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(fds[0]);
      body(fds[1]);
      _exit(0);
    }
    close(fds[1]);
    fd_ = fds[0];
  }
  ~Child() {
    if (fd_ >= 0) close(fd_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Event : uint8_t { kMessage, kEnd, kTimeout };
  Event next(double timeout_s, Message* m) {
    const auto until = Clock::now() + std::chrono::duration<double>(timeout_s);
    size_t have = 0;
    while (true) {
      const double left = std::chrono::duration<double>(until - Clock::now()).count();
      pollfd p{fd_, POLLIN, 0};
      const int ready = left <= 0 ? 0 : poll(&p, 1, static_cast<int>(left * 1000) + 1);
      if (ready == 0) return Event::kTimeout;
      if (ready < 0) continue;
      const ssize_t n = read(fd_, reinterpret_cast<char*>(m) + have, sizeof *m - have);
      if (n <= 0) return Event::kEnd;
      have += static_cast<size_t>(n);
      if (have == sizeof *m) return Event::kMessage;
    }
  }
  // After kEnd: how it ended; empty if well.
  std::string wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) return fmt::format("exit status {}", WEXITSTATUS(status));
    return {};
  }

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

void sendReport(int fd, uint64_t seed, const Report& r, uint32_t stage) {
  Message m{};
  m.seed = seed;
  m.stage = stage;
  m.isReport = 1;
  m.verdict = r.verdict;
  std::strncpy(m.text, r.text.c_str(), sizeof m.text - 1);
  send(fd, m);
}

// Checks one program in a child and tells each stage.
void checkAndSend(int fd, const Program& p, std::span<const Setting> settings, const CheckOptions& options) {
  uint32_t stage = ~0u;
  const Report r = check(p, settings, options, [&](uint32_t s) {
    stage = s;
    Message m{};
    m.seed = p.seed;
    m.stage = s;
    send(fd, m);
  });
  sendReport(fd, p.seed, r, stage);
}

}  // namespace

Report checkIsolated(const Program& program, std::span<const Setting> settings, const CheckOptions& options,
                     double timeout_s) {
  Child child([&](int fd) { checkAndSend(fd, program, settings, options); });
  uint32_t stage = ~0u;
  Message m{};
  while (true) {
    const Setting setting = stage < settings.size() ? settings[stage] : Setting{};
    switch (child.next(timeout_s, &m)) {
      case Child::Event::kMessage:
        stage = m.stage;
        if (m.isReport != 0) return {m.verdict, stage < settings.size() ? settings[stage] : Setting{}, m.text};
        break;
      case Child::Event::kEnd:
        return {Verdict::kCrashed, setting, child.wait()};
      case Child::Event::kTimeout:
        return {Verdict::kTimeout, setting, fmt::format("no result after {} s", timeout_s)};
    }
  }
}

uint64_t checkSeeds(SeedRange seeds, const GeneratorOptions& generator, uint32_t settingsPerSeed,
                    const CheckOptions& options, const std::function<bool()>& isOver, const SeedReport& onReport) {
  constexpr double kTimeout_s = 300;  // of one setting of one program, on a busy machine
  uint64_t done = 0;
  while (done < seeds.count && !isOver()) {
    // One child does many seeds; it ends at the first failure, as its process may be damaged then.
    const uint64_t first = seeds.first + done;
    const uint64_t last = seeds.first + std::min<uint64_t>(seeds.count, done + 64);
    Child child([&](int fd) {
      for (uint64_t seed = first; seed < last; seed++) {
        const Program p = generate(seed, generator);
        checkAndSend(fd, p, someSettings(seed, settingsPerSeed), options);
      }
    });
    Message m{};
    m.seed = first;
    m.stage = ~0u;
    while (true) {
      const Child::Event e = child.next(kTimeout_s, &m);
      const std::vector<Setting> settings = someSettings(m.seed, settingsPerSeed);
      const Setting setting = m.stage < settings.size() ? settings[m.stage] : Setting{};
      if (e == Child::Event::kMessage) {
        if (m.isReport == 0) continue;
        done = m.seed - seeds.first + 1;
        if (m.verdict != Verdict::kEqual) onReport(m.seed, {m.verdict, setting, m.text});
        if (m.verdict > Verdict::kSkipped || isOver() || m.seed + 1 == last) break;
        m.seed++;  // what a crash from here on belongs to
        m.stage = ~0u;
      } else {
        const bool hangs = e == Child::Event::kTimeout;
        onReport(m.seed, {hangs ? Verdict::kTimeout : Verdict::kCrashed, setting,
                          hangs ? fmt::format("no result after {} s", kTimeout_s) : child.wait()});
        done = m.seed - seeds.first + 1;
        break;
      }
    }
  }
  return done;
}

}  // namespace pumice::shader::random
