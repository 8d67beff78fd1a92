// Tests that a small network, computed by the commands of a StreamProgram in any order that streams
// allow, has the gradients that one rank computes alone, for every synchronous schedule, with
// replicas too.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "runtime/fake_streams.h"
#include "runtime/member_share.h"
#include "runtime/stream_program.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "tests/gradient_cases.h"
#include "tests/small_network.h"

namespace stagecraft {
namespace {

// The networks of all ranks, which commands compute.
class StreamedNetwork {
 public:
  StreamedNetwork(const Plan& plan, const Schedule& schedule, const Layers& layers,
                  const StreamProgram& program, Processes processes)
      : schedule_(schedule), program_(program), is_one_process_(processes == Processes::kOne) {
    for (const RankProgram& rank : program.ranks) {
      works_.push_back(std::make_unique<SmallNetwork>(plan, schedule, layers, rank.rank));
      works_.back()->BeginStep();
      for (size_t s = 0; s < rank.steps.size(); ++s) {
        if (rank.steps[s].kind != StepKind::kCompute) continue;
        finished_[program.steps[rank.rank][s].end] = {rank.rank, rank.steps[s].task};
      }
    }
  }

  void Run(const std::vector<StreamCommand>& together) {
    const StreamCommand& first = together[0];
    const int32_t rank = RankOf(first);
    switch (first.kind) {
      case CommandKind::kRecord:
        if (const auto ended = finished_.find(first.event); ended != finished_.end()) {
          works_[ended->second.first]->Finish(ended->second.second);
        }
        return;
      case CommandKind::kRun:
        for (int op = first.first; op < first.last; ++op) works_[rank]->Run(first.task, op);
        return;
      case CommandKind::kCopy:
      case CommandKind::kSend:
      case CommandKind::kReceive:
        return Deliver(first.task);
      case CommandKind::kShare:
        return is_one_process_ ? Share(first) : Reduce(together);
      default:
        return;
    }
  }

  double Error(const std::vector<Layers::Vector>& expected) {
    double most = 0;
    for (const auto& work : works_) most = std::max(most, work->Error(expected));
    return most;
  }

 private:
  int32_t RankOf(const StreamCommand& command) const {
    return program_.streams[command.stream].rank;
  }

  void Deliver(TaskId task) {
    const RankProgram& sender = program_.ranks[schedule_.tag(task).rank];
    const std::vector<int32_t>& ends = sender.steps[sender.StepOf(task)].peers;
    const std::span<float> from = works_[ends[0]]->Buffer(task, 0);
    const std::span<float> to = works_[ends[1]]->Buffer(task, 0);
    std::copy(from.begin(), from.end(), to.begin());
    works_[ends[1]]->Receive(task);
  }

  // The buffers of a collective's members, in order of the group. They are filled when the first
  // member asks for them.
  std::vector<std::span<float>>& Buffers(const StreamCommand& command) {
    std::vector<std::span<float>>& buffers = shared_[{command.task, command.group}];
    if (!buffers.empty()) return buffers;
    for (const int32_t rank : program_.groups[command.group].ranks) {
      buffers.push_back(works_[rank]->Buffer(command.task, command.first));
    }
    return buffers;
  }

  // Does one member's part of an all-reduce: in the first phase, it adds up its share of all
  // buffers; in the second, it copies the shares of the others.
  void Share(const StreamCommand& command) {
    const std::vector<std::span<float>>& buffers = Buffers(command);
    const std::vector<int32_t>& ranks = program_.groups[command.group].ranks;
    const size_t own = std::find(ranks.begin(), ranks.end(), RankOf(command)) - ranks.begin();
    for (size_t other = 0; other < ranks.size(); ++other) {
      if (other == own) continue;
      const size_t shared = command.phase == 0 ? own : other;
      const MemberShare share =
          MemberShare::Of(static_cast<int64_t>(buffers[own].size()), static_cast<int>(ranks.size()),
                          static_cast<int>(shared));
      for (int64_t i = share.begin; i < share.end; ++i) {
        if (command.phase == 0) {
          buffers[own][i] += buffers[other][i];
        } else {
          buffers[own][i] = buffers[other][i];
        }
      }
    }
  }

  void Reduce(const std::vector<StreamCommand>& together) {
    const std::vector<std::span<float>>& buffers = Buffers(together[0]);
    for (size_t i = 0; i < buffers[0].size(); ++i) {
      float sum = 0;
      for (const std::span<float>& buffer : buffers) sum += buffer[i];
      for (const std::span<float>& buffer : buffers) buffer[i] = sum;
    }
  }

