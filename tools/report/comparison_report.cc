#include "tools/report/comparison_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/op.h"
#include "tools/report/circumstances.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercent = 100;

Json PercentOrNull(const std::optional<double>& share) {
  return share ? Json(kPercent * *share) : Json();
}

Json IndexOrNull(int64_t index) { return index < 0 ? Json() : Json(index); }

void AddTimes(const TimePair& time, Json& row) {
  row["predicted_ms"] = time.predicted.ms();
  row["measured_ms"] = time.measured.ms();
  row["error_percent"] = PercentOrNull(time.Error());
}

Json FileToJson(const TimelineFile& file, const Json& unstated_executor) {
  const TimelineRecord& record = file.record;
  Json json = {
      {"path", file.path},
      {"fingerprint", fmt::format("{:016x}", record.timeline.Fingerprint())},
      {"executor", record.measurement ? Json(record.measurement->executor) : unstated_executor}};
  if (!record.measurement) return json;
  json["software"] = record.measurement->software;
  json["devices"] = record.measurement->devices;
  json["steps"] = std::max<size_t>(record.measurement->steps.size(), 1);
  AddCircumstances(*record.measurement, &json);
  return json;
}

Json StepToJson(const TimelineComparison& comparison) {
  Json json;
  AddTimes(comparison.step, json);
  json["measured_mean_ms"] = comparison.step_mean ? Json(comparison.step_mean->ms()) : Json();
  json["measured_sigma_ms"] = comparison.step_sigma ? Json(comparison.step_sigma->ms()) : Json();
  return json;
}

