// Stages with different numbers of replicas, and replicas with unequal shares of the batch: every
// plan that validation accepts runs to its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/lowering/lowering.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan.h"
#include "sim/schedule/deadlock.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/stage_order.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_plans.h"

namespace stagecraft {
namespace {

// Returns why some tasks never start, or nothing if all end. This depends only on which tasks wait
// for which, not on their durations.
std::string FindDeadlock(const Schedule& schedule) {
  try {
    Engine().Run(schedule, std::vector<Duration>(schedule.task_count()));
    return "";
  } catch (const DeadlockError& error) {
    return error.what();
  }
}

struct Counts {
  int runs = 0;
  std::array<int, 4> by_zero = {};
  int with_experts = 0;
};

void ExpectRuns(const Plan& drawn, const Workload& workload, const Cluster& cluster,
                const std::string& text, Counts& counts) {
  const PlainModel model;
  const Plan plan = WithPassOrders(drawn, workload, cluster, model);
  for (const bool unfold : {false, true}) {
    EXPECT_EQ(FindDeadlock(Lower(plan, workload, cluster, {.unfold = unfold})), "") << text;
  }
  ++counts.runs;
  ++counts.by_zero[plan.zero];
  counts.with_experts += plan.stages[0].expert_parallel > 1;
}

// Draws a plan with up to five stages of up to six replicas each.
std::optional<Plan> DrawUnlikeStages(Random& random, const Workload& workload,
                                     const Cluster& cluster) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  PlanDegrees degrees = Degrees(1, 2 + draw(3));
  constexpr std::array kOrders = {
      PipelineSchedule::kGpipe, PipelineSchedule::kOneForwardOneBackward,
      PipelineSchedule::kOneForwardOneBackward, PipelineSchedule::kPipeDream};
  degrees.schedule = kOrders[draw(kOrders.size() - 1)];
  DrawSharing(random, degrees);
  for (int stage = 0; stage < degrees.pipeline; ++stage) {
    degrees.stage_replicas.push_back(1 + draw(5));
    degrees.devices += degrees.stage_replicas.back();
  }
  degrees.global_batch = degrees.micro_batch * 60 * (1 + draw(1));
  if (degrees.schedule == PipelineSchedule::kPipeDream) {
    const auto widest =
        std::max_element(degrees.stage_replicas.begin(), degrees.stage_replicas.end());
    degrees.global_batch = degrees.micro_batch * *widest;
    degrees.zero = draw(1);
    degrees.overlap_param_gather = false;
    degrees.gradient_sync = {};
  }
  degrees.forward_only = draw(15) == 0;
  degrees.overlap_p2p = draw(3) > 0;
  try {
    return MakePlan(degrees, workload, cluster);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(UnequalReplicasTest, StagesWithDifferentNumbersOfReplicasNeverDeadlock) {
  const Workload tied = MakeWorkload(8);
  Workload untied = tied;  // as PipeDream needs it
  for (LayerKind& kind : untied.kinds) kind.tied_parameters = 0;
  const Cluster cluster = MakeCluster(4, 8);
  Counts counts;
  int asynchronous = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Workload& workload = seed % 2 == 0 ? tied : untied;
    const std::optional<Plan> plan = DrawUnlikeStages(random, workload, cluster);
    if (!plan) continue;
    ExpectRuns(*plan, workload, cluster, "seed " + std::to_string(seed), counts);
    asynchronous += IsAsynchronous(plan->schedule);
  }
  for (const int runs : counts.by_zero) EXPECT_GT(runs, 100);
  EXPECT_GT(asynchronous, 50);
}

// Any schedule, with any number of micro-batches that is enough for the replicas, which take
// equally many, take turns, or have shares drawn at random.
TEST(UnequalReplicasTest, ReplicasWithUnequalSharesRunOrAreRefused) {
  const Cluster cluster = MakeCluster(2, 8);
  const std::array<Workload, 2> workloads = {MakeWorkload(10), MakeMixtureOfExperts(10)};
  std::array<Counts, 2> counts;
  int unequal = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Workload& workload = workloads[seed % 2];
    std::optional<Plan> plan = DrawPlan(random, workload, cluster);
    if (!plan) continue;
    for (Stage& stage : plan->stages) {
      const auto replicas = static_cast<int64_t>(stage.replicas.size());
      const int64_t all = plan->micro_batches();
      if (replicas == 1 || all < 2 * replicas) continue;
      const int64_t more = random.Integer(0, 1);
      stage.replica_micro_batches.assign(replicas, static_cast<int>(all / replicas));
      stage.replica_micro_batches[0] += static_cast<int>(all % replicas + more);
      stage.replica_micro_batches[1] -= static_cast<int>(more);
    }
    if (!FindErrors(*plan, workload, cluster).empty()) continue;
    for (const Stage& stage : plan->stages) {
      const std::vector<int>& counted = stage.replica_micro_batches;
      if (counted.empty() || counted[0] == counted[1]) continue;
      ++unequal;
      break;
    }
    ExpectRuns(*plan, workload, cluster, "seed " + std::to_string(seed), counts[seed % 2]);
  }
  EXPECT_GT(counts[0].runs, 100);
  EXPECT_GT(counts[1].with_experts, 50);
  EXPECT_GT(unequal, 100);
}

// Every replica of a stage runs its next pass as soon as its inputs are there; replicas that keep
// step run theirs at the same time. PassesLeft() counts the passes that never run.
class LockStep {
 public:
  explicit LockStep(const Plan& plan) : plan_(plan) {
    const auto stages = static_cast<int>(plan.stages.size());
    for (int stage = 0; stage < stages; ++stage) {
      shares_.push_back(StageShares(plan, stage));
      orders_.emplace_back();
      const auto replicas = static_cast<int>(plan.stages[stage].replicas.size());
      for (int r = 0; r < replicas; ++r) {
        orders_.back().push_back(StageOrder(plan, stage, r));
        EXPECT_EQ(ReplicaMicroBatches(plan, stage, r), shares_.back().Count(r));
      }
      next_.emplace_back(replicas, 0);
      for (std::vector<std::vector<bool>>& done : done_) {
        done.emplace_back(plan.micro_batches(), false);
      }
    }
  }

