#include "tools/run/measured_run_report.h"

#include <fmt/core.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/job/history.h"
#include "sim/schedule/timeline.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

Duration LostTime(const RunTotals& totals) { return totals.time - totals.useful; }

double ErrorPercent(Duration predicted, Duration measured) {
  return 100 * (predicted.seconds() / measured.seconds() - 1);
}

std::string ErrorText(Duration predicted, Duration measured) {
  if (measured <= Duration()) return "-";
  return fmt::format("{:+.1f} %", ErrorPercent(predicted, measured));
}

std::string Ms(Duration time) { return fmt::format("{:.3f}", time.ms()); }

std::string Counted(int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What a cause of lost time is called, with how often it happened.
std::string CauseText(PhaseKind cause, const RunTotals& totals) {
  switch (cause) {
    case PhaseKind::kCheckpoint:
      return Counted(totals.checkpoints, "checkpoint");
    case PhaseKind::kRedone:
      return Counted(totals.steps_redone, "step") + " redone";
    default:
      return Name(cause);
  }
}

// The causes of which there may be something in a run on a host.
constexpr PhaseKind kCauses[] = {PhaseKind::kCheckpoint, PhaseKind::kDetection, PhaseKind::kRestart,
                                 PhaseKind::kReload, PhaseKind::kRedone};

std::string WhatRan(const MeasuredRun& run) {
  std::string text = fmt::format("training run of {}", Counted(run.history.totals.steps, "step"));
  if (run.first_step > 0) {
    text = fmt::format("training run from step {} to {}", run.first_step, run.history.totals.steps);
  }
  if (run.costs.checkpoint > Bytes()) {
    text += fmt::format(", checkpoints of {:.3f} MB",
                        static_cast<double>(run.costs.checkpoint.count()) * 1e-6);
  }
  for (const RankKill& kill : run.kills) {
    text += fmt::format(", rank {} killed after step {}", kill.rank, kill.step);
  }
  return text;
}

std::string CostsText(const RunCosts& costs) {
  std::string text =
      fmt::format("measured before the first step: restart {:.1f} ms", costs.restart.ms());
  if (costs.detection > Duration())
    text += fmt::format(", detection {:.1f} ms", costs.detection.ms());
  const auto speed = [&](Duration time) {
    return static_cast<double>(costs.checkpoint.count()) * 1e-9 / time.seconds();
  };
  if (costs.checkpoint > Bytes()) {
    text += fmt::format(", checkpoints written at {:.3f} GB/s and read at {:.3f} GB/s",
                        speed(costs.write), speed(costs.reload));
  }
  return text;
}

bool AreAlike(const History& a, const History& b) {
  if (a.phases.size() != b.phases.size()) return false;
  for (size_t i = 0; i < a.phases.size(); ++i) {
    if (a.phases[i].kind != b.phases[i].kind || a.phases[i].steps != b.phases[i].steps)
      return false;
  }
  return true;
}

void PrintTotals(const History& predicted, const History& measured, std::ostream& out) {
  TextTable table({"", "predicted ms", "measured ms", "error"}, 1);
  const auto add = [&](const std::string& name, Duration a, Duration b) {
    table.Add({name, Ms(a), Ms(b), ErrorText(a, b)});
  };
  const RunTotals &a = predicted.totals, &b = measured.totals;
  add("time of the run", a.time, b.time);
  add("  useful", a.useful, b.useful);
  add("  lost", LostTime(a), LostTime(b));
  for (const PhaseKind cause : kCauses) {
    if (a.Lost(cause) == Duration() && b.Lost(cause) == Duration()) continue;
    add("    " + CauseText(cause, b), a.Lost(cause), b.Lost(cause));
  }
  table.Print(out);
}

void PrintPhases(const RunOfPlan& run, std::ostream& out) {
  const History &predicted = *run.prediction, &measured = run.measured->history;
  const bool are_alike = AreAlike(predicted, measured);
  TextTable table({"phase", "after step", "steps", "predicted ms", "measured ms", "reason"},
                  {true, false, false, false, false, true});
  for (size_t i = 0; i < measured.phases.size(); ++i) {
    const RunPhase& phase = measured.phases[i];
    table.Add({Name(phase.kind), std::to_string(phase.first_step), std::to_string(phase.steps),
               are_alike ? Ms(predicted.phases[i].length) : "-", Ms(phase.length), phase.reason});
  }
  table.Print(out);
}

nlohmann::ordered_json ToJson(const History& history, int64_t first_step) {
  const RunTotals& totals = history.totals;
  nlohmann::ordered_json json = {
      {"time_ms", totals.time.ms()},       {"useful_ms", totals.useful.ms()},
      {"lost_ms", LostTime(totals).ms()},  {"failures", totals.failures},
      {"checkpoints", totals.checkpoints}, {"steps_redone", totals.steps_redone}};
  for (const PhaseKind cause : kCauses) {
    json["lost_by_cause_ms"][Name(cause)] = totals.Lost(cause).ms();
  }
  json["history"] = nlohmann::ordered_json::array();
  for (const RunPhase& phase : history.phases) {
    json["history"].push_back({{"phase", Name(phase.kind)},
                               {"first_step", first_step + phase.first_step},
                               {"steps", phase.steps},
                               {"start_ms", phase.start.ms()},
                               {"time_ms", phase.length.ms()},
                               {"reason", phase.reason}});
  }
  return json;
}

}  // namespace

