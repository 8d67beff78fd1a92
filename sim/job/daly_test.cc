// Histories against closed forms: the mean time of many is Daly's, and the failures of Meta's run
// of Llama 3 405B are those of its GPUs.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/statistics.h"
#include "sim/job/checkpoint.h"
#include "sim/job/history_output.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

// A run whose devices all together fail once in `mtbf` and are repaired at once.
RunSpec FailingRun(const Cluster& cluster, Duration mtbf, int64_t steps, Duration step) {
  RunSpec spec;
  spec.cluster = &cluster;
  spec.steps = steps;
  spec.rates.device_kinds = {{"", cluster.device_count() * mtbf}};
  spec.step = [step, devices = cluster.device_count()](const ClusterState&, int) {
    return std::optional(RunningStep{step, devices});
  };
  return spec;
}

struct DalyCase {
  double work, interval, write, restart, mtbf;  // All are in s.
};

class DalyTest : public testing::TestWithParam<DalyCase> {};

TEST_P(DalyTest, TheMeanOfManyHistoriesIsTheFormulas) {
  const DalyCase& daly = GetParam();
  constexpr int kRuns = 600;
  const Cluster cluster = SwitchedNodes(2);
  const Duration step = Seconds(daly.interval / 4);
  RunSpec spec =
      FailingRun(cluster, Seconds(daly.mtbf), std::lround(daly.work / daly.interval) * 4, step);
  spec.checkpoint = {.interval = Seconds(daly.interval), .write = Seconds(daly.write)};
  spec.recovery.restart = Seconds(daly.restart * 0.25);
  spec.recovery.reload = Seconds(daly.restart * 0.75);
  std::vector<double> times;
  for (const RunTotals& run : SimulateRuns(spec, kRuns, Random(11))) {
    times.push_back(run.time.seconds());
  }
  const double want =
      ExpectedRunTime(Seconds(daly.work), Seconds(daly.interval), Seconds(daly.write),
                      Seconds(daly.restart), Seconds(daly.mtbf))
          .seconds();
  EXPECT_NEAR(Mean(times), want, 3 * Sigma(times) / std::sqrt(kRuns));
  // This is narrow enough to tell the formula from its neighbours.
  EXPECT_LT(Sigma(times) / std::sqrt(kRuns), 0.03 * want);
}

INSTANTIATE_TEST_SUITE_P(
    Daly, DalyTest,
    testing::Values(DalyCase{20000, 1000, 60, 120, 11000}, DalyCase{20000, 400, 30, 300, 3600},
                    DalyCase{12000, 1200, 120, 60, 7200},
                    DalyCase{5000, 500, 100, 0, 600},  // Failures are frequent.
                    DalyCase{5000, 500, 0, 500, 500},  // A step is that long.
                    DalyCase{50000, 50000, 10, 30, 40000}));

// The best interval is the best one for simulated histories, too: with the same failures it beats
// half of it and twice as much.
TEST(CheckpointIntervalTest, HistoriesAreShortestWithTheBestInterval) {
  const Cluster cluster = SwitchedNodes(1);
  const Duration mtbf = Seconds(3600);
  const Duration write = Seconds(120);
  const auto mean_time = [&](Duration interval) {
    RunSpec spec = FailingRun(cluster, mtbf, 100000, Seconds(1));
    spec.checkpoint = {.interval = interval, .write = write};
    spec.recovery.restart = Seconds(60);
    double sum = 0;
    for (const RunTotals& run : SimulateRuns(spec, 300, Random(3))) sum += run.time.seconds();
    return sum;
  };
  const Duration best = BestCheckpointInterval(write, mtbf);
  EXPECT_LT(mean_time(best), mean_time(2 * best));
  EXPECT_LT(mean_time(best), mean_time(Seconds(best.seconds() / 2)));
}

// "The Llama 3 Herd of Models" (Meta, 2024): 54 days on 16,384 GPUs, 419 unexpected interruptions,
// and more than 90 % effective training time.
class Llama3Test : public testing::Test {
 protected:
  static constexpr int kGpus = 16384;
  const Duration days_ = 54 * 24 * Seconds(3600);
  const Duration gpu_mtbf_ = Seconds(days_.seconds() * kGpus / 419);
  const Cluster cluster_ = SwitchedNodes(kGpus / 8);
};

