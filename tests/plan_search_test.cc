// Tests of every algorithm that searches plans: its answer is what the simulator says, and does not
// depend on the number of threads; and the dynamic programme over submeshes is exact.
#include "search/plans/plan_search.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/checker.h"
#include "search/evaluator.h"
#include "search/plan_space.h"
#include "search/plans/draft_moves.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"
#include "search/plans/plan_starts.h"
#include "search/plans/stage_table.h"
#include "search/plans/submeshes.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/node_type.h"
#include "sim/step/evaluation.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

std::unique_ptr<PlanSpace> SpaceOf(const SearchProblem& problem) {
  std::unique_ptr<PlanSpace> space =
      problem.cluster.homogeneous() ? MakeEqualStages(problem) : MakePooledStages(problem);
  EnumerateAll(*space);
  return space;
}

// A small problem; every second one has several GPU types.
std::unique_ptr<SmallProblem> Drawn(uint64_t seed) {
  return seed % 2 == 0 ? MakeSmallProblem(Random(seed), 1) : MakeMixedProblem(Random(seed));
}

// A draft says how many devices a stage has, not which: they are taken in the order of their
// numbers. `compares_devices` is for plans of a space that takes them in this order, too.
bool SamePlan(const Plan& a, const Plan& b, bool compares_devices = true) {
  // Sequence parallelism changes nothing if no stage has tensor parallelism.
  const bool divides = std::any_of(a.stages.begin(), a.stages.end(),
                                   [](const Stage& stage) { return stage.tensor_parallel > 1; });
  if (a.schedule != b.schedule || a.zero != b.zero || a.micro_batch != b.micro_batch ||
      (divides && a.sequence_parallel != b.sequence_parallel) ||
      a.gradient_bytes != b.gradient_bytes || a.rank_order != b.rank_order) {
    return false;
  }
  return std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [&](const Stage& one, const Stage& other) {
                      return one.chunks == other.chunks &&
                             one.replicas.size() == other.replicas.size() &&
                             (!compares_devices || one.replicas == other.replicas) &&
                             one.tensor_parallel == other.tensor_parallel &&
                             one.context_parallel == other.context_parallel &&
                             one.replica_micro_batches == other.replica_micro_batches &&
                             one.recompute == other.recompute;
                    });
}

TEST(PlanDraftTest, EveryPlanOfASpaceComesBackFromItsDraft) {
  int count = 0, compared_devices = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto small = Drawn(seed);
    const SearchProblem problem = small->Ask();
    const auto space = SpaceOf(problem);
    const auto& groups = problem.cluster.groups();
    const bool joins_alike = std::all_of(groups.begin(), groups.end(),
                                         [](const auto& group) { return JoinsAlike(group.type); });
    compared_devices += joins_alike;
    const PlanMaker maker(problem);
    Random random(seed);
    for (int i = 0; i < 50; ++i) {
      const auto index = random.Integer(0, static_cast<int64_t>(space->size()) - 1);
      try {
        const Plan plan = space->Make(index);
        EXPECT_TRUE(SamePlan(maker.Make(DraftOf(plan, problem)), plan, joins_alike))
            << seed << " " << space->Describe(index);
        ++count;
      } catch (const InputError&) {
        continue;  // no split of the network fits
      }
    }
  }
  EXPECT_GT(count, 200);
  EXPECT_GT(compared_devices, 2);
}

TEST(DraftMovesTest, MovesLeadToManyDraftsAndEachIsAPlan) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = Drawn(seed);
    const SearchProblem problem = small->Ask();
    const auto space = SpaceOf(problem);
    const std::vector<PlanStart> starts = FindStarts(problem, *space, 1);
    ASSERT_FALSE(starts.empty());
    const DraftMoves moves(problem);
    const PlanMaker maker(problem);
    Random random(seed);
    PlanDraft draft = starts[0].draft;
    std::vector<PlanDraft> seen{draft};
    for (int i = 0; i < 100; ++i) {
      const std::optional<PlanDraft> next = moves.Draw(draft, random);
      ASSERT_TRUE(next.has_value());
      EXPECT_NE(*next, draft);
      EXPECT_NO_THROW(maker.Make(*next));
      draft = *next;
      seen.push_back(draft);
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    EXPECT_GT(seen.size(), 40u) << seed;
  }
}

