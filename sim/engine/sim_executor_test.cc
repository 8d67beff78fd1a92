#include "sim/engine/sim_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

Estimate Costs(Duration time, Duration host) {
  Estimate estimate;
  estimate.time = time;
  estimate.host = host;
  return estimate;
}

struct OneOpSequence {
  Schedule schedule;
  OpSequenceId op_sequence = 0;
};

// An op sequence of this many distinct ops.
OneOpSequence MakeOpSequence(int ops, const std::vector<uint8_t>& flags = {}) {
  Schedule::Builder builder;
  std::vector<OpId> ids;
  for (int i = 0; i < ops; ++i) ids.push_back(builder.AddOp(Op::Elementwise(Bytes(1 + i))));
  OneOpSequence result;
  result.op_sequence = builder.AddOpSequence(ids, flags);
  result.schedule = builder.Build();
  return result;
}

// host    |1 1|2 2|3 3|
// device      |1|  |2 2 2 2 2|3|     launched at 2, 4, 6 us
TEST(SimExecutorTest, AnOpSequenceIsLedByTheLaunchThatHoldsItUpMost) {
  const OneOpSequence b = MakeOpSequence(3);
  const std::vector<Estimate> estimates = {Costs(1_us, 2_us), Costs(5_us, 2_us), Costs(1_us, 2_us)};
  const OpSequenceTimes times = TimesOf(b.schedule, b.op_sequence, estimates);
  EXPECT_EQ(times.device, 7_us);
  EXPECT_EQ(times.host, 6_us);
  EXPECT_EQ(times.FromIdle(), 10_us);
  EXPECT_EQ(times.lead, 3_us);
}

TEST(SimExecutorTest, OpsSideBySideTakeAsLongAsTheLonger) {
  const OneOpSequence b = MakeOpSequence(3, {kOverlapsNext, 0, 0});
  const std::vector<Estimate> estimates = {Costs(4_us, 0_us), Costs(3_us, 0_us), Costs(1_us, 0_us)};
  const OpSequenceTimes times = TimesOf(b.schedule, b.op_sequence, estimates);
  EXPECT_EQ(times.device, 5_us);
  EXPECT_EQ(times.lead, 0_us);
}

// Rank 0 runs a forward, sends its output to rank 1, and runs another forward, as rank 1 does then.
// The message occupies its sender's lane of computation if it blocks.
std::vector<Launch> LaunchesBesideMessage(bool blocks) {
  Schedule::Builder builder;
  builder.AddRank({});
  builder.AddRank({});
  const Lane first = builder.AddLane({0, LaneKind::kCompute});
  const Lane send = builder.AddLane({0, LaneKind::kSendNext});
  const Lane second = builder.AddLane({1, LaneKind::kCompute});
  const OpId op = builder.AddOp(Op::Elementwise(Bytes(1)));
  const OpSequenceId ops = builder.AddOpSequence({&op, 1});
  const auto add = [&](Phase phase, std::vector<Lane> lanes, std::vector<TaskId> after) {
    Tag tag;
    tag.phase = phase;
    return builder.Add(lanes, after, ops, tag);
  };
  const TaskId pass = add(Phase::kForward, {first}, {});
  const TaskId message =
      add(Phase::kSendForward, blocks ? std::vector{send, first} : std::vector{send}, {pass});
  add(Phase::kForward, {first}, {});
  add(Phase::kForward, {second}, {message});
  const Schedule schedule = builder.Build();
  BoundCosts costs;
  costs.device_of_rank = {0, 0};
  costs.estimates = {{Costs(1_us, 1_us)}};
  costs.op_sequences = {{TimesOf(schedule, ops, costs.estimates[0])}};
  return BindLaunches(schedule, costs);
}

