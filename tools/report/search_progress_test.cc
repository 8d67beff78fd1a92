#include "tools/report/search_progress.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

std::string TextOf(const SearchProgress& progress, double seconds,
                   Objective objective = Objective::kStepTime,
                   const std::vector<double>& prices = {}) {
  const Workload workload = LoadWorkload("megatron:8x1024x16", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const AnalyticalModel model;
  return SearchProgressText({.workload = workload,
                             .cluster = cluster,
                             .model = model,
                             .given = {},
                             .objective = objective,
                             .prices = prices},
                            progress, seconds);
}

TEST(SearchProgressTest, SaysTheRateTheRestAndTheScoreWithItsUnit) {
  EXPECT_EQ(TextOf({.evaluated = 64, .left = 5600, .best = 1.086, .bound = 0.1915}, 2),
            "64 plans evaluated, 32 plans/s, at most 5600 left (175 s); step time (ms): best 1086, "
            "bound 191.5");
}

TEST(SearchProgressTest, CostsHaveTheirUnit) {
  const SearchProgress progress = {.evaluated = 8, .left = 4, .best = 0.25, .bound = 0.125};
  EXPECT_EQ(TextOf(progress, 1, Objective::kCost, {2.5}),
            "8 plans evaluated, 8 plans/s, at most 4 left (0 s); cost (USD): best 0.25, bound "
            "0.125");
}

TEST(SearchProgressTest, BeforeTheFirstPlanThatFitsThereIsNoBest) {
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_EQ(TextOf({.left = 10, .best = none, .bound = 1}, 0),
            "0 plans evaluated, at most 10 left; step time (ms): none yet, bound 1000");
}

}  // namespace
}  // namespace stagecraft
