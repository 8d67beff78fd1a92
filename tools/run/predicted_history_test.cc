#include "tools/run/predicted_history.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/job/history.h"
#include "sim/schedule/schedule.h"
#include "tools/run/measured_run.h"
#include "tools/run/run_request.h"

namespace stagecraft {
namespace {

Cluster Node() { return Cluster("node", {{Switched(), 1}}); }

// Every op takes 1 us, and every collective 10 us.
class GivenTimes : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      estimates[i].time = IsCollective(ops[i].kind) ? 10_us : 1_us;
    }
    return estimates;
  }
};

// lane 0: [a][b b b]
// lane 1: [a][b b b][c]     a: an op of each; b: an all-reduce of both after an op of each
Schedule TwoRanks() {
  Schedule::Builder builder;
  for (int rank = 0; rank < 2; ++rank) builder.AddRank({.device = rank});
  const std::vector<Lane> lanes = {builder.AddLane({0, LaneKind::kCompute}),
                                   builder.AddLane({1, LaneKind::kCompute})};
  const Fabric pair{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = {}, .inter = {}};
  const OpId op = builder.AddOp(Op::Elementwise(Bytes(64)));
  const OpId reduce = builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(64), pair));
  const std::vector<OpId> both = {op, reduce};
  const OpSequenceId computes = builder.AddOpSequence({&op, 1});
  for (const Lane& lane : lanes) builder.Add({&lane, 1}, {}, computes, Tag());
  builder.Add(lanes, {}, builder.AddOpSequence(both), Tag());
  builder.Add({&lanes[1], 1}, {}, computes, Tag());
  return builder.Build();
}

TEST(PredictedHistoryTest, OpsOfASlowRankTakeLongerAndCollectivesDoNot) {
  const Schedule schedule = TwoRanks();
  const Cluster cluster = Node();
  const auto predict = [&](const std::vector<double>& speeds) {
    return PredictStep(schedule, cluster, GivenTimes(), speeds);
  };
  EXPECT_EQ(predict({}), 13_us);  // 1 + (1 + 10) + 1
  EXPECT_EQ(predict({1, 1}), 13_us);
  EXPECT_EQ(predict({0.5, 1}), 15_us);     // 2 + (2 + 10) + 1
  EXPECT_EQ(predict({1, 0.25}), 22_us);    // 4 + (4 + 10) + 4
  EXPECT_EQ(predict({0.5, 0.25}), 22_us);  // the slower one counts
}

// "computing 0+3 until 30": the steps before a phase, its own, and the time of its end in s.
std::vector<std::string> PhaseLines(const History& history) {
  std::vector<std::string> lines;
  for (const RunPhase& phase : history.phases) {
    lines.push_back(fmt::format("{} {}+{} until {:g}", Name(phase.kind), phase.first_step,
                                phase.steps, (phase.start + phase.length).seconds()));
  }
  return lines;
}

class PredictHistoryTest : public testing::Test {
 protected:
  PredictHistoryTest() {
    request_.steps = 6;
    request_.checkpoint_every = 2;
    run_.costs = {.detection = Duration::Seconds(3),
                  .restart = Duration::Seconds(4),
                  .reload = Duration::Seconds(5),
                  .write = Duration::Seconds(1),
                  .checkpoint = Bytes(1)};
  }
  // With steps of 10 s.
  std::vector<std::string> Predict() {
    return PhaseLines(PredictHistory(request_, run_, Duration::Seconds(10), TwoRanks(), Node()));
  }
  MeasuredRunRequest request_;
  MeasuredRun run_;
};

using Lines = std::vector<std::string>;

TEST_F(PredictHistoryTest, AKillComesBeforeTheCheckpointAfterThatStep) {
  run_.kills = {{1, 4}};
  EXPECT_EQ(Predict(),
            (Lines{"computing 0+2 until 20", "checkpoint 2+0 until 21", "computing 2+2 until 41",
                   "detection 4+0 until 44", "restart 2+0 until 48", "reload 2+0 until 53",
                   "redone 2+2 until 73", "checkpoint 4+0 until 74", "computing 4+2 until 94",
                   "checkpoint 6+0 until 95"}));
}

TEST_F(PredictHistoryTest, ARankMayDieAgainAndRanksThatDieTogetherAreOneFailure) {
  run_.kills = {{1, 3}, {0, 3}, {1, 5}};
  const Lines lines = Predict();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.starts_with("detection"); }),
            2);
}

TEST_F(PredictHistoryTest, WithoutCheckpointsARunBeginsAgain) {
  request_.checkpoint_every = 0;
  run_.kills = {{1, 4}};
  run_.costs.reload = run_.costs.write = Duration();
  EXPECT_EQ(Predict(),
            (Lines{"computing 0+4 until 40", "detection 4+0 until 43", "restart 0+0 until 47",
                   "redone 0+4 until 87", "computing 4+2 until 107"}));
}

TEST_F(PredictHistoryTest, ARunThatGoesOnHasOnlyTheStepsThatAreLeft) {
  run_.first_step = 2;
  run_.kills = {{1, 5}};
  EXPECT_EQ(Predict(),
            (Lines{"computing 0+2 until 20", "checkpoint 2+0 until 21", "computing 2+1 until 31",
                   "detection 3+0 until 34", "restart 2+0 until 38", "reload 2+0 until 43",
                   "redone 2+1 until 53", "computing 3+1 until 63", "checkpoint 4+0 until 64"}));
}

}  // namespace
}  // namespace stagecraft