  int64_t PassesLeft() {
    while (Round()) {
    }
    int64_t left = 0;
    for (size_t stage = 0; stage < orders_.size(); ++stage) {
      for (size_t r = 0; r < orders_[stage].size(); ++r) {
        left += std::ssize(orders_[stage][r]) - static_cast<int64_t>(next_[stage][r]);
      }
    }
    return left;
  }

 private:
  bool Round() {
    bool has_run = false;
    for (size_t stage = 0; stage < orders_.size(); ++stage) {
      const bool together = ReplicasKeepStep(plan_, static_cast<int>(stage));
      std::vector<size_t> ready;
      for (size_t r = 0; r < orders_[stage].size(); ++r) {
        if (IsReady(stage, r)) ready.push_back(r);
      }
      if (together && ready.size() < orders_[stage].size()) continue;
      for (const size_t r : ready) Run(stage, r);
      has_run = has_run || !ready.empty();
    }
    return has_run;
  }

  bool IsReady(size_t stage, size_t replica) const {
    const PassOrder& order = orders_[stage][replica];
    if (next_[stage][replica] == order.size()) return false;
    const Pass& pass = order[next_[stage][replica]];
    const int b = shares_[stage].MicroBatch(static_cast<int>(replica), pass.micro_batch);
    if (pass.phase == Phase::kForward) return stage == 0 || done_[0][stage - 1][b];
    return stage + 1 == orders_.size() || done_[1][stage + 1][b];
  }

  void Run(size_t stage, size_t replica) {
    const Pass& pass = orders_[stage][replica][next_[stage][replica]++];
    const int b = shares_[stage].MicroBatch(static_cast<int>(replica), pass.micro_batch);
    done_[pass.phase == Phase::kForward ? 0 : 1][stage][b] = true;
  }

