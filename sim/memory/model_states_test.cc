#include "sim/memory/model_states.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace stagecraft {
namespace {

// The example of Rajbhandari et al., 2020, figure 1: 7.5 billion parameters on 64
// ranks take 120, 31.4, 16.6 and 1.9 GB.
TEST(ModelStatesTest, ZeroSharesOutWhatItsStageSays) {
  const ParameterCount parameters{.dense = 7'500'000'000};
  StateSharing sharing{.ranks = 64};
  const auto gigabytes = [&](int zero) {
    sharing.zero = zero;
    const ModelStates states = ShareOut(parameters, parameters, sharing);
    return static_cast<double>((states.weights + states.gradients + states.optimizer).count()) /
           1e9;
  };
  EXPECT_DOUBLE_EQ(gigabytes(0), 120);
  EXPECT_NEAR(gigabytes(1), 31.4, 0.05);
  EXPECT_NEAR(gigabytes(2), 16.6, 0.05);
  EXPECT_NEAR(gigabytes(3), 1.9, 0.05);
}

TEST(ModelStatesTest, ExpertsAreSharedByThoseThatHoldThem) {
  const ParameterCount parameters{.dense = 800, .expert = 160};
  const StateSharing sharing{.zero = 1, .ranks = 8, .experts = 2};
  EXPECT_EQ(ShareOut(parameters, parameters, sharing).optimizer, Bytes(12 * (100 + 80)));
}

// Each stage of ZeRO divides one more kind of state, experts by the ranks that hold them.
TEST(ModelStatesTest, EveryStageOfZeroDividesExpertsByTheirHolders) {
  const ParameterCount parameters{.dense = 800, .expert = 160};
  StateSharing sharing{.ranks = 8, .experts = 2};
  const auto elements = [&](int zero) {
    sharing.zero = zero;
    const ModelStates states = ShareOut(parameters, parameters, sharing);
    return std::vector<int64_t>{states.weights.count() / 2, states.gradients.count() / 2,
                                states.optimizer.count() / 12};
  };
  EXPECT_EQ(elements(0), (std::vector<int64_t>{960, 960, 960}));
  EXPECT_EQ(elements(1), (std::vector<int64_t>{960, 960, 180}));
  EXPECT_EQ(elements(2), (std::vector<int64_t>{960, 180, 180}));
  EXPECT_EQ(elements(3), (std::vector<int64_t>{180, 180, 180}));
}

// Wide weights are the masters: each takes 4 bytes, in place of 2, and its moments take 8, where
// moments and a master would take 12.
TEST(ModelStatesTest, WideWeightsHaveNoMastersBesideThem) {
  StateSharing sharing{.zero = 1, .ranks = 8, .has_wide_weights = true};
  const ParameterCount parameters{.dense = 800};
  const ModelStates states = ShareOut(parameters, parameters, sharing);
  EXPECT_EQ(states.weights, Bytes(4 * 800));
  EXPECT_EQ(states.optimizer, Bytes(8 * 100));
  sharing.updates = false;
  EXPECT_EQ(ShareOut(parameters, {}, sharing).optimizer, Bytes());
}

TEST(ModelStatesTest, VersionsMultiplyWeightsAlone) {
  const StateSharing sharing{.versions = 3};
  const ModelStates states = ShareOut({.dense = 100}, {.dense = 100}, sharing);
  EXPECT_EQ(states.weights, Bytes(600));
  EXPECT_EQ(states.gradients, Bytes(200));
}

TEST(ModelStatesTest, MasterCopiesExistBesideNarrowWeights) {
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam, 2, 10), Bytes(120));
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam, 4, 10), Bytes(80));
  EXPECT_EQ(OptimizerStates(Optimizer::kSgd, 2, 10), Bytes(80));
  EXPECT_EQ(OptimizerStates(Optimizer::kSgd, 4, 10), Bytes(40));
  EXPECT_EQ(OptimizerStates(Optimizer::kPlainSgd, 2, 10), Bytes(40));
  EXPECT_EQ(OptimizerStates(Optimizer::kPlainSgd, 4, 10), Bytes());
}

// 257 numbers are two blocks: a byte each and 8 bytes of scales, twice.
TEST(ModelStatesTest, EightBitMomentsHaveAScaleForEveryBlock) {
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam8Bit, 4, 257), Bytes(2 * (257 + 8)));
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam8Bit, 2, 256), Bytes(4 * 256 + 2 * (256 + 4)));
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam16Bit, 2, 256), Bytes(4 * 256 + 2 * 2 * 256));
  EXPECT_EQ(OptimizerStates(Optimizer::kAdam16Bit, 4, 256), Bytes(2 * 2 * 256));
}

}  // namespace
}  // namespace stagecraft
