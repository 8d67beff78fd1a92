#include "tools/report/run_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "tools/report/circumstances.h"
#include "tools/report/plan_report.h"
#include "tools/verb/report_header.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

// For each phase, in the order of the enum: how many tasks it has, and their total time.
std::map<Phase, std::pair<int, Duration>> PhaseSums(const Schedule& schedule,
                                                    const Timeline& timeline) {
  std::map<Phase, std::pair<int, Duration>> sums;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    auto& [count, sum] = sums[schedule.tag(task).phase];
    ++count;
    sum += timeline.end(task) - timeline.start(task);
  }
  return sums;
}

// What was measured: "2 x NVIDIA H200, 66 multiprocessors"; on a host "2 processes", since its
// devices are all CPU cores.
std::string Measured(const Measurement& measurement) {
  if (measurement.executor == "host") {
    return fmt::format("{} processes", measurement.devices.size());
  }
  std::map<std::string, int> count;
  for (const std::string& device : measurement.devices) ++count[device];
  std::string words;
  for (const auto& [device, times] : count) {
    words += fmt::format("{}{} x {}", words.empty() ? "" : " and ", times, device);
  }
  return words;
}

// What the step time is: "the median of 5 steps of 1.200 to 1.300 ms".
std::string StepsInWords(const Measurement& measurement) {
  const std::vector<Duration> counted = CountedSteps(measurement);
  const auto [least, most] = std::minmax_element(counted.begin(), counted.end());
  return fmt::format(
      "{} {} step{} of {:.3f} to {:.3f} ms",
      HasMedian(measurement) ? "the median of" : "not a median but representative of",
      counted.size(), counted.size() == 1 ? "" : "s", least->ms(), most->ms());
}

void PrintCircumstances(const Measurement& measurement, std::ostream& out) {
  const std::string queued = QueuedInWords(measurement);
  if (!queued.empty()) out << queued << '\n';
  if (measurement.gpus.empty()) return;
  out << '\n';
  PrintGpus(measurement.gpus, "", out);
}

}  // namespace

void PrintRun(const PlannedJob& job, const TimelineRecord& record,
              const std::vector<std::string>& notes, std::ostream& out) {
  const Measurement& measurement = *record.measurement;
  PrintPlan(job, out);
  out << fmt::format("measured on {}, {}\n", Measured(measurement), measurement.software)
      << fmt::format("step time {:.3f} ms, {}\n", record.timeline.makespan().ms(),
                     StepsInWords(measurement));
  PrintCircumstances(measurement, out);
  out << '\n';
  TextTable table({"phase", "tasks", "total ms", "ms per task"}, 1);
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    table.Add({Name(phase), std::to_string(sum.first), fmt::format("{:.3f}", sum.second.ms()),
               fmt::format("{:.3f}", sum.second.ms() / sum.first)});
  }
  table.Print(out);
  for (const std::string& note : notes) out << "note: " << note << '\n';
}

nlohmann::ordered_json RunToJson(const PlannedJob& job, const TimelineRecord& record,
                                 const std::vector<std::string>& notes) {
  nlohmann::ordered_json report = ReportHeader("run", kSchema, job.files);
  report["executor"] = record.measurement->executor;
  report["software"] = record.measurement->software;
  report["devices"] = record.measurement->devices;
  report["ranks"] = record.schedule.ranks().size();
  report["tasks"] = record.schedule.task_count();
  report["step_time_ms"] = record.timeline.makespan().ms();
  for (const Duration step : record.measurement->steps) report["steps_ms"].push_back(step.ms());
  AddCircumstances(*record.measurement, &report);
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    report["phases"].push_back(
        {{"phase", Name(phase)}, {"tasks", sum.first}, {"time_ms", sum.second.ms()}});
  }
  if (!notes.empty()) report["notes"] = notes;
  report["plan"] = PlanToJson(job);
  return report;
}

}  // namespace stagecraft
