#include "search/training/balancer_comparison.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"
#include "search/training/training_testing.h"

namespace stagecraft {
namespace {

TrainedState State(int64_t step, Duration step_time, std::vector<double> stage_seconds,
                   int devices) {
  TrainedState state;
  state.step = step;
  state.evaluation.step_time = step_time;
  state.evaluation.devices = devices;
  state.stage_seconds = std::move(stage_seconds);
  return state;
}

// 300 steps of 2 s, of which half would do, and 700 of 1 s on two devices, of which none can go.
class SumUpTest : public testing::Test {
 protected:
  SumUpTest() {
    states_[1].cost.move = Duration::Seconds(3);
    states_[1].cost.barrier = Duration::Seconds(1);
    states_[1].moves = true;
  }

  const SmallPipeline small_;
  const Job job_ = small_.JobWith({Frozen(small_.workload, 300, 13)});
  std::vector<TrainedState> states_ = {State(0, Duration::Seconds(2), {4, 1, 1, 2}, 4),
                                       State(300, Duration::Seconds(1), {1, 1}, 2)};
};

TEST_F(SumUpTest, ARunIsTheSumOfItsStates) {
  const BalancerRow row = SumUp("name", job_, states_);
  EXPECT_EQ(row.name, "name");
  EXPECT_EQ(row.time, Duration::Seconds(300 * 2 + 4 + 700));
  EXPECT_EQ(row.overhead, Duration::Seconds(4));
  EXPECT_EQ(row.moves, 1);
  EXPECT_EQ(row.fewest_devices, 2);
  EXPECT_DOUBLE_EQ(row.gpu_hours, (600.0 * 4 + 704.0 * 2) / 3600);
}

TEST_F(SumUpTest, NoDivisionGainsMoreThanAllStatesTogether) {
  EXPECT_DOUBLE_EQ(MostGain(job_, states_), 1300.0 / (300 + 700));
}

TEST(BalancerComparisonTest, NoBalancerExceedsTheBound) {
  const SmallPipeline small;
  const BalancerComparison comparison =
      CompareBalancers(small.JobWith({Frozen(small.workload, 300, 13)}));
  ASSERT_EQ(comparison.rows.size(), 8u);
  EXPECT_EQ(comparison.rows[1].name, "nobody, by parameters");
  EXPECT_EQ(comparison.rows[7].name, "diffusion by truth");
  EXPECT_GT(comparison.bound, 1.2);
  for (const BalancerRow& row : comparison.rows) {
    const double gain = comparison.rows[0].time.seconds() / row.time.seconds();
    EXPECT_LE(gain, comparison.bound) << row.name;
    EXPECT_EQ(row.overhead > Duration(), row.name.find("nobody") == std::string::npos) << row.name;
  }
  EXPECT_LT(comparison.rows[4].time, comparison.rows[0].time);
}

TEST(BalancerComparisonTest, AStateThatCannotBeTrainedIsASentence) {
  const SmallPipeline small;
  const std::string error =
      ErrorOf([&] { CompareBalancers(small.JobWith({Frozen(small.workload, 5, 26)})); });
  EXPECT_NE(error.find("the network from step 5 on: got all 26 layers"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace stagecraft
