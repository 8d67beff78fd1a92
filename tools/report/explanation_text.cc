#include "tools/report/explanation_text.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>
#include <span>

#include "tools/report/communication_total.h"
#include "tools/report/op_estimates_report.h"
#include "tools/report/path_runs.h"
#include "tools/report/plan_report.h"
#include "tools/report/step_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

// Of a longer path, half of kMostRuns runs are shown at either end; of longer lists, the beginning.
constexpr size_t kMostRuns = 16;
constexpr size_t kMostWaits = 8;
constexpr size_t kMostStages = 16;
constexpr double kLeastWaitShare = 0.001;  // of the step time; shorter waits are not shown
constexpr double kLeastAsideShare = 0.01;  // of a run; shorter delays are not shown

std::string Ms(Duration time) { return fmt::format("{:.1f}", time.ms()); }

std::string Percent(Duration time, Duration of) {
  return fmt::format("{:.1f} %", of > Duration() ? 100 * time.seconds() / of.seconds() : 0.0);
}

// What delays the tasks of a run: " (transfers 1.2, launches 0.3 ms)"; empty if nothing does.
std::string Asides(const PathRun& run) {
  std::string text;
  const auto add = [&](const char* name, Duration time) {
    if (time.seconds() <= kLeastAsideShare * (run.to - run.from).seconds()) return;
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", name, Ms(time));
  };
  if (run.has_forward || run.has_backward) add("transfers", run.transfers);
  add("launches", run.launches);
  add("shared links", run.sharing);
  return text.empty() ? text : text + " ms)";
}

void AddRun(const PathRun& run, Duration step, TextTable& table) {
  const Duration time = run.to - run.from;
  table.Add({Ms(run.from), Ms(time), Percent(time, step), run.Description() + Asides(run)});
}

// Adds one line for all runs in the middle of a long path.
void AddMiddle(std::span<const PathRun> runs, Duration step, TextTable& table) {
  int16_t lowest = runs[0].first_stage, highest = lowest;
  for (const PathRun& run : runs) {
    lowest = std::min({lowest, run.first_stage, run.last_stage});
    highest = std::max({highest, run.first_stage, run.last_stage});
  }
  const Duration time = runs.back().to - runs.front().from;
  const std::string where = lowest == highest
                                ? fmt::format("on stage {}", lowest)
                                : fmt::format("between stages {} and {}", lowest, highest);
  table.Add({Ms(runs.front().from), Ms(time), Percent(time, step),
             fmt::format("... {} more such lines, {}", runs.size(), where)});
}

void PrintPath(const Explanation& explanation, Duration step, std::ostream& out) {
  fmt::print(out, "critical path: what the step waits for, from its beginning to its end\n");
  TextTable table({"  start ms", "ms", "share", "what"},
                  std::vector<bool>{false, false, false, true});
  const std::vector<PathRun> runs = FindRuns(explanation.step.schedule, explanation.path);
  if (runs.size() <= kMostRuns) {
    for (const PathRun& run : runs) AddRun(run, step, table);
  } else {
    const std::span<const PathRun> all = runs;
    for (const PathRun& run : all.first(kMostRuns / 2)) AddRun(run, step, table);
    AddMiddle(all.subspan(kMostRuns / 2, runs.size() - kMostRuns), step, table);
    for (const PathRun& run : all.last(kMostRuns / 2)) AddRun(run, step, table);
  }
  table.Print(out);
}

// Prints a line for each part that takes any time.
void PrintParts(const std::vector<TimePart>& parts, Duration step, std::ostream& out) {
  for (const TimePart& part : parts) {
    if (part.time == Duration()) continue;
    fmt::print(out, "  {:<14} {:>10} ms {:>8}\n", part.name, Ms(part.time),
               Percent(part.time, step));
  }
}

void PrintDevices(const Explanation& explanation, Duration step, std::ostream& out) {
  fmt::print(out, "\nthe mean device: what it does, and what it waits for\n");
  PrintParts(DeviceParts(explanation), step, out);
}