void PrintMeasuredRun(const RunOfPlan& run, std::ostream& out) {
  if (!run.predicted) return;
  out << '\n';
  for (size_t rank = 0; rank < run.speeds.size(); ++rank) {
    if (run.speeds[rank] == 1) continue;
    out << fmt::format("rank {} computes at {} of its speed\n", rank, run.speeds[rank]);
  }
  const Duration measured = run.record->timeline.makespan();
  out << fmt::format("step time predicted {:.3f} ms, measured {:.3f} ms, error {}\n",
                     run.predicted->ms(), measured.ms(), ErrorText(*run.predicted, measured));
  if (!run.measured) return;
  out << '\n' << WhatRan(*run.measured) << '\n' << CostsText(run.measured->costs) << '\n';
  PrintTotals(*run.prediction, run.measured->history, out);
  out << '\n';
  PrintPhases(run, out);
  out << fmt::format("state of all ranks in the end: {}\n", run.measured->state);
}

void AddMeasuredRun(const RunOfPlan& run, nlohmann::ordered_json* report) {
  if (!run.predicted) return;
  if (!run.speeds.empty()) (*report)["speeds"] = run.speeds;
  (*report)["predicted_step_time_ms"] = run.predicted->ms();
  if (!run.measured) return;
  const MeasuredRun& measured = *run.measured;
  nlohmann::ordered_json json = {{"first_step", measured.first_step},
                                 {"steps", measured.history.totals.steps},
                                 {"checkpoint_bytes", measured.costs.checkpoint.count()},
                                 {"state", measured.state}};
  json["kills"] = nlohmann::ordered_json::array();
  for (const RankKill& kill : measured.kills) {
    json["kills"].push_back({{"rank", kill.rank}, {"step", kill.step}});
  }
  json["costs"] = {{"detection_ms", measured.costs.detection.ms()},
                   {"restart_ms", measured.costs.restart.ms()},
                   {"reload_ms", measured.costs.reload.ms()},
                   {"write_ms", measured.costs.write.ms()}};
  const Duration lost = LostTime(measured.history.totals);
  const Duration predicted = LostTime(run.prediction->totals);
  json["predicted"] = ToJson(*run.prediction, measured.first_step);
  json["measured"] = ToJson(measured.history, 0);
  if (lost > Duration()) json["lost_error_percent"] = ErrorPercent(predicted, lost);
  (*report)["training"] = std::move(json);
}

}  // namespace stagecraft