Json PhasesToJson(const TimelineComparison& comparison) {
  Json rows = Json::array();
  for (const PhaseTime& phase : comparison.phases) {
    Json row = {{"phase", Name(phase.phase)}, {"tasks", phase.tasks}};
    AddTimes(phase.time, row);
    row["median_absolute_error_percent"] = PercentOrNull(phase.median_absolute_error);
    row["median_sigma_percent"] = PercentOrNull(phase.median_sigma);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json OpClassesToJson(const TimelineComparison& comparison) {
  Json rows = Json::array();
  for (const OpClassTime& op : comparison.op_classes) {
    Json row = {{"op", op.kind ? Name(*op.kind) : "several"}, {"tasks", op.tasks}};
    AddTimes(op.time, row);
    row["exact_percent"] = kPercent * op.exact;
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddPathTimes(const TimePair& time, Json& row) {
  row["predicted_ms"] = time.predicted.ms();
  row["measured_ms"] = time.measured.ms();
  row["difference_ms"] = time.Difference().ms();
}

Json PathToJson(const PathComparison& path) {
  Json phases = Json::array();
  for (const PathTimes& part : path.phases) {
    Json row = {{"phase", part.phase ? Name(*part.phase) : kNothingRuns}};
    AddPathTimes(part.time, row);
    phases.push_back(std::move(row));
  }
  Json ranks = Json::array();
  for (const RankPathTimes& part : path.ranks) {
    Json row = {{"rank", IndexOrNull(part.rank)}};
    AddPathTimes(part.time, row);
    ranks.push_back(std::move(row));
  }
  return {{"phases", std::move(phases)},
          {"ranks", std::move(ranks)},
          {"predicted_tasks", path.predicted_tasks},
          {"measured_tasks", path.measured_tasks},
          {"common_tasks", path.common_tasks}};
}

Json SlowDownToJson(const OverlapSlowDown& slow_down) {
  return {{"ratio", slow_down.ratio ? Json(*slow_down.ratio) : Json()},
          {"passes_beside", slow_down.beside},
          {"passes_alone", slow_down.alone},
          {"passes_unmatched", slow_down.unmatched}};
}

Json GibOrNull(Bytes bytes) { return bytes > Bytes() ? Json(bytes.gib()) : Json(); }

Json RanksToJson(const ComparedTimelines& compared) {
  Json rows = Json::array();
  for (const RankTimes& rank : compared.comparison.ranks) {
    const RankInfo& info = compared.predicted.record.schedule.ranks()[rank.rank];
    Json row = {
        {"rank", rank.rank}, {"stage", IndexOrNull(info.stage)}, {"devices", info.multiplicity}};
    AddTimes(rank.passes, row);
    row["predicted_bubble_fraction"] = rank.predicted_idle;
    row["measured_bubble_fraction"] = rank.measured_idle;
    row["predicted_peak_memory_gib"] = GibOrNull(rank.predicted_peak);
    row["measured_peak_memory_gib"] = GibOrNull(rank.measured_peak);
    row["peak_memory_error_percent"] = PercentOrNull(rank.PeakError());
    rows.push_back(std::move(row));
  }
  return rows;
}

Json TasksToJson(const ComparedTimelines& compared) {
  const TimelineRecord& predicted = compared.predicted.record;
  const TimelineRecord& measured = compared.measured.record;
  const bool has_sigma = measured.measurement && !measured.measurement->task_sigma.empty();
  Json rows = Json::array();
  for (TaskId task = 0; task < predicted.schedule.task_count(); ++task) {
    const Tag& tag = predicted.schedule.tag(task);
    const TimePair time = DurationOf(predicted, measured, task);
    rows.push_back({{"task", task},
                    {"rank", IndexOrNull(tag.rank)},
                    {"phase", Name(tag.phase)},
                    {"stage", IndexOrNull(tag.stage)},
                    {"chunk", IndexOrNull(tag.chunk)},
                    {"micro_batch", IndexOrNull(tag.micro_batch)},
                    {"segment", tag.segment},
                    {"predicted_start_us", predicted.timeline.start(task).us()},
                    {"measured_start_us", measured.timeline.start(task).us()},
                    {"predicted_us", time.predicted.us()},
                    {"measured_us", time.measured.us()},
                    {"error_percent", PercentOrNull(time.Error())},
                    {"measured_sigma_us",
                     has_sigma ? Json(measured.measurement->task_sigma[task].us()) : Json()}});
  }
  return rows;
}

}  // namespace

std::optional<std::string> HostWarning(const ComparedTimelines& compared) {
  const TimelineRecord& predicted = compared.predicted.record;
  const std::optional<Measurement>& measured = compared.measured.record.measurement;
  if (predicted.host_wait == Duration() || !measured || measured->executor != "cuda") return {};
  return fmt::format(
      "{1} has {0:.3f} ms of CPU launch overhead, but {2} was measured with recorded graphs, which "
      "have none: predict it again with simulate --host-dispatch 0, or with a cluster file that "
      "import local-gpu wrote",
      predicted.host_wait.ms(), compared.predicted.path, compared.measured.path);
}

std::vector<std::string> NotesOn(const ComparedTimelines& compared) {
  const TimelineRecord& predicted = compared.predicted.record;
  const TimelineRecord& measured = compared.measured.record;
  std::vector<std::string> notes = {
      "errors are (predicted - measured) / measured",
      "op classes: tasks are measured, not their ops; a task's time is divided among its ops as "
      "predicted, which is exact for tasks of a single class"};
  if (predicted.op_times.by_device.empty()) {
    notes.push_back(compared.predicted.path +
                    " does not hold times of ops: tasks of several op classes are one row");
  }
  if (!measured.measurement) {
    notes.push_back(compared.measured.path + " does not say what measured it");
  }
  const EarlyStarts& early = compared.comparison.early_starts;
  if (early.tasks > 0) {
    notes.push_back(
        fmt::format("{}: {} tasks start before what they wait for has ended, by up to {:.3f} us",
                    compared.measured.path, early.tasks, early.most.us()));
  }
  return notes;
}

nlohmann::ordered_json ToJson(const ComparedTimelines& compared, int top) {
  const TimelineComparison& comparison = compared.comparison;
  const size_t worst = std::min(comparison.worst_first.size(), static_cast<size_t>(top));
  std::vector<std::string> notes = NotesOn(compared);
  if (const std::optional<std::string> warning = HostWarning(compared)) {
    notes.insert(notes.begin(), *warning);
  }
  return {{"predicted", FileToJson(compared.predicted, "simulated")},
          {"measured", FileToJson(compared.measured, nullptr)},
          {"step", StepToJson(comparison)},
          {"predicted_bubble_fraction", comparison.predicted_idle},
          {"measured_bubble_fraction", comparison.measured_idle},
          {"phases", PhasesToJson(comparison)},
          {"op_classes", OpClassesToJson(comparison)},
          {"critical_path", PathToJson(comparison.path)},
          {"overlap_slow_down",
           {{"predicted", SlowDownToJson(comparison.predicted_slow_down)},
            {"measured", SlowDownToJson(comparison.measured_slow_down)},
            {"measured_over_predicted", SlowDownToJson(comparison.slow_down)}}},
          {"ranks", RanksToJson(compared)},
          {"worst_tasks",
           std::vector<TaskId>(comparison.worst_first.begin(),
                               comparison.worst_first.begin() + static_cast<int64_t>(worst))},
          {"tasks", TasksToJson(compared)},
          {"notes", std::move(notes)}};
}

}  // namespace stagecraft
