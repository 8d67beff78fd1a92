// Tests of what is proven on unlike clusters, on some hundred small problems of which every plan is
// simulated: asymmetric nodes, blocks that are not alike, stages of unequal width and replicas on
// several GPU types among them.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"
#include "search/plans/plan_search.h"
#include "search/plans/work_bound.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A network of a few blocks, every second of which may lack its MLP.
Workload DrawNetwork(Random& random) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = random.Integer(2, 3);
  config.hidden = 512 * random.Integer(1, 4);
  config.heads = 8;
  config.ffn = 4 * config.hidden;
  config.vocab = 4096 * random.Integer(1, 4);
  config.max_sequence = 1024;
  const bool has_unlike_blocks = random.Integer(0, 1) == 1;
  for (int64_t block = 0; block < config.layers; ++block) {
    config.lacks_mlp.push_back(has_unlike_blocks && block % 2 == 1);
  }
  return BuildDecoder(config, AttentionBackend::kFlash, "small");
}

// A node of four GPUs, as two pairs that only PCIe joins or all on one switch, or of two GPUs.
NodeType DrawNode(Random& random, int devices, const std::string& id) {
  const bool is_asymmetric = devices == 4 && random.Integer(0, 1) == 1;
  NodeType type = is_asymmetric ? Pairs() : Switched();
  if (!is_asymmetric) type.devices = type.nics = devices;
  type.id = id;
  return type;
}

std::unique_ptr<SmallProblem> DrawUnlike(uint64_t seed) {
  Random random(seed);
  std::unique_ptr<SmallProblem> small = MakeMixedProblem(random.Child("boards", 0));
  std::vector<Cluster::NodeGroup> groups = small->cluster.groups();
  for (size_t group = 0; group < groups.size(); ++group) {
    NodeType type = DrawNode(random, group == 0 ? 4 : 2, "node" + std::to_string(group));
    type.device = groups[group].type.device;
    type.device.memory = Bytes(int64_t{1} << (random.Integer(0, 1) == 1 ? 31 : 36));
    groups[group].type = std::move(type);
  }
  PlanDegrees given = small->given;
  given.global_batch = 8;
  return std::make_unique<SmallProblem>(SmallProblem{
      .workload = DrawNetwork(random), .cluster = Cluster("unlike", groups), .given = given});
}

// Calls use() for every way to give one or two stages tensor ranks, replicas and blocks.
void ForEachDraft(const SearchProblem& problem, const PlanDraft& common,
                  const std::function<void(const PlanDraft&)>& use) {
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  const int blocks = problem.workload.layer_count() - 2;
  PlanDraft draft = common;
  const std::function<void(int, int)> add = [&](int left, int stages) {
    for (const int tensor : {1, 2, 4}) {
      for (int own = stages == 1 ? left : 0; own <= left; ++own) {
        for (int a = 0; a * tensor <= pools[0].devices; ++a) {
          for (int b = a == 0 ? 1 : 0; b * tensor <= pools[1].devices; ++b) {
            draft.stages.push_back({.replicas = {a, b},
                                    .tensor = tensor,
                                    .blocks = own,
                                    .recompute = common.stages[0].recompute});
            if (stages == 1) {
              use(draft);
            } else {
              add(left - own, stages - 1);
            }
            draft.stages.pop_back();
          }
        }
      }
    }
  };
  for (const int stages : {1, 2}) {
    draft.stages.clear();
    add(blocks, stages);
  }
}

// What is simulated of a problem.
struct Seen {
  int plans = 0, unequal = 0, mixed = 0;
  double best = kInfinity;  // of those that fit
};

void Simulate(const SearchProblem& problem, const PlanMaker& maker, const PlanDraft& draft,
              double bound, Seen& seen) {
  Plan plan;
  try {
    plan = maker.Make(draft);
  } catch (const InputError&) {
    return;
  }
  const Evaluation evaluation =
      SimulateStep(plan, problem.workload, problem.cluster, problem.model).evaluation;
  const double score = Score(problem, evaluation);
  EXPECT_LE(bound, score) << problem.cluster.name() << " " << draft.Describe();
  ++seen.plans;
  seen.unequal += plan.stages.front().replicas.size() != plan.stages.back().replicas.size() ? 1 : 0;
  seen.mixed += draft.stages.front().is_mixed() ? 1 : 0;
  if (evaluation.fits) seen.best = std::min(seen.best, score);
}

