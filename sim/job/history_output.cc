#include "sim/job/history_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/proto_to_json.h"
#include "costmodel/statistics.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// The plans of a history, numbered from 1 in the order in which they were first used.
class NumberedPlans {
 public:
  explicit NumberedPlans(const History& history) {
    for (const RunPhase& phase : history.phases) {
      if (phase.plan != nullptr && NumberOf(phase) == 0) plans_.push_back(phase.plan.get());
    }
  }
  const std::vector<const RunPlan*>& plans() const { return plans_; }
  // Returns 0 for a phase without a plan.
  int NumberOf(const RunPhase& phase) const {
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (AreEqual(plans_[i], phase.plan.get())) return static_cast<int>(i) + 1;
    }
    return 0;
  }

 private:
  std::vector<const RunPlan*> plans_;
};

// What a cause of lost time is called; its name as a phase, except for slower steps.
const char* CauseName(PhaseKind cause) {
  return cause == PhaseKind::kComputing ? "slower steps" : Name(cause);
}

template <typename Visit>
void VisitKinds(const Visit& visit) {
  for (int kind = 0; kind < kPhaseKinds; ++kind) visit(static_cast<PhaseKind>(kind));
}

PhaseKind KindFrom(PhaseProto::Kind kind, const std::string& place) {
  if (kind < PhaseProto::COMPUTING || kind > PhaseProto::REBALANCING) {
    throw InputError(
        fmt::format("{}: got {}, want a kind of phase", place, static_cast<int>(kind)));
  }
  return static_cast<PhaseKind>(kind - 1);  // the proto begins with "unspecified"
}

// `plans` is indexed by the number of a plan.
RunPhase PhaseFrom(const PhaseProto& phase,
                   const std::vector<std::shared_ptr<const RunPlan>>& plans,
                   const std::string& place) {
  if (phase.plan() < 0 || phase.plan() >= std::ssize(plans)) {
    throw InputError(fmt::format("{}.plan: got {}, want 0 to the {} of plans", place, phase.plan(),
                                 std::ssize(plans) - 1));
  }
  if (phase.start_ns() < 0 || phase.length_ns() < 0 || phase.step_time_ns() < 0) {
    throw InputError(place + ": got a time below 0, want none");
  }
  return {.kind = KindFrom(phase.kind(), place + ".kind"),
          .first_step = phase.first_step(),
          .steps = phase.steps(),
          .start = Duration::Nanoseconds(phase.start_ns()),
          .length = Duration::Nanoseconds(phase.length_ns()),
          .step_time = Duration::Nanoseconds(phase.step_time_ns()),
          .working_devices = phase.working_devices(),
          .reason = phase.reason(),
          .plan = plans[static_cast<size_t>(phase.plan())],
          .idle_share = phase.idle_share()};
}

// A field of RFC 4180 that is always quoted.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// "6-6-6-6"
std::string LayersText(const RunPlan& plan) {
  return fmt::format("{}", fmt::join(plan.layers, "-"));
}

template <typename Number>
RunQuantiles QuantilesOf(const std::vector<RunTotals>& runs, const Number& number) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const RunTotals& run : runs) values.push_back(number(run));
  return {Mean(values), InterpolatedQuantile(values, 0.05), InterpolatedQuantile(values, 0.5),
          InterpolatedQuantile(values, 0.95)};
}

std::string QuantileLine(const std::string& name, const RunQuantiles& q, double unit) {
  return fmt::format("{:<28}{:>14.3f}{:>14.3f}{:>14.3f}{:>14.3f}\n", name, q.mean / unit,
                     q.p5 / unit, q.p50 / unit, q.p95 / unit);
}

}  // namespace

HistoryProto HistoryToProto(const History& history) {
  const RunTotals& totals = history.totals;
  HistoryProto proto;
  proto.set_devices(totals.devices);
  proto.set_steps(totals.steps);
  proto.set_time_ns(totals.time.ns());
  proto.set_useful_ns(totals.useful.ns());
  proto.set_goodput(totals.Goodput());
  proto.set_failures(totals.failures);
  proto.set_checkpoints(totals.checkpoints);
  proto.set_steps_redone(totals.steps_redone);
  VisitKinds([&](PhaseKind cause) {
    LossProto* loss = proto.add_losses();
    loss->set_cause(EnumToProto<PhaseProto::Kind>(cause));
    loss->set_time_ns(totals.Lost(cause).ns());
    loss->set_gpu_hours(totals.GpuHours(totals.Lost(cause)));
  });
  proto.set_stopped(history.stopped);
  const NumberedPlans plans(history);
  for (const RunPlan* plan : plans.plans()) {
    RunPlanProto* out = proto.add_plans();
    out->set_words(plan->words);
    for (const int layers : plan->layers) out->add_layers(layers);
  }
  for (const RunPhase& phase : history.phases) {
    PhaseProto* out = proto.add_phases();
    out->set_kind(EnumToProto<PhaseProto::Kind>(phase.kind));
    out->set_first_step(phase.first_step);
    out->set_steps(phase.steps);
    out->set_start_ns(phase.start.ns());
    out->set_length_ns(phase.length.ns());
    out->set_step_time_ns(phase.step_time.ns());
    out->set_working_devices(phase.working_devices);
    out->set_reason(phase.reason);
    out->set_plan(plans.NumberOf(phase));
    out->set_idle_share(phase.idle_share);
  }
  return proto;
}

