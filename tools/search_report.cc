#include "tools/search_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>

#include "sim/cluster_spec.h"
#include "tools/plan_report.h"
#include "tools/step_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Of a score in reports: milliseconds, device-seconds, or a share.
double Shown(Objective objective, double score) {
  return objective == Objective::kStepTime ? score * 1e3 : score;
}

const char* ScoreKey(Objective objective) {
  constexpr const char* kKeys[] = {"step_time_ms", "device_seconds", "memory_share"};
  return kKeys[static_cast<int>(objective)];
}

void PrintPlans(const SearchResult& result, std::ostream& out) {
  fmt::print(out, "{:>4} {:>10} {:>6} {:>6}  {:>3} {:>3} {:>3} {:>3} {:>3} {:>5} {:>5}  {}\n",
             "rank", "step ms", "MFU", "GiB", "tp", "cp", "ep", "pp", "vpp", "dp", "micro",
             "schedule, recompute, zero");
  int rank = 0;
  for (const RankedPlan& ranked : result.plans) {
    const Evaluation& e = ranked.evaluation;
    const Stage& first = ranked.plan.stages[0];
    Bytes peak;
    for (const StageMemory& memory : e.memory) peak = std::max(peak, memory.Peak());
    fmt::print(out,
               "{:>4} {:>10.1f} {:>6.3f} {:>6.1f}  {:>3} {:>3} {:>3} {:>3} {:>3} {:>5} {:>5}  {}, "
               "{}, {}\n",
               ++rank, e.step_time.ms(), e.mfu(), peak.gib(), first.tensor_parallel,
               first.context_parallel, first.expert_parallel, ranked.plan.stages.size(),
               ranked.plan.chunk_count(), first.replicas.size(), ranked.plan.micro_batch,
               Name(ranked.plan.order), Name(first.recompute), ranked.plan.zero);
  }
}

// All stages alike but for a block.
bool IsEven(const Plan& plan, const Workload& workload) {
  int least = BlocksOf(plan.stages[0], workload), most = least;
  for (const Stage& stage : plan.stages) {
    const Stage& first = plan.stages[0];
    if (stage.tensor_parallel != first.tensor_parallel || stage.recompute != first.recompute) {
      return false;
    }
    least = std::min(least, BlocksOf(stage, workload));
    most = std::max(most, BlocksOf(stage, workload));
  }
  return most - least <= 1;
}

void PrintStages(const SearchProblem& problem, const Plan& plan, std::ostream& out) {
  fmt::print(out, "\nstages of the best: devices, tp, blocks, recompute\n");
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const int first = stage.replicas[0][0];
    fmt::print(out, "  {:>3}  {:>4} x {:<24} {:>3} {:>4}  {}\n", s,
               stage.replicas.size() * stage.replicas[0].size(), problem.cluster.device(first).id,
               stage.tensor_parallel, BlocksOf(stage, problem.workload), Name(stage.recompute));
  }
}

}  // namespace

nlohmann::ordered_json CurveToJson(const SearchProblem& problem, const SearchResult& result) {
  Json curve = Json::array();
  for (const CurvePoint& point : result.curve) {
    curve.push_back({{"evaluations", point.evaluations},
                     {"seconds", point.seconds},
                     {ScoreKey(problem.objective), Shown(problem.objective, point.score)}});
  }
  return curve;
}

nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const PlanRun& run) {
  const SearchResult& result = run.result;
  Json plans = Json::array();
  for (size_t i = 0; i < result.plans.size(); ++i) {
    const RankedPlan& ranked = result.plans[i];
    plans.push_back(
        {{"rank", i + 1},
         {"plan", PlanToJson(ranked.plan, problem.workload)},
         {"evaluation", EvaluationToJson(ranked.evaluation, problem.workload, problem.cluster)}});
  }
  Json json = {{"model", problem.workload.name},
               {"cluster", DescribeCluster(problem.cluster)},
               {"objective", Name(problem.objective)},
               {"algorithm", Name(run.algorithm)},
               {"space", result.space},
               {"candidates", result.candidates},
               {"evaluated", result.evaluated},
               {"feasible", result.feasible},
               {"optimal", result.is_optimal}};
  const std::string key = problem.objective == Objective::kStepTime
                              ? "bound_ms"
                              : std::string("bound_") + ScoreKey(problem.objective);
  json[key] = Shown(problem.objective, result.bound);
  json["plans"] = std::move(plans);
  json["curves"] = {{Name(run.algorithm), CurveToJson(problem, result)}};
  if (!result.obstacle.empty()) json["obstacle"] = result.obstacle;
  json["evaluations_per_s"] = static_cast<double>(result.evaluated) / run.seconds;
  json["wall_ms"] = run.seconds * 1e3;
  return json;
}

