#include "sim/plan/host_offload.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "costmodel/check.h"
#include "sim/memory/stage_memory.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

constexpr Bytes kHostMemory(int64_t{1} << 40);

// These are two GPUs of one node, whose ports carry 300 GB/s.
class HostOffloadTest : public ::testing::Test {
 protected:
  Plan Make(bool offloads, const std::function<void(PlanDegrees&)>& change = {}) const {
    PlanDegrees degrees = Degrees(1, 1);
    degrees.offload.optimizer = offloads;
    if (offloads) degrees.offload.host_memory = kHostMemory;
    if (change) change(degrees);
    return MakePlan(degrees, workload_, cluster_);
  }
  std::string ErrorOf(const std::function<void(PlanDegrees&)>& change) const {
    try {
      Make(true, change);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  const Workload workload_ = MakeWorkload(4);
  const Cluster cluster_ = MakeCluster(1, 2);
};

// 3 x 2^20 parameters with fp16 gradients: 6 MiB out and 6 MiB in at 300 GB/s; the update
// moves 6 + 2 x 36 + 6 MiB at half of the node's rate.
TEST_F(HostOffloadTest, CopiesAndUpdateMoveTheirBytes) {
  const Plan plan = Make(true);
  const auto ops = HostUpdate(plan, cluster_, 0, 3 << 20);
  const Duration port = Bytes(1 << 20) / Bandwidth(300e9);
  const Duration host = Bytes(1 << 20) / Bandwidth(kHostUpdateRate.bytes_per_s() / 2);
  EXPECT_EQ(ops[0], Op::Profiled(6, port));
  EXPECT_EQ(ops[1], Op::Profiled(84, host));
  EXPECT_EQ(ops[2], Op::Profiled(6, port));
}

TEST_F(HostOffloadTest, StatesLeaveTheDeviceForTheHost) {
  const StageMemory with = EstimateMemory(Make(true), workload_, cluster_)[0];
  const StageMemory without = EstimateMemory(Make(false), workload_, cluster_)[0];
  EXPECT_GT(without.optimizer, Bytes());
  EXPECT_EQ(without.host, Bytes());
  EXPECT_EQ(with.optimizer, Bytes());
  EXPECT_EQ(with.allocated, without.allocated - without.optimizer);
  // 12 bytes of states, 2 of a gradient and 2 of a parameter; two ranks share them.
  EXPECT_EQ(with.host, Bytes(16 * ((workload_.Parameters() + 1) / 2)));
  EXPECT_EQ(with.host_capacity, Bytes(kHostMemory.count() / 2));
  EXPECT_TRUE(with.fits());
}

// A node of four such GPUs has no more host memory than one of two, so that half as much is there
// for each of its ranks, which come last.
TEST_F(HostOffloadTest, TheReplicaWithTheLeastHostMemoryDecides) {
  const Device device = MakeDevice("fast", 100e12);
  NodeType large = MakeNode(device, 4);
  large.id = "large";
  const Cluster mixed("test", {{MakeNode(device, 2), 1}, {large, 1}});
  PlanDegrees degrees = Degrees(1, 1);
  degrees.global_batch = 24;
  degrees.zero = 0;
  degrees.offload.optimizer = true;
  degrees.offload.host_memory = Bytes(3 * 16 * workload_.Parameters());
  const StageMemory memory =
      EstimateMemory(MakePlan(degrees, workload_, mixed), workload_, mixed)[0];
  EXPECT_EQ(memory.device, 2);
  EXPECT_FALSE(memory.fits());
}

TEST_F(HostOffloadTest, TheThreeTasksFollowTheNorm) {
  const Schedule schedule = Lower(Make(true), workload_, cluster_);
  int updates = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.tag(task).phase == Phase::kOptimizer) ++updates;
  }
  EXPECT_EQ(updates, 3 * static_cast<int>(schedule.ranks().size()));
  EXPECT_EQ(Simulate(Make(true), workload_, cluster_, false).makespan(),
            Simulate(Make(true), workload_, cluster_, true).makespan());
}

TEST_F(HostOffloadTest, AHostThatIsTooSmallDoesNotFit) {
  const Plan plan = Make(true, [](PlanDegrees& d) { d.offload.host_memory = Bytes(1 << 20); });
  const StageMemory memory = EstimateMemory(plan, workload_, cluster_)[0];
  EXPECT_LT(memory.Peak(), memory.capacity);
  EXPECT_FALSE(memory.fits());
}

TEST_F(HostOffloadTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(
      ErrorOf([](PlanDegrees& d) { d.offload.host_memory = Bytes(); }),
      "host_memory_bytes: got none, want that of a node, for the states of offload_optimizer");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.optimizer = Optimizer::kSgd; }),
            "offload_optimizer: got optimizer sgd, want adam");
  EXPECT_EQ(ErrorOf([](PlanDegrees& d) { d.post_validation = true; }),
            "offload_optimizer: wants post_validation off");
  EXPECT_EQ(OffloadNotes(Make(false)).size(), 0u);
  EXPECT_EQ(OffloadNotes(Make(true)).size(), 1u);
}

}  // namespace
}  // namespace stagecraft
