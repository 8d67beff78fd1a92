// What mechanisms contribute to a step, and the step without them.
#include "sim/step/mechanism.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

class MechanismTest : public ::testing::Test {
 protected:
  std::vector<MechanismTime> Measure(const PlanDegrees& degrees) const {
    const Plan plan = MakePlan(degrees, workload_, cluster_);
    const SimulatedStep step = SimulateStep(plan, workload_, cluster_, model_);
    return MeasureMechanisms(plan, workload_, cluster_, model_, step.evaluation.step_time, {});
  }
  PlanDegrees FullySharded() const {
    PlanDegrees degrees;
    degrees.sequence = 1024;
    degrees.global_batch = 16;
    degrees.zero = 3;
    return degrees;
  }

  const Workload workload_ = LoadWorkload("gpt2-xl", AttentionBackend::kFlash);
  // Hosts that launch in no time do not hide what devices do.
  const Cluster cluster_ = Without(Mechanism::kHostLaunches, ParseCluster("h100-sxm:1x8"));
  const AnalyticalModel model_;
};

Duration TimeOf(const std::vector<MechanismTime>& times, Mechanism mechanism) {
  for (const MechanismTime& time : times) {
    if (time.mechanism == mechanism) return time.saved;
  }
  return Duration();
}

TEST_F(MechanismTest, NamesAreDistinct) {
  std::set<std::string> names;
  for (const Mechanism mechanism : AllMechanisms()) {
    names.insert(Name(mechanism));
    EXPECT_NE(std::string(Meaning(mechanism)), "");
  }
  EXPECT_EQ(names.size(), AllMechanisms().size());
}

TEST_F(MechanismTest, EachThatActsCostsTime) {
  const std::vector<MechanismTime> times = Measure(FullySharded());
  for (const Mechanism mechanism : {Mechanism::kBoardPower, Mechanism::kComputeSlowdown,
                                    Mechanism::kAlignment, Mechanism::kEagerTraffic}) {
    EXPECT_GT(TimeOf(times, mechanism), Duration()) << Name(mechanism);
  }
  EXPECT_TRUE(std::is_sorted(
      times.begin(), times.end(),
      [](const MechanismTime& a, const MechanismTime& b) { return a.saved > b.saved; }));
}

TEST_F(MechanismTest, WhatPytorchLaunchesCostsTime) {
  PlanDegrees degrees = FullySharded();
  degrees.framework.shard_copies = ShardCopies::kParameters;
  degrees.framework.composes_operators = true;
  degrees.framework.updates_by_operations = true;
  degrees.framework.autocasts = true;
  const std::vector<MechanismTime> times = Measure(degrees);
  for (const Mechanism mechanism : {Mechanism::kComposedOperators, Mechanism::kShardCopies,
                                    Mechanism::kUpdateOperations, Mechanism::kAutocast}) {
    EXPECT_GT(TimeOf(times, mechanism), Duration()) << Name(mechanism);
  }
}

TEST_F(MechanismTest, ReductionsThatTheBackwardWaitsForCostTime) {
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  PlanDegrees degrees;
  degrees.sequence = 1024;
  degrees.global_batch = 4;
  degrees.tensor = 4;
  for (const int sequence_parallel : {0, 1}) {
    degrees.sequence_parallel = sequence_parallel;
    for (const bool exposes : {false, true}) {
      degrees.framework.exposes_tensor_gradients = exposes;
      const Plan plan = MakePlan(degrees, workload, cluster_);
      const SimulatedStep step = SimulateStep(plan, workload, cluster_, model_);
      const std::vector<MechanismTime> times =
          MeasureMechanisms(plan, workload, cluster_, model_, step.evaluation.step_time, {});
      EXPECT_EQ(TimeOf(times, Mechanism::kTensorGradients) > Duration(), exposes);
    }
  }
}

// Passes beside each other hide what ranks exchange that share experts.
TEST_F(MechanismTest, HiddenExchangesSaveTime) {
  const Workload experts = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  PlanDegrees degrees;
  degrees.sequence = 1024;
  degrees.global_batch = 64;
  degrees.pipeline = 2;
  degrees.expert = 4;
  degrees.chunks = 2;
  degrees.schedule = PipelineSchedule::kInterleaved;
  const auto measure = [&] {
    const Plan plan = MakePlan(degrees, experts, cluster_);
    const SimulatedStep step = SimulateStep(plan, experts, cluster_, model_);
    return MeasureMechanisms(plan, experts, cluster_, model_, step.evaluation.step_time, {});
  };
  EXPECT_EQ(TimeOf(measure(), Mechanism::kExchangeOverlap), Duration());
  degrees.schedule_options.pairs_passes = true;
  EXPECT_LT(TimeOf(measure(), Mechanism::kExchangeOverlap), Duration());
}

TEST_F(MechanismTest, OnesThatAPlanDoesNotUseAreNotListed) {
  const std::vector<MechanismTime> times = Measure(FullySharded());
  for (const Mechanism mechanism :
       {Mechanism::kComposedOperators, Mechanism::kAttentionVersion, Mechanism::kLatePrefetch,
        Mechanism::kTensorGathers, Mechanism::kBroadcasts, Mechanism::kShardCopies,
        Mechanism::kUpdateOperations, Mechanism::kAutocast}) {
    EXPECT_EQ(TimeOf(times, mechanism), Duration()) << Name(mechanism);
  }
}

TEST_F(MechanismTest, TheTimeIsThatOfAPlanWithoutIt) {
  PlanDegrees degrees = FullySharded();
  degrees.framework.backward_prefetch = BackwardPrefetch::kAfter;
  const std::vector<MechanismTime> times = Measure(degrees);
  const auto step_time = [&](const PlanDegrees& of) {
    return SimulateStep(MakePlan(of, workload_, cluster_), workload_, cluster_, model_)
        .evaluation.step_time;
  };
  EXPECT_EQ(TimeOf(times, Mechanism::kLatePrefetch),
            step_time(degrees) - step_time(FullySharded()));
  EXPECT_GT(TimeOf(times, Mechanism::kLatePrefetch), Duration());
}

TEST_F(MechanismTest, WithoutLaunchesTheHostIsFree) {
  EXPECT_EQ(ParseCluster("h100-sxm:1x8").device(0).host_dispatch, std::nullopt);
  EXPECT_EQ(cluster_.device(0).host_dispatch, Duration());
  EXPECT_EQ(Without(Mechanism::kEagerTraffic, cluster_).device(0), cluster_.device(0));
}

}  // namespace
}  // namespace stagecraft
