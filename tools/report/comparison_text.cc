#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "tools/report/circumstances.h"
#include "tools/report/comparison_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

constexpr size_t kMostRanks = 16;

std::string Ms(Duration time) { return fmt::format("{:.3f}", time.ms()); }

// Formats a number with its sign, "+4.2", but without one if it rounds to zero: "0.0".
std::string Signed(double value, int digits) {
  std::string text = fmt::format("{:+.{}f}", value, digits);
  if (text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

// Formats a share as percent, "+4.2 %"; "-" if there is no value.
std::string Error(const std::optional<double>& share) {
  return share ? Signed(100 * *share, 1) + " %" : "-";
}

std::string Share(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string Gib(Bytes bytes) { return bytes > Bytes() ? fmt::format("{:.2f}", bytes.gib()) : "-"; }

std::string Index(int64_t index) { return index < 0 ? "-" : std::to_string(index); }

// If there are more than kMostRanks rows, keeps those whose times were predicted worst, the worst
// first.
template <typename Row, typename TimeOf>
void KeepWorst(std::vector<Row>& rows, TimeOf time_of) {
  if (rows.size() <= kMostRanks) return;
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return time_of(a).AbsoluteDifference() > time_of(b).AbsoluteDifference();
  });
  rows.resize(kMostRanks);
}

// What the heading of a table of ranks adds if KeepWorst() left some out; else empty.
std::string WhichOf(size_t ranks) {
  if (ranks <= kMostRanks) return "";
  return fmt::format(" ({} of {}, the worst first)", kMostRanks, ranks);
}

void PrintFile(const char* role, const TimelineFile& file, const char* unstated_executor,
               std::ostream& out) {
  fmt::print(out, "{:<10}{}: ", role, file.path);
  if (!file.record.measurement) {
    fmt::print(out, "{}\n", unstated_executor);
    return;
  }
  const Measurement& measurement = *file.record.measurement;
  fmt::print(out, "executor {}", measurement.executor);
  if (!measurement.devices.empty()) {
    const std::string& first = measurement.devices.front();
    const bool alike = std::count(measurement.devices.begin(), measurement.devices.end(), first) ==
                       std::ssize(measurement.devices);
    fmt::print(out, ", {}{}", first, alike ? "" : " and others");
  }
  if (!measurement.software.empty()) fmt::print(out, ", {}", measurement.software);
  fmt::print(out, "\n");
  const std::string queued = QueuedInWords(measurement);
  if (!queued.empty()) fmt::print(out, "  {}\n", queued);
  if (!measurement.gpus.empty()) PrintGpus(measurement.gpus, "  ", out);
}

void PrintStep(const ComparedTimelines& compared, std::ostream& out) {
  const TimelineComparison& comparison = compared.comparison;
  TextTable table({"", "predicted", "measured", "error"}, 1);
  const TimePair& step = comparison.step;
  table.Add({"step time, ms", Ms(step.predicted), Ms(step.measured), Error(step.Error())});
  if (comparison.step_sigma) {
    const size_t steps = CountedSteps(*compared.measured.record.measurement).size();
    table.Add({fmt::format("  mean of {} steps", steps), "", Ms(*comparison.step_mean), ""});
    table.Add({"  standard deviation", "", Ms(*comparison.step_sigma), ""});
  }
  table.Add({"idle share of compute lanes", Share(comparison.predicted_idle),
             Share(comparison.measured_idle), ""});
  table.Print(out);
}

void PrintPhases(const TimelineComparison& comparison, std::ostream& out) {
  fmt::print(out, "\nby phase, ms over all devices\n");
  TextTable table({"  phase", "tasks", "predicted", "measured", "error", "median |error|", "sigma"},
                  1);
  for (const PhaseTime& phase : comparison.phases) {
    table.Add({fmt::format("  {}", Name(phase.phase)), std::to_string(phase.tasks),
               Ms(phase.time.predicted), Ms(phase.time.measured), Error(phase.time.Error()),
               Share(phase.median_absolute_error), Share(phase.median_sigma)});
  }
  table.Print(out);
}

void PrintOpClasses(const TimelineComparison& comparison, std::ostream& out) {
  fmt::print(out, "\nby op class, ms over all devices\n");
  TextTable table({"  op", "tasks", "predicted", "measured", "error", "exact"}, 1);
  for (const OpClassTime& op : comparison.op_classes) {
    table.Add({fmt::format("  {}", op.kind ? Name(*op.kind) : "several"), std::to_string(op.tasks),
               Ms(op.time.predicted), Ms(op.time.measured), Error(op.time.Error()),
               fmt::format("{:.0f} %", 100 * op.exact)});
  }
  table.Print(out);
}

void PrintPath(const PathComparison& path, std::ostream& out) {
  fmt::print(out, "\ncritical paths, ms: {} tasks predicted, {} measured, {} on both\n",
             path.predicted_tasks, path.measured_tasks, path.common_tasks);
  TextTable table({"  by phase", "predicted", "measured", "difference"}, 1);
  const auto add = [&](const std::string& name, const TimePair& time) {
    table.Add(
        {"  " + name, Ms(time.predicted), Ms(time.measured), Signed(time.Difference().ms(), 3)});
  };
  for (const PathTimes& part : path.phases) {
    add(part.phase ? Name(*part.phase) : kNothingRuns, part.time);
  }
  table.Add({"  by rank" + WhichOf(path.ranks.size()), "", "", ""});
  std::vector<RankPathTimes> ranks = path.ranks;
  KeepWorst(ranks, [](const RankPathTimes& rank) { return rank.time; });
  for (const RankPathTimes& part : ranks) {
    add(part.rank < 0 ? "no rank" : fmt::format("rank {}", part.rank), part.time);
  }
  table.Print(out);
}

void PrintSlowDown(const TimelineComparison& comparison, std::ostream& out) {
  fmt::print(out,
             "\ntime of passes that overlap communication, relative to the same passes alone\n");
  TextTable table({"  passes", "ratio", "overlapping", "alone", "unmatched"}, 1);
  const auto add = [&](const char* name, const OverlapSlowDown& slow_down) {
    table.Add({name, slow_down.ratio ? fmt::format("{:.3f}", *slow_down.ratio) : "-",
               std::to_string(slow_down.beside), std::to_string(slow_down.alone),
               std::to_string(slow_down.unmatched)});
  };
  add("  predicted, of the same op sequence", comparison.predicted_slow_down);
  add("  measured, of the same op sequence", comparison.measured_slow_down);
  add("  measured over predicted, of the same phase", comparison.slow_down);
  table.Print(out);
}

void PrintRanks(const ComparedTimelines& compared, std::ostream& out) {
  std::vector<RankTimes> ranks = compared.comparison.ranks;
  fmt::print(out, "\nby rank: time in passes, ms; idle share; peak memory, GiB{}\n",
             WhichOf(ranks.size()));
  KeepWorst(ranks, [](const RankTimes& rank) { return rank.passes; });
  TextTable table({"  rank", "stage", "predicted", "measured", "error", "idle predicted",
                   "idle measured", "GiB predicted", "GiB measured", "error"},
                  0);
  for (const RankTimes& rank : ranks) {
    const RankInfo& info = compared.predicted.record.schedule.ranks()[rank.rank];
    table.Add({fmt::format("{}", rank.rank), Index(info.stage), Ms(rank.passes.predicted),
               Ms(rank.passes.measured), Error(rank.passes.Error()), Share(rank.predicted_idle),
               Share(rank.measured_idle), Gib(rank.predicted_peak), Gib(rank.measured_peak),
               Error(rank.PeakError())});
  }
  table.Print(out);
}

void PrintTasks(const ComparedTimelines& compared, size_t count, std::ostream& out) {
  fmt::print(out, "\nworst {} of {} tasks by absolute error, us\n", count,
             compared.comparison.worst_first.size());
  TextTable table({"  phase", "task", "rank", "stage", "chunk", "micro-batch", "predicted",
                   "measured", "error", "start predicted", "start measured"},
                  1);
  const TimelineRecord& predicted = compared.predicted.record;
  const TimelineRecord& measured = compared.measured.record;
  for (size_t i = 0; i < count; ++i) {
    const TaskId task = compared.comparison.worst_first[i];
    const Tag& tag = predicted.schedule.tag(task);
    const TimePair time = DurationOf(predicted, measured, task);
    table.Add({fmt::format("  {}", Name(tag.phase)), std::to_string(task), Index(tag.rank),
               Index(tag.stage), Index(tag.chunk), Index(tag.micro_batch),
               fmt::format("{:.1f}", time.predicted.us()),
               fmt::format("{:.1f}", time.measured.us()), Error(time.Error()),
               fmt::format("{:.1f}", predicted.timeline.start(task).us()),
               fmt::format("{:.1f}", measured.timeline.start(task).us())});
  }
  table.Print(out);
}

}  // namespace

void PrintComparison(const ComparedTimelines& compared, int top, std::ostream& out) {
  const TimelineComparison& comparison = compared.comparison;
  const std::optional<std::string> warning = HostWarning(compared);
  if (warning) out << "warning: " << *warning << "\n\n";
  PrintFile("predicted", compared.predicted, "simulated", out);
  PrintFile("measured", compared.measured, "executor not stated", out);
  PrintStep(compared, out);
  PrintPhases(comparison, out);
  PrintOpClasses(comparison, out);
  PrintPath(comparison.path, out);
  PrintSlowDown(comparison, out);
  PrintRanks(compared, out);
  const size_t worst = std::min(comparison.worst_first.size(), static_cast<size_t>(top));
  if (worst > 0) PrintTasks(compared, worst, out);
  out << '\n';
  for (const std::string& note : NotesOn(compared)) out << "note: " << note << '\n';
}

}  // namespace stagecraft
