#include "sim/analysis/time_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

const Op kSmall = Op::Gemm(DType::kBf16, 128, 128, 128);
const Op kLarge = Op::Gemm(DType::kBf16, 256, 256, 256);
const Op kNorm = Op::Rowwise(OpKind::kNorm, DType::kBf16, 128, 128, Bytes(1024));

struct Part {
  Op op;
  Duration time;
  double spread = 0;
};

// A rank that runs these ops one after another, each as a pass of its own.
class OneRank {
 public:
  explicit OneRank(const std::vector<Part>& parts, Generation generation = Generation::kHopper) {
    Schedule::Builder builder;
    const Lane lane = builder.AddLane({builder.AddRank({.device = 0}), LaneKind::kCompute});
    Device device;
    device.generation = generation;
    costs_.devices = {device};
    costs_.device_of_rank = {0};
    costs_.estimates.emplace_back();
    for (const Part& part : parts) {
      const OpId id = builder.AddOp(part.op);
      builder.Add({&lane, 1}, {}, builder.AddOpSequence({&id, 1}), Tag());
      Estimate estimate;
      estimate.time = part.time;
      estimate.spread = part.spread;
      costs_.estimates[0].push_back(estimate);
      profile_.breakdown.compute += part.time;
    }
    schedule_ = builder.Build();
  }

  StepTimeErrors Errors() const { return FindTimeErrors(schedule_, costs_, profile_); }
  StepProfile& profile() { return profile_; }

 private:
  Schedule schedule_;
  BoundCosts costs_;
  StepProfile profile_;
};

TEST(TimeErrorsTest, EqualStepsAreEquallyWrong) {
  const StepTimeErrors errors = OneRank({{kSmall, 3_ms, 0.2}, {kNorm, 1_ms, 0.1}}).Errors();
  EXPECT_EQ(errors.by_op.size(), 2u);
  EXPECT_EQ(RatioSpread(errors, errors), 0);
}

// A framework runs GEMMs up to 3 % faster or slower than predicted, and norms up to 25 %. GEMMs
// take 3/4 of the first step and all of the second, so both kinds' shares differ by 1/4.
TEST(TimeErrorsTest, KindsErrByTheDifferenceOfTheirShares) {
  const StepTimeErrors both = OneRank({{kSmall, 3_ms}, {kNorm, 1_ms}}).Errors();
  const StepTimeErrors gemms = OneRank({{kSmall, 5_ms}}).Errors();
  EXPECT_NEAR(both.by_kind[static_cast<int>(OpKind::kGemm)], 0.03 * 3 / 4, 1e-12);
  EXPECT_NEAR(both.by_kind[static_cast<int>(OpKind::kNorm)], 0.25 / 4, 1e-12);
  EXPECT_NEAR(RatioSpread(both, gemms), 0.03 / 4 + 0.25 / 4, 1e-12);
  EXPECT_EQ(RatioSpread(both, gemms), RatioSpread(gemms, both));
}

// The two GEMMs have errors of their own: sqrt(0.2^2 + 0.1^2).
TEST(TimeErrorsTest, DifferentOpsErrIndependently) {
  const StepTimeErrors small = OneRank({{kSmall, 4_ms, 0.2}}).Errors();
  const StepTimeErrors large = OneRank({{kLarge, 4_ms, 0.1}}).Errors();
  EXPECT_NEAR(RatioSpread(small, large), std::hypot(0.2, 0.1), 1e-12);
  const StepTimeErrors half = OneRank({{kSmall, 2_ms, 0.2}, {kLarge, 2_ms, 0.1}}).Errors();
  EXPECT_NEAR(RatioSpread(small, half), std::hypot(0.1, 0.05), 1e-12);
}

// On a host no training framework adds to the spread of ops.
TEST(TimeErrorsTest, WithoutAFrameworkOnlyOpsErr) {
  OneRank rank({{kSmall, 2_ms, 0.1}}, Generation::kHost);
  rank.profile().host_wait = 1_ms;
  rank.profile().breakdown.data = 2_ms;
  const StepTimeErrors errors = rank.Errors();
  EXPECT_EQ(errors.by_kind[static_cast<int>(OpKind::kGemm)], 0);
  EXPECT_EQ(errors.host, 0);
  EXPECT_EQ(errors.data, 0);
  EXPECT_NEAR(errors.by_op[0].second, 0.1, 1e-12);
}

// Half of the step is a reduction, a quarter of it launches.
TEST(TimeErrorsTest, ExposedMessagesAndLaunchesErrByTheirShares) {
  OneRank waiting({{kSmall, 2_ms}});
  waiting.profile().host_wait = 1_ms;
  waiting.profile().breakdown.data = 2_ms;
  const StepTimeErrors errors = waiting.Errors();
  EXPECT_NEAR(errors.host, 0.1 / 4, 1e-12);
  EXPECT_NEAR(errors.data, 0.1 / 2, 1e-12);
  EXPECT_NEAR(RatioSpread(errors, OneRank({{kSmall, 2_ms}}).Errors()), 0.1 / 4 + 0.1 / 2, 1e-12);
}

}  // namespace
}  // namespace stagecraft