  const Plan& plan_;
  std::vector<MicroBatchShares> shares_;                // by stage
  std::vector<std::vector<PassOrder>> orders_;          // by stage and replica
  std::vector<std::vector<size_t>> next_;               // by stage and replica
  std::array<std::vector<std::vector<bool>>, 2> done_;  // forward, backward; stage, micro-batch
};

// Rows for experts are exchanged in the middle of passes. The schedule includes their time without
// letting replicas wait for one another, but on real devices they would wait.
TEST(UnequalReplicasTest, ReplicasThatExchangeRowsOfExpertsCanKeepStep) {
  const Workload workload = MakeMixtureOfExperts(8);
  const Cluster cluster = MakeCluster(4, 8);
  int runs = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    std::optional<Plan> plan = DrawUnlikeStages(random, workload, cluster);
    if (!plan || IsAsynchronous(plan->schedule) || HasSeparatePipelines(*plan)) continue;
    for (Stage& stage : plan->stages) {
      const auto replicas = static_cast<int>(stage.replicas.size());
      if (8 % replicas == 0) stage.expert_parallel = replicas;
    }
    if (!FindErrors(*plan, workload, cluster).empty()) continue;
    ++runs;
    EXPECT_EQ(LockStep(*plan).PassesLeft(), 0) << "seed " << seed;
  }
  EXPECT_GT(runs, 200);
}

std::string FirstError(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  return errors.empty() ? "" : errors[0];
}

TEST(UnequalReplicasTest, ReplicasThatShareExpertsTakeEqualShares) {
  const Workload workload = MakeMixtureOfExperts(6);
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.expert = 2;
  degrees.zero = 1;
  Plan plan = MakePlan(degrees, workload, cluster);
  plan.stages[0].replica_micro_batches = {5, 3, 4, 4};
  EXPECT_EQ(
      FirstError(plan, workload, cluster),
      "stages[0].expert_parallel: 2, over several replicas, wants all 4 replicas of stages[0] "
      "to take the same number of the 16 micro-batches");
  plan.stages[0].expert_parallel = 1;
  EXPECT_EQ(FirstError(plan, workload, cluster), "");
}

TEST(UnequalReplicasTest, PipeDreamKeepsExpertsWithinReplicasIfStagesDiffer) {
  const Workload workload = MakeMixtureOfExperts(6);
  const Cluster cluster = MakeCluster(1, 3);
  PlanDegrees degrees = Degrees(1, 2);
  degrees.stage_replicas = {2, 1};
  degrees.schedule = PipelineSchedule::kPipeDream;
  degrees.global_batch = 4;
  Plan plan = MakePlan(degrees, workload, cluster);
  plan.stages[0].expert_parallel = 2;
  EXPECT_EQ(FirstError(plan, workload, cluster),
            "stages[0].expert_parallel: 2, over several replicas, with pipedream and stages with "
            "unequal numbers of replicas; want the experts within each replica");
  plan.stages[0].expert_parallel = 0;
  EXPECT_EQ(FirstError(plan, workload, cluster),
            "stages[0].expert_parallel: 0 does not divide the stage's 2 data-parallel ranks");
}

TEST(UnequalReplicasTest, StagesThatHoldTheSameLayersDivideThemAlike) {
  const Workload workload = MakeWorkload(6);
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(2, 2);
  degrees.schedule = PipelineSchedule::kDualPipe;
  Plan plan = MakePlan(degrees, workload, cluster);
  plan.stages[1].tensor_parallel = 1;
  plan.stages[1].replicas = {{2}};
  EXPECT_EQ(FirstError(plan, workload, cluster),
            "stages[1]: with dualpipe it holds the same layers as stages[0], want the same "
            "tensor_parallel, context_parallel and expert_parallel");
}

}  // namespace
}  // namespace stagecraft
