// Tests branch and bound against all plans one by one, and the bound against the simulator.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/exhaustive.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/space.h"
#include "search/step_bound.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/make_plan.h"
#include "sim/testing/mixture_testing.h"
#include "sim/workload/networks/test_decoders.h"
#include "tests/all_families.h"
#include "tests/enumerated_plans.h"
#include "tests/laws.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr PipelineSchedule kOrders[] = {
    PipelineSchedule::kGpipe,        PipelineSchedule::kOneForwardOneBackward,
    PipelineSchedule::kInterleaved,  PipelineSchedule::kBreadthFirst,
    PipelineSchedule::kZeroBubbleH1, PipelineSchedule::kZeroBubbleAuto,
    PipelineSchedule::kZeroBubbleV,  PipelineSchedule::kVHalf,
    PipelineSchedule::kDualPipe,     PipelineSchedule::kChimera,
    PipelineSchedule::kList};

Plan MakePlanOf(const SearchProblem& problem, const PlanDegrees& degrees) {
  return MakePlan(degrees, problem.workload, problem.cluster);
}

Evaluation EvaluateAll(const SearchProblem& problem, const PlanDegrees& degrees) {
  return SimulateStep(MakePlanOf(problem, degrees), problem.workload, problem.cluster,
                      problem.model, {.framework = problem.framework})
      .evaluation;
}

TEST(SearchSpaceTest, AFewChoicesGiveEveryWayToCombineThem) {
  const auto small = MakeSmallProblem(Random(1), 2);
  SearchProblem problem = small->Ask();
  problem.choices.tensor = {1, 2, 4, 8};
  problem.choices.context = {1};
  problem.choices.pipeline = {1, 2};
  problem.choices.micro_batches = {1};
  problem.choices.recomputes = {Recompute::kNone};
  problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
  problem.choices.rank_orders = {kDefaultRankOrder};
  problem.given.sequence_parallel = 1;
  const int devices = problem.cluster.device_count();
  std::vector<std::string> found;
  for (const PlanDegrees& d : EnumerateDegrees(problem)) {
    EXPECT_EQ(d.tensor * d.pipeline * d.data, devices);
    found.push_back(fmt::format("{}x{} {}", d.tensor, d.pipeline, d.zero));
  }
  // With several replicas there are four levels of ZeRO, with one there is one.
  size_t want = 0;
  for (const int tensor : {1, 2, 4, 8}) {
    for (const int pipeline : {1, 2}) {
      if (devices % (tensor * pipeline) == 0) want += devices == tensor * pipeline ? 1 : 4;
    }
  }
  EXPECT_EQ(found.size(), want);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
}

TEST(SearchSpaceTest, EveryCandidateIsAPlanAndNoneComesTwice) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    SearchProblem problem = small->Ask();
    problem.choices.schedules.assign(std::begin(kOrders), std::end(kOrders));
    if (seed % 2 == 1) problem.choices.device_counts = DeviceCounts::kHalves;
    std::map<std::string, int> seen;
    for (const PlanDegrees& degrees : EnumerateDegrees(problem)) {
      EXPECT_NO_THROW(MakePlanOf(problem, degrees)) << laws::Describe(degrees);
      const std::string text =
          fmt::format("{} {} {} {} {} {}", laws::Describe(degrees), Name(degrees.schedule),
                      degrees.data, degrees.devices, degrees.sequence_parallel, degrees.rank_order);
      EXPECT_EQ(++seen[text], 1) << text;
    }
    EXPECT_GT(seen.size(), 100u);
  }
}

