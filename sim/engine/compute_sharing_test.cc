#include "sim/engine/compute_sharing.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/engine/sim_executor.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

constexpr double kSlowdown = 0.25;

// Kernels take the time that they state, collectives a microsecond for every kilobyte.
class GivenTimes : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      estimate.time = IsCollective(op.kind) ? Duration::Nanoseconds(op.bytes.count()) : op.profiled;
      if (op.kind == OpKind::kAllReduce) estimate.slowdown = kSlowdown;
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

Op Reduction(Duration time) {
  Fabric fabric;
  fabric.ranks = 2;
  fabric.ranks_per_node = 2;
  return Op::Collective(OpKind::kAllReduce, Bytes(time.ns()), fabric);
}

class ComputeSharingTest : public ::testing::Test {
 protected:
  TaskId Add(Lane lane, const std::vector<Op>& ops, Phase phase,
             const std::vector<TaskId>& after = {}, const std::vector<uint8_t>& flags = {}) {
    std::vector<OpId> ids;
    for (const Op& op : ops) ids.push_back(builder_.AddOp(op));
    Tag tag;
    tag.phase = phase;
    return builder_.Add({&lane, 1}, after, builder_.AddOpSequence(ids, flags), tag);
  }
  Timeline Run() {
    schedule_ = builder_.Build();
    const Cluster cluster = MakeCluster(1, 2);
    return SimExecutor(cluster, GivenTimes()).Execute(schedule_);
  }

  Schedule::Builder builder_;
  Schedule schedule_;
  const int32_t rank_ = builder_.AddRank({.device = 0});
  const Lane compute_ = builder_.AddLane({rank_, LaneKind::kCompute});
  const Lane data_ = builder_.AddLane({rank_, LaneKind::kData});
};

// compute [forward 4 us][backward 10 us     ]
// data                  [reduction 6]
TEST_F(ComputeSharingTest, APassLosesAShareOfTheTimeBesideACollective) {
  const TaskId forward = Add(compute_, {Op::Profiled(1, 4_us)}, Phase::kForward);
  const TaskId reduction = Add(data_, {Reduction(6_us)}, Phase::kGradReduce, {forward});
  const TaskId backward = Add(compute_, {Op::Profiled(1, 10_us)}, Phase::kBackward);
  const Timeline timeline = Run();
  EXPECT_EQ(timeline.end(forward), 4_us);
  EXPECT_EQ(timeline.end(reduction), 10_us);
  EXPECT_EQ(timeline.end(backward), 14_us + 1500_ns);
}

TEST_F(ComputeSharingTest, CollectivesOfThePassItselfAreNotSlowed) {
  const TaskId forward = Add(compute_, {Op::Profiled(1, 4_us)}, Phase::kForward);
  Add(data_, {Reduction(8_us)}, Phase::kGradReduce, {forward});
  // Half of the pass computes: of the 8 us beside the reduction, 4 us are slowed.
  const TaskId pass = Add(compute_, {Op::Profiled(1, 5_us), Reduction(5_us)}, Phase::kBackward);
  EXPECT_EQ(Run().end(pass), 14_us + 1_us);
}

// A task gathers for 2 us and then reduces for 6 us. Only the reduction slows the pass.
TEST_F(ComputeSharingTest, AllCollectivesOfATaskCount) {
  Op gather = Reduction(2_us);
  gather.kind = OpKind::kAllGather;
  Add(data_, {gather, Reduction(6_us)}, Phase::kGradReduce);
  const TaskId pass = Add(compute_, {Op::Profiled(1, 20_us)}, Phase::kBackward);
  EXPECT_EQ(Run().end(pass), 20_us + 1500_ns);
}

TEST_F(ComputeSharingTest, ACollectiveThatOverlapsAnOpSlowsItWhileItRuns) {
  const TaskId inside = Add(compute_, {Reduction(4_us), Op::Profiled(1, 10_us)}, Phase::kForward,
                            {}, {kOverlapsNext, 0});
  EXPECT_EQ(Run().end(inside), 11_us);
}

TEST_F(ComputeSharingTest, ALongerCollectiveHidesWhatAnOpLoses) {
  const TaskId outlasted = Add(compute_, {Reduction(20_us), Op::Profiled(1, 3_us)}, Phase::kForward,
                               {}, {kOverlapsNext, 0});
  EXPECT_EQ(Run().end(outlasted), 20_us);
}

}  // namespace
}  // namespace stagecraft
