#include "sim/analysis/timeline_errors.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "costmodel/units.h"

namespace stagecraft {
namespace {

constexpr double kRounding = 1e-9;  // of shares

using Errors = std::vector<std::string>;

void RequireNone(const Errors& errors, const std::string& what) {
  if (errors.empty()) return;
  throw std::runtime_error(fmt::format("{}, and nothing is printed: {}", what, errors[0]));
}

class ComparisonCheck {
 public:
  Errors Find(const TimelineComparison& c) {
    CheckPair("the step", c.step);
    CheckTime("the mean step", c.step_mean.value_or(Duration()));
    CheckTime("sigma of the steps", c.step_sigma.value_or(Duration()));
    for (const PhaseTime& phase : c.phases) {
      CheckPair(Name(phase.phase), phase.time);
      CheckRatio("the median error of a phase", phase.median_absolute_error);
      CheckRatio("the median sigma of a phase", phase.median_sigma);
    }
    for (const OpClassTime& op : c.op_classes) {
      CheckPair(op.kind ? Name(*op.kind) : "several op classes", op.time);
      CheckShare("exactly divided time of an op class", op.exact);
    }
    CheckPath("phases", c.path.phases, c.step);
    CheckPath("ranks", c.path.ranks, c.step);
    for (const OverlapSlowDown* slow_down :
         {&c.predicted_slow_down, &c.measured_slow_down, &c.slow_down}) {
      CheckRatio("the slowdown of passes by communication", slow_down->ratio);
    }
    for (const RankTimes& rank : c.ranks) CheckRank(rank);
    CheckShare("idle time, predicted", c.predicted_idle);
    CheckShare("idle time, measured", c.measured_idle);
    return std::move(errors_);
  }

 private:
  void CheckTime(const std::string& what, Duration time) {
    if (time < Duration()) errors_.push_back(fmt::format("{} takes {} ns", what, time.ns()));
  }

  void CheckPair(const std::string& what, const TimePair& time) {
    CheckTime(what + ", predicted,", time.predicted);
    CheckTime(what + ", measured,", time.measured);
  }

  void CheckShare(const std::string& what, double share) {
    if (share >= 0 && share <= 1 + kRounding) return;
    errors_.push_back(fmt::format("{} is {:.3g} % of all", what, 100 * share));
  }

  void CheckRatio(const std::string& what, const std::optional<double>& ratio) {
    if (!ratio || (std::isfinite(*ratio) && *ratio >= 0)) return;
    errors_.push_back(fmt::format("{} is {:.3g}", what, *ratio));
  }

  void CheckRank(const RankTimes& rank) {
    CheckPair(fmt::format("rank {}", rank.rank), rank.passes);
    CheckShare(fmt::format("idle time of rank {}, predicted", rank.rank), rank.predicted_idle);
    CheckShare(fmt::format("idle time of rank {}, measured", rank.rank), rank.measured_idle);
    for (const Bytes peak : {rank.predicted_peak, rank.measured_peak}) {
      if (peak >= Bytes()) continue;
      errors_.push_back(fmt::format("rank {} holds {} bytes", rank.rank, peak.count()));
    }
  }

  // Times of parts of the critical paths, which each add up to their step.
  template <typename Parts>
  void CheckPath(const char* by, const Parts& parts, const TimePair& step) {
    TimePair sum;
    for (const auto& part : parts) {
      CheckPair("a part of a critical path", part.time);
      sum.predicted += part.time.predicted;
      sum.measured += part.time.measured;
    }
    if (sum.predicted == step.predicted && sum.measured == step.measured) return;
    errors_.push_back(fmt::format(
        "{} on the critical paths add up to {} and {} ns, predicted and measured, of {} and {}", by,
        sum.predicted.ns(), sum.measured.ns(), step.predicted.ns(), step.measured.ns()));
  }

  Errors errors_;
};

}  // namespace

Errors FindErrors(const TimelineRecord& record) {
  Errors errors;
  const Duration step = record.timeline.makespan();
  if (step <= Duration() || step > kLongestTime) {
    errors.push_back(fmt::format("the step takes {:.3g} s", step.seconds()));
  }
  for (TaskId task = 0; task < record.timeline.task_count(); ++task) {
    const Duration start = record.timeline.start(task), end = record.timeline.end(task);
    if (start >= Duration() && end >= start) continue;
    errors.push_back(fmt::format("task {} runs from {} to {} ns", task, start.ns(), end.ns()));
  }
  for (const Bytes peak : record.peak_memory) {
    if (peak < Bytes()) errors.push_back(fmt::format("a rank holds {} bytes", peak.count()));
  }
  if (!record.measurement) return errors;
  for (const Duration time : record.measurement->steps) {
    if (time <= Duration()) errors.push_back(fmt::format("a step takes {} ns", time.ns()));
  }
  for (const Duration sigma : record.measurement->task_sigma) {
    if (sigma < Duration()) errors.push_back(fmt::format("a task varies by {} ns", sigma.ns()));
  }
  return errors;
}

Errors FindErrors(const TimelineComparison& comparison) {
  return ComparisonCheck().Find(comparison);
}

void RequireSound(const TimelineRecord& record, const std::string& what) {
  RequireNone(FindErrors(record), what + " has impossible times");
}

void RequireSound(const TimelineComparison& comparison, const std::string& what) {
  RequireNone(FindErrors(comparison), what + " give an impossible comparison");
}

}  // namespace stagecraft