TEST(SearchSpaceTest, RankOrdersAndSequenceParallelismAreChosenWhereTheyMatter) {
  const auto small = MakeSmallProblem(Random(1), 2);
  SearchProblem problem = small->Ask();
  problem.choices.tensor = {1, 2, 8};
  problem.choices.context = {1};
  problem.choices.pipeline = {1, 2};
  problem.choices.micro_batches = {1};
  problem.choices.recomputes = {Recompute::kNone};
  problem.choices.zeros = {0};
  problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
  problem.given.global_batch = 64;
  const auto count = [&](const Cluster& cluster) {
    const SearchProblem asked{problem.workload, cluster, problem.model, problem.given,
                              problem.choices};
    std::map<std::array<int, 2>, int> found;
    for (const PlanDegrees& d : EnumerateDegrees(asked)) ++found[{d.tensor, d.pipeline}];
    return found;
  };
  // On two nodes of eight at one switch, both rank orders matter only if there are several stages
  // and no tensor group fills a node, from which all others are equally far.
  const std::map<std::array<int, 2>, int> at_switch{{{1, 1}, 1}, {{1, 2}, 2}, {{2, 1}, 2},
                                                    {{2, 2}, 4}, {{8, 1}, 2}, {{8, 2}, 2}};
  const Cluster cluster = ParseCluster("a100-sxm4-80gb:2x8");
  EXPECT_EQ(count(cluster), at_switch);
  problem.given.sequence_parallel = 0;
  problem.choices.rank_orders = {kStagesFirstRankOrder};
  for (const auto& [degrees, number] : count(cluster)) EXPECT_EQ(number, 1);
}

TEST(SearchSpaceTest, EveryCandidateWithABalancedHeadIsAPlan) {
  const auto small = MakeSmallProblem(Random(1), 2);
  SearchProblem problem = small->Ask();
  problem.given.balance_head = true;
  bool has_pipeline = false;
  for (const PlanDegrees& degrees : EnumerateDegrees(problem)) {
    EXPECT_NO_THROW(MakePlanOf(problem, degrees)) << laws::Describe(degrees);
    has_pipeline = has_pipeline || degrees.pipeline > 1;
  }
  EXPECT_TRUE(has_pipeline);
}

// Software that holds some more or less than usual.
FrameworkMemory SomeFramework(Random random) {
  const auto draw = [&] { return random.Integer(0, 1) == 1; };
  FrameworkMemory framework;
  framework.keeps_gradients = draw();
  framework.wraps_layers = draw();
  framework.casts_weights = draw();
  framework.keeps_outputs = draw();
  framework.has_global_groups = draw();
  framework.update = draw() ? UpdateKind::kForeach : UpdateKind::kDeepspeed;
  return framework;
}

TEST(StepBoundTest, NoStepIsShorterAndNoDeviceHoldsLess) {
  int count = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    SearchProblem problem = small->Ask();
    if (seed % 3 == 2) problem.given.offload = {.optimizer = true, .host_memory = Bytes(1ll << 40)};
    const MemoModel memo(small->model);
    Choices choices;
    choices.schedules.assign(std::begin(kOrders), std::end(kOrders));
    const SearchProblem asked{.workload = problem.workload,
                              .cluster = problem.cluster,
                              .model = memo,
                              .given = problem.given,
                              .choices = choices,
                              .framework = SomeFramework(Random(seed))};
    LayerTimesMemo layers(asked);
    StepBound bound(asked, AllDevices(asked.cluster), layers);
    const std::vector<PlanDegrees> space = EnumerateDegrees(asked);
    Random random(seed);
    for (int draw = 0; draw < 40; ++draw) {
      const PlanDegrees& degrees = space[random.Integer(0, static_cast<int64_t>(space.size()) - 1)];
      std::optional<Evaluation> evaluation;
      try {
        evaluation = EvaluateAll(asked, degrees);
      } catch (const InputError&) {
        continue;  // a list schedule that needs more activations than it may hold
      }
      const std::string text = laws::Describe(degrees) + " " + Name(degrees.schedule);
      EXPECT_LE(bound.StepTime(degrees), evaluation->step_time) << text;
      EXPECT_LE(evaluation->unshared_time, evaluation->step_time) << text;
      Bytes most;
      for (const StageMemory& memory : evaluation->memory) most = std::max(most, memory.Peak());
      EXPECT_LE(bound.Memory(degrees), most) << text;
      ++count;
    }
  }
  EXPECT_GT(count, 300);
}

