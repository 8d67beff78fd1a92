// Tests searches that choose what runs beside computation against searches to which it is given.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/checker.h"
#include "search/exhaustive.h"
#include "search/plan_key.h"
#include "search/plan_space.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void NarrowDown(SearchProblem& problem) {
  problem.choices.micro_batches = {1, 2};
  problem.choices.chunks = {1, 2};
}

SearchProblem Choosing(SearchProblem problem) {
  NarrowDown(problem);
  problem.choices.chooses_tensor_overlap = true;
  problem.choices.chooses_gather_overlap = true;
  return problem;
}

SearchProblem Given(SearchProblem problem, bool tensor, bool gather) {
  NarrowDown(problem);
  problem.given.overlap_tensor = tensor;
  problem.given.overlap_param_gather = gather;
  return problem;
}

SearchResult Search(const SearchProblem& problem, const Budget& budget = {}) {
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  return SearchExhaustively(problem, *space, {.top = 3, .budget = budget});
}

double BestScore(const SearchResult& result) {
  return result.plans.empty() ? kInfinity : result.plans[0].score;
}

// The tensor ranks of every plan with overlap lie within a domain, as on these boards of 8 GPUs.
bool StaysInNodes(const Plan& plan) { return plan.stages[0].tensor_parallel <= 8; }

TEST(SearchOverlapTest, TheBestOfAllOverlapsIsFoundAndProven) {
  int with_tensor = 0, with_gather = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto small = MakeSmallProblem(Random(seed), seed % 3 == 0 ? 0.3 : 1);
    small->given.overlap_grad_reduce = true;
    const MemoModel memo(small->model);
    SearchProblem asked = small->Ask(memo);
    if (seed % 2 == 1) asked.choices.tensor = {2, 4};
    const SearchResult chosen = Search(Choosing(asked));
    double best = kInfinity;
    for (const bool tensor : {false, true}) {
      for (const bool gather : {false, true}) {
        best = std::min(best, BestScore(Search(Given(asked, tensor, gather))));
      }
    }
    EXPECT_EQ(BestScore(chosen), best);
    if (chosen.plans.empty()) continue;
    EXPECT_TRUE(chosen.is_optimal);
    for (const RankedPlan& ranked : chosen.plans) {
      EXPECT_EQ(FindErrors(Choosing(asked), ranked), std::vector<std::string>());
      EXPECT_TRUE(!ranked.plan.overlap_tensor || StaysInNodes(ranked.plan));
    }
    with_tensor += chosen.plans[0].plan.overlap_tensor ? 1 : 0;
    with_gather += chosen.plans[0].plan.overlap_param_gather ? 1 : 0;
  }
  EXPECT_GT(with_tensor, 0);
  EXPECT_GT(with_gather, 0);
}

TEST(SearchOverlapTest, WithinABudgetChoosingIsNeverWorseThanWhatIsGiven) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto small = MakeSmallProblem(Random(seed).Child("budget", 0), 0.5);
    small->given.overlap_grad_reduce = true;
    const MemoModel memo(small->model);
    for (const int64_t evaluations : {1, 3, 10, 40}) {
      const Budget budget{.evaluations = evaluations};
      EXPECT_LE(BestScore(Search(Choosing(small->Ask(memo)), budget)),
                BestScore(Search(Given(small->Ask(memo), false, false), budget)))
          << "seed " << seed << ", " << evaluations << " evaluations";
    }
  }
}

TEST(SearchOverlapTest, EveryPlanComesOnceAndOverlapsOnlyWhatThereIs) {
  const auto small = MakeSmallProblem(Random(1), 1);
  small->given.overlap_grad_reduce = true;
  const SearchProblem problem = Choosing(small->Ask());
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  EnumerateAll(*space);
  std::set<std::pair<uint64_t, uint64_t>> keys;
  size_t tensor = 0, gather = 0;
  for (size_t i = 0; i < space->size(); ++i) {
    const PlanKey key = space->Key(i);
    EXPECT_TRUE(keys.emplace(key.first, key.second).second) << space->Describe(i);
    const Plan plan = space->Make(i);
    const Stage& stage = plan.stages[0];
    EXPECT_EQ(space->ChoosesOverlap(i), plan.overlap_tensor || plan.overlap_param_gather);
    if (plan.overlap_tensor) {
      ++tensor;
      EXPECT_TRUE(plan.sequence_parallel && stage.tensor_parallel > 1);
      EXPECT_TRUE(StaysInNodes(plan));
    }
    if (plan.overlap_param_gather) {
      ++gather;
      EXPECT_TRUE(plan.zero == 1 || plan.zero == 2);
      EXPECT_GT(stage.replicas.size() * stage.context_parallel, 1u);
    }
  }
  SearchProblem given = Given(small->Ask(), false, false);
  const std::unique_ptr<PlanSpace> others = MakePlanSpace(given);
  EnumerateAll(*others);
  for (size_t i = 0; i < others->size(); ++i) {
    const PlanKey key = others->Key(i);
    EXPECT_TRUE(keys.contains({key.first, key.second})) << others->Describe(i);
  }
  EXPECT_GT(tensor, 100u);
  EXPECT_GT(gather, 100u);
  EXPECT_LT(space->size(), 3 * others->size());
}

TEST(SearchOverlapTest, GatheringBesideTheForwardWantsReductionsBesideTheBackward) {
  const auto small = MakeSmallProblem(Random(1), 1);
  small->given.overlap_grad_reduce = false;
  const std::vector<PlanDegrees> degrees = EnumerateDegrees(Choosing(small->Ask()));
  EXPECT_TRUE(std::none_of(degrees.begin(), degrees.end(),
                           [](const PlanDegrees& d) { return d.overlap_param_gather; }));
}

TEST(SearchOverlapTest, GroupsOfTensorRanksDoNotLeaveTheirDomain) {
  auto small = MakeSmallProblem(Random(1), 1);
  Cluster::NodeGroup group = small->cluster.groups()[0];
  group.type.devices = group.type.nics = group.type.domain = 6;
  group.count = 4;
  small->cluster = Cluster("sixes", {group});
  const SearchProblem problem = Choosing(small->Ask());
  std::set<int> overlapped;
  for (const PlanDegrees& d : EnumerateDegrees(problem)) {
    if (d.overlap_tensor) overlapped.insert(d.tensor);
  }
  EXPECT_EQ(overlapped, std::set<int>{2});  // 4 and 8 do not divide a node of 6
}

TEST(SearchOverlapTest, SchedulesThatWaitDoSo) {
  auto small = MakeSmallProblem(Random(1), 1);
  small->given.overlap_p2p = true;
  SearchProblem problem = Choosing(small->Ask());
  problem.choices.chooses_send_overlap = true;
  problem.choices.waiting_schedules = {PipelineSchedule::kOneForwardOneBackward};
  int waiting = 0, sending = 0;
  for (const PlanDegrees& d : EnumerateDegrees(problem)) {
    const bool waits = d.schedule == PipelineSchedule::kOneForwardOneBackward;
    EXPECT_EQ(d.overlap_p2p, !waits);
    ++(waits ? waiting : sending);
  }
  EXPECT_GT(waiting, 0);
  EXPECT_GT(sending, 0);
}

}  // namespace
}  // namespace stagecraft
