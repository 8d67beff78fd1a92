#include "runtime/stream_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "runtime/fake_streams.h"

namespace stagecraft {
namespace {

Fabric Among(int ranks) {
  Fabric fabric;
  fabric.ranks = ranks;
  return fabric;
}

// Ranks of one stage, each with a compute lane and a lane to the next stage.
struct Ranks {
  Schedule::Builder builder;
  std::vector<Lane> compute, send;

  explicit Ranks(int count) {
    for (int32_t r = 0; r < count; ++r) {
      builder.AddRank({.device = r, .stage = 0, .replica = 0});
      compute.push_back(builder.AddLane({r, LaneKind::kCompute}));
      send.push_back(builder.AddLane({r, LaneKind::kSendNext}));
    }
  }
  TaskId Pass(std::vector<int> ranks, std::vector<TaskId> after = {},
              OpSequenceId op_sequence = -1) {
    std::vector<Lane> lanes;
    for (const int rank : ranks) lanes.push_back(compute[rank]);
    return builder.Add(lanes, after, op_sequence, {.rank = ranks[0]});
  }
  TaskId Send(int32_t from, int32_t to, std::vector<TaskId> after) {
    const OpId op = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(4), Among(2)));
    const TaskId task = builder.Add({&send[from], 1}, after, builder.AddOpSequence({&op, 1}),
                                    {.rank = from, .phase = Phase::kSendForward});
    builder.SetCommunicator(task, builder.AddCommunicator({{from, to}}));
    return task;
  }
  // Returns the ops GEMM, all-reduce among both ranks, GEMM, GEMM; `flags` are those of the
  // all-reduce.
  OpSequenceId ReducedOpSequence(uint8_t flags) {
    const OpId ops[] = {
        builder.AddOp(Op::Gemm(DType::kBf16, 8, 8, 8)),
        builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(64), Among(2))),
        builder.AddOp(Op::Gemm(DType::kBf16, 16, 8, 8)),
        builder.AddOp(Op::Gemm(DType::kBf16, 32, 8, 8)),
    };
    const uint8_t all[] = {0, flags, 0, 0};
    return builder.AddOpSequence(ops, all);
  }
};

int Count(const std::vector<StreamCommand>& commands, CommandKind kind) {
  return static_cast<int>(std::count_if(commands.begin(), commands.end(),
                                        [&](const StreamCommand& c) { return c.kind == kind; }));
}

TEST(StreamProgramTest, AMessageInOneProcessIsACopyThatItsReceiverWaitsFor) {
  Ranks ranks(2);
  const TaskId send = ranks.Send(0, 1, {ranks.Pass({0})});
  const TaskId second = ranks.Pass({1}, {send});
  const StreamProgram program = MakeStreamProgram(ranks.builder.Build(), Processes::kOne);
  EXPECT_EQ(program.streams.size(), 3u);  // two compute lanes and one that sends
  EXPECT_EQ(Count(program.commands, CommandKind::kCopy), 1);
  const std::vector<StreamCommand> receiver = CommandsOf(program, 1);
  ASSERT_EQ(receiver.size(), 3u);  // the wait, the begin and the end
  EXPECT_EQ(receiver[0].kind, CommandKind::kWait);
  EXPECT_EQ(receiver[0].event, program.steps[0][program.ranks[0].StepOf(send)].end);
  EXPECT_EQ(receiver[1].event, program.steps[1][program.ranks[1].StepOf(second)].begin);
  // The receiver takes the sender's events for the begin and the end of the message.
  EXPECT_EQ(program.steps[1][program.ranks[1].StepOf(send)].end, receiver[0].event);
}

