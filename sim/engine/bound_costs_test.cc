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

}  // namespace
}  // namespace stagecraft
