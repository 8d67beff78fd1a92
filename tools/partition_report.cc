#include "tools/partition_report.h"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>

#include "tools/algorithm_comparison.h"
#include "tools/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

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

// Of those that search for stages.
void AddSearch(const PartitionAnswer& answer, Json& report) {
  const AlgorithmComparison& comparison = *answer.comparison;
  Json devices = Json::array();
  for (const StageDeviceKind& kind : answer.device_kinds) {
    devices.push_back({{"count", kind.count}, {"speed", kind.speed}});
    if (kind.memory) devices.back()["memory_bytes"] = kind.memory->count();
  }
  report["devices"] = std::move(devices);
  report["optimal"] = answer.bottleneck_s && comparison.bound &&
                      *answer.bottleneck_s <= *comparison.bound * (1 + 1e-9);
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

void PrintStages(const PartitionAnswer& answer, std::ostream& out) {
  TextTable table(
      {"stage", "place", "first", "last", "nodes", "replicas", "tensor", "time ms", "memory GB"},
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
  report["feasible"] = answer.obstacle.empty();
  if (!answer.obstacle.empty()) report["binding_constraint"] = answer.obstacle;
  report["bottleneck_s"] = OrNull(answer.bottleneck_s);
  report["latency_s"] = OrNull(answer.latency_s);
  report["dp_time_s"] = OrNull(answer.dp_time_s);
  report["minibatches_per_s"] = OrNull(answer.minibatches_per_s);
  report["states"] = answer.states ? Json(*answer.states) : Json(nullptr);
  report["stages"] = StagesToJson(answer);
  if (answer.comparison) AddSearch(answer, report);
  report["notes"] = answer.notes;
  return report;
}

void PrintPartition(const PartitionRequest& request, const PartitionAnswer& answer,
                    std::ostream& out) {
  if (answer.comparison) {
    PrintComparison(*answer.comparison, out);
    out << '\n';
  }
  PrintLine("bottleneck", answer.bottleneck_s, out);
  PrintLine("latency", answer.latency_s, out);
  PrintLine("data parallel", answer.dp_time_s, out);
  if (answer.states) out << fmt::format("{:<15}{}\n", "states", *answer.states);
  if (answer.minibatches_per_s) {
    out << fmt::format("{:<15}{:.6g} minibatches/s\n", "rate", *answer.minibatches_per_s);
  }
  for (const std::string& note : answer.notes) out << "note: " << note << '\n';
  if (answer.stages.empty()) {
    if (!request.policy.save.empty()) out << "wrote " << request.policy.save << '\n';
    return;
  }
  out << '\n';
  PrintStages(answer, out);
}

}  // namespace stagecraft
