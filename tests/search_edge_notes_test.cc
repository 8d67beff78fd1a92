#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "search/edge_notes.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/solution.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// A single long sequence on 32 GPUs of one fast domain: the more ranks share it, the better.
class EdgeNotesTest : public testing::Test {
 protected:
  EdgeNotesTest() {
    problem_.given.global_batch = 1;
    problem_.given.sequence = 131'072;
    problem_.choices.tensor = {1};
    problem_.choices.pipeline = {1};
    problem_.choices.device_counts = DeviceCounts::kAny;  // 16 ranks leave nodes idle
  }
  Plan Best() const {
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem_);
    return SearchExhaustively(problem_, *space, {.top = 1}).plans.at(0).plan;
  }

  Workload workload_ = LoadWorkload("llama3-8b", AttentionBackend::kFlash);
  Cluster cluster_ = ParseCluster("gb200-nvl72:8");
  AnalyticalModel model_;
  SearchProblem problem_{.workload = workload_, .cluster = cluster_, .model = model_, .given = {}};
};

TEST_F(EdgeNotesTest, ADegreeAtTheEdgeIsSaid) {
  const Plan best = Best();
  EXPECT_EQ(best.stages[0].context_parallel, 16);
  EXPECT_EQ(EdgeNotes(problem_, best),
            std::vector<std::string>{"the best plan has cp 16, the most that a search tries by "
                                     "itself: --cp 16,32 tries more"});
}

TEST_F(EdgeNotesTest, WhatTheUserChoseIsNoEdge) {
  problem_.choices.context = {16, 32};
  const Plan best = Best();
  EXPECT_EQ(best.stages[0].context_parallel, 32);
  EXPECT_TRUE(EdgeNotes(problem_, best).empty());
}

TEST_F(EdgeNotesTest, ADegreeThatCannotGrowIsNoEdge) {
  const Plan best = Best();
  problem_.given.sequence = 4096;  // 32 ranks would have 128 tokens each
  Plan shorter = best;
  shorter.sequence = 4096;
  EXPECT_TRUE(EdgeNotes(problem_, shorter).empty());
}

}  // namespace
}  // namespace stagecraft