History HistoryFromProto(const HistoryProto& proto, const std::string& place) {
  History history;
  RunTotals& totals = history.totals;
  totals.devices = proto.devices();
  totals.steps = proto.steps();
  totals.time = Duration::Nanoseconds(proto.time_ns());
  totals.useful = Duration::Nanoseconds(proto.useful_ns());
  totals.failures = proto.failures();
  totals.checkpoints = proto.checkpoints();
  totals.steps_redone = proto.steps_redone();
  for (int i = 0; i < proto.losses_size(); ++i) {
    const LossProto& loss = proto.losses(i);
    const PhaseKind cause = KindFrom(loss.cause(), fmt::format("{}: losses[{}].cause", place, i));
    totals.lost[static_cast<int>(cause)] += Duration::Nanoseconds(loss.time_ns());
  }
  history.stopped = proto.stopped();
  std::vector<std::shared_ptr<const RunPlan>> plans = {nullptr};  // number 0: not said
  for (const RunPlanProto& plan : proto.plans()) {
    plans.push_back(std::make_shared<RunPlan>(
        RunPlan{plan.words(), {plan.layers().begin(), plan.layers().end()}}));
  }
  for (int i = 0; i < proto.phases_size(); ++i) {
    history.phases.push_back(
        PhaseFrom(proto.phases(i), plans, fmt::format("{}: phases[{}]", place, i)));
  }
  return history;
}

std::string HistoryText(const History& history) {
  const RunTotals& totals = history.totals;
  const NumberedPlans plans(history);
  const auto cell = [&](const std::string& text) {
    return plans.plans().empty() ? "" : fmt::format("{:>6}", text);
  };
  std::string text =
      fmt::format("{:>14}  {:<12}{:>12}{:>9}{:>14}{:>12}{:>9}{}  {}\n", "start s", "phase",
                  "first step", "steps", "length s", "step ms", "devices", cell("plan"), "reason");
  for (const RunPhase& phase : history.phases) {
    const std::string step =
        phase.step_time > Duration() ? fmt::format("{:.3f}", phase.step_time.ms()) : "-";
    const int plan = plans.NumberOf(phase);
    std::string line = fmt::format("{:>14.3f}  {:<12}{:>12}{:>9}{:>14.3f}{:>12}{:>9}{}  {}",
                                   phase.start.seconds(), Name(phase.kind), phase.first_step,
                                   phase.steps, phase.length.seconds(), step, phase.working_devices,
                                   cell(plan == 0 ? "-" : std::to_string(plan)), phase.reason);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  int listed = 0;
  for (const RunPlan* plan : plans.plans()) {
    text += fmt::format("plan {}: {}, layers {}\n", ++listed, plan->words, LayersText(*plan));
  }
  text += fmt::format(
      "{} steps in {:.3f} h on {} devices: goodput {:.2f} %; failures: {}, checkpoints: {}, "
      "steps redone: {}\n",
      totals.steps, totals.time.seconds() / 3600, totals.devices, 100 * totals.Goodput(),
      totals.failures, totals.checkpoints, totals.steps_redone);
  VisitKinds([&](PhaseKind cause) {
    const Duration lost = totals.Lost(cause);
    if (lost == Duration()) return;
    text += fmt::format("lost to {:<14}{:>14.3f} GPU-hours{:>8.2f} %\n", CauseName(cause),
                        totals.GpuHours(lost), 100 * lost.seconds() / totals.time.seconds());
  });
  if (!history.stopped.empty()) text += fmt::format("stopped early: {}\n", history.stopped);
  return text;
}

std::string HistoryCsv(const History& history) {
  std::string csv =
      "phase,first_step,steps,start_ns,length_ns,step_time_ns,working_devices,reason,plan,layers,"
      "idle_share\n";
  for (const RunPhase& phase : history.phases) {
    const RunPlan plan = phase.plan != nullptr ? *phase.plan : RunPlan{};
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", Name(phase.kind), phase.first_step,
                       phase.steps, phase.start.ns(), phase.length.ns(), phase.step_time.ns(),
                       phase.working_devices, Quoted(phase.reason), Quoted(plan.words),
                       LayersText(plan), phase.idle_share);
  }
  return csv;
}

std::string HistoryJson(const History& history) {
  using Json = nlohmann::ordered_json;
  const Json json = ProtoToJson(HistoryToProto(history));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunsSummary Summarise(const std::vector<RunTotals>& runs) {
  RunsSummary summary;
  summary.runs = static_cast<int>(runs.size());
  summary.time_s = QuantilesOf(runs, [](const RunTotals& run) { return run.time.seconds(); });
  summary.goodput = QuantilesOf(runs, [](const RunTotals& run) { return run.Goodput(); });
  summary.failures =
      QuantilesOf(runs, [](const RunTotals& run) { return static_cast<double>(run.failures); });
  VisitKinds([&](PhaseKind cause) {
    summary.lost_gpu_hours[static_cast<size_t>(cause)] =
        QuantilesOf(runs, [cause](const RunTotals& run) { return run.GpuHours(run.Lost(cause)); });
  });
  return summary;
}

std::string RunsText(const RunsSummary& summary) {
  std::string text =
      fmt::format("{:<28}{:>14}{:>14}{:>14}{:>14}\n", fmt::format("{} histories", summary.runs),
                  "mean", "5 %", "median", "95 %");
  text += QuantileLine("time to finish, h", summary.time_s, 3600);
  text += QuantileLine("goodput, %", summary.goodput, 0.01);
  text += QuantileLine("failures", summary.failures, 1);
  VisitKinds([&](PhaseKind cause) {
    const RunQuantiles& lost = summary.lost_gpu_hours[static_cast<size_t>(cause)];
    if (lost.mean == 0) return;
    text += QuantileLine(fmt::format("GPU-h lost to {}", CauseName(cause)), lost, 1);
  });
  return text;
}

}  // namespace stagecraft
