#include "sim/analysis/schedule_difference.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

// What a schedule of two tasks is made of: a pass, and a reduction that waits for it.
struct Parts {
  Tag pass{0, 0, 0, 7, Phase::kBackward, 0};
  int64_t rows = 2;  // of the pass's GEMM
  int ranks = 4;     // that reduce,
  int servers = 2;   // how many servers
  double bandwidth = 50e9;
  int multiplicity = 1;
  int device = 0;
  LaneKind kind = LaneKind::kData;
  bool has_dependency = true;
  bool has_block = true;
  int more_tasks = 0;

  Schedule Build() const {
    Schedule::Builder s;
    Fabric fabric;
    fabric.ranks = ranks;
    fabric.intra = {LinkKind::kNvlink, 1_us, Bandwidth(bandwidth)};
    s.AddRank({.device = device, .stage = 0, .replica = 0, .multiplicity = multiplicity});
    const std::vector<Lane> compute = {s.AddLane({0, LaneKind::kCompute})};
    const std::vector<Lane> other = {s.AddLane({0, kind})};
    const OpId gemm = s.AddOp(Op::Gemm(DType::kBf16, rows, 3, 5));
    Op reduction = Op::Collective(OpKind::kAllReduce, Bytes(64), fabric);
    reduction.sync.method = SyncMethod::kParameterServer;
    reduction.sync.servers = servers;
    reduction.sync.server = reduction.sync.worker = fabric.intra;
    const OpId reduce = s.AddOp(reduction);
    const OpSequenceId op_sequence = s.AddOpSequence(std::vector<OpId>{gemm});
    const TaskId first = s.Add(compute, {}, has_block ? op_sequence : -1, pass);
    const TaskId second = s.Add(other, {}, s.AddOpSequence(std::vector<OpId>{reduce}),
                                {0, 0, -1, -1, Phase::kGradReduce, 0});
    if (has_dependency) s.AddDependency(first, second);
    for (int i = 0; i < more_tasks; ++i) s.Add(compute, {}, -1, {});
    return s.Build();
  }
};

// Returns what is found when `change` has changed the parts.
std::string DifferenceBy(const std::function<void(Parts&)>& change) {
  Parts changed;
  change(changed);
  return FindDifference(Parts().Build(), changed.Build()).value_or("none");
}

TEST(ScheduleDifferenceTest, TheFirstTaskThatDiffersIsNamed) {
  EXPECT_EQ(DifferenceBy([](Parts&) {}), "none");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.pass.phase = Phase::kForward; }),
            "tasks[0].phase: got forward, want backward (backward of micro-batch 7 on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.pass.micro_batch = -1; }),
            "tasks[0].micro_batch: got none, want 7 (backward of micro-batch 7 on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.kind = LaneKind::kSendNext; }),
            "tasks[1].lanes: got 1 as send next of rank 0, want dp of rank 0 (grad reduce on rank "
            "0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.has_dependency = false; }),
            "tasks[0].successors: got [], want [1] (backward of micro-batch 7 on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.has_block = false; }),
            "tasks[0].block: got none, want 0 (backward of micro-batch 7 on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.rows = 4; }),
            "tasks[0].ops[0]: got gemm 4x3x5 bf16, want gemm 2x3x5 bf16 (backward of micro-batch "
            "7 on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.ranks = 8; }),
            "tasks[1].ops[0]: got parameter-server 64 bytes, 8 ranks on 1 nodes, want "
            "parameter-server 64 bytes, 4 ranks on 1 nodes (grad reduce on rank 0)");
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.servers = 3; }),
            "tasks[1].ops[0]: got parameter-server 64 bytes, 4 ranks on 1 nodes, want "
            "parameter-server 64 bytes, 4 ranks on 1 nodes; they differ in a field not shown (grad "
            "reduce on rank 0)");
}

TEST(ScheduleDifferenceTest, TheNumbersOfTasksAreNamed) {
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.more_tasks = 3; }), "tasks: got 5 tasks, want 2");
  EXPECT_EQ(DifferenceBy([](Parts& parts) {
              parts.pass.chunk = 1;
              parts.more_tasks = 3;
            }),
            "tasks[0].chunk: got 1, want 0 (backward of micro-batch 7 on rank 0; of 5 tasks, want "
            "2)");
}

TEST(ScheduleDifferenceTest, RanksStandForAsManyDevices) {
  EXPECT_EQ(DifferenceBy([](Parts& parts) { parts.multiplicity = 8; }),
            "ranks[0].multiplicity: got 8, want 1");
}

// It makes no difference where a schedule runs, and over which links.
TEST(ScheduleDifferenceTest, DevicesAndLinksMayDiffer) {
  EXPECT_EQ(DifferenceBy([](Parts& parts) {
              parts.device = 5;
              parts.bandwidth = 25e9;
            }),
            "none");
}

}  // namespace
}  // namespace stagecraft
