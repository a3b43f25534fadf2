// Prints how fast the paths are whose speed the design promises; asserts nothing about it.
#include <algorithm>

#include "backend/gpu/test_support.h"

namespace pumice::gpu::test {
namespace {

void nothing(abi::ComputeEnv*, uint64_t, uint64_t) {}

// The median of some runs, in ns.
template <typename F>
double median_ns(int runs, F run) {
  std::vector<uint64_t> times;
  for (int i = 0; i < runs; ++i) {
    const uint64_t start_ns = sched::monotonicNow_ns();
    run();
    times.push_back(sched::monotonicNow_ns() - start_ns);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return static_cast<double>(times[static_cast<size_t>(runs / 2)]);
}

class Speed : public ::testing::Test {
 protected:
  TestDevice device_{{.workerCount = 2}};
  kmd::Queue* queue_ = device_.queue();
  kmd::Timeline* done_ = device_.timeline();
  uint64_t value_ = 0;

  void submitAndWait(Stream* stream) {
    Batch batch;
    if (stream) batch.run(*stream);
    ASSERT_EQ(batch.signal(done_, ++value_).submit(device_, queue_), Status::kOk);
    ASSERT_EQ(device_.wait(done_, value_), Status::kOk);
  }
};

TEST_F(Speed, EmptySubmission) {
  std::printf("empty submission, retired and waited for: %.0f ns\n", median_ns(2001, [&] { submitAndWait(nullptr); }));
}

TEST_F(Speed, DependentDispatches) {
  Program program(nothing, 100);
  Stream stream;
  for (int i = 0; i < 1000; ++i) {
    stream.dispatch(program, 0);
    stream.barrier(kCompute, kCompute);
  }
  const double ns = median_ns(101, [&] { submitAndWait(&stream); });
  std::printf("1000 dependent dispatches, submission to wait: %.1f us, %.2f M/s\n", ns / 1e3, 1e3 / ns * 1e3);
}

TEST_F(Speed, OneDispatch) {
  Program program(nothing, 100);
  Stream stream;
  stream.dispatch(program, 0);
  std::printf("one small dispatch, submission to wait: %.1f us\n",
              median_ns(1001, [&] { submitAndWait(&stream); }) / 1e3);
}

TEST_F(Speed, LargeDispatch) {
  Program program(nothing, 1);
  Stream stream;
  stream.dispatch(program, 0, 1'000'000);
  std::printf("one dispatch of a million empty workgroups: %.1f us\n",
              median_ns(101, [&] { submitAndWait(&stream); }) / 1e3);
}

TEST_F(Speed, Copies) {
  std::vector<uint8_t> source(64 << 20), target(64 << 20);
  Stream stream;
  stream.copy(source.data(), target.data(), source.size());
  const double ns = median_ns(5, [&] { submitAndWait(&stream); });
  std::printf("copy of 64 MiB: %.1f GB/s\n", static_cast<double>(source.size()) / ns);
}

TEST_F(Speed, HandOverBetweenQueues) {
  kmd::Queue* queues[2] = {queue_, device_.queue(kmd::Engine::kCompute)};
  Program program(nothing, 100);
  Stream stream;
  stream.dispatch(program, 0);
  const int count = 200;  // fewer than the window has room for
  kmd::Timeline* chain = device_.timeline();
  uint64_t base = 0;
  uint64_t submitted_ns = 0, chained_ns = 0;
  const int rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    // The first is held until all are submitted.
    const uint64_t start_ns = sched::monotonicNow_ns();
    for (uint64_t i = 1; i <= count; ++i)
      ASSERT_EQ(Batch().wait(chain, base + i).run(stream).signal(chain, base + i + 1).submit(device_, queues[i % 2]),
                Status::kOk);
    const uint64_t middle_ns = sched::monotonicNow_ns();
    ASSERT_EQ(device_->signalTimeline(chain, base + 1), Status::kOk);
    ASSERT_EQ(device_.wait(chain, base + count + 1), Status::kOk);
    submitted_ns += middle_ns - start_ns;
    chained_ns += sched::monotonicNow_ns() - middle_ns;
    base += count + 1;
  }
  std::printf("a dispatch between a wait and a signal, two queues in turn: %.0f ns to submit, %.0f ns to run\n",
              static_cast<double>(submitted_ns) / (rounds * count), static_cast<double>(chained_ns) / (rounds * count));
}

}  // namespace
}  // namespace pumice::gpu::test