// On several GPU types, walks lead to stages with unequal numbers of replicas, and to stages whose
// replicas are of several GPU types.
TEST(DraftMovesTest, OnUnlikeGpusReplicasDifferAndMix) {
  int unequal = 0, mixed = 0;
  for (uint64_t seed = 1; seed < 12; seed += 2) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    const auto space = SpaceOf(problem);
    const DraftMoves moves(problem);
    const PlanMaker maker(problem);
    Random random(seed);
    PlanDraft draft = FindStarts(problem, *space, 1).at(0).draft;
    for (int i = 0; i < 60; ++i) {
      draft = moves.Draw(draft, random).value();
      const Plan plan = maker.Make(draft);
      const bool is_mixed = std::any_of(draft.stages.begin(), draft.stages.end(),
                                        [](const DraftStage& stage) { return stage.is_mixed(); });
      const bool is_unequal =
          std::any_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
            return stage.replicas.size() != plan.stages[0].replicas.size();
          });
      if (!is_mixed && !is_unequal) continue;
      mixed += is_mixed;
      unequal += is_unequal;
      EXPECT_TRUE(SamePlan(maker.Make(DraftOf(plan, problem)), plan)) << draft.Describe();
      try {
        const Evaluation evaluation =
            Evaluator(problem.workload, problem.cluster, problem.model)
                .Evaluate(WithPassOrders(plan, problem.workload, problem.cluster, problem.model));
        EXPECT_EQ(evaluation.step_time > Duration(), evaluation.fits);
      } catch (const InputError&) {
        // Replicas that gather parameters together may wait for passes that wait for them.
        EXPECT_EQ(plan.zero, 3) << draft.Describe();
      }
    }
  }
  EXPECT_GT(unequal, 20);
  EXPECT_GT(mixed, 20);
}

// If replicas have equal shares of the micro-batches, they wait for the slower GPUs.
TEST(PlanMakerTest, FasterGpusTakeMoreMicroBatches) {
  int count = 0;
  for (uint64_t seed = 1; seed < 24; seed += 2) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    const std::vector<Pool> pools = DraftPools(problem.cluster);
    PlanDraft draft;
    draft.micro_batch = 2;  // so that kernels are long enough for GPUs to differ
    const int blocks = problem.workload.layer_count() - 2;
    draft.stages = {{.replicas = {pools[0].devices, pools[1].devices}, .blocks = blocks}};
    draft.stages[0].recompute = Recompute::kFull;
    const Plan plan = PlanMaker(problem).Make(draft);
    const std::vector<int>& shares = plan.stages[0].replica_micro_batches;
    ASSERT_EQ(shares.size(), plan.stages[0].replicas.size());
    Plan even = plan;
    even.stages[0].replica_micro_batches.clear();
    const auto step = [&](const Plan& one) {
      return SimulateStep(one, problem.workload, problem.cluster, problem.model)
          .evaluation.step_time;
    };
    EXPECT_LE(step(plan), step(even)) << seed;
    count += step(plan) < step(even);
  }
  EXPECT_GT(count, 3);
}

// The least time of the slowest stage over all ways to place the blocks of a shape, one by one.
class EverySplit {
 public:
  EverySplit(const SearchProblem& problem, const StageTable& table)
      : table_(table), stages_(static_cast<int>(table.shape().stages.size())) {
    for (const Pool& pool : DraftPools(problem.cluster)) left_.push_back(pool.devices);
    fills_ = problem.cluster.homogeneous() && problem.choices.device_counts == DeviceCounts::kAll;
  }

  Duration Least() {
    Extend(0, 0, Duration());
    return least_;
  }

 private:
  void Extend(int stage, int first, Duration slowest) {
    if (slowest >= least_) return;
    if (stage == stages_) {
      const bool is_full = !fills_ || left_[0] == 0;
      if (first == table_.blocks() && is_full) least_ = slowest;
      return;
    }
    const double in_flight = InFlight(table_.shape(), stages_, stage, table_.micro_batches());
    const bool is_end = stage == 0 || stage + 1 == stages_;
    for (int choice = 0; choice < static_cast<int>(table_.choices().size()); ++choice) {
      int& left = left_[table_.choices()[choice].pool];
      if (left < table_.devices(choice)) continue;
      left -= table_.devices(choice);
      for (int count = is_end ? 0 : 1; first + count <= table_.blocks(); ++count) {
        if (table_.MemoryShare(choice, first, count, in_flight) > kUsableMemory) continue;
        // The last stage must end with the last block.
        const bool is_last = stage + 1 == stages_;
        if (is_last != (first + count == table_.blocks()) && is_last) continue;
        Extend(stage + 1, first + count, std::max(slowest, table_.Time(choice, first, count)));
      }
      left += table_.devices(choice);
    }
  }