TEST(StreamProgramTest, AMessageBetweenProcessesHasTwoEndsInAGroup) {
  Ranks ranks(2);
  const TaskId send = ranks.Send(0, 1, {ranks.Pass({0})});
  ranks.Pass({1}, {send});
  const StreamProgram program = MakeStreamProgram(ranks.builder.Build(), Processes::kOneARank);
  ASSERT_EQ(program.groups.size(), 1u);
  EXPECT_EQ(program.groups[0].ranks, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(Count(CommandsOf(program, 0), CommandKind::kSend), 1);
  EXPECT_EQ(Count(CommandsOf(program, 1), CommandKind::kReceive), 1);
}

TEST(StreamProgramTest, ARankThatHasNoPartInATaskLearnsOfItsEnd) {
  Ranks ranks(3);
  ranks.Pass({0}, {ranks.Pass({2})});
  const Schedule schedule = ranks.builder.Build();
  const StreamProgram apart = MakeStreamProgram(schedule, Processes::kOneARank);
  EXPECT_EQ(Count(CommandsOf(apart, 2), CommandKind::kSay), 1);
  EXPECT_EQ(Count(CommandsOf(apart, 0), CommandKind::kHear), 1);
  const StreamProgram one = MakeStreamProgram(schedule, Processes::kOne);
  EXPECT_EQ(Count(one.commands, CommandKind::kSay), 0);
  EXPECT_EQ(Count(CommandsOf(one, 0), CommandKind::kWait), 1);
}

// Returns the ops that each stream of a rank runs, by the kind of the stream.
std::map<StreamKind, std::vector<int>> OpsOf(const StreamProgram& program, int32_t rank) {
  std::map<StreamKind, std::vector<int>> ops;
  for (const StreamCommand& command : CommandsOf(program, rank)) {
    const bool runs = command.kind == CommandKind::kRun || command.kind == CommandKind::kShare;
    if (!runs || command.phase > 0) continue;
    for (int op = command.first; op < command.last; ++op) {
      ops[program.streams[command.stream].kind].push_back(op);
    }
  }
  return ops;
}

TEST(StreamProgramTest, CollectivesAmongOpsAreRunInTurnOrBesideTheNext) {
  for (const bool overlaps : {false, true}) {
    Ranks ranks(2);
    ranks.Pass({0, 1}, {}, ranks.ReducedOpSequence(overlaps ? kOverlapsNext : 0));
    const Schedule schedule = ranks.builder.Build();
    for (const Processes processes : {Processes::kOne, Processes::kOneARank}) {
      const StreamProgram program = MakeStreamProgram(schedule, processes);
      const auto ops = OpsOf(program, 1);
      EXPECT_EQ(ops.at(StreamKind::kLane),
                overlaps ? (std::vector<int>{0, 2, 3}) : (std::vector<int>{0, 1, 2, 3}));
      EXPECT_EQ(ops.count(StreamKind::kBeside), overlaps ? 1u : 0u);
      // A collective that overlaps an op has ended when the op after that begins.
      for (uint64_t seed = 0; seed < 20; ++seed) {
        FakeStreams streams(program, processes, Queues::kOneAStream);
        int shared = 0, at_last = -1;
        EXPECT_EQ(streams.Execute(Random(seed),
                                  [&](const std::vector<StreamCommand>& together) {
                                    for (const StreamCommand& command : together) {
                                      shared += command.kind == CommandKind::kShare ? 1 : 0;
                                      if (command.kind == CommandKind::kRun && command.last == 4 &&
                                          at_last < 0) {
                                        at_last = shared;
                                      }
                                    }
                                  }),
                  "");
        // In one process, two halves of an all-reduce for each of two ranks; otherwise the
        // all-reduce of each.
        EXPECT_EQ(at_last, processes == Processes::kOne ? 4 : 2) << seed;
      }
    }
  }
}

TEST(StreamProgramTest, TasksInACircleAreRefused) {
  Ranks ranks(2);
  const TaskId first = ranks.Pass({0});
  const TaskId second = ranks.Pass({1}, {first});
  ranks.builder.AddDependency(second, first);
  const Schedule schedule = ranks.builder.Build();
  EXPECT_THROW(MakeStreamProgram(schedule, Processes::kOne), InputError);
}

TEST(StreamProgramTest, AMessageWithoutAReceiverIsRefused) {
  Ranks ranks(1);
  ranks.builder.Add({&ranks.send[0], 1}, {}, -1, {.rank = 0, .phase = Phase::kSendForward});
  const Schedule schedule = ranks.builder.Build();
  EXPECT_THROW(MakeStreamProgram(schedule, Processes::kOne), InputError);
}

}  // namespace
}  // namespace stagecraft
