// Tests which plans of a search are tied, and what would make plans fit, on real problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/units.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/remedy.h"
#include "search/solution.h"
#include "search/tie.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

class SearchTieTest : public testing::Test {
 protected:
  SearchTieTest() {
    given_.global_batch = 64;
    given_.sequence = 4096;
  }
  SearchProblem Ask() const {
    return {.workload = workload_, .cluster = cluster_, .model = model_, .given = given_};
  }
  std::vector<RankedPlan> Best(const SearchProblem& problem, int top) const {
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
    return SearchExhaustively(problem, *space, {.top = top}).plans;
  }
  Plan Make(int tensor, int pipeline, int zero) const {
    PlanDegrees degrees = given_;
    degrees.tensor = tensor;
    degrees.pipeline = pipeline;
    degrees.zero = zero;
    return MakePlan(degrees, workload_, cluster_);
  }

  Workload workload_ = LoadWorkload("llama3-8b", AttentionBackend::kFlash);
  Cluster cluster_ = ParseCluster("h100-sxm:2x8");
  PlanDegrees given_;
  AnalyticalModel model_;
};

TEST_F(SearchTieTest, APlanIsTiedIfItsLossIsWithinTheUncertaintyOfTheDifference) {
  const std::vector<RankedPlan> plans = Best(Ask(), 8);
  const Ties ties = FindTies(Ask(), plans);
  ASSERT_EQ(ties.plans.size(), 8u);
  EXPECT_EQ(ties.plans[0].loss, 0);
  EXPECT_EQ(ties.plans[0].uncertainty, 0);
  EXPECT_TRUE(ties.plans[0].is_tied);
  for (size_t i = 1; i < plans.size(); ++i) {
    const ComparedPlan& plan = ties.plans[i];
    EXPECT_EQ(plan.is_tied, plan.loss <= plan.uncertainty);
    // The plans share most of their errors, so their ratio is better known than either.
    const double own =
        plans[i].evaluation.step_time_high.seconds() / plans[i].evaluation.step_time.seconds() - 1;
    EXPECT_LT(plan.uncertainty, 2 * own);
    EXPECT_GT(plan.uncertainty, 0);
    if (plan.is_tied) {
      EXPECT_FALSE(IsPreferred(plan, ties.plans[ties.preferred]));
    }
  }
  EXPECT_TRUE(ties.plans[ties.preferred].is_tied);
}

// Memory has no interval, so a plan that needs more is no tie.
TEST_F(SearchTieTest, OnlyTimesAreUncertain) {
  SearchProblem problem = Ask();
  problem.objective = Objective::kMemory;
  const Ties ties = FindTies(problem, Best(problem, 3));
  for (const ComparedPlan& plan : ties.plans) {
    EXPECT_EQ(plan.uncertainty, 0);
    EXPECT_EQ(plan.is_tied, plan.loss == 0);
  }
}

TEST_F(SearchTieTest, NodesAreCrossedByTheRanksOfAReplicaAndOfExperts) {
  EXPECT_EQ(NodesCrossed(Make(8, 2, 1), cluster_), 1);
  EXPECT_EQ(NodesCrossed(Make(16, 1, 0), cluster_), 2);
  EXPECT_EQ(NodesCrossed(Make(1, 1, 1), cluster_), 1);
  const Workload experts = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  PlanDegrees degrees = given_;
  degrees.tensor = 2;
  degrees.expert = 8;
  EXPECT_EQ(NodesCrossed(MakePlan(degrees, experts, cluster_), cluster_), 2);
  degrees.expert = 4;
  EXPECT_EQ(NodesCrossed(MakePlan(degrees, experts, cluster_), cluster_), 1);
}

TEST_F(SearchTieTest, FeaturesAreWhatGoesBeyondPlainDataParallelism) {
  using Features = std::vector<std::string>;
  PlanDegrees plain = given_;
  plain.zero = 0;
  plain.recompute = Recompute::kNone;
  EXPECT_EQ(FeaturesOf(MakePlan(plain, workload_, cluster_), Choices()), Features());
  plain.tensor = 2;
  plain.pipeline = 2;
  plain.chunks = 2;
  plain.zero = 2;
  plain.recompute = Recompute::kFull;
  EXPECT_EQ(
      FeaturesOf(MakePlan(plain, workload_, cluster_), Choices()),
      Features({"tp", "pp", "interleaved", "ZeRO-2", "ZeRO-2 in a pipeline", "recomputation"}));
}

TEST_F(SearchTieTest, FewerNodesCountMoreThanFewerFeaturesAndThoseMoreThanRoom) {
  ComparedPlan plan, other;
  plan.room = Bytes(2);
  other.room = Bytes(1);
  EXPECT_TRUE(IsPreferred(plan, other));
  EXPECT_FALSE(IsPreferred(other, plan));
  plan.features = {"tp"};
  EXPECT_FALSE(IsPreferred(plan, other));
  other.nodes = 2;
  EXPECT_TRUE(IsPreferred(plan, other));
}

class RemedyTest : public SearchTieTest {};