TEST(SimExecutorTest, AHostWaitsForWhatItsRankReceivesAndForWhatBlocksIt) {
  for (const bool blocks : {false, true}) {
    const std::vector<Launch> launches = LaunchesBesideMessage(blocks);
    ASSERT_EQ(launches.size(), 4u);
    EXPECT_FALSE(launches[0].waits);
    EXPECT_FALSE(launches[1].waits);
    EXPECT_EQ(launches[2].waits, blocks);
    EXPECT_TRUE(launches[3].waits);
  }
}

// Messages keep their interface busy all the time; other ops take the time that they state.
class GivenTimes : public CostModel {
 public:
  explicit GivenTimes(Duration host = {}) : host_(host) {}  // for all but messages

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      if (op.kind == OpKind::kSendRecv) {
        estimates.push_back(Costs(op.bytes / op.fabric.inter.bandwidth, Duration()));
      } else {
        estimates.push_back(Costs(op.profiled, host_));
      }
    }
    return estimates;
  }

 private:
  Duration host_;
};

// The tasks of one rank.
class RankBuilder {
 public:
  Lane AddLane(LaneKind kind) { return builder_.AddLane({rank_, kind}); }

  // Adds a task; micro_batch -1 means none.
  TaskId Add(Lane lane, Phase phase, int micro_batch, Duration duration,
             const std::vector<TaskId>& after = {}) {
    return Add(lane, phase, micro_batch, Op::Profiled(1, duration), after);
  }
  TaskId AddMessage(Lane lane, Phase phase, int micro_batch, Duration duration,
                    const std::vector<TaskId>& after = {}) {
    Fabric pair = {2, 2, 1, {}, {}, false};
    pair.inter = MakeLink(LinkKind::kNetwork, 0_us, /*gigabytes_per_s=*/1);
    const Op op = Op::Collective(OpKind::kSendRecv, Bytes(duration.ns()), pair);
    return Add(lane, phase, micro_batch, op, after);
  }

  Schedule Build() { return builder_.Build(); }

 private:
  TaskId Add(Lane lane, Phase phase, int micro_batch, const Op& op,
             const std::vector<TaskId>& after) {
    const auto op_sequence = std::find(ops_.begin(), ops_.end(), op) - ops_.begin();
    if (op_sequence == std::ssize(ops_)) {
      const OpId id = builder_.AddOp(op);
      builder_.AddOpSequence({&id, 1});
      ops_.push_back(op);
    }
    Tag tag;
    tag.micro_batch = micro_batch;
    tag.phase = phase;
    return builder_.Add({&lane, 1}, after, static_cast<OpSequenceId>(op_sequence), tag);
  }

  Schedule::Builder builder_;
  const int32_t rank_ = builder_.AddRank({.device = 0});
  std::vector<Op> ops_;  // by block
};

const Cluster& OneNode() {
  static const Cluster cluster("one", {{Switched(), 1}});
  return cluster;
}

// Messages of 2 us that passes wait for, alone on their interface or beside reductions:
//   compute [forward 4us]           [backward 4us]
//   next                [message   ]
//   data                [reduction ]
Schedule Messages(int micro_batches, bool has_reductions) {
  RankBuilder rank;
  const Lane compute = rank.AddLane(LaneKind::kCompute);
  const Lane next = rank.AddLane(LaneKind::kSendNext);
  const Lane data = rank.AddLane(LaneKind::kData);
  for (int k = 0; k < micro_batches; ++k) {
    const TaskId pass = rank.Add(compute, Phase::kForward, k, 4_us);
    const TaskId sent = rank.AddMessage(next, Phase::kSendForward, k, 2_us, {pass});
    if (has_reductions) rank.AddMessage(data, Phase::kGradReduce, k, 2_us, {pass});
    rank.Add(compute, Phase::kBackward, k, 4_us, {sent});
  }
  return rank.Build();
}

TEST(ExecuteRepeatedTest, AStepOfManyMicroBatchesIsToldFromAFew) {
  const GivenTimes model;
  SimExecutor executor(OneNode(), model);
  const auto told = executor.ExecuteRepeated(Messages(4, false), 96, 1);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->timeline.makespan() + told->repetition.Delay(), 1000_us);
  EXPECT_EQ(executor.unshared_makespan(), 1000_us);
  EXPECT_EQ(executor.Execute(Messages(100, false)).makespan(), 1000_us);
  EXPECT_EQ(executor.unshared_makespan(), 1000_us);
}

