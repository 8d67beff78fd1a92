#include "tools/whatif/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/step/evaluation.h"
#include "tools/report/explanation_difference.h"
#include "tools/report/plan_choices.h"
#include "tools/report/slow_report.h"

namespace stagecraft {
namespace {

// Shorter waits, as a share of the step, are not worth a word.
constexpr double kLeastWaitShare = 0.001;
// A pair's step time is told apart from that of two independent changes if it differs by at least
// this share.
constexpr double kLeastInteraction = 0.001;

const Evaluation& EvaluationOf(const WhatIfRow& row) { return row.answer.step->step.evaluation; }

std::string WaitText(const Wait& wait) {
  const std::string of = wait.for_stage < 0 ? "" : fmt::format(" of stage {}", wait.for_stage);
  return fmt::format("stage {} waits {:.1f} ms for {}{} ({})", wait.stage, wait.time.ms(),
                     Name(wait.for_phase), of, Name(wait.cause));
}

// "what it waits for most is now that stage 3 waits 12.0 ms for forward of stage 2 (warm-up)".
std::string LongestWait(const WhatIfRow& base, const WhatIfRow& row) {
  if (!row.answer.waits_are_known || row.answer.step->bubble.waits.empty()) return "";
  const Wait& wait = row.answer.step->bubble.waits[0];
  if (wait.time.seconds() < kLeastWaitShare * EvaluationOf(row).step_time.seconds()) return "";
  const bool has_before = base.answer.waits_are_known && !base.answer.step->bubble.waits.empty();
  const Wait before = has_before ? base.answer.step->bubble.waits[0] : Wait();
  const bool is_same = before.stage == wait.stage && before.cause == wait.cause &&
                       before.for_phase == wait.for_phase && before.for_stage == wait.for_stage;
  return fmt::format("the longest wait is {}that {}", has_before && is_same ? "still " : "now ",
                     WaitText(wait));
}

// Whether all ops of both steps take the same times, one by one.
bool HaveEqualOps(const SimulatedStep& a, const SimulatedStep& b) {
  const auto& of_a = a.costs.estimates;
  const auto& of_b = b.costs.estimates;
  return std::equal(
      of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const auto& x, const auto& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [](const Estimate& p, const Estimate& q) { return p.time == q.time; });
      });
}

// Whether any message or collective of the step runs between scale-up domains, or inside them.
bool Sends(const SimulatedStep& step, bool between) {
  const auto ops = step.schedule.distinct_ops();
  return std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
    if (op.fabric.ranks < 2) return false;
    return between ? op.fabric.nodes > 1 : op.fabric.nodes == 1 || op.fabric.ranks_per_node > 1;
  });
}

std::string NoChangeOfScale(const SimulatedStep& step, const Edit& edit, bool equal_ops) {
  if (edit.name == "memory") return "the time of a step does not depend on how much memory is free";
  const bool is_network = edit.name == "network";
  if (!Sends(step, is_network)) {
    return is_network ? "nothing that this plan sends leaves its node"
                      : "nothing that this plan sends stays inside a node";
  }
  if (equal_ops) {
    return fmt::format("no message is faster or slower, since the {} not their narrowest part",
                       is_network ? "network is" : "links inside nodes are");
  }
  return fmt::format("what goes over {} is hidden behind computation",
                     is_network ? "the network" : "links inside nodes");
}

bool IsOfCost(const Edit& edit) {
  return edit.kind == EditKind::kPrice || edit.name == "tokens" || edit.name == "pue" ||
         edit.name == "energy-price";
}