// In these mixtures of experts, exchanges are hidden behind passes of other micro-batches.
TEST(StepBoundTest, NoStepIsShorterIfPassesHideExchanges) {
  DecoderConfig config = MixtureConfig(8, 16, 4);
  config.hidden = 1024;
  config.ffn = 2048;
  config.vocab = 8192;
  config.max_sequence = 1024;
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "experts");
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const AnalyticalModel model;
  int count = 0;
  for (const ExpertSends sends : {ExpertSends::kEveryCopy, ExpertSends::kOncePerNode}) {
    for (const auto& [schedule, pairs] : {std::pair(PipelineSchedule::kDualPipe, false),
                                          {PipelineSchedule::kDualPipeV, false},
                                          {PipelineSchedule::kInterleaved, true},
                                          {PipelineSchedule::kOneForwardOneBackward, true}}) {
      SearchProblem problem{.workload = workload, .cluster = cluster, .model = model, .given = {}};
      problem.given.global_batch = 64;
      problem.given.sequence = 1024;
      problem.given.expert_exchange.sends = sends;
      problem.given.schedule_options.pairs_passes = pairs;
      problem.choices.schedules = {schedule};
      problem.choices.micro_batches = {1};
      LayerTimesMemo layers(problem);
      StepBound bound(problem, AllDevices(problem.cluster), layers);
      for (const PlanDegrees& degrees : EnumerateDegrees(problem)) {
        if (degrees.expert < 8) continue;
        const Evaluation evaluation = EvaluateAll(problem, degrees);
        EXPECT_LE(bound.StepTime(degrees), evaluation.step_time)
            << laws::Describe(degrees) << " " << Name(schedule);
        ++count;
      }
    }
  }
  EXPECT_GT(count, 50);
}

// If passes are long, the time of a 1F1B step is little more than its bound.
TEST(StepBoundTest, IsTightForLargeNetworks) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 32,
                                                      .hidden = 8192,
                                                      .heads = 64,
                                                      .kv_heads = 8,
                                                      .ffn = 28672,
                                                      .vocab = 32000,
                                                      .max_sequence = 4096});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "large");
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  const AnalyticalModel model;
  SearchProblem problem{.workload = workload, .cluster = cluster, .model = model, .given = {}};
  problem.given.global_batch = 64;
  problem.given.sequence = 4096;
  problem.choices.tensor = {4, 8};
  problem.choices.context = {1};
  problem.choices.pipeline = {2, 4};
  problem.choices.micro_batches = {1};
  problem.choices.zeros = {1};
  LayerTimesMemo layers(problem);
  StepBound bound(problem, AllDevices(problem.cluster), layers);
  const std::vector<PlanDegrees> space = EnumerateDegrees(problem);
  EXPECT_GT(space.size(), 10u);
  for (const PlanDegrees& degrees : space) {
    const Evaluation evaluation = EvaluateAll(problem, degrees);
    const std::string text = laws::Describe(degrees);
    EXPECT_GT(bound.StepTime(degrees).seconds() / evaluation.step_time.seconds(), 0.9) << text;
    Bytes most;
    for (const StageMemory& memory : evaluation.memory) most = std::max(most, memory.Peak());
    if (degrees.recompute != Recompute::kNone) continue;  // the head's logits may need the most
    EXPECT_GT(bound.Memory(degrees).count(), 0.6 * static_cast<double>(most.count())) << text;
  }
}

SearchResult Search(const SearchProblem& problem, const SearchOptions& options) {
  return SearchExhaustively(problem, *MakeEqualStages(problem), options);
}

