// Tests that a pipeline of one stage has one chunk and one schedule: plans that differ only in
// these are one plan.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "search/plan_space.h"
#include "search/plans/draft_moves.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"
#include "search/plans/plan_trials.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

TEST(OneStageTest, APlanOfASpaceHasOneChunkAndOneSchedule) {
  const auto small = MakeSmallProblem(Random(1), 2);
  SearchProblem problem = small->Ask();
  const auto of_one_stage = [&](std::vector<PipelineSchedule> schedules) {
    problem.choices.schedules = std::move(schedules);
    std::set<std::pair<PipelineSchedule, int>> found;
    for (const PlanDegrees& degrees : EnumerateDegrees(problem)) {
      if (degrees.pipeline == 1) found.insert({degrees.schedule, degrees.chunks});
    }
    return found;
  };
  using Found = std::set<std::pair<PipelineSchedule, int>>;
  const Found usual{{PipelineSchedule::kOneForwardOneBackward, 1}};
  EXPECT_EQ(of_one_stage({}), usual);
  EXPECT_EQ(of_one_stage({PipelineSchedule::kGpipe, PipelineSchedule::kOneForwardOneBackward}),
            usual);
  const Found list{{PipelineSchedule::kList, 1}};
  EXPECT_EQ(of_one_stage({PipelineSchedule::kInterleaved, PipelineSchedule::kList,
                          PipelineSchedule::kGpipe}),
            list);
  EXPECT_EQ(of_one_stage({PipelineSchedule::kInterleaved}), Found());
}

PlanDraft OneStage(const SearchProblem& problem, PipelineSchedule schedule, int chunks) {
  PlanDraft draft;
  draft.schedule = schedule;
  draft.chunks = chunks;
  draft.sequence_parallel = problem.given.sequence_parallel != 0;
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  DraftStage stage{.replicas = std::vector<int>(pools.size()),
                   .blocks = problem.workload.layer_count() - 2};
  stage.replicas[0] = pools[0].devices;
  draft.stages = {stage};
  return draft;
}

// Tries every move of a draft with one stage, and of one with two stages that may become one.
TEST(OneStageTest, ADraftHasOneChunkAndOneSchedule) {
  const auto unlike = MakeMixedProblem(Random(1), Random(1001), 2);
  const SearchProblem problem = unlike->Ask();
  const DraftMoves moves(problem);
  const PlanDraft one = OneStage(problem, PipelineSchedule::kOneForwardOneBackward, 1);
  PlanDraft two = one;
  two.schedule = PipelineSchedule::kInterleaved;
  two.chunks = 2;
  DraftStage& first = two.stages[0];
  first.replicas[0] /= 2;
  first.blocks /= 2;
  two.stages.push_back(first);
  for (const PlanDraft& from : {one, two}) {
    int single = 0;
    for (const std::vector<PlanDraft>& moved : {moves.All(from), moves.OfShape(from)}) {
      for (const PlanDraft& draft : moved) {
        if (draft.stages.size() > 1) continue;
        ++single;
        EXPECT_EQ(draft.schedule, PipelineSchedule::kOneForwardOneBackward) << draft.Describe();
        EXPECT_EQ(draft.chunks, 1) << draft.Describe();
        EXPECT_NE(draft, from);
      }
    }
    EXPECT_GT(single, 0);
  }
}

// How many different plans these drafts make; the first one must fit, and all must score alike.
size_t CountPlans(const SearchProblem& problem, const std::vector<PlanDraft>& drafts) {
  const SearchOptions options{.top = 10};
  const auto space = MakePooledStages(problem);
  PlanTrials trials(problem, *space, options);
  const std::vector<double> scores = trials.Score(drafts);
  EXPECT_TRUE(PlanTrials::Fits(scores[0]));
  EXPECT_EQ(scores, std::vector<double>(drafts.size(), scores[0]));
  return trials.Finish().plans.size();
}

TEST(OneStageTest, APlanIsSimulatedOnceWhateverSchedulesItsDraftsHave) {
  const auto unlike = MakeMixedProblem(Random(1), Random(1001), 2);
  const SearchProblem problem = unlike->Ask();
  const PlanDraft one = OneStage(problem, PipelineSchedule::kOneForwardOneBackward, 1);
  std::vector<PlanDraft> drafts{one};
  for (const int chunks : {2, 3, 4}) {
    drafts.push_back(OneStage(problem, PipelineSchedule::kInterleaved, chunks));
  }
  EXPECT_EQ(CountPlans(problem, drafts), 1u);
  const PlanMaker maker(problem);
  EXPECT_TRUE(maker.IsPlan(drafts[0]));
  EXPECT_FALSE(maker.IsPlan(drafts[1]));
}

TEST(OneStageTest, APlanOnOneDeviceIsSimulatedOnceWhateverItsShardingAndOrderOfRanks) {
  const auto unlike = MakeMixedProblem(Random(1), Random(1001), 4);
  const SearchProblem problem = unlike->Ask();
  PlanDraft alone = OneStage(problem, PipelineSchedule::kOneForwardOneBackward, 1);
  alone.stages[0].replicas[0] = 1;
  std::vector<PlanDraft> drafts(5, alone);
  drafts[1].zero = 1;
  drafts[2].zero = 2;
  drafts[3].sequence_parallel = !alone.sequence_parallel;
  drafts[4].rank_order = kStagesFirstRankOrder;
  EXPECT_EQ(CountPlans(problem, drafts), 1u);
}

}  // namespace
}  // namespace stagecraft