// Every plan of one or two stages is simulated; none of them may score less than the bound, nor the
// best of them less than the bound that the algorithms return.
TEST(UnlikeTest, NoPlanOfAnyStagesScoresLessThanTheBound) {
  int answers = 0, unequal = 0, mixed = 0, plans = 0, overlapping = 0;
  double gaps = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto small = DrawUnlike(seed);
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.objective = static_cast<Objective>(seed % 3);
    if (seed % 4 == 1) problem.prices = {2.5, 1.1};
    problem.choices.micro_batches = {1 + static_cast<int64_t>(seed % 2)};
    problem.choices.context = {1};
    problem.choices.chooses_tensor_overlap = seed % 2 == 0;
    WorkBound bound(problem);
    const double least = bound.LeastScore();
    ASSERT_GT(least, 0) << seed;
    PlanDraft common{
        .micro_batch = problem.choices.micro_batches[0],
        .sequence_parallel = seed % 5 != 0,
        .stages = {
            {.replicas = {}, .recompute = seed % 7 == 0 ? Recompute::kFull : Recompute::kNone}}};
    EXPECT_LE(least, bound.LeastScore(CommonOf(common, problem))) << seed;
    const PlanMaker maker(problem);
    Seen seen;
    const bool overlaps = seed % 4 == 2 && common.sequence_parallel;
    ForEachDraft(problem, common, [&](PlanDraft draft) {
      draft.overlaps_tensor = overlaps && draft.divides_tensors();
      Simulate(problem, maker, draft, bound.LeastScore(CommonOf(draft, problem)), seen);
    });
    overlapping += overlaps ? seen.plans : 0;
    plans += seen.plans;
    unequal += seen.unequal;
    mixed += seen.mixed;
    if (seen.best == kInfinity || seed % 10 != 0) continue;
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
    PlanSearchOptions options;
    options.search.budget.evaluations = 50;
    const SearchResult result =
        SearchPlans(PlanAlgorithm::kProgramme, problem, *space, options).result;
    if (result.plans.empty()) continue;
    ++answers;
    EXPECT_EQ(result.bound, least) << seed;
    EXPECT_LE(result.bound, seen.best) << seed;
    EXPECT_LE(result.bound, result.plans[0].score) << seed;
    if (problem.objective == Objective::kStepTime) gaps += result.plans[0].score / result.bound;
  }
  EXPECT_GT(answers, 10);
  EXPECT_GT(plans, 20'000);
  EXPECT_GT(unequal, 5'000);
  EXPECT_GT(mixed, 5'000);
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(gaps, 0);
}

// The search within pools finds the best of all its plans.
TEST(UnlikeTest, TheAnswerWithinPoolsIsThatOfAllPlansOneByOne) {
  int answers = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto small = DrawUnlike(seed + 1000);
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.choices.micro_batches = {1, 2};
    problem.objective = static_cast<Objective>(seed % 2);
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    EnumerateAll(*space);
    double best = kInfinity;
    for (size_t i = 0; i < space->size(); ++i) {
      try {
        const Plan plan = space->Make(i);
        const Evaluation evaluation =
            SimulateStep(plan, problem.workload, problem.cluster, problem.model).evaluation;
        const double score = Score(problem, evaluation);
        EXPECT_LE(space->Bound(i), score) << seed << " " << space->Describe(i);
        if (evaluation.fits) best = std::min(best, score);
      } catch (const InputError&) {
        continue;  // no split of the layers fits
      }
    }
    const std::unique_ptr<PlanSpace> searched = MakePooledStages(problem);
    const SearchResult result = SearchExhaustively(problem, *searched, {});
    ASSERT_EQ(result.plans.empty(), best == kInfinity) << seed;
    if (result.plans.empty()) continue;
    ++answers;
    EXPECT_EQ(result.plans[0].score, best) << seed;
    EXPECT_TRUE(result.is_optimal) << seed;
  }
  EXPECT_GT(answers, 150);
}

}  // namespace
}  // namespace stagecraft
