#include "search/partition/stages/stage_relaxation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/piece_times.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {
namespace {

TEST(StageRelaxationTest, AStoppedStepChangesNothing) {
  StageProblem problem = DrawStageProblem(Random(3), 30, 30);
  problem.kinds = {{.count = 6}};
  const PieceTimes times(30, ReplicaChoices(problem),
                         ScorePieces(problem, problem.graph.dag.order));
  const StageDevices devices{{6}, [](std::vector<StageReplicas>&) {}};
  const double best = StageCosts(problem).LeastSeconds() * 2;
  StageRelaxation relaxation(devices, times, 4, {}, best, Random(1));
  const RoundedStages before = relaxation.RoundLogits();
  for (int64_t looks = 0; looks < 4; ++looks) {
    EXPECT_THROW(relaxation.Step(0, best, StopSign::AfterLooks(looks)), Stopped);
    EXPECT_EQ(relaxation.RoundLogits().ends, before.ends);
  }
  EXPECT_NO_THROW(relaxation.Step(0, best, StopSign::AfterLooks(4)));
  for (int step = 0; step < 30; ++step) relaxation.Step(step / 30.0, best);
  EXPECT_NE(relaxation.RoundLogits().ends, before.ends);
}

}  // namespace
}  // namespace stagecraft