bool Fits(const std::vector<StageMemory>& memory) {
  return std::all_of(memory.begin(), memory.end(), [](const StageMemory& s) { return s.fits(); });
}

// 8 billion parameters with all states on every GPU: 16 bytes each and more.
TEST_F(RemedyTest, EachRemedyMakesThePlanFit) {
  const Plan plan = Make(1, 1, 0);
  ASSERT_FALSE(Fits(EstimateMemory(plan, workload_, cluster_)));
  const std::vector<Remedy> remedies = FindRemedies(plan, workload_, cluster_);
  ASSERT_FALSE(remedies.empty());
  EXPECT_EQ(remedies[0].flags, std::vector<std::string>({"--zero 1"}));
  EXPECT_TRUE(Fits(EstimateMemory(Make(1, 1, 1), workload_, cluster_)));
  std::set<std::string> flags;
  for (const Remedy& remedy : remedies) {
    EXPECT_LE(remedy.peak, remedy.capacity);
    ASSERT_EQ(remedy.flags.size(), 1u);
    EXPECT_TRUE(flags.insert(remedy.flags[0]).second);
  }
}

// 70 billion parameters fit on 32 GPUs if two things change, and 405 billion on two GPUs in no way.
TEST_F(RemedyTest, WhatDoesNotSufficeAloneMaySufficeWithAnotherChange) {
  workload_ = LoadWorkload("llama3-70b", AttentionBackend::kFlash);
  cluster_ = ParseCluster("h100-sxm:4x8");
  const std::vector<Remedy> remedies = FindRemedies(Make(1, 1, 0), workload_, cluster_);
  ASSERT_FALSE(remedies.empty());
  for (const Remedy& remedy : remedies) {
    EXPECT_EQ(remedy.flags.size(), 2u);
    EXPECT_LE(remedy.peak, remedy.capacity);
  }
  cluster_ = ParseCluster("h100-sxm:1x2");
  workload_ = LoadWorkload("llama3-405b", AttentionBackend::kFlash);
  EXPECT_TRUE(FindRemedies(Make(1, 1, 0), workload_, cluster_).empty());
}

// Parts of a GPU share one memory. How those of further nodes would is not known.
TEST_F(RemedyTest, NodesWhoseDevicesShareAMemoryAreNotMultiplied) {
  const Cluster whole = ParseCluster("h100-sxm:1x8");
  const auto names_nodes = [](const Remedy& remedy) {
    return std::any_of(remedy.flags.begin(), remedy.flags.end(), [](const std::string& flag) {
      return flag.find("nodes instead of") != std::string::npos;
    });
  };
  workload_ = LoadWorkload("llama3-70b", AttentionBackend::kFlash);
  cluster_ = Cluster(whole.name(), whole.groups(), {}, "", whole.interconnect(),
                     {{.devices = {0, 1}, .bandwidth = Bandwidth(1e12)}});
  ASSERT_TRUE(Best(Ask(), 1).empty());
  const std::vector<Remedy> remedies = FindRemedies(Ask());
  EXPECT_TRUE(std::none_of(remedies.begin(), remedies.end(), names_nodes));
}

TEST_F(RemedyTest, ASearchIsToldWhichRestrictionToGiveUp) {
  SearchProblem problem = Ask();
  problem.choices.zeros = {0};
  problem.choices.tensor = {1};
  problem.choices.pipeline = {1};
  ASSERT_TRUE(Best(problem, 1).empty());
  const std::vector<Remedy> remedies = FindRemedies(problem);
  ASSERT_FALSE(remedies.empty());
  EXPECT_EQ(remedies[0].flags, std::vector<std::string>({"no --zero"}));
}

// The peak is that of the plan which the same search would find then.
TEST_F(RemedyTest, ASearchForTheLeastMemoryIsToldTheLeastPeak) {
  SearchProblem problem = Ask();
  problem.objective = Objective::kMemory;
  problem.choices.zeros = {0};
  problem.choices.tensor = {1};
  problem.choices.pipeline = {1};
  const std::vector<Remedy> remedies = FindRemedies(problem);
  ASSERT_FALSE(remedies.empty());
  ASSERT_EQ(remedies[0].flags, std::vector<std::string>({"no --zero"}));
  problem.choices.zeros.clear();
  const std::vector<RankedPlan> plans = Best(problem, 1);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(remedies[0].peak, plans[0].evaluation.memory[0].Peak());
}

TEST_F(RemedyTest, ASearchThatMayChooseEverythingNeedsMoreNodes) {
  workload_ = LoadWorkload("llama3-70b", AttentionBackend::kFlash);
  cluster_ = ParseCluster("h100-sxm:1x8");
  ASSERT_TRUE(Best(Ask(), 1).empty());
  const std::vector<Remedy> remedies = FindRemedies(Ask());
  const auto names_nodes = [](const Remedy& remedy) {
    return remedy.flags[0] == "2 nodes instead of 1";
  };
  EXPECT_TRUE(std::any_of(remedies.begin(), remedies.end(), names_nodes));
}

}  // namespace
}  // namespace stagecraft
