#include "tools/train/train_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "costmodel/proto_to_json.h"
#include "search/training/plan_division.h"
#include "sim/step/training_cost.h"
#include "tools/report/layer_state_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/train/shown_run.h"
#include "tools/train/train_marks.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostStates = 40;  // that the text lists

double Milliseconds(Duration time) { return time.seconds() * 1e3; }

std::string Span(Duration time) {
  const double seconds = time.seconds();
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.2f} h", seconds / 3600);
  return fmt::format("{:.2f} days", seconds / 86400);
}

std::string LayersText(const TrainedState& state) {
  const Division division = DivisionOf(state.plan);
  constexpr size_t kMost = 16;
  if (division.size() > kMost) {
    const auto [least, most] = std::minmax_element(division.begin(), division.end());
    return fmt::format("{} stages of {} to {}", division.size(), *least, *most);
  }
  return fmt::format("{}", fmt::join(division, ","));
}

void PrintStates(const std::vector<TrainedState>& states, std::ostream& out) {
  TextTable table(
      {"from step", "network", "layers of stages", "step ms", "idle", "max/mean", "change ms"},
      {false, true, true});
  std::string said;  // of the products of the state before
  for (size_t i = 0; i < std::min(states.size(), kMostStates); ++i) {
    const TrainedState& state = states[i];
    table.Add({fmt::format("{}", state.step), state.change.empty() ? "as given" : state.change,
               LayersText(state), fmt::format("{:.2f}", Milliseconds(state.evaluation.step_time)),
               fmt::format("{:.1f} %", 100 * state.evaluation.profile.bubble_fraction),
               fmt::format("{:.3f}", state.Imbalance()),
               fmt::format("{:.2f}", Milliseconds(state.cost.Total()))});
    if (!state.decision.empty()) table.AddText("           " + state.decision);
    const std::string note = SparseNote(state.products);
    if (!note.empty() && note != said) table.AddText("           " + note);
    said = note;
  }
  table.Print(out);
  if (states.size() > kMostStates) {
    out << fmt::format("… and {} more changes; --json lists all\n", states.size() - kMostStates);
  }
}

void PrintComparison(const BalancerComparison& comparison, std::ostream& out) {
  out << fmt::format(
      "\nbalancers, without failures; no division gains more than {:.3f} times (max/mean of "
      "stages, over the time of the first)\n",
      comparison.bound);
  TextTable table({"who divides the layers", "time of the run", "speed-up", "overhead", "moves",
                   "GPUs at least", "GPU-hours"},
                  1);
  const double first = comparison.rows.front().time.seconds();
  for (const BalancerRow& row : comparison.rows) {
    table.Add({row.name, Span(row.time), fmt::format("{:.3f}", first / row.time.seconds()),
               fmt::format("{:.3f} %", 100 * row.overhead.seconds() / row.time.seconds()),
               fmt::format("{}", row.moves), fmt::format("{}", row.fewest_devices),
               fmt::format("{:.2f}", row.gpu_hours)});
  }
  table.Print(out);
}

Json CostToJson(const BalanceCost& cost) {
  return {{"profiling_ns", cost.profiling.ns()},
          {"decision_ns", cost.decision.ns()},
          {"move_ns", cost.move.ns()},
          {"barrier_ns", cost.barrier.ns()},
          {"moved_bytes", cost.moved.count()}};
}

Json StateToJson(const TrainedState& state) {
  return {{"step", state.step},
          {"change", state.change},
          {"stage_layers", DivisionOf(state.plan)},
          {"devices", state.devices()},
          {"step_time_ns", state.evaluation.step_time.ns()},
          {"bubble_fraction", state.evaluation.profile.bubble_fraction},
          {"stage_seconds", state.stage_seconds},
          {"max_over_mean", state.Imbalance()},
          {"sparse_products",
           {{"from_entries", state.products.from_entries}, {"expanded", state.products.expanded}}},
          {"moves", state.moves},
          {"decision", state.decision},
          {"cost", CostToJson(state.cost)}};
}

Json QuantilesToJson(const RunQuantiles& quantiles) {
  return {{"mean", quantiles.mean},
          {"p5", quantiles.p5},
          {"p50", quantiles.p50},
          {"p95", quantiles.p95}};
}

Json SummaryToJson(const RunsSummary& summary) {
  Json json = {{"runs", summary.runs},
               {"time_s", QuantilesToJson(summary.time_s)},
               {"goodput", QuantilesToJson(summary.goodput)},
               {"failures", QuantilesToJson(summary.failures)}};
  for (int kind = 0; kind < kPhaseKinds; ++kind) {
    json["lost_gpu_hours"][Name(static_cast<PhaseKind>(kind))] =
        QuantilesToJson(summary.lost_gpu_hours[kind]);
  }
  return json;
}

Json ComparisonToJson(const BalancerComparison& comparison) {
  Json json = {{"bound", comparison.bound}, {"rows", Json::array()}};
  for (const BalancerRow& row : comparison.rows) {
    json["rows"].push_back({{"name", row.name},
                            {"time_ns", row.time.ns()},
                            {"overhead_ns", row.overhead.ns()},
                            {"moves", row.moves},
                            {"fewest_devices", row.fewest_devices},
                            {"gpu_hours", row.gpu_hours}});
  }
  return json;
}

