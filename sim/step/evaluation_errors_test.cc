#include "sim/step/evaluation_errors.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

class EvaluationErrorsTest : public testing::Test {
 protected:
  // Returns what is found after the change.
  std::vector<std::string> After(const std::function<void(Evaluation&)>& change) const {
    Evaluation evaluation = sound_;
    change(evaluation);
    return FindEvaluationErrors(evaluation, plan_, workload_, cluster_);
  }

  const PlainModel model_{};
  const Workload workload_ = MakeWorkload();
  const Cluster cluster_ = MakeCluster(1, 4);
  const Plan plan_ = MakePlan(Degrees(2, 2), workload_, cluster_);
  const Evaluation sound_ = SimulateStep(plan_, workload_, cluster_, model_).evaluation;
};

TEST_F(EvaluationErrorsTest, NothingIsWrongWithAStepThatWasSimulated) {
  EXPECT_EQ(After([](Evaluation&) {}), std::vector<std::string>());
  EXPECT_NO_THROW(RequireSound(sound_, plan_, workload_, cluster_));
}

// Each of these was once printed with exit code 0.
TEST_F(EvaluationErrorsTest, ImpossibleStepsAreFound) {
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
      [](Evaluation& e) {
        for (double& share : e.profile.basis_share) share *= 0.5;
      },
      [](Evaluation& e) { e.profile.spread = -1; },
      [](Evaluation& e) { e.profile.host_wait = e.step_time + 1_ns; },
      [](Evaluation& e) { e.profile.host_wait = Duration() - 1_ns; },
      [](Evaluation& e) { e.unshared_time = e.step_time + 1_ns; },
      [](Evaluation& e) { e.memory[1].activations = Bytes(-1); },
      [](Evaluation& e) { e.fits = !e.fits; },
      [](Evaluation& e) { e.model_flops = 1e6 * e.model_flops; },
      [](Evaluation& e) { e.hardware_flops = 1e6 * e.hardware_flops; },
      [](Evaluation& e) { e.hardware_flops = 0.5 * e.model_flops; },
      [](Evaluation& e) { e.peak = FlopRate(); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_FALSE(After(changes[i]).empty()) << i;
    Evaluation evaluation = sound_;
    changes[i](evaluation);
    EXPECT_THROW(RequireSound(evaluation, plan_, workload_, cluster_), std::runtime_error) << i;
  }
}

// Computes at this many times the peak rate of each op's format; all other ops take no time.
class PeakModel : public CostModel {
 public:
  explicit PeakModel(double factor) : factor_(factor) {}
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].Flops().count() <= 0) continue;
      estimates[i].time = ops[i].Flops() / (factor_ * device.Peak(ops[i].dtype));
    }
    return estimates;
  }

 private:
  double factor_;
};

Device DeviceWithFp8(double times_16_bits) {
  Device device = MakeDevice("board", 100e12);
  device.peak[static_cast<int>(DType::kFp32)] = FlopRate(10e12);
  device.peak[static_cast<int>(DType::kTf32)] = FlopRate(50e12);
  device.peak[static_cast<int>(DType::kFp8)] = FlopRate(times_16_bits * 100e12);
  device.peak[static_cast<int>(DType::kNvfp4)] = FlopRate(2 * times_16_bits * 100e12);
  return device;
}

std::vector<std::string> ErrorsAtPeak(double factor, DType precision, const Cluster& cluster) {
  const PeakModel model(factor);
  const Workload workload = MakeWorkload();
  PlanDegrees degrees = Degrees(1, cluster.device_count());
  degrees.precision = precision;
  const Plan plan = MakePlan(degrees, workload, cluster);
  return FindEvaluationErrors(SimulateStep(plan, workload, cluster, model).evaluation, plan,
                              workload, cluster);
}

TEST(PeakShareTest, ProductsAreJudgedByThePeakOfTheFormatThatTheyRunIn) {
  for (const DType precision :
       {DType::kFp32, DType::kTf32, DType::kFp16, DType::kBf16, DType::kFp8, DType::kNvfp4}) {
    for (const double ratio : {1.0, 2.0, 4.0}) {
      for (const int devices : {1, 2}) {
        const Cluster cluster("test", {{MakeNode(DeviceWithFp8(ratio), devices), 1}});
        EXPECT_TRUE(ErrorsAtPeak(1, precision, cluster).empty()) << Name(precision) << ratio;
        EXPECT_FALSE(ErrorsAtPeak(1.9, precision, cluster).empty()) << Name(precision) << ratio;
      }
      const Cluster unlike(
          "test", {{MakeNode(DeviceWithFp8(ratio), 1), 1}, {MakeNode(DeviceWithFp8(1), 1), 1}});
      EXPECT_TRUE(ErrorsAtPeak(1, precision, unlike).empty()) << Name(precision) << ratio;
    }
  }
}

TEST_F(EvaluationErrorsTest, AnMfuAboveOneOrNearZeroIsRemarkedOn) {
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