void PrintStages(const Explanation& explanation, std::ostream& out) {
  fmt::print(out, "\nby stage, ms\n");
  std::vector<std::string> headings = {"  stage", "busy"};
  for (int cause = 0; cause < kIdleCauseCount; ++cause) {
    headings.emplace_back(Name(static_cast<IdleCause>(cause)));
  }
  TextTable table(headings, 0);
  const size_t stages = explanation.job.plan.stages.size();
  for (size_t stage = 0; stage < std::min(stages, kMostStages); ++stage) {
    Duration busy;
    std::vector<std::string> cells = {std::to_string(stage), ""};
    const std::vector<TimePart> parts = DeviceParts(explanation, static_cast<int>(stage));
    for (size_t i = 0; i < parts.size(); ++i) {
      if (IsBusyPart(i)) {
        busy += parts[i].time;
      } else {
        cells.push_back(Ms(parts[i].time));
      }
    }
    cells[1] = Ms(busy);
    table.Add(std::move(cells));
  }
  table.Print(out);
  if (stages > kMostStages) fmt::print(out, "  and {} more stages\n", stages - kMostStages);
}

void PrintWaits(const Explanation& explanation, Duration step, std::ostream& out) {
  fmt::print(out, "\nlongest waits (mean of a stage's devices)\n");
  size_t shown = 0;
  for (const Wait& wait : explanation.bubble.waits) {
    const bool is_short = wait.time.seconds() < kLeastWaitShare * step.seconds();
    if (shown == kMostWaits || is_short) break;
    const std::string of = wait.for_stage < 0 ? "" : fmt::format(" of stage {}", wait.for_stage);
    fmt::print(out, "  stage {:<4} {:>10} ms for {}{}: {}\n", wait.stage, Ms(wait.time),
               Name(wait.for_phase), of, Name(wait.cause));
    ++shown;
  }
  if (shown == 0) fmt::print(out, "  none takes a thousandth of the step\n");
}

void PrintMechanisms(const Explanation& explanation, Duration step, std::ostream& out) {
  if (explanation.mechanisms.empty()) return;
  fmt::print(out, "\nwhat the step would save without one of these (--without)\n");
  for (const MechanismTime& time : explanation.mechanisms) {
    fmt::print(out, "  {:<18} {:>10} ms {:>8}  {}\n", Name(time.mechanism), Ms(time.saved),
               Percent(time.saved, step), Meaning(time.mechanism));
  }
}

}  // namespace

void PrintExplanation(const Explanation& explanation, std::ostream& out) {
  const Evaluation& evaluation = explanation.step.evaluation;
  const Duration step = evaluation.step_time;
  PrintPlan(explanation.job, out);
  PrintFit(explanation.job, explanation.step, out);
  fmt::print(out, "step time {} ms\n", Ms(step));
  PrintCost(explanation.job.cost, explanation.job.cluster, evaluation, out);
  out << '\n';
  PrintBreakdown(evaluation, out);
  PrintCommunicationTotal(FindCommunicationTotal(explanation.step), out);
  fmt::print(out, "\n");
  PrintPath(explanation, step, out);
  fmt::print(out, "total\n");
  PrintParts(PathParts(explanation), step, out);
  PrintDevices(explanation, step, out);
  PrintStages(explanation, out);
  PrintWaits(explanation, step, out);
  PrintMechanisms(explanation, step, out);
  PrintOpEstimates(explanation.step, out);
  const StageMemory& memory = TightestStage(explanation);
  fmt::print(out, "\npeak memory on stage {}: {:.2f} of {:.2f} GiB, {}\n", memory.stage,
             memory.Peak().gib(), memory.capacity.gib(), evaluation.fits ? "fits" : "does not fit");
  PrintMemory(evaluation, explanation.job.cluster, explanation.job.margin, out);
  for (const std::string& warning : explanation.job.warnings) {
    fmt::print(out, "note: {}\n", warning);
  }
}

}  // namespace stagecraft