  const Schedule& schedule_;
  const StreamProgram& program_;
  const bool is_one_process_;
  std::vector<std::unique_ptr<SmallNetwork>> works_;        // by rank
  std::map<int32_t, std::pair<int32_t, TaskId>> finished_;  // rank and task, by event
  std::map<std::pair<TaskId, int32_t>, std::vector<std::span<float>>> shared_;  // by task, group
};

// The number of steps that began before a step of the same rank for which they wait had ended.
int OutOfOrder(const StreamProgram& program, const std::vector<int>& recorded) {
  int count = 0;
  for (const RankProgram& rank : program.ranks) {
    const std::vector<StepEvents>& events = program.steps[rank.rank];
    for (size_t s = 0; s < rank.steps.size(); ++s) {
      for (const int32_t next : rank.steps[s].next) {
        if (rank.steps[next].kind == StepKind::kReceive) continue;
        if (recorded[events[next].begin] < recorded[events[s].end]) ++count;
      }
    }
  }
  return count;
}

class StreamGradientsTest : public testing::TestWithParam<int> {};

TEST_P(StreamGradientsTest, EveryOrderGivesThoseOfOneRank) {
  const Workload workload = GradientWorkload();
  const Cluster cluster = MakeCluster(1, GetParam());
  const PlainModel model;
  const Layers layers(workload.layer_count());
  for (const GradientCase& one : GradientCases(GetParam())) {
    const Plan plan =
        WithPassOrders(MakePlan(one.degrees, workload, cluster), workload, cluster, model);
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    const auto expected = layers.Gradients(static_cast<int>(plan.micro_batches()));
    for (const Processes processes : {Processes::kOne, Processes::kOneARank}) {
      const StreamProgram program = MakeStreamProgram(schedule, processes);
      for (const Queues queues : {Queues::kOneAStream, Queues::kOneAProcess}) {
        StreamedNetwork network(plan, schedule, layers, program, processes);
        FakeStreams streams(program, processes, queues);
        EXPECT_EQ(streams.Execute(Random(1), [&](const auto& all) { network.Run(all); }), "")
            << one.name;
        EXPECT_LT(network.Error(expected), kMostGradientError) << one.name;
        EXPECT_EQ(OutOfOrder(program, streams.recorded()), 0) << one.name;
      }
    }
  }
}

// For tensor, context and expert groups, sharded states and overlapped collectives, this does not
// follow what they compute, only that the members of each collective meet.
TEST(StreamGroupsTest, CollectivesAmongOpsMeetInAnyOrderThatStreamsAllow) {
  const Workload workload = GradientWorkload();
  const Cluster cluster = MakeCluster(1, 8);
  const PlainModel model;
  std::vector<PlanDegrees> plans;
  for (const auto& [tensor, context] : {std::pair(2, 1), {2, 2}, {1, 2}, {4, 1}}) {
    for (const int zero : {0, 1, 3}) {
      for (const bool overlaps : {false, true}) {
        PlanDegrees degrees = Degrees(tensor, 2);
        degrees.context = context;
        degrees.global_batch = 16;
        degrees.zero = zero;
        degrees.overlap_grad_reduce = overlaps && zero < 2;
        degrees.overlap_param_gather = overlaps && zero == 1;
        degrees.overlap_p2p = overlaps;
        degrees.overlap_tensor = overlaps && tensor > 1;
        plans.push_back(degrees);
      }
    }
  }
  int shares = 0;
  for (const PlanDegrees& degrees : plans) {
    const Plan plan =
        WithPassOrders(MakePlan(degrees, workload, cluster), workload, cluster, model);
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    for (const Processes processes : {Processes::kOne, Processes::kOneARank}) {
      const StreamProgram program = MakeStreamProgram(schedule, processes);
      for (const Queues queues : {Queues::kOneAStream, Queues::kOneAProcess}) {
        FakeStreams streams(program, processes, queues);
        EXPECT_EQ(streams.Execute(Random(2), [](const auto&) {}), "");
        EXPECT_EQ(OutOfOrder(program, streams.recorded()), 0);
      }
      for (const StreamCommand& command : program.commands) {
        shares += command.kind == CommandKind::kShare ? 1 : 0;
      }
    }
  }
  EXPECT_GT(shares, 1000);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StreamGradientsTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace stagecraft