  const StageTable& table_;
  const int stages_;
  bool fills_ = false;
  std::vector<int> left_;
  Duration least_ = Duration::Max();
};

Duration SlowestStage(const StageTable& table, const PlanDraft& draft) {
  Duration slowest;
  int first = 0;
  for (const DraftStage& stage : draft.stages) {
    slowest = std::max(slowest, table.Time(table.Find(stage).value(), first, stage.blocks));
    first += stage.blocks;
  }
  return slowest;
}

// Returns the slowest stage of the best draft of the dynamic programme; Max() if there is none.
Duration SlowestOfSubmeshes(const SearchProblem& problem, const StageTable& table) {
  Duration found = Duration::Max();
  for (const SubmeshDraft& one : SolveSubmeshes(problem, table)) {
    found = std::min(found, SlowestStage(table, one.draft));
  }
  return found;
}

// Returns shapes with few stages, in which every split can be tried.
std::vector<PlanStart> SmallShapes(const SearchProblem& problem) {
  std::vector<PlanStart> shapes = ShapesOf(problem, FindStarts(problem, *SpaceOf(problem), 400));
  std::erase_if(shapes, [](const PlanStart& shape) {
    return shape.draft.stages.size() > 4 || shape.draft.chunks > 1;
  });
  return shapes;
}

TEST(SubmeshesTest, NoSplitHasAFasterSlowestStage) {
  int solved = 0, not_possible = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = Drawn(seed);
    const SearchProblem problem = small->Ask();
    const std::vector<PlanStart> shapes = SmallShapes(problem);
    for (size_t i = 0; i < std::min<size_t>(shapes.size(), 10); ++i) {
      const StageTable table(problem, shapes[i].draft);
      const Duration least = EverySplit(problem, table).Least();
      const Duration found = SlowestOfSubmeshes(problem, table);
      // The bisection stops within a ten-thousandth.
      if (least == Duration::Max()) {
        EXPECT_EQ(found, least);
        ++not_possible;
      } else {
        EXPECT_GE(found, least) << seed << " " << i;
        EXPECT_LE(found.seconds(), least.seconds() * 1.0001) << seed << " " << i;
        ++solved;
      }
    }
  }
  EXPECT_GT(solved, 60);
}

// Every op takes a nanosecond.
class NanosecondModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    return std::vector<Estimate>(ops.size(), {Duration::Nanoseconds(1), Basis::kAnalytical, 0});
  }
};

// A ten-thousandth of these times is less than the nanosecond by which times differ at least.
TEST(SubmeshesTest, StagesOfAFewNanosecondsEndTheBisection) {
  const NanosecondModel model;
  int solved = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = Drawn(seed);
    const SearchProblem problem = small->Ask(model);
    const std::vector<PlanStart> shapes = SmallShapes(problem);
    for (size_t i = 0; i < std::min<size_t>(shapes.size(), 5); ++i) {
      const StageTable table(problem, shapes[i].draft);
      const Duration least = EverySplit(problem, table).Least();
      if (least == Duration::Max()) continue;
      const Duration found = SlowestOfSubmeshes(problem, table);
      EXPECT_LE(found, least + Duration::Nanoseconds(1)) << seed << " " << i;
      ++solved;
    }
  }
  EXPECT_GT(solved, 3);
}

// A small problem on two nodes in which pairs of devices have two links, one or none.
std::unique_ptr<SmallProblem> OnCubeMeshes(uint64_t seed) {
  auto small = MakeSmallProblem(Random(seed), 1);
  Cluster::NodeGroup group = ParseCluster("aws-p3.16xlarge:2").groups()[0];
  group.type.device.memory = small->cluster.device(0).memory;
  small->cluster = Cluster("cube meshes", {group});
  small->given.precision = DType::kFp16;
  return small;
}