// Side by side, message and reduction take 4 us.
TEST(ExecuteRepeatedTest, MessagesThatShareAnInterfaceAreToldAsStretched) {
  const GivenTimes model;
  SimExecutor executor(OneNode(), model);
  EXPECT_EQ(executor.Execute(Messages(100, true)).makespan(), 1200_us);
  EXPECT_EQ(executor.unshared_makespan(), 1000_us);
  const auto told = executor.ExecuteRepeated(Messages(4, true), 96, 1);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->timeline.makespan() + told->repetition.Delay(), 1200_us);
  EXPECT_EQ(executor.unshared_makespan(), 1000_us);
}

// Reductions of 6 us begin every 11 us, messages of 1 us every 10 us. From the second to the fifth
// they meet, so that passes which wait for messages take 11 us, too. Later ones do not meet.
Schedule Drifting(int micro_batches) {
  RankBuilder rank;
  const Lane compute = rank.AddLane(LaneKind::kCompute);
  const Lane next = rank.AddLane(LaneKind::kSendNext);
  const Lane data = rank.AddLane(LaneKind::kData);
  const Lane other = rank.AddLane(LaneKind::kContext);
  for (int k = 0; k < micro_batches; ++k) {
    const TaskId pass = rank.Add(compute, Phase::kForward, k, 5_us);
    const TaskId sent = rank.AddMessage(next, Phase::kSendForward, k, 1_us, {pass});
    rank.Add(compute, Phase::kBackward, k, 4_us, {sent});
    const TaskId context = rank.Add(other, Phase::kContext, k, 11_us);
    rank.AddMessage(data, Phase::kGradReduce, k, 6_us, {context});
  }
  rank.Add(compute, Phase::kOptimizer, -1, 100_us);
  return rank.Build();
}

TEST(ExecuteRepeatedTest, SharingOfInterfacesThatDoesNotRepeatIsNotTold) {
  const GivenTimes model;
  SimExecutor executor(OneNode(), model);
  EXPECT_EQ(executor.Execute(Drifting(5)).makespan(), 10_us + 4 * 11_us + 100_us);
  EXPECT_LT(executor.Execute(Drifting(50)).makespan(), 10_us + 49 * 11_us + 100_us);
  EXPECT_FALSE(executor.ExecuteRepeated(Drifting(5), 45, 1).has_value());
}

// The host is 100 us ahead and falls behind by 2 us with each micro-batch.
TEST(ExecuteRepeatedTest, StepsWhoseHostFallsBehindAreNotTold) {
  const auto make = [](int micro_batches) {
    RankBuilder rank;
    const Lane compute = rank.AddLane(LaneKind::kCompute);
    rank.AddMessage(compute, Phase::kParamGather, -1, 100_us);
    for (int k = 0; k < micro_batches; ++k) {
      rank.Add(compute, Phase::kForward, k, 5_us);
      rank.Add(compute, Phase::kBackward, k, 5_us);
    }
    return rank.Build();
  };
  const GivenTimes model(6_us);
  SimExecutor executor(OneNode(), model);
  EXPECT_EQ(executor.Execute(make(4)).makespan(), 100_us + 8 * 5_us);
  EXPECT_EQ(executor.Execute(make(100)).makespan(), 200 * 6_us + 5_us);
  EXPECT_FALSE(executor.ExecuteRepeated(make(4), 96, 1).has_value());
}

TEST(ExecuteRepeatedTest, StepsWithFlowsAreNotTold) {
  const GivenTimes model;
  SimExecutor executor(OneNode(), model, {.fidelity = NetworkFidelity::kFlow});
  EXPECT_FALSE(executor.ExecuteRepeated(Messages(4, false), 96, 1).has_value());
}

}  // namespace
}  // namespace stagecraft
