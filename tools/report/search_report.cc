#include "tools/report/search_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sim/cluster/cluster_spec.h"
#include "tools/report/cost_report.h"
#include "tools/report/plan_choices.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_table.h"
#include "tools/report/step_report.h"
#include "tools/report/training_cost_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Whether all stages are alike, except that some may have one block more than others.
bool IsEven(const Plan& plan, const Workload& workload) {
  int least = BlocksOf(plan.stages[0], workload), most = least;
  for (const Stage& stage : plan.stages) {
    const Stage& first = plan.stages[0];
    if (stage.tensor_parallel != first.tensor_parallel || stage.recompute != first.recompute ||
        stage.replicas.size() != first.replicas.size() || !stage.replica_micro_batches.empty()) {
      return false;
    }
    least = std::min(least, BlocksOf(stage, workload));
    most = std::max(most, BlocksOf(stage, workload));
  }
  return most - least <= 1;
}

Json CurveToJson(const SearchProblem& problem, const SearchResult& result) {
  Json curve = Json::array();
  for (const CurvePoint& point : result.curve) {
    curve.push_back({{"evaluations", point.evaluations},
                     {"seconds", point.seconds},
                     {ScoreKey(problem), ShownScore(problem, point.score)}});
  }
  return curve;
}

std::string BoundKey(const SearchProblem& problem) {
  const bool is_time = problem.objective == Objective::kStepTime;
  return is_time ? "bound_ms" : std::string("bound_") + ScoreKey(problem);
}

// ", micro-batches per replica 24,24,8,8"; empty if replicas have equal shares.
std::string SharesText(const Stage& stage) {
  if (stage.replica_micro_batches.empty()) return "";
  return fmt::format(", micro-batches per replica {}", fmt::join(stage.replica_micro_batches, ","));
}

void PrintStages(const SearchProblem& problem, const Plan& plan, std::ostream& out) {
  fmt::print(out, "\nstages of the best plan\n  {:>5}  {:<32} {:>3} {:>3} {:>6}  {}\n", "stage",
             "devices", "tp", "dp", "layers", "recomputation");
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    std::vector<int> devices(problem.cluster.groups().size());
    for (const std::vector<int>& replica : stage.replicas) {
      devices[problem.cluster.device_group(replica[0])] += static_cast<int>(replica.size());
    }
    fmt::print(out, "  {:>5}  {:<32} {:>3} {:>3} {:>6}  {}{}\n", s,
               DevicesText(devices, problem.cluster), stage.tensor_parallel, stage.replicas.size(),
               BlocksOf(stage, problem.workload), Name(stage.recompute), SharesText(stage));
  }
}

// A number with its noun: "1 plan", "2 plans".
std::string Counted(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What would make a plan better.
const char* BetterText(Objective objective) {
  switch (objective) {
    case Objective::kStepTime:
      return "has a shorter step time";
    case Objective::kCost:
      return "costs less";
    case Objective::kMemory:
      return "leaves more memory free on its fullest device";
  }
  return "";
}

// Returns by how much a plan may be better than one with this score, as a share. Precondition: a
// bound is known.
double GapOf(const SearchResult& result, double score) {
  return std::max(0.0, score / result.bound - 1);
}

// Says whether the best plan is proven to be the best, and among which plans.
std::string ProofSentence(const SearchProblem& problem, const PlanRun& run) {
  const SearchResult& result = run.result;
  if (result.is_optimal) {
    return fmt::format("proven: none of the {} {}", result.space, BetterText(problem.objective));
  }
  if (run.algorithm != PlanAlgorithm::kExhaustive) {
    const std::string most = result.bound > 0
                                 ? fmt::format(
                                       "; none, whatever its stages, is more than {:.1f} % better "
                                       "(proven)",
                                       100 * GapOf(result, result.plans[0].score))
                                 : "";
    return fmt::format("not proven: this is the best plan that algorithm {} found{}",
                       Name(run.algorithm), most);
  }
  if (result.bound <= 0) {
    return fmt::format(
        "not proven, as the search was cut short: it is not known how much better one of the {} "
        "may be",
        result.space);
  }
  return fmt::format(
      "not proven, as the search was cut short: one of the {} may be up to {:.1f} % better",
      result.space, 100 * GapOf(result, result.plans[0].score));
}

}  // namespace

nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const CostQuestion& cost,
                                    const MemoryMargin& margin, const PlanRun& run) {
  const SearchResult& result = run.result;
  Json plans = Json::array();
  for (size_t i = 0; i < result.plans.size(); ++i) {
    const RankedPlan& ranked = result.plans[i];
    plans.push_back({{"rank", i + 1},
                     {"plan", PlanToJson(ranked.plan, problem.workload)},
                     {"cost", CostToJson(cost, problem.cluster, ranked.evaluation)},
                     {"evaluation", EvaluationToJson(ranked.evaluation, ranked.plan,
                                                     problem.workload, problem.cluster, margin)}});
  }
  Json json = {
      {"model", problem.workload.name},       {"cluster", DescribeCluster(problem.cluster)},
      {"objective", Name(problem.objective)}, {"memory_margin", margin.percent / 100},
      {"algorithm", Name(run.algorithm)},     {"space", result.space},
      {"candidates", result.candidates},      {"evaluated", result.evaluated},
      {"feasible", result.feasible},          {"optimal", result.is_optimal}};
  json[BoundKey(problem)] = ShownScore(problem, result.bound);
  if (!result.plans.empty() && result.bound > 0) {
    json["gap"] = GapOf(result, result.plans[0].score);
  }
  json["plans"] = std::move(plans);
  json["curves"] = {{Name(run.algorithm), CurveToJson(problem, result)}};
  if (!result.obstacle.empty()) json["obstacle"] = result.obstacle;
  json["evaluations_per_s"] = static_cast<double>(result.evaluated) / run.seconds;
  json["wall_ms"] = run.seconds * 1e3;
  return json;
}

void PrintSearchHead(const SearchProblem& problem, const MemoryMargin& margin, const PlanRun& run,
                     std::ostream& out) {
  const SearchResult& result = run.result;
  fmt::print(out, "{} on {}\n", problem.workload.name, DescribeCluster(problem.cluster));
  const bool is_exhaustive = run.algorithm == PlanAlgorithm::kExhaustive;
  const std::string who = is_exhaustive ? fmt::format("the search enumerated {} before it ended,",
                                                      Counted(result.candidates, "plan"))
                                        : fmt::format("algorithm {}", Name(run.algorithm));
  fmt::print(
      out, "{} evaluated {} and found {} that {}, in {:.1f} s\n", who,
      is_exhaustive ? fmt::format("{}", result.evaluated) : Counted(result.evaluated, "plan"),
      result.feasible, result.feasible == 1 ? "fits" : "fit", run.seconds);
  if (margin.percent > 0) {
    fmt::print(out, "a plan fits if it leaves {:g} % of the memory of every GPU free\n",
               margin.percent);
  }
  fmt::print(out, "\n");
  if (!result.plans.empty()) return;
  // Without a plan, only a search that was cut short has a bound.
  const bool is_cut_short = result.bound > 0;
  if (is_cut_short) fmt::print(out, "no plan was found so far; ");
  fmt::print(out, "{}{}\n", is_cut_short ? "nearest plan: " : "no plan fits; nearest plan: ",
             result.obstacle.empty() ? "none was looked at" : result.obstacle);
}

void PrintSearch(const SearchProblem& problem, const CostQuestion& cost, const MemoryMargin& margin,
                 const PlanRun& run, std::ostream& out) {
  const SearchResult& result = run.result;
  PrintSearchHead(problem, margin, run, out);
  if (result.plans.empty()) return;
  const bool has_cost = problem.objective == Objective::kCost || !problem.prices.empty();
  PrintPlanTable(problem, result.plans, {.cost = has_cost, .tokens = cost.tokens}, out);
  const Plan& plan = result.plans[0].plan;
  if (!IsEven(plan, problem.workload)) PrintStages(problem, plan, out);
  const int used = plan.device_count();
  const int idle = problem.cluster.device_count() - used;
  if (idle > 0) {
    fmt::print(out, "\nthe best plan uses {}; {} {} idle", Counted(used, "GPU"), idle,
               idle == 1 ? "stays" : "stay");
  }
  const Evaluation& best = result.plans[0].evaluation;
  fmt::print(out, "\nthe best plan takes {}\n", StepCostText(cost, problem.cluster, best));
  if (cost.tokens > 0) {
    fmt::print(out, "for {}\n", RunCostText(cost, problem.cluster, best));
  }
  fmt::print(out, "{}\n", ProofSentence(problem, run));
}

