#include "sim/analysis/op_estimates.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/engine/sim_executor.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// Two products, of which one is learned and one extrapolated, beside an all-reduce that takes
// longer than the second one by a millisecond.
TEST(OpEstimatesTest, ExposedTimesAreSummedUpByKindAndBasis) {
  Schedule::Builder builder;
  const Lane compute = builder.AddLane({builder.AddRank({.device = 0}), LaneKind::kCompute});
  BoundCosts costs;
  costs.device_of_rank = {0};
  costs.estimates.emplace_back();
  const auto add = [&](const Op& op, Duration time, Basis basis, double spread) {
    Estimate estimate;
    estimate.time = time;
    estimate.basis = basis;
    estimate.spread = spread;
    costs.estimates[0].push_back(estimate);
    return builder.AddOp(op);
  };
  Fabric fabric;
  fabric.ranks = 8;
  const std::vector<OpId> ops = {
      add(Op::Elementwise(Bytes(1)), 1_ms, Basis::kLearned, 0.1),
      add(Op::Collective(OpKind::kAllReduce, Bytes(1), fabric), 4_ms, Basis::kAnalytical, 0.5),
      add(Op::Elementwise(Bytes(2)), 3_ms, Basis::kExtrapolated, 0.3)};
  const std::vector<uint8_t> flags = {0, kOverlapsNext, 0};
  const OpSequenceId op_sequence = builder.AddOpSequence(ops, flags);
  Tag tag;
  tag.phase = Phase::kForward;
  builder.Add({&compute, 1}, {}, op_sequence, tag);
  builder.Add({&compute, 1}, {}, op_sequence, tag);

  const std::vector<OpKindTime> kinds = TimesByOpKind(builder.Build(), costs, 0);
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_EQ(kinds[0].kind, OpKind::kElementwise);
  EXPECT_EQ(kinds[0].ops, 4);
  EXPECT_EQ(kinds[0].time, 8_ms);
  EXPECT_DOUBLE_EQ(kinds[0].basis[static_cast<int>(Basis::kLearned)], 0.25);
  EXPECT_DOUBLE_EQ(kinds[0].basis[static_cast<int>(Basis::kExtrapolated)], 0.75);
  EXPECT_DOUBLE_EQ(kinds[0].spread, 0.25);
  EXPECT_EQ(kinds[1].kind, OpKind::kAllReduce);
  EXPECT_EQ(kinds[1].time, 2_ms);
  EXPECT_DOUBLE_EQ(kinds[1].basis[static_cast<int>(Basis::kAnalytical)], 1);
}

// On a single device nothing waits, so the ops fill the step.
TEST(OpEstimatesTest, TheKindsOfOneDeviceAddUpToItsStep) {
  const Workload workload = MakeWorkload(4);
  const Cluster cluster = MakeCluster(1, 1);
  const PlainModel model;
  const Schedule schedule = Lower(MakePlan(Degrees(1, 1), workload, cluster), workload, cluster);
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  Duration sum;
  for (const OpKindTime& kind : TimesByOpKind(schedule, executor.costs(), 0)) {
    EXPECT_NEAR(std::accumulate(kind.basis.begin(), kind.basis.end(), 0.0), 1, 1e-12);
    EXPECT_GT(kind.ops, 0);
    sum += kind.time;
  }
  EXPECT_EQ(sum, timeline.makespan());
}

}  // namespace
}  // namespace stagecraft