// What this much time of the run costs; all devices of its plan are paid for all the time.
TrainingCost CostOfTime(const PlannedJob& job, const TrainAnswer& answer, double seconds) {
  const Evaluation& first = answer.states.front().evaluation;
  return CostOfSteps(first, job.cluster, job.cost.rates, seconds / first.step_time.seconds());
}

// The devices that re-packing frees.
struct Freed {
  int devices = 0;  // the most in any state
  double gpu_hours = 0;
};

Freed FreedIn(const TrainAnswer& answer) {
  const History& history = *answer.history;
  int fewest = history.totals.devices;
  for (const TrainedState& state : answer.states) fewest = std::min(fewest, state.devices());
  return {history.totals.devices - fewest, FreedGpuHours(answer.states, history)};
}

void PrintFreed(const TrainAnswer& answer, std::ostream& out) {
  const Freed freed = FreedIn(answer);
  const RunTotals& totals = answer.history->totals;
  out << fmt::format("re-packing frees {} of {} GPUs: {:.3f} of {:.3f} GPU-hours\n", freed.devices,
                     totals.devices, freed.gpu_hours, totals.GpuHours(totals.time));
}

void PrintCheckpoint(const TrainRequest& request, std::ostream& out) {
  const CheckpointPolicy& policy = request.conditions.checkpoint;
  if (request.mtbf != Duration::Max()) {
    out << fmt::format("something fails every {} on average\n", Span(request.mtbf));
  }
  if (!policy.IsOn()) return;
  out << fmt::format("a checkpoint of {:.1f} GB every {} of computing, written in {}{}\n",
                     static_cast<double>(request.checkpoint_bytes.count()) * 1e-9,
                     Span(policy.interval), Span(policy.write),
                     policy.is_asynchronous ? " beside the steps" : "");
}

}  // namespace

Json TrainToJson(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer) {
  Json json;
  json["workload"] = job.workload.name;
  json["cluster"] = job.cluster.name();
  json["steps"] = request.steps;
  if (request.mtbf != Duration::Max()) json["mtbf_s"] = request.mtbf.seconds();
  const CheckpointPolicy& policy = request.conditions.checkpoint;
  if (policy.IsOn()) {
    json["checkpoint"] = {{"interval_s", policy.interval.seconds()},
                          {"write_s", policy.write.seconds()},
                          {"bytes", request.checkpoint_bytes.count()}};
  }
  json["states"] = Json::array();
  for (const TrainedState& state : answer.states) json["states"].push_back(StateToJson(state));
  if (answer.history) {
    json["history"] = ProtoToJson(HistoryToProto(*answer.history));
    json.update(MarksToJson(
        MarksOf(*answer.history, answer.states, request.conditions.events, job.cluster)));
    if (request.balance.repacks) {
      const Freed freed = FreedIn(answer);
      json["freed"] = {{"devices", freed.devices}, {"gpu_hours", freed.gpu_hours}};
    }
  }
  if (answer.history) {
    const double seconds = answer.history->totals.time.seconds();
    json["cost"] = TotalsToJson(job.cost.rates, CostOfTime(job, answer, seconds));
  }
  if (!answer.stopped.empty()) json["stopped"] = answer.stopped;
  if (answer.summary) {
    json["runs"] = SummaryToJson(*answer.summary);
    const RunQuantiles& time_s = answer.summary->time_s;
    for (const auto& [key, seconds] : {std::pair("mean", time_s.mean),
                                       {"p5", time_s.p5},
                                       {"p50", time_s.p50},
                                       {"p95", time_s.p95}}) {
      json["cost"][key] = TotalsToJson(job.cost.rates, CostOfTime(job, answer, seconds));
    }
  }
  if (answer.comparison) json["balancers"] = ComparisonToJson(*answer.comparison);
  json["warnings"] = job.warnings;
  return json;
}

void PrintTrain(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer,
                std::ostream& out) {
  out << fmt::format("{} on {}, {} steps\n", job.workload.name, job.cluster.name(), request.steps);
  for (const std::string& warning : job.warnings) out << "note: " << warning << '\n';
  out << '\n';
  PrintStates(answer.states, out);
  if (answer.comparison) PrintComparison(*answer.comparison, out);
  out << '\n';
  PrintCheckpoint(request, out);
  if (answer.history) {
    out << HistoryText(*answer.history);
    const double seconds = answer.history->totals.time.seconds();
    if (job.cost.IsAsked()) {
      out << "the run takes " << TotalsText(CostOfTime(job, answer, seconds)) << '\n';
    }
    if (request.balance.repacks) PrintFreed(answer, out);
  }
  if (answer.summary) out << RunsText(*answer.summary);
  if (answer.summary && job.cost.IsAsked()) {
    const RunQuantiles& time_s = answer.summary->time_s;
    out << "the mean run takes " << TotalsText(CostOfTime(job, answer, time_s.mean))
        << "\none run in twenty takes more than " << TotalsText(CostOfTime(job, answer, time_s.p95))
        << '\n';
  }
}

}  // namespace stagecraft