// A stage computes its part of one micro-batch after another, whichever devices it has. The stage
// with the head takes longest, and its devices are not the first.
TEST(StageTableTest, NoPlanOfEqualStagesTakesLessThanItsSlowestStage) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 4,
                                                      .hidden = 2048,
                                                      .heads = 16,
                                                      .kv_heads = 16,
                                                      .ffn = 5504,
                                                      .vocab = 16384,
                                                      .max_sequence = 1024});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "wide head");
  const AnalyticalModel model;
  int compared = 0;
  for (const char* const spec : {"aws-p3.16xlarge:1", "aws-p3.16xlarge:2"}) {
    const Cluster cluster = ParseCluster(spec);
    const MemoModel memo(model);
    SearchProblem problem{workload, cluster, memo, {}, {}};
    problem.given.global_batch = 192;
    problem.given.sequence = 1024;
    problem.given.precision = DType::kFp16;
    problem.choices.tensor = {2, 4};
    problem.choices.pipeline = {1, 2, 4};
    problem.choices.chunks = {1};
    problem.choices.micro_batches = {1};
    const auto space = SpaceOf(problem);
    for (size_t i = 0; i < space->size(); ++i) {
      const Plan plan = space->Make(i);
      const PlanDraft draft = DraftOf(plan, problem);
      const StageTable table(problem, draft);
      const Duration slowest = SlowestStage(table, draft);
      const Duration step = SimulateStep(plan, workload, cluster, memo).evaluation.step_time;
      EXPECT_LE((table.micro_batches() * slowest).seconds(), step.seconds())
          << spec << " " << draft.Describe();
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

// Whatever the tables of stage times said, the answer was simulated on the devices that it names.
TEST(PlanSearchTest, WhatIsFoundOnUnlikePairsIsSimulatedWhereItLies) {
  const auto small = OnCubeMeshes(3);
  const MemoModel memo(small->model);
  SearchProblem problem = small->Ask(memo);
  problem.choices.tensor = {2, 4};
  const auto space = SpaceOf(problem);
  PlanSearchOptions options;
  options.search.top = 3;
  options.search.budget.evaluations = 100;
  for (int i = 0; i < kPlanAlgorithmCount; ++i) {
    const auto algorithm = static_cast<PlanAlgorithm>(i);
    const PlanRun run = SearchPlans(algorithm, problem, *space, options);
    ASSERT_FALSE(run.result.plans.empty()) << Name(algorithm);
    for (const RankedPlan& ranked : run.result.plans) {
      const SimulatedStep step =
          SimulateStep(ranked.plan, problem.workload, problem.cluster, memo, {.unfold = true});
      EXPECT_EQ(ranked.evaluation.step_time, step.evaluation.step_time) << Name(algorithm);
    }
  }
}

TEST(PlanSearchTest, EveryAlgorithmReturnsPlansThatHoldAndRepeatsItselfOnOneThread) {
  for (uint64_t seed = 0; seed < 2; ++seed) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    const auto space = SpaceOf(problem);
    PlanSearchOptions options;
    options.search.top = 3;
    options.search.budget.evaluations = 80;
    options.seed = seed;
    for (int i = 0; i < kPlanAlgorithmCount; ++i) {
      const auto algorithm = static_cast<PlanAlgorithm>(i);
      const PlanRun run = SearchPlans(algorithm, problem, *space, options);
      EXPECT_LE(run.result.evaluated, 80) << Name(algorithm);
      ASSERT_FALSE(run.result.plans.empty()) << Name(algorithm) << " " << seed;
      for (const RankedPlan& ranked : run.result.plans) {
        EXPECT_EQ(FindErrors(problem, ranked), std::vector<std::string>()) << Name(algorithm);
      }
      EXPECT_TRUE(std::is_sorted(
          run.result.plans.begin(), run.result.plans.end(),
          [](const RankedPlan& a, const RankedPlan& b) { return a.score < b.score; }));
      EXPECT_EQ(run.result.curve.back().score, run.result.plans[0].score);
      const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
      const PlanRun again = SearchPlans(algorithm, problem, *space, options);
      EXPECT_EQ(again.result.evaluated, run.result.evaluated) << Name(algorithm);
      EXPECT_EQ(again.result.plans[0].score, run.result.plans[0].score) << Name(algorithm);
      EXPECT_TRUE(SamePlan(again.result.plans[0].plan, run.result.plans[0].plan));
    }
  }
}

// Compares walks that begin in the space and leave it with the best plan of the space.
TEST(PlanSearchTest, BeamAndMcmcAreNoMoreThanThreePercentWorseThanTheBestOfTheSpace) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    const auto space = SpaceOf(problem);
    const PlanRun exact = SearchPlans(PlanAlgorithm::kExhaustive, problem, *space, {});
    ASSERT_TRUE(exact.result.is_optimal);
    PlanSearchOptions options;
    options.search.budget.evaluations = 1500;
    for (const PlanAlgorithm algorithm : {PlanAlgorithm::kBeam, PlanAlgorithm::kMcmc}) {
      const PlanRun run = SearchPlans(algorithm, problem, *space, options);
      ASSERT_FALSE(run.result.plans.empty());
      EXPECT_LE(run.result.plans[0].score, exact.result.plans[0].score * 1.03)
          << Name(algorithm) << " " << seed;
    }
  }
}

}  // namespace
}  // namespace stagecraft
