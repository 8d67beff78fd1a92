#include "search/partition/stages/check_stages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/partition/dag.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"

namespace stagecraft {
namespace {

// Two operators of 1 ms each way and a transfer of 1 MB between them at 1 GB/s.
StageProblem TwoOperators() {
  StageProblem problem;
  problem.graph.name = "two";
  for (const char* name : {"a", "b"}) {
    problem.graph.nodes.push_back({name, Duration::Nanoseconds(1'000'000),
                                   Duration::Nanoseconds(1'000'000), Bytes(1'000'000),
                                   Bytes(3'000'000)});
  }
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<DagEdge> edges = {{0, 1}};
  problem.graph.dag = MakeDag(names, edges, "two");
  problem.kinds = {{.count = 1}, {.count = 2, .speed = 4}};
  problem.bandwidth = Bandwidth(1e9);
  return problem;
}

TEST(CheckStagesTest, AStageTakesItsComputeOrItsTransfer) {
  const StageCheck check = CheckStages(TwoOperators(), {{0, 1}, {{0, 1}, {1, 1}}});
  EXPECT_TRUE(check.errors.empty());
  ASSERT_EQ(check.stages.size(), 2u);
  EXPECT_DOUBLE_EQ(check.stages[0].seconds, 2e-3);          // two passes of 1 ms
  EXPECT_DOUBLE_EQ(check.stages[1].seconds, 2e-3);          // there and back: 2 MB
  EXPECT_DOUBLE_EQ(check.stages[0].memory_bytes, 2 * 4e6);  // two in flight
  EXPECT_DOUBLE_EQ(check.stages[1].memory_bytes, 4e6);
  EXPECT_DOUBLE_EQ(check.slowest_s, 2e-3);
}

TEST(CheckStagesTest, SaysWhatIsWrong) {
  StageProblem problem = TwoOperators();
  EXPECT_FALSE(CheckStages(problem, {{1, 0}, {{0, 1}, {1, 1}}}).errors.empty());
  EXPECT_FALSE(CheckStages(problem, {{0, 1}, {{0, 1}, {0, 1}}}).errors.empty());
  problem.kinds[0].memory = Bytes(7'000'000);
  const StageCheck check = CheckStages(problem, {{0, 1}, {{0, 1}, {1, 1}}});
  ASSERT_EQ(check.errors.size(), 1u);
  EXPECT_EQ(check.errors[0], "stage 0 needs 0.008 GB per device, but only 0.007 GB are available");
}

TEST(CheckStagesTest, AgreesWithTheScoresOfSolvers) {
  int over_memory = 0;
  for (int seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 12);
    Random random(seed);
    const auto stages = static_cast<int>(random.Integer(1, MostStages(problem)));
    const StagePlan plan = DrawStagePlan(problem, stages, random);
    const StageCosts costs(problem);
    const double score = StageScorer(costs).Score(plan);
    const StageCheck check = CheckStages(problem, plan);
    if (check.errors.empty()) {
      EXPECT_NEAR(check.slowest_s, score, 1e-12 * score);
    } else {
      EXPECT_GT(score, 999 * check.slowest_s);
      ++over_memory;
    }
  }
  EXPECT_GT(over_memory, 0);
}

}  // namespace
}  // namespace stagecraft