void PrintSearch(const SearchProblem& problem, const PlanRun& run, std::ostream& out) {
  const SearchResult& result = run.result;
  fmt::print(out, "{} on {}\n", problem.workload.name, DescribeCluster(problem.cluster));
  fmt::print(out, "{} {}, {} evaluated, {} of them fit, {:.1f} s\n\n", result.candidates,
             result.space, result.evaluated, result.feasible, run.seconds);
  if (result.plans.empty()) {
    fmt::print(out, "no plan fits; the nearest: {}\n", result.obstacle);
    return;
  }
  PrintPlans(result, out);
  if (!IsEven(result.plans[0].plan, problem.workload))
    PrintStages(problem, result.plans[0].plan, out);
  const double best = result.plans[0].score;
  if (result.is_optimal) {
    fmt::print(out, "\nbest of these by {}: proven\n", Name(problem.objective));
  } else if (run.algorithm != PlanAlgorithm::kExhaustive) {
    fmt::print(out, "\nbest found by {}; nothing is proven\n", Name(run.algorithm));
  } else {
    fmt::print(out, "\nbest so far by {}; none is more than {:.1f} % better\n",
               Name(problem.objective), 100 * (best / result.bound - 1));
  }
  if (result.plans.size() > 1) {
    const double second = result.plans[1].score;
    fmt::print(out, "the second best loses {:.2f} %\n", 100 * (second / best - 1));
  }
}

const PlanRun& BestRun(const std::vector<PlanRun>& runs) {
  const auto score = [](const PlanRun& run) {
    return run.result.plans.empty() ? std::numeric_limits<double>::infinity()
                                    : run.result.plans[0].score;
  };
  return *std::min_element(runs.begin(), runs.end(),
                           [&](const PlanRun& a, const PlanRun& b) { return score(a) < score(b); });
}

nlohmann::ordered_json ComparisonToJson(const SearchProblem& problem,
                                        const std::vector<PlanRun>& runs) {
  const PlanRun& best = BestRun(runs);
  Json json = SearchToJson(problem, best);
  Json algorithms = Json::array(), curves = Json::object();
  for (const PlanRun& run : runs) {
    Json one = {{"algorithm", Name(run.algorithm)},
                {"evaluated", run.result.evaluated},
                {"feasible", run.result.feasible},
                {"optimal", run.result.is_optimal},
                {"wall_ms", run.seconds * 1e3}};
    if (!run.result.plans.empty()) {
      const double score = run.result.plans[0].score;
      one[ScoreKey(problem.objective)] = Shown(problem.objective, score);
      one["behind_best_percent"] = 100 * (score / best.result.plans[0].score - 1);
    }
    algorithms.push_back(std::move(one));
    curves[Name(run.algorithm)] = CurveToJson(problem, run.result);
  }
  json["algorithms"] = std::move(algorithms);
  json["curves"] = std::move(curves);
  return json;
}

void PrintComparison(const SearchProblem& problem, const std::vector<PlanRun>& runs,
                     std::ostream& out) {
  const PlanRun& best = BestRun(runs);
  PrintSearch(problem, best, out);
  fmt::print(out, "\n{:<16} {:>14} {:>12} {:>10} {:>9} {:>9}\n", "algorithm",
             ScoreKey(problem.objective), "behind best", "evaluated", "they fit", "seconds");
  for (const PlanRun& run : runs) {
    const std::string name =
        std::string(Name(run.algorithm)) + (run.result.is_optimal ? " (proven)" : "");
    const std::string counts = fmt::format("{:>10} {:>9} {:>9.2f}", run.result.evaluated,
                                           run.result.feasible, run.seconds);
    if (run.result.plans.empty()) {
      fmt::print(out, "{:<16} {:>14} {:>12} {}\n", name, "none", "", counts);
      continue;
    }
    const double score = run.result.plans[0].score;
    fmt::print(out, "{:<16} {:>14.4f} {:>10.2f} % {}\n", name, Shown(problem.objective, score),
               100 * (score / best.result.plans[0].score - 1), counts);
  }
}

}  // namespace stagecraft
