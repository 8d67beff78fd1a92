#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/stages/check_stages.h"
#include "search/partition/stages/stage_comparison.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_exact.h"
#include "search/partition/stop_sign.h"
#include "search/stopwatch.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/stage_problem_input.h"
#include "tools/partition/start_policy.h"
#include "tools/report/algorithm_comparison.h"

namespace stagecraft {
namespace {

// What one algorithm found, checked anew.
struct Outcome {
  ComparedAlgorithm shown;
  StagePlan plan;  // without stages if it found none
  StageCheck check;
};

Outcome NoPlan(const SearchCurve& curve, const std::string& remark = "") {
  Outcome outcome;
  outcome.shown.curve = curve;
  outcome.shown.remark = remark;
  return outcome;
}

constexpr const char* kStopped = "it was stopped before it found a plan";

Outcome Checked(const StageProblem& problem, const SearchCurve& curve, double score,
                const StagePlan& plan) {
  CHECK(FindErrors(problem, plan).empty());
  Outcome outcome = NoPlan(curve);
  outcome.shown.score = score;
  outcome.plan = plan;
  outcome.check = CheckStages(problem, plan);
  outcome.shown.is_feasible = outcome.check.errors.empty();
  constexpr double kRounding = 1e-9;
  if (outcome.shown.is_feasible) {
    CHECK(std::abs(outcome.check.slowest_s - score) <= kRounding * score);
  }
  return outcome;
}

Outcome Checked(const StageProblem& problem, const StageRun& run, const std::string& name) {
  const SearchCurve curve{name, run.curve, run.evaluations, run.seconds};
  if (run.plan.stages() == 0) return NoPlan(curve, kStopped);
  return Checked(problem, curve, run.score, run.plan);
}

constexpr const char* kExhaustive = "exhaustive";

// Throws InputError if there are too many downsets.
Outcome RunExactly(const StageProblem& problem, const StopSign& stop) {
  const Stopwatch watch;
  std::optional<ExactStages> exact;
  try {
    exact = SolveStagesExactly(problem, MostExactDownsets(problem), stop);
  } catch (const Stopped&) {
    return NoPlan({kExhaustive, {}}, kStopped);
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) +
                     "; --algorithm mcmc, differentiable and policy list none");
  }
  const SearchCurve curve{kExhaustive, {}, 0, watch.Seconds()};
  if (!exact) return NoPlan(curve);
  Outcome outcome = Checked(problem, curve, exact->score, exact->plan);
  outcome.shown.is_proven = exact->bound >= exact->score;
  return outcome;
}

std::string BudgetText(const Budget& budget) {
  std::string text;
  if (budget.evaluations > 0) text = fmt::format("{} evaluations", budget.evaluations);
  if (budget.seconds > 0) text += fmt::format("{}{:g} s", text.empty() ? "" : ", ", budget.seconds);
  return text;
}

class StageSearch {
 public:
  StageSearch(const PartitionRequest& request, PartitionAnswer& answer)
      : request_(request),
        answer_(answer),
        problem_(MakeStageProblem(request, answer.notes)),
        comparison_{.budget = request.budget,
                    .seed = request.seed,
                    .policy_width = request.policy.width.value_or(kPolicyWidth)} {}

  void Run() {
    if (request_.algorithm.empty()) {
      RunAll();
    } else if (request_.algorithm == kExhaustive) {
      RunExhaustive();
    } else if (request_.algorithm == "policy") {
      RunPolicy();
    } else {
      RunNamed(request_.algorithm);
    }
    Report();
  }

