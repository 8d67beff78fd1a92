#include "runtime/slowed_work.h"

#include <gtest/gtest.h>

#include <ctime>
#include <span>
#include <string>

#include "runtime/rank_work.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

double OwnSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Ops that need a CPU for a while; notes all calls.
class BusyWork : public RankWork {
 public:
  void BeginStep() override { calls_ += "begin "; }
  void Run(TaskId, int) override {
    const double begin = OwnSeconds();
    while (OwnSeconds() < begin + 0.02) {
    }
    taken_ += OwnSeconds() - begin;
    calls_ += "run ";
  }
  void Finish(TaskId) override { calls_ += "finish "; }
  std::span<float> Buffer(TaskId, int) override { return buffer_; }
  void Receive(TaskId) override { calls_ += "receive "; }

  const std::string& calls() const { return calls_; }
  double taken() const { return taken_; }

 private:
  std::string calls_;
  double taken_ = 0;
  float buffer_[3] = {};
};

TEST(SlowedWorkTest, ItsThreadComputesLongerByTheInverseOfTheSpeed) {
  BusyWork work;
  SlowedWork slowed(work, 0.25);
  const double begin = OwnSeconds();
  slowed.Run(0, 0);
  EXPECT_GE(OwnSeconds() - begin, 4 * work.taken());
}

TEST(SlowedWorkTest, EverythingElseIsAsBefore) {
  BusyWork work;
  SlowedWork slowed(work, 0.5);
  slowed.BeginStep();
  slowed.Run(0, 0);
  slowed.Finish(0);
  slowed.Receive(0);
  EXPECT_EQ(work.calls(), "begin run finish receive ");
  EXPECT_EQ(slowed.Buffer(0, 0).size(), 3u);
}

}  // namespace
}  // namespace stagecraft