void PrintBeyond(const std::vector<PlanRun>& runs, std::ostream& out) {
  if (runs.size() < 2) return;
  const SearchResult& within = runs[0].result;
  const PlanRun& beyond = runs[1];
  if (within.plans.empty()) {
    fmt::print(out, "in the {} itself: {}\n", within.space, within.obstacle);
    return;
  }
  const double best = BestRun(runs).result.plans[0].score;
  if (within.plans[0].score <= best) {
    fmt::print(out,
               "algorithm {} evaluated {} outside this space in {:.1f} s and found none better",
               Name(beyond.algorithm), Counted(beyond.result.evaluated, "plan"), beyond.seconds);
    if (beyond.result.bound > 0) {
      fmt::print(out, "; none there is more than {:.1f} % better (proven)",
                 100 * GapOf(beyond.result, best));
    }
    fmt::print(out, "\n");
    return;
  }
  // The plan that was printed above lies outside this space.
  fmt::print(out, "{:.1f} % worse{}: the best of the {}\n",
             100 * (within.plans[0].score / best - 1),
             within.is_optimal ? " (proven)" : " (found so far)", within.space);
}

nlohmann::ordered_json WithinToJson(const SearchProblem& problem, const SearchResult& result) {
  Json json = {{"space", result.space},
               {"candidates", result.candidates},
               {"evaluated", result.evaluated},
               {"optimal", result.is_optimal}};
  json[ScoreKey(problem)] =
      result.plans.empty() ? Json() : Json(ShownScore(problem, result.plans[0].score));
  json[BoundKey(problem)] = ShownScore(problem, result.bound);
  return json;
}

nlohmann::ordered_json BeyondToJson(const SearchProblem& problem,
                                    const std::vector<PlanRun>& runs) {
  const PlanRun& beyond = runs[1];
  Json json = {{"algorithm", Name(beyond.algorithm)}, {"evaluated", beyond.result.evaluated}};
  json[BoundKey(problem)] = ShownScore(problem, beyond.result.bound);
  const std::vector<RankedPlan>& plans = BestRun(runs).result.plans;
  if (!plans.empty() && beyond.result.bound > 0) {
    json["gap"] = GapOf(beyond.result, plans[0].score);
  }
  return json;
}

const PlanRun& BestRun(const std::vector<PlanRun>& runs) {
  const auto score = [](const PlanRun& run) {
    return run.result.plans.empty() ? std::numeric_limits<double>::infinity()
                                    : run.result.plans[0].score;
  };
  return *std::min_element(runs.begin(), runs.end(),
                           [&](const PlanRun& a, const PlanRun& b) { return score(a) < score(b); });
}

AlgorithmComparison CompareRuns(const SearchProblem& problem, const std::vector<PlanRun>& runs,
                                const std::string& budget) {
  AlgorithmComparison comparison{.problem = fmt::format("{} on {}; {} each", problem.workload.name,
                                                        DescribeCluster(problem.cluster), budget),
                                 .score_label = ScoreLabel(problem),
                                 .unit = 1 / ShownScore(problem, 1),
                                 .score_key = ScoreKey(problem),
                                 .key_unit = 1 / ShownScore(problem, 1)};
  const PlanRun& best = BestRun(runs);
  if (!best.result.plans.empty()) {
    comparison.bound = best.result.plans[0].score;
    comparison.bound_label = "best plan of all algorithms";
  }
  for (const PlanRun& run : runs) {
    ComparedAlgorithm one{
        .curve = {Name(run.algorithm), run.result.curve, run.result.evaluated, run.seconds}};
    if (run.result.plans.empty()) {
      one.is_feasible = false;
      const bool has_dropped = run.result.feasible > 0;  // the obstacle explains it
      one.remark = has_dropped ? run.result.obstacle : "found no plan that fits";
    } else {
      one.score = run.result.plans[0].score;
      // A proof holds only within the space, which other algorithms leave.
      one.is_proven = run.result.is_optimal && one.score == *comparison.bound;
    }
    comparison.algorithms.push_back(std::move(one));
  }
  return comparison;
}

}  // namespace stagecraft