 private:
  void RunNamed(const std::string& name) {
    for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
      if (NameOf(algorithm) != name) continue;
      outcomes_.push_back(
          Checked(problem_, RunStageAlgorithm(algorithm, problem_, comparison_), name));
      return;
    }
    CHECK(false);
  }

  bool IsStopped() const { return request_.budget.stop != nullptr && request_.budget.stop->load(); }

  // Trains without a limit, because the budget is for the search alone; only Ctrl-C ends it early.
  StartPolicy MakePolicy() {
    return MakeStartPolicy(request_, problem_.bandwidth, {.stop = request_.budget.stop},
                           answer_.notes);
  }

  void RunExhaustive() {
    const StopSign stop(request_.budget);
    outcomes_.push_back(RunExactly(problem_, stop));
    if (!stop.was_obeyed()) return;
    answer_.is_cut_short = true;
    if (request_.algorithm == kExhaustive) WalkBriefly();
  }

  // Adds the plan of a short search. The exhaustive search finds stages from the last to the first:
  // what it leaves for the first one when it is stopped may be far too much.
  void WalkBriefly() {
    constexpr int64_t kPlans = 5000;
    const StageRun walk =
        RunStageAlgorithm(StageAlgorithm::kMcmc, problem_,
                          {.budget = {.evaluations = kPlans}, .seed = request_.seed});
    outcomes_.push_back(Checked(problem_, walk, NameOf(walk.algorithm)));
  }

  void RunPolicy() {
    StartPolicy start = MakePolicy();
    const std::string name = start.has_learned() ? "tuned policy" : "policy";
    const StageRun run = TuneStagePolicy(problem_, comparison_, start.policy);
    start.batches += run.learned;
    SavePolicy(request_, start, answer_);
    outcomes_.push_back(Checked(problem_, run, name));
  }

  void RunAll() {
    StartPolicy start = MakePolicy();
    SavePolicy(request_, start, answer_);
    // Policies that start untrained get the same shape, so that they can be compared with this one.
    comparison_.policy_width = start.policy.shape().width;
    for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
      const std::string name = NameOf(algorithm);
      RunIfPossible(name, [&] { RunNamed(name); });
    }
    if (start.has_learned()) {
      const std::string name = NameOf(StageAlgorithm::kTunedPolicy);
      RunIfPossible(name, [&] {
        const StageRun run = TuneStagePolicy(problem_, comparison_, start.policy);
        outcomes_.push_back(Checked(problem_, run, name));
      });
    }
    RunIfPossible(kExhaustive, [&] { RunExhaustive(); });
  }

  // Runs `search`. An algorithm that refuses the problem, or whose turn does not come, is shown
  // with the reason.
  template <typename Search>
  void RunIfPossible(const std::string& name, Search search) {
    try {
      if (IsStopped()) {
        outcomes_.push_back(NoPlan({name, {}}, "interrupted before its turn"));
      } else {
        search();
      }
    } catch (const InputError& error) {
      outcomes_.push_back(NoPlan({name, {}}, error.what()));
    }
  }

  void Report() {
    AlgorithmComparison shown;
    shown.problem = fmt::format("{}: {} operators on {}, {:g} bytes/s", problem_.graph.name,
                                problem_.graph.nodes.size(), DescribeDevices(problem_.kinds),
                                problem_.bandwidth.bytes_per_s());
    if (request_.algorithm != kExhaustive) {
      shown.problem += fmt::format("; {}, seed {}", BudgetText(request_.budget), request_.seed);
    }
    shown.score_label = "slowest stage (ms)";
    shown.unit = 1e-3;
    shown.score_key = "bottleneck_s";
    const Outcome* best = nullptr;
    for (const Outcome& outcome : outcomes_) {
      shown.algorithms.push_back(outcome.shown);
      if (outcome.shown.is_proven) shown.bound = outcome.shown.score;
      const bool fits = outcome.plan.stages() > 0 && outcome.shown.is_feasible;
      if (fits && (best == nullptr || outcome.shown.score < best->shown.score)) best = &outcome;
    }
    answer_.bound_s = shown.bound.value_or(StageCosts(problem_).LeastSeconds());
    answer_.comparison = std::move(shown);
    answer_.device_kinds = problem_.kinds;
    answer_.is_cut_short |= IsStopped();
    if (best == nullptr) {
      answer_.obstacle = Obstacle();
      return;
    }
    answer_.bottleneck_s = best->check.slowest_s;
    if (problem_.kinds.size() == 1) answer_.dp_time_s = DataParallelSeconds();
    for (int stage = 0; stage < best->plan.stages(); ++stage) AddStage(*best, stage);
  }

  double DataParallelSeconds() const {
    StagePlan plan = OneStage(problem_);
    plan.replicas[0].replicas = problem_.devices();
    return CheckStages(problem_, plan).slowest_s;
  }

  void AddStage(const Outcome& outcome, int stage) {
    PartitionedStage added;
    for (const int node : problem_.graph.dag.order) {
      if (outcome.plan.stage_of[node] == stage) {
        added.nodes.push_back(problem_.graph.nodes[node].name);
      }
    }
    const StageReplicas& on = outcome.plan.replicas[stage];
    added.replicas = on.replicas;
    added.time_s = outcome.check.stages[stage].seconds;
    added.memory_bytes = outcome.check.stages[stage].memory_bytes;
    if (problem_.kinds.size() > 1) {
      added.place =
          fmt::format("device type {}, speed {:g}", on.kind, problem_.kinds[on.kind].speed);
    }
    answer_.stages.push_back(std::move(added));
  }

  // Returns why there is no plan: what is wrong with the nearest one that was found.
  std::string Obstacle() const {
    const Outcome* nearest = nullptr;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.plan.stages() == 0) continue;
      if (nearest == nullptr || outcome.shown.score < nearest->shown.score) nearest = &outcome;
    }
    const bool is_proven = !outcomes_.empty() && outcomes_.back().shown.curve.name == kExhaustive &&
                           outcomes_.back().shown.remark.empty();
    const char* what = is_proven ? "no plan fits" : "no plan that was found fits";
    if (nearest != nullptr) {
      return fmt::format("memory: {}; in the nearest one {}", what, nearest->check.errors[0]);
    }
    if (answer_.is_cut_short) return "";
    constexpr int64_t kWalk = 2000;
    const StageRun walk =
        RunStageAlgorithm(StageAlgorithm::kMcmc, problem_, {.budget = {.evaluations = kWalk}});
    const std::vector<std::string> errors = CheckStages(problem_, walk.plan).errors;
    if (errors.empty()) return "budget: the search ended before a plan was found";
    return fmt::format("memory: {}; in the nearest of {} others {}", what, kWalk, errors[0]);
  }

  const PartitionRequest& request_;
  PartitionAnswer& answer_;
  const StageProblem problem_;
  StageComparison comparison_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

PartitionAnswer PartitionByStages(const PartitionRequest& request) {
  PartitionAnswer answer;
  StageSearch(request, answer).Run();
  return answer;
}

PartitionAnswer TrainForStages(const PartitionRequest& request) {
  PartitionAnswer answer;
  const Bandwidth bandwidth = StageBandwidth(request, answer.notes);
  const StartPolicy start = MakeStartPolicy(request, bandwidth, request.budget, answer.notes);
  SavePolicy(request, start, answer);
  if (answer.saved_policy.empty()) {
    answer.is_cut_short = true;
    answer.obstacle = std::exchange(answer.unsaved_policy, "");
  }
  return answer;
}

}  // namespace stagecraft
