#include "search/evaluation_errors.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "sim/lowering_testing.h"

namespace stagecraft {
namespace {

class EvaluationErrorsTest : public testing::Test {
 protected:
  // What is found after the change.
  std::vector<std::string> After(const std::function<void(Evaluation&)>& change) const {
    Evaluation evaluation = sound_;
    change(evaluation);
    return FindEvaluationErrors(evaluation, workload_, cluster_);
  }

  const PlainModel model_{};
  const Workload workload_ = MakeWorkload();
  const Cluster cluster_ = MakeCluster(1, 4);
  const Evaluation sound_ =
      EvaluatePlan(MakePlan(Degrees(2, 2), workload_, cluster_), workload_, cluster_, model_);
};

TEST_F(EvaluationErrorsTest, NothingIsWrongWithAStepThatWasSimulated) {
  EXPECT_EQ(After([](Evaluation&) {}), std::vector<std::string>());
  EXPECT_NO_THROW(RequireSound(sound_, workload_, cluster_));
}

// Each of these was once printed with exit code 0.
TEST_F(EvaluationErrorsTest, WhatNoStepCanBeIsFound) {
  const std::vector<std::function<void(Evaluation&)>> changes = {
      [](Evaluation& e) { e.step_time = Duration(); },
      [](Evaluation& e) { e.step_time = Duration::Nanoseconds(-5); },
      [](Evaluation& e) { e.step_time = Duration::Max(); },
      [](Evaluation& e) { e.step_time = Duration::Seconds(1 / 0.0); },
      [](Evaluation& e) { e.step_time = Duration::Seconds(0 / 0.0); },
      [](Evaluation& e) { e.step_time_high = Duration::Nanoseconds(-9); },
      [](Evaluation& e) { e.step_time_high = Duration::Max(); },
      [](Evaluation& e) { e.unshared_time = Duration::Max(); },
      [](Evaluation& e) { e.unshared_time = Duration::Min(); },
      [](Evaluation& e) { e.profile.host_wait = Duration::Max(); },
      [](Evaluation& e) { e.profile.breakdown.compute += kLongestTime; },
      [](Evaluation& e) { e.step_time_low = 2 * e.step_time; },
      [](Evaluation& e) { e.profile.breakdown.compute += 1_ns; },
      [](Evaluation& e) {
        e.profile.breakdown.compute -= 2 * e.step_time;
        e.profile.breakdown.bubble += 2 * e.step_time;
      },
      [](Evaluation& e) { e.profile.bubble_fraction = 1.287; },
      [](Evaluation& e) { e.profile.bubble_fraction = std::numeric_limits<double>::quiet_NaN(); },
      [](Evaluation& e) { e.profile.basis_share[0] = std::numeric_limits<double>::quiet_NaN(); },
      [](Evaluation& e) { e.model_flops = 1e6 * e.model_flops; },
      [](Evaluation& e) { e.peak = FlopRate(); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_FALSE(After(changes[i]).empty()) << i;
    Evaluation evaluation = sound_;
    changes[i](evaluation);
    EXPECT_THROW(RequireSound(evaluation, workload_, cluster_), std::runtime_error) << i;
  }
}

TEST_F(EvaluationErrorsTest, AnMfuAboveAllOrNextToNothingIsRemarkedOn) {
  Evaluation evaluation = sound_;
  const double usual = evaluation.mfu();
  ASSERT_GT(usual, 0);
  evaluation.peak = usual * evaluation.peak;  // MFU of 1
  EXPECT_TRUE(UseWarnings(evaluation, workload_).empty());
  evaluation.peak = 0.5 * evaluation.peak;
  EXPECT_EQ(UseWarnings(evaluation, workload_)[0].substr(0, 12), "MFU is 200 %");
  evaluation.peak = 1000 * evaluation.peak;
  EXPECT_EQ(UseWarnings(evaluation, workload_)[0].substr(0, 12), "MFU is 0.2 %");
}

}  // namespace
}  // namespace stagecraft