std::string NoChange(const WhatIfRow& base, const WhatIfRow& row, const Change& change) {
  const SimulatedStep& before = base.answer.step->step;
  const SimulatedStep& after = row.answer.step->step;
  std::vector<std::string> reasons;
  const bool equal_ops = HaveEqualOps(before, after);
  for (const Edit& edit : change.edits) {
    if (IsOfCost(edit)) {
      reasons.emplace_back("the step does not depend on what it costs");
    } else if (edit.kind == EditKind::kScale) {
      reasons.push_back(NoChangeOfScale(after, edit, equal_ops));
    } else if (edit.kind == EditKind::kSlow && edit.factor == 1) {
      reasons.push_back(fmt::format("{} works at full speed", edit.name));
    } else if (edit.kind == EditKind::kSlow) {
      const std::vector<std::string> said = SlowWarnings(after, row.answer.step->job);
      reasons.push_back(said.empty() ? "others are waited for longer, or it is idle anyway"
                                     : said.front());
    } else if (const auto given = base.point.flags.find(edit.name);
               given != base.point.flags.end() && given->second == row.point.flags.at(edit.name)) {
      reasons.push_back(fmt::format("--{} is {} already", edit.name, given->second));
    } else if (equal_ops) {
      reasons.push_back(
          fmt::format("the plan does the same work in the same order with another {}", edit.name));
    } else {
      reasons.push_back(fmt::format("what {} changes is hidden behind other work", edit.name));
    }
  }
  return fmt::format("no change: {}", fmt::join(reasons, "; "));
}

std::string FitText(const WhatIfRow& base, const WhatIfRow& row) {
  const bool did_fit = EvaluationOf(base).fits, fits = EvaluationOf(row).fits;
  if (did_fit == fits) return "";
  const StageMemory& stage = TightestStage(*row.answer.step);
  return fmt::format("{}: stage {} takes {:.1f} of {:.1f} GiB",
                     fits ? "it now fits" : "it no longer fits", stage.stage, stage.Peak().gib(),
                     stage.capacity.gib());
}

// "tp 4 -> 2": how the best plan changes; empty if plans are not searched for.
std::string PlanText(const WhatIfRow& base, const WhatIfRow& row, bool is_searched) {
  if (!is_searched) return "";
  const PlannedJob& job = row.answer.step->job;
  const std::vector<ChoiceDifference> differences = DifferencesOf(
      base.answer.step->step.plan, row.answer.step->step.plan, job.workload, job.cluster);
  return differences.empty() ? "the best plan stays" : "best plan becomes " + Text(differences);
}

std::string Sentence(std::vector<std::string> parts) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string WhyOfChange(const WhatIfRow& base, const WhatIfRow& row, const Change& change) {
  if (!row.answer.step) return "no plan fits; nearest plan: " + row.answer.obstacle;
  if (!base.answer.step) return "a plan fits";
  const std::string plan = PlanText(base, row, base.answer.is_searched);
  const std::string fit = FitText(base, row);
  if (EvaluationOf(base).step_time == EvaluationOf(row).step_time) {
    return Sentence({NoChange(base, row, change), fit});
  }
  if (!base.answer.waits_are_known || !row.answer.waits_are_known) {
    return Sentence({plan, "a pipeline that never flushes has no waits to compare", fit});
  }
  return Sentence(
      {plan, DescribeParts(*base.answer.step, *row.answer.step), LongestWait(base, row), fit});
}

std::string WhyOfPair(const WhatIfRow& base, const WhatIfRow& first, const WhatIfRow& second,
                      const WhatIfRow& row) {
  if (!row.answer.refusal.empty()) return row.answer.refusal;
  if (!row.answer.step) return "no plan fits; nearest plan: " + row.answer.obstacle;
  if (!base.answer.step || !first.answer.step || !second.answer.step) return "";
  const double step = EvaluationOf(base).step_time.seconds();
  const double together = EvaluationOf(row).step_time.seconds() / step;
  const double independent = EvaluationOf(first).step_time.seconds() / step *
                             (EvaluationOf(second).step_time.seconds() / step);
  const auto percent = [](double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); };
  const double more = together / independent - 1;
  const std::string text =
      std::abs(more) < kLeastInteraction
          ? "as much as one after the other"
          : fmt::format("{} together, {} if neither changed what the other does", percent(together),
                        percent(independent));
  return Sentence({text, FitText(base, row)});
}

}  // namespace stagecraft
