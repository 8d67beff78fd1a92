#include "tools/search_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ostream>

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

void PrintStages(const SearchProblem& problem, const Plan& plan, std::ostream& out) {
  fmt::print(out, "\nstages of the best: devices, tp, blocks\n");
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const int first = stage.replicas[0][0];
    fmt::print(out, "  {:>3}  {:>4} x {:<24} {:>3} {:>4}\n", s,
               stage.replicas.size() * stage.replicas[0].size(), problem.cluster.device(first).id,
               stage.tensor_parallel, BlocksOf(stage, problem.workload));
  }
}

}  // namespace

nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const SearchResult& result,
                                    double seconds) {
  Json plans = Json::array();
  for (size_t i = 0; i < result.plans.size(); ++i) {
    const RankedPlan& ranked = result.plans[i];
    plans.push_back(
        {{"rank", i + 1},
         {"plan", PlanToJson(ranked.plan, problem.workload)},
         {"evaluation", EvaluationToJson(ranked.evaluation, problem.workload, problem.cluster)}});
  }
  Json curve = Json::array();
  for (const CurvePoint& point : result.curve) {
    curve.push_back({{"evaluations", point.evaluations},
                     {"seconds", point.seconds},
                     {ScoreKey(problem.objective), Shown(problem.objective, point.score)}});
  }
  Json json = {{"model", problem.workload.name},
               {"cluster", DescribeCluster(problem.cluster)},
               {"objective", Name(problem.objective)},
               {"algorithm", "exhaustive"},
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
  json["curves"] = {{"exhaustive", std::move(curve)}};
  if (!result.obstacle.empty()) json["obstacle"] = result.obstacle;
  json["evaluations_per_s"] = static_cast<double>(result.evaluated) / seconds;
  json["wall_ms"] = seconds * 1e3;
  return json;
}

void PrintSearch(const SearchProblem& problem, const SearchResult& result, double seconds,
                 std::ostream& out) {
  fmt::print(out, "{} on {}\n", problem.workload.name, DescribeCluster(problem.cluster));
  fmt::print(out, "{} {}, {} evaluated, {} of them fit, {:.1f} s\n\n", result.candidates,
             result.space, result.evaluated, result.feasible, seconds);
  if (result.plans.empty()) {
    fmt::print(out, "no plan fits; the nearest: {}\n", result.obstacle);
    return;
  }
  PrintPlans(result, out);
  if (!problem.cluster.homogeneous()) PrintStages(problem, result.plans[0].plan, out);
  const double best = result.plans[0].score;
  if (result.is_optimal) {
    fmt::print(out, "\nbest of these by {}: proven\n", Name(problem.objective));
  } else {
    fmt::print(out, "\nbest so far by {}; none is more than {:.1f} % better\n",
               Name(problem.objective), 100 * (best / result.bound - 1));
  }
  if (result.plans.size() > 1) {
    const double second = result.plans[1].score;
    fmt::print(out, "the second best loses {:.2f} %\n", 100 * (second / best - 1));
  }
}

}  // namespace stagecraft