TEST_F(Llama3Test, AGpuFailsOnceInSixYearsAndTheRunEveryThreeHours) {
  EXPECT_NEAR(gpu_mtbf_.seconds() / 3600, 50700, 50);
  EventRates rates;
  rates.device_kinds = {{"", gpu_mtbf_}};
  const Duration mtbf = MeanTimeBetweenFailures(rates, cluster_);
  EXPECT_NEAR(mtbf.seconds() / 3600, 3.1, 0.05);

  RunSpec spec = FailingRun(cluster_, mtbf, days_.ns() / Seconds(10).ns(), Seconds(10));
  spec.recovery.policy = Recovery::Policy::kShrink;  // Nothing is lost, so a run takes 54 days.
  spec.recovery.survivors_hold_state = true;
  spec.step = [](const ClusterState& state, int) {
    return std::optional(RunningStep{Seconds(10), kGpus - static_cast<int>(state.down.size())});
  };
  const RunsSummary runs = Summarise(SimulateRuns(spec, 100, Random(5)));
  EXPECT_NEAR(runs.failures.mean, 419, 3 * std::sqrt(419 / 100.0));
}

// Prints which checkpoint intervals and times to recover leave more than 90 %, if a checkpoint
// stops the run for 10 s: where the formula says that the limit is, histories are at 90 % as well.
TEST_F(Llama3Test, IntervalAndRecoveryDecideTheEffectiveTime) {
  const Duration mtbf = Seconds(gpu_mtbf_.seconds() / kGpus);
  const Duration write = Seconds(10);
  const auto effective = [&](Duration interval, Duration recovery) {
    return days_.seconds() / ExpectedRunTime(days_, interval, write, recovery, mtbf).seconds();
  };
  double last = 1e9;
  for (const int64_t minutes : {8, 10, 15, 20, 30}) {
    const Duration interval = minutes * Seconds(60);
    // e^(recovery / M) is what the other terms leave of 1 / 0.9.
    const Duration limit =
        Seconds(mtbf.seconds() * std::log(effective(interval, Duration()) / 0.9));
    std::cout << fmt::format(
        "checkpoints every {} min: more than 90 % effective if a recovery "
        "takes less than {:.0f} s\n",
        minutes, limit.seconds());
    EXPECT_NEAR(effective(interval, limit), 0.9, 1e-6);
    EXPECT_LT(limit.seconds(), last);
    last = limit.seconds();
    RunSpec spec = FailingRun(cluster_, mtbf, days_.ns() / Seconds(10).ns(), Seconds(10));
    spec.checkpoint = {.interval = interval, .write = write};
    spec.recovery.restart = limit;
    std::vector<double> goodputs;
    for (const RunTotals& run : SimulateRuns(spec, 100, Random(9))) {
      goodputs.push_back(run.Goodput());
    }
    EXPECT_NEAR(Mean(goodputs), 0.9, 0.001);
  }
  EXPECT_GT(last, 0);
}

TEST_F(Llama3Test, HistoriesAreTheSameForAnyNumberOfThreads) {
  RunSpec spec = FailingRun(cluster_, Seconds(11137), 20000, Seconds(10));
  spec.checkpoint = {.interval = Seconds(600), .write = Seconds(10)};
  spec.recovery.policy = Recovery::Policy::kShrink;
  spec.rates.repair = Seconds(7200);
  spec.rates.repair_time = EventRates::RepairTime::kExponential;
  spec.rates.slow = {{0.0001, 0.8}, {0.0002, 0.9}};
  spec.rates.node_mtbf = Seconds(1e8);
  spec.nodes_per_rack = 8;
  spec.rates.rack_probability = 0.05;
  const auto text = [&](int threads) {
    const oneapi::tbb::global_control control(oneapi::tbb::global_control::max_allowed_parallelism,
                                              static_cast<size_t>(threads));
    std::atomic<int> calls = 0;
    spec.step = [&calls](const ClusterState& state, int) {
      ++calls;
      double rate = 1;
      for (const auto& slow : state.slow) rate = std::min(rate, slow.second);
      const int working = kGpus - static_cast<int>(state.down.size());
      return std::optional(RunningStep{Seconds(10 * kGpus / rate / working), working});
    };
    std::string all;
    const std::vector<RunTotals> runs = SimulateRuns(spec, 50, Random(1));
    for (const RunTotals& run : runs) all += HistoryText({{}, run});
    return all + RunsText(Summarise(runs)) + std::to_string(calls);
  };
  EXPECT_EQ(text(1), text(8));
}

}  // namespace
}  // namespace stagecraft
