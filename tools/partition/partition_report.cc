#include "tools/partition/partition_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "tools/report/algorithm_comparison.h"
#include "tools/verb/command.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// Whether it is proven that no answer has a smaller latency, or bottleneck if the planner has no
// latency.
bool IsProven(const PartitionAnswer& answer) {
  constexpr double kRounding = 1e-9;
  const std::optional<double>& best = answer.latency_s ? answer.latency_s : answer.bottleneck_s;
  return best && answer.bound_s && *best <= *answer.bound_s * (1 + kRounding);
}

Json StagesToJson(const PartitionAnswer& answer) {
  Json stages = Json::array();
  for (const PartitionedStage& stage : answer.stages) {
    Json row = {{"nodes", stage.nodes},
                {"replicas", stage.replicas},
                {"tensor", stage.tensor},
                {"time_s", stage.time_s},
                {"memory_bytes", stage.memory_bytes}};
    if (!stage.place.empty()) row["place"] = stage.place;
    stages.push_back(std::move(row));
  }
  return stages;
}

// Adds the keys that only planners that search for stages report.
void AddSearch(const PartitionAnswer& answer, Json& report) {
  const AlgorithmComparison& comparison = *answer.comparison;
  Json devices = Json::array();
  for (const StageDeviceKind& kind : answer.device_kinds) {
    devices.push_back({{"count", kind.count}, {"speed", kind.speed}});
    if (kind.memory) devices.back()["memory_bytes"] = kind.memory->count();
  }
  report["devices"] = std::move(devices);
  report["optimal"] = IsProven(answer);
  int64_t evaluations = 0;
  double seconds = 0;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    evaluations += algorithm.curve.evaluations;
    seconds += algorithm.curve.evaluations > 0 ? algorithm.curve.seconds : 0;
  }
  report["evaluations"] = evaluations;
  report["evaluations_per_s"] = seconds > 0 ? static_cast<double>(evaluations) / seconds : 0;
  report.update(ComparisonToJson(comparison));
}

void PrintLine(const char* label, const std::optional<double>& seconds, std::ostream& out) {
  if (seconds) out << fmt::format("{:<15}{:.6g} ms\n", label, *seconds * 1e3);
}

void PrintRate(const char* label, const std::optional<double>& rate, std::ostream& out) {
  if (rate) out << fmt::format("{:<15}{:.6g} minibatches/s\n", label, *rate);
}

void PrintStages(const PartitionAnswer& answer, std::ostream& out) {
  TextTable table({"stage", "place", "first", "last", "nodes", "replicas", "tensor degree",
                   "time ms", "memory GB"},
                  4);
  int number = 0;
  for (const PartitionedStage& stage : answer.stages) {
    table.Add({std::to_string(number++), stage.place.empty() ? "any" : stage.place,
               stage.nodes.front(), stage.nodes.back(), std::to_string(stage.nodes.size()),
               std::to_string(stage.replicas), std::to_string(stage.tensor),
               fmt::format("{:.3f}", stage.time_s * 1e3),
               fmt::format("{:.3f}", stage.memory_bytes / 1e9)});
  }
  table.Print(out);
}

}  // namespace

Json PartitionToJson(const PartitionRequest& request, const PartitionAnswer& answer) {
  Json report;
  report["seed"] = request.seed;
  report["format"] = NameOf(request.graph.format);
  report["algorithm"] = request.algorithm.empty() ? Json(nullptr) : Json(request.algorithm);
  const bool is_unknown = answer.is_cut_short && answer.stages.empty();
  report["feasible"] = is_unknown ? Json(nullptr) : Json(answer.obstacle.empty());
  if (!answer.obstacle.empty()) report["binding_constraint"] = answer.obstacle;
  report["bottleneck_s"] = OrNull(answer.bottleneck_s);
  report["latency_s"] = OrNull(answer.latency_s);
  report["dp_time_s"] = OrNull(answer.dp_time_s);
  report["minibatches_per_s"] = OrNull(answer.minibatches_per_s);
  if (answer.added_minibatches_per_s) {
    report["added_minibatches_per_s"] = *answer.added_minibatches_per_s;
  }
  report["bound_s"] = OrNull(answer.bound_s);
  report["bound_minibatches_per_s"] = OrNull(answer.bound_minibatches_per_s);
  report["interrupted"] = answer.is_interrupted;
  report["states"] = answer.states ? Json(*answer.states) : Json(nullptr);
  report["stages"] = StagesToJson(answer);
  if (answer.comparison) AddSearch(answer, report);
  if (!request.policy.save.empty()) {
    report["saved_policy"] =
        answer.saved_policy.empty() ? Json(nullptr) : Json(answer.saved_policy);
  }
  report["notes"] = answer.notes;
  return report;
}

int ExitCodeOf(const PartitionAnswer& answer) {
  const bool has_failed = !answer.obstacle.empty();
  if (has_failed && !answer.is_cut_short) return kExitInfeasible;
  if (answer.is_interrupted) return kExitInterrupted;
  return has_failed ? kExitInfeasible : kExitOk;
}

void PrintPartition(const PartitionAnswer& answer, std::ostream& out) {
  if (answer.comparison) {
    PrintComparison(*answer.comparison, out);
    out << '\n';
  }
  PrintLine("bottleneck", answer.bottleneck_s, out);
  PrintLine("latency", answer.latency_s, out);
  if (!IsProven(answer)) PrintLine("bound", answer.bound_s, out);
  PrintLine("data parallel", answer.dp_time_s, out);
  if (answer.states) out << fmt::format("{:<15}{}\n", "subproblems", *answer.states);
  PrintRate("rate", answer.minibatches_per_s, out);
  PrintRate("sum of rates", answer.added_minibatches_per_s, out);
  PrintRate("bound", answer.bound_minibatches_per_s, out);
  for (const std::string& note : answer.notes) out << "note: " << note << '\n';
  if (!answer.saved_policy.empty()) out << "wrote " << answer.saved_policy << '\n';
  if (answer.stages.empty()) return;
  out << '\n';
  PrintStages(answer, out);
}

}  // namespace stagecraft