// The oracle, which evaluates every candidate.
double BestOfAll(const SearchProblem& problem, int* feasible) {
  double best = std::numeric_limits<double>::infinity();
  const DegreeSpace space(problem, AllDevices(problem.cluster));
  const auto evaluate = [&](const DegreeChoice& choice) {
    const Plan plan = MakePlanOn(space.DevicesOf(choice), space.Degrees(choice), problem.workload,
                                 problem.cluster);
    return SimulateStep(plan, problem.workload, problem.cluster, problem.model).evaluation;
  };
  std::vector<DegreeChoice> all;
  for (const DegreeFamily& family : AllFamilies(space)) {
    const std::vector<DegreeChoice> choices = space.ChoicesOf(family);
    all.insert(all.end(), choices.begin(), choices.end());
  }
  for (const DegreeChoice& choice : all) {
    const Evaluation evaluation = evaluate(choice);
    if (!evaluation.fits) continue;
    ++*feasible;
    best = std::min(best, Score(problem, evaluation));
  }
  return best;
}

TEST(SearchExhaustivelyTest, FindsTheBestOfAllPlansOneByOne) {
  int with_answer = 0, without = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto small =
        MakeSmallProblem(Random(seed), seed % 5 == 4 ? 0.01 : 0.3 + 0.1 * (seed % 4));
    SearchProblem problem = small->Ask();
    problem.objective = static_cast<Objective>(seed % 3);
    problem.choices.context = {1};
    problem.choices.micro_batches = {1, 4};
    problem.choices.zeros = {1};
    if (problem.objective == Objective::kCost)
      problem.choices.device_counts = DeviceCounts::kHalves;
    if (problem.objective == Objective::kStepTime && seed < 12)
      problem.choices.device_counts = DeviceCounts::kAny;
    if (seed % 2 == 1) problem.prices = {0.7 + 0.1 * static_cast<double>(seed % 7)};
    int feasible = 0;
    const double best = BestOfAll(problem, &feasible);
    const SearchResult result = Search(problem, {.top = 3});
    if (feasible == 0) {
      ++without;
      EXPECT_TRUE(result.plans.empty());
      EXPECT_NE(result.obstacle, "");
      continue;
    }
    ++with_answer;
    ASSERT_FALSE(result.plans.empty()) << seed;
    EXPECT_EQ(result.plans[0].score, best) << seed;
    EXPECT_TRUE(result.is_optimal);
    EXPECT_EQ(result.bound, best);
    EXPECT_EQ(result.plans.size(), std::min<size_t>(3, feasible));
    EXPECT_LE(result.evaluated, result.candidates);
    for (size_t i = 1; i < result.plans.size(); ++i) {
      EXPECT_LE(result.plans[i - 1].score, result.plans[i].score);
    }
  }
  EXPECT_GT(with_answer, 40);
  EXPECT_GT(without, 3);
}

TEST(SearchExhaustivelyTest, ABudgetGivesTheBestSoFarAndAnHonestBound) {
  const auto small = MakeSmallProblem(Random(3), 0.6);
  const SearchProblem problem = small->Ask();
  // The best plan alone may be proven by one evaluation.
  SearchOptions options{.top = 20};
  const SearchResult whole = Search(problem, options);
  ASSERT_TRUE(whole.is_optimal);
  ASSERT_GT(whole.evaluated, 3);
  options.budget.evaluations = 3;
  const SearchResult part = Search(problem, options);
  EXPECT_EQ(part.evaluated, 3);
  EXPECT_LE(part.bound, whole.plans[0].score);
  for (const RankedPlan& plan : part.plans) EXPECT_GE(plan.score, whole.plans[0].score);
  const std::atomic<bool> stop = true;
  options.budget = {.stop = &stop};
  const SearchResult none = Search(problem, options);
  EXPECT_EQ(none.evaluated, 0);
  EXPECT_FALSE(none.is_optimal);
}

