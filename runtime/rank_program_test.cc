#include "runtime/rank_program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

Tag TagOf(int32_t rank, Phase phase) {
  Tag tag;
  tag.rank = rank;
  tag.phase = phase;
  return tag;
}

Fabric Among(int ranks) {
  Fabric fabric;
  fabric.ranks = ranks;
  return fabric;
}

// Ranks, each with a compute lane and a lane to the next stage. Each is on the device of the same
// number.
struct Ranks {
  Schedule::Builder builder;
  std::vector<Lane> compute, send;

  explicit Ranks(int count) {
    for (int32_t r = 0; r < count; ++r) {
      builder.AddRank({.device = r, .stage = static_cast<int16_t>(r), .replica = 0});
      compute.push_back(builder.AddLane({r, LaneKind::kCompute}));
      send.push_back(builder.AddLane({r, LaneKind::kSendNext}));
    }
  }
  TaskId Pass(int32_t rank, std::vector<TaskId> after = {}) {
    return builder.Add({&compute[rank], 1}, after, -1, TagOf(rank, Phase::kForward));
  }
  TaskId Send(int32_t from, int32_t to, std::vector<TaskId> after) {
    const OpId op = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(4), Among(2)));
    const TaskId task = builder.Add({&send[from], 1}, after, builder.AddOpSequence({&op, 1}),
                                    TagOf(from, Phase::kSendForward));
    builder.SetCommunicator(task, builder.AddCommunicator({{from, to}}));
    return task;
  }
};

const RankStep& StepOf(const RankProgram& program, TaskId task) {
  return program.steps[program.StepOf(task)];
}

TEST(RankProgramTest, BothEndsOfAMessageTakePartInIt) {
  Ranks ranks(2);
  const TaskId first = ranks.Pass(0);
  const TaskId send = ranks.Send(0, 1, {first});
  const TaskId second = ranks.Pass(1, {send});
  const Schedule schedule = ranks.builder.Build();
  EXPECT_EQ(TaskRanks(schedule, send), (std::vector<int32_t>{0, 1}));

  const RankProgram sender = MakeRankProgram(schedule, 0);
  ASSERT_EQ(sender.steps.size(), 2u);
  EXPECT_EQ(StepOf(sender, send).kind, StepKind::kSend);
  EXPECT_EQ(StepOf(sender, send).peers, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(StepOf(sender, send).waits, 1);

  const RankProgram receiver = MakeRankProgram(schedule, 1);
  ASSERT_EQ(receiver.steps.size(), 2u);
  EXPECT_EQ(StepOf(receiver, send).kind, StepKind::kReceive);
  EXPECT_EQ(StepOf(receiver, send).waits, 0);
  EXPECT_EQ(StepOf(receiver, second).waits, 1);
  EXPECT_TRUE(receiver.awaited.empty());
  EXPECT_EQ(receiver.SignalOf(send), nullptr);
  EXPECT_EQ(receiver.StepOf(first), -1);
}

TEST(RankProgramTest, ARankThatHasNoPartInATaskLearnsOfItsEnd) {
  Ranks ranks(3);
  const TaskId before = ranks.Pass(2);
  const TaskId after = ranks.Pass(0, {before});
  const Schedule schedule = ranks.builder.Build();
  EXPECT_EQ(StepOf(MakeRankProgram(schedule, 2), before).signals, (std::vector<int32_t>{0}));
  const RankProgram program = MakeRankProgram(schedule, 0);
  ASSERT_EQ(program.awaited.size(), 1u);
  EXPECT_EQ(program.awaited[0].task, before);
  EXPECT_EQ(program.awaited[0].from, 2);
  EXPECT_EQ(StepOf(program, after).waits, 1);
  EXPECT_TRUE(MakeRankProgram(schedule, 1).steps.empty());
}

TEST(RankProgramTest, MessagesOfALaneArriveNoMoreThanAWindowAhead) {
  Ranks ranks(2);
  std::vector<TaskId> sends;
  for (int i = 0; i < 5; ++i) sends.push_back(ranks.Send(0, 1, {}));
  const Schedule schedule = ranks.builder.Build();
  const RankProgram program = MakeRankProgram(schedule, 1, 2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(StepOf(program, sends[i]).waits, i < 2 ? 0 : 1) << i;
  // The sender's lane sends them one by one.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(StepOf(MakeRankProgram(schedule, 0, 2), sends[i]).waits, i == 0 ? 0 : 1) << i;
  }
}

TEST(RankProgramTest, AFoldedScheduleIsRefused) {
  Schedule::Builder builder;
  builder.AddRank({.device = 0, .stage = 0, .replica = 0, .multiplicity = 4});
  const Schedule schedule = builder.Build();
  EXPECT_THROW(MakeRankProgram(schedule, 0), InputError);
}

TEST(RankProgramTest, AServerIsRefused) {
  Ranks ranks(2);
  const OpId op = ranks.builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(4), Among(2)));
  const TaskId task = ranks.builder.Add(
      {&ranks.send[0], 1}, {}, ranks.builder.AddOpSequence({&op, 1}), TagOf(0, Phase::kGradReduce));
  ranks.builder.SetCommunicator(task, ranks.builder.AddCommunicator({{0, 7}}));
  const Schedule schedule = ranks.builder.Build();
  EXPECT_THROW(MakeRankProgram(schedule, 0), InputError);
}

// Two tensor ranks, two context ranks and two replicas. Within a replica, tensor ranks are
// adjacent.
TEST(RankProgramTest, CollectivesAmongOpsRunAmongTheRanksOfTheirDimension) {
  Schedule::Builder builder;
  for (int32_t r = 0; r < 8; ++r) builder.AddRank({.device = r, .stage = 0, .replica = r / 4});
  const Schedule schedule = builder.Build();
  const Op op = Op::Collective(OpKind::kAllReduce, Bytes(8), Among(2));
  EXPECT_EQ(OpPeers(schedule, 5, op, 0), (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(OpPeers(schedule, 5, op, kContextGroup), (std::vector<int32_t>{5, 7}));
  EXPECT_EQ(OpPeers(schedule, 2, op, kExpertGroup), (std::vector<int32_t>{2, 3}));
}

}  // namespace
}  // namespace stagecraft
