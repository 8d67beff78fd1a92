#include "sim/engine/bound_costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

constexpr double kYear = 365.25 * 86400;

// A model that gives every op the same estimate.
class OneEstimate : public CostModel {
 public:
  OneEstimate(double seconds, double host_seconds) {
    estimate_.time = Duration::Seconds(seconds);
    estimate_.host = Duration::Seconds(host_seconds);
  }
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    return std::vector<Estimate>(ops.size(), estimate_);
  }

 private:
  Estimate estimate_;
};

// Makes tasks that run one after another on one device, each with an op sequence of `ops` ops.
Schedule MakeSchedule(int tasks, int ops) {
  Schedule::Builder builder;
  RankInfo rank;
  rank.device = 0;
  builder.AddRank(rank);
  const Lane lane = builder.AddLane({0, LaneKind::kCompute});
  std::vector<OpId> ids;
  for (int i = 0; i < ops; ++i) ids.push_back(builder.AddOp(Op::Elementwise(Bytes(1 + i))));
  const OpSequenceId op_sequence = builder.AddOpSequence(ids, {});
  for (int i = 0; i < tasks; ++i) builder.Add(std::vector{lane}, {}, op_sequence, Tag());
  return builder.Build();
}

class BoundCostsTest : public ::testing::Test {
 protected:
  // The error of binding MakeSchedule(tasks, ops) to these times; empty if there is none.
  std::string Refusal(int tasks, int ops, double seconds, double host_seconds) const {
    return ErrorOf(
        [&] { BindCosts(MakeSchedule(tasks, ops), cluster_, OneEstimate(seconds, host_seconds)); });
  }

  const Cluster cluster_ = MakeCluster(1, 1);
};

TEST_F(BoundCostsTest, StepsOfMoreThanAHundredYearsAreRefused) {
  const std::string refusal = cluster_.name() +
                              ": the step would take more than 100 years, want faster devices and "
                              "links or less work";
  for (const double seconds : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300,
                               300 * kYear, 200 * kYear, 101 * kYear}) {
    for (const int tasks : {1, 2, 3, 7}) {
      for (const int ops : {1, 2, 3, 4}) {
        EXPECT_EQ(Refusal(tasks, ops, seconds, 0), refusal) << seconds;
        EXPECT_EQ(Refusal(tasks, ops, 1e-6, seconds), refusal) << seconds;
        EXPECT_EQ(Refusal(tasks, ops, seconds, seconds), refusal) << seconds;
      }
    }
  }
}

// A device waits for the launches of its host, so the times of both count.
TEST_F(BoundCostsTest, TheSumOfAllTasksDecides) {
  for (const int tasks : {1, 3, 10}) {
    for (const int ops : {1, 4}) {
      for (const double years : {99.9, 100.1}) {
        const double each = years * kYear / tasks / ops;
        EXPECT_EQ(Refusal(tasks, ops, each, 0).empty(), years < 100) << tasks << " x " << ops;
        EXPECT_EQ(Refusal(tasks, ops, 0, each).empty(), years < 100) << tasks << " x " << ops;
      }
    }
  }
}

// A rank on each of two devices computes, copies to its host and reduces.
TEST_F(BoundCostsTest, ASlowDeviceComputesLongerAndDoesNothingElseLonger) {
  const Cluster cluster = MakeCluster(1, 2).WithSlowParts({.devices = {{1, 0.8}}});
  Schedule::Builder builder;
  const OpId compute = builder.AddOp(Op::Elementwise(Bytes(1)));
  const OpId copy = builder.AddOp(Op::Profiled(1, 1_us));
  const OpId reduction =
      builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(8), cluster.DescribeGroup({{0, 1}})));
  constexpr uint8_t kHost = kOnHost;
  const OpSequenceId both = builder.AddOpSequence(std::vector{compute, reduction});
  const OpSequenceId copies = builder.AddOpSequence({&copy, 1}, {&kHost, 1});
  std::vector<Lane> lanes;
  for (int32_t device = 0; device < 2; ++device) {
    RankInfo rank;
    rank.device = device;
    lanes.push_back(builder.AddLane({builder.AddRank(rank), LaneKind::kCompute}));
    builder.Add({&lanes.back(), 1}, {}, both, Tag());
  }
  builder.Add(lanes, {}, copies, Tag());
  builder.Add(lanes, {}, both, Tag());
  const Schedule schedule = builder.Build();
  const BoundCosts costs = BindCosts(schedule, cluster, OneEstimate(8e-6, 3e-6));
  EXPECT_EQ(costs.device_of_rank, (std::vector<int>{0, 1}));
  EXPECT_EQ(costs.estimates[0][compute].time, 8_us);
  EXPECT_EQ(costs.estimates[1][compute].time, 10_us);
  EXPECT_EQ(costs.estimates[1][reduction].time, 8_us);
  EXPECT_EQ(costs.estimates[1][copy].time, 8_us);
  for (const OpId op : {compute, reduction, copy}) EXPECT_EQ(costs.estimates[1][op].host, 3_us);
  EXPECT_EQ(costs.TaskTimes(schedule, 0).device, 16_us);
  EXPECT_EQ(costs.TaskTimes(schedule, 1).device, 18_us);
  EXPECT_EQ(costs.TaskTimes(schedule, 3).device, 18_us);  // of both ranks
}

// An all-reduce of two ranks passes each link once: 30 GB take 0.1 s at 300 GB/s.
TEST_F(BoundCostsTest, BytesTakeLongerOverASlowLinkAndLatencyDoesNot) {
  const Cluster cluster = MakeCluster(1, 2);
  const auto time = [&](double rate) {
    Fabric fabric = cluster.DescribeGroup({{0, 1}});
    fabric.intra_rate = rate;
    Schedule::Builder builder;
    builder.AddRank({.device = 0});
    const Lane lane = builder.AddLane({0, LaneKind::kData});
    const OpId op =
        builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(30'000'000'000), fabric));
    builder.Add({&lane, 1}, {}, builder.AddOpSequence({&op, 1}), Tag());
    return BindCosts(builder.Build(), cluster, OneEstimate(0.125, 0)).estimates[0][0].time;
  };
  EXPECT_EQ(time(1), 125_ms);
  EXPECT_EQ(time(0.5), 225_ms);
}

}  // namespace
}  // namespace stagecraft