// The best score of a search with this many evaluations; infinity if it finds no plan that fits.
double BestWithin(const SearchProblem& problem, int64_t evaluations) {
  SearchOptions options;
  options.budget.evaluations = evaluations;
  const SearchResult result = Search(problem, options);
  return result.plans.empty() ? std::numeric_limits<double>::infinity() : result.plans[0].score;
}

// A search looks at the usual schedules first. If its budget ends there, it has not looked at the
// others; if it goes on, it has already found the best of the usual ones.
TEST(SearchExhaustivelyTest, MoreSchedulesAreNeverWorseThanTheUsualOnesOnTheSameBudget) {
  int better = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 0.3 + 0.1 * static_cast<double>(seed % 4));
    const MemoModel memo(small->model);
    SearchProblem usual = small->Ask(memo);
    usual.choices.context = {1};
    usual.choices.zeros = {1};
    SearchProblem some = usual, all = usual;
    some.choices.schedules = {PipelineSchedule::kDualPipe, PipelineSchedule::kInterleaved,
                              PipelineSchedule::kOneForwardOneBackward};
    all.choices.schedules.assign(std::begin(kOrders), std::end(kOrders));
    for (const int64_t evaluations : {1, 4, 16, 64, 256, 512}) {
      const double best = BestWithin(usual, evaluations);
      const double best_of_all = BestWithin(all, evaluations);
      EXPECT_LE(BestWithin(some, evaluations), best) << seed << ' ' << evaluations;
      EXPECT_LE(best_of_all, best) << seed << ' ' << evaluations;
      better += best_of_all < best ? 1 : 0;
    }
  }
  EXPECT_GT(better, 0);  // sometimes it finds a better one among the others
}

// Draws a plan as a user may type it in: its replicas have equal shares of the batch, and
// micro-batches of any size that divides the shares.
PlanDegrees DrawEvenDegrees(Random& random, const SearchProblem& problem) {
  PlanDegrees degrees = problem.given;
  const int devices = problem.cluster.device_count();
  degrees.tensor = 1 << random.Integer(0, 2);
  degrees.pipeline = 1 << random.Integer(0, 1);
  const int64_t most = devices / (degrees.tensor * degrees.pipeline);
  do {
    degrees.data = static_cast<int>(random.Integer(1, most));
  } while (degrees.global_batch % degrees.data != 0);
  degrees.devices = degrees.tensor * degrees.pipeline * degrees.data;
  const int64_t own = degrees.global_batch / degrees.data;
  do {
    degrees.micro_batch = random.Integer(1, own);
  } while (own % degrees.micro_batch != 0);
  degrees.zero = static_cast<int>(random.Integer(0, degrees.data > 1 ? 3 : 0));
  degrees.recompute = random.Integer(0, 1) == 0 ? Recompute::kNone : Recompute::kFull;
  return degrees;
}

TEST(SearchExhaustivelyTest, NoPlanTypedInByHandIsBetterThanWhatIsProven) {
  int compared = 0, large = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Random random(seed);
    const auto small = MakeSmallProblem(Random(seed), 0.3 + 0.3 * static_cast<double>(seed % 4));
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.given.global_batch = 12 * random.Integer(1, 20);
    problem.given.sequence = 128;
    problem.choices.device_counts = DeviceCounts::kAny;
    problem.choices.chunks = {1};
    const SearchResult result = Search(problem, {});
    if (result.plans.empty()) continue;
    ASSERT_TRUE(result.is_optimal);
    for (int draw = 0; draw < 40; ++draw) {
      const PlanDegrees degrees = DrawEvenDegrees(random, problem);
      const Evaluation evaluation = EvaluateAll(problem, degrees);
      if (!evaluation.fits) continue;
      EXPECT_GE(Score(problem, evaluation), result.plans[0].score)
          << seed << ' ' << laws::Describe(degrees) << " dp " << degrees.data;
      ++compared;
      large += degrees.micro_batch > 16;
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(large, 20);
}

}  // namespace
}  // namespace stagecraft
