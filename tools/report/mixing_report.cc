#include "tools/report/mixing_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "tools/report/cost_report.h"
#include "tools/report/plan_choices.h"
#include "tools/report/training_cost_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

double Weight(const SearchProblem& problem, const KindsAnswer& answer) {
  if (problem.objective != Objective::kStepTime) return answer.best->score;
  return answer.best->score * CostOf(problem, answer.best->evaluation);
}

// The ids of these GPU types, indices among Mixing::kinds: "a100-sxm4-80gb + h100-sxm5-80gb".
std::string KindsText(const SearchProblem& problem, const Mixing& mixing,
                      const std::vector<int>& kinds) {
  std::vector<std::string> ids;
  for (const int kind : kinds) {
    ids.push_back(problem.cluster.groups()[mixing.kinds[kind]].type.device.id);
  }
  return fmt::format("{}", fmt::join(ids, " + "));
}

std::string DevicesOf(const SearchProblem& problem, const KindsAnswer& answer) {
  return DevicesText(answer.best->evaluation.group_devices, problem.cluster);
}

double StepOf(const KindsAnswer& answer) { return answer.best->evaluation.step_time.seconds(); }

// A ratio in words: "3.0 % longer" for 1.03, if `more` is "longer".
std::string Percent(double ratio, const char* more, const char* less) {
  const double percent = 100 * (ratio - 1);
  return fmt::format("{:.1f} % {}", std::abs(percent), percent >= 0 ? more : less);
}

// How much more or less `other` takes and costs than `best`.
std::string Beside(const SearchProblem& problem, const KindsAnswer& other,
                   const KindsAnswer& best) {
  const double cost = CostOf(problem, other.best->evaluation);
  return fmt::format("{} at {} {}", Percent(StepOf(other) / StepOf(best), "longer", "less time"),
                     Percent(cost / CostOf(problem, best.best->evaluation), "more", "less"),
                     problem.prices.empty() ? "GPU-hours" : "cost");
}

// The ids of the GPU types that `more` uses and `best` does not.
std::string Others(const SearchProblem& problem, const Mixing& mixing, const KindsAnswer& more,
                   const KindsAnswer& best) {
  std::vector<int> others;
  for (const int kind : more.kinds) {
    if (std::find(best.kinds.begin(), best.kinds.end(), kind) == best.kinds.end()) {
      others.push_back(kind);
    }
  }
  return KindsText(problem, mixing, others);
}

// What is lost by using more GPU types than the best plan does; empty if no plan with more fits.
std::string LossOfMore(const SearchProblem& problem, const Mixing& mixing,
                       const KindsAnswer& best) {
  const KindsAnswer* more = mixing.WithMore();
  if (more == nullptr) return "";
  const std::string others = Others(problem, mixing, *more, best);
  if (more->best->score == best.best->score) {
    return fmt::format("adding {} gains nothing", others);
  }
  const double loss = 100 * (more->best->score / best.best->score - 1);
  const char* what = problem.objective == Objective::kStepTime ? "slower"
                     : problem.objective == Objective::kCost   ? "more expensive"
                                                               : "worse in memory";
  return fmt::format("adding {} makes it {:.1f} % {}", others, loss, what);
}

// Whether mixing is worth it: `best` uses several GPU types, `other` is the best plan on fewer.
std::string Verdict(const SearchProblem& problem, const Mixing& mixing, const KindsAnswer& best,
                    const KindsAnswer& other) {
  const bool is_worth = IsWorthMixing(problem, mixing);
  const bool is_dearer =
      CostOf(problem, best.best->evaluation) > CostOf(problem, other.best->evaluation);
  if (problem.objective != Objective::kStepTime || !is_dearer) {
    return is_worth ? "worth it" : "not worth it";
  }
  return is_worth ? "worth it by time x cost" : "faster, but not worth it by time x cost";
}

}  // namespace

bool IsWorthMixing(const SearchProblem& problem, const Mixing& mixing) {
  const KindsAnswer* best = mixing.Best();
  if (best == nullptr || best->kinds.size() < 2) return false;
  const KindsAnswer* other = mixing.Alternative(problem);
  return other == nullptr || Weight(problem, *best) < Weight(problem, *other);
}

std::string MixingSentence(const SearchProblem& problem, const Mixing& mixing) {
  const KindsAnswer* best = mixing.Best();
  if (best == nullptr) return "no choice of GPU types has a plan that fits";
  std::string more = LossOfMore(problem, mixing, *best);
  if (best->kinds.size() == 1) {
    return fmt::format("not worth it: {} alone is best{}{}", DevicesOf(problem, *best),
                       more.empty() ? "" : "; ",
                       more.empty() ? ", and no plan on several GPU types fits" : more);
  }
  if (!more.empty()) more = "; " + more;
  const KindsAnswer* other = mixing.Alternative(problem);
  if (other == nullptr) return "worth it: no plan on fewer GPU types fits" + more;
  return fmt::format("{}: {} alone take {}{}", Verdict(problem, mixing, *best, *other),
                     DevicesOf(problem, *other), Beside(problem, *other, *best), more);
}

nlohmann::ordered_json MixingToJson(const SearchProblem& problem, const Mixing& mixing) {
  Json answers = Json::array();
  for (const KindsAnswer& answer : mixing.answers) {
    Json json = {{"kinds", KindsText(problem, mixing, answer.kinds)},
                 {"optimal", answer.is_optimal},
                 {"feasible", answer.best.has_value()}};
    if (answer.best) {
      json["devices"] = DevicesOf(problem, answer);
      json["step_time_ms"] = answer.best->evaluation.step_time.ms();
      json["memory_share"] = MemoryShare(answer.best->evaluation.memory);
      json.update(CostToJson({.rates = {.usd_per_gpu_hour = problem.prices}}, problem.cluster,
                             answer.best->evaluation));
    }
    answers.push_back(std::move(json));
  }
  return {{"worth_it", IsWorthMixing(problem, mixing)},
          {"sentence", MixingSentence(problem, mixing)},
          {"answers", std::move(answers)}};
}

void PrintMixing(const SearchProblem& problem, const Mixing& mixing, std::ostream& out) {
  TextTable table({"best plan on these GPU types", "step ms", CostHeading(problem), "proven"}, 1);
  for (const KindsAnswer& answer : mixing.answers) {
    const char* proven = answer.is_optimal ? "yes" : "no";
    if (!answer.best) {
      table.Add({KindsText(problem, mixing, answer.kinds), "none fits", "", proven});
      continue;
    }
    table.Add({DevicesOf(problem, answer),
               fmt::format("{:.1f}", answer.best->evaluation.step_time.ms()),
               CostCell(problem, answer.best->evaluation), proven});
  }
  fmt::print(out, "\n");
  table.Print(out);
  fmt::print(out, "is mixing worth it? {}\n", MixingSentence(problem, mixing));
}

}  // namespace stagecraft
