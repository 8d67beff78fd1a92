#include "tools/report/search_explanation.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tools/report/cost_report.h"
#include "tools/report/mixing_report.h"
#include "tools/report/plan_choices.h"
#include "tools/report/plan_report.h"
#include "tools/report/step_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

std::vector<ChoiceDifference> FromBest(const SearchProblem& problem, const SearchResult& result,
                                       const Plan& other) {
  return DifferencesOf(result.plans[0].plan, other, problem.workload, problem.cluster);
}

// For each part of the breakdown, its time in the second step minus its time in the first.
std::vector<TimePart> BreakdownDifference(const Evaluation& first, const Evaluation& second) {
  std::vector<TimePart> parts = PartsOf(second.profile.breakdown);
  const std::vector<TimePart> before = PartsOf(first.profile.breakdown);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].time -= before[i].time;
  return parts;
}

Json SplitToJson(const TimedSplit& split) {
  Json stages = Json::array();
  for (size_t s = 0; s < split.stages.size(); ++s) {
    const StageTime& stage = split.stages[s];
    stages.push_back({{"stage", s},
                      {"blocks", stage.blocks},
                      {"forward_ms", stage.forward.ms()},
                      {"backward_ms", stage.backward.ms()},
                      {"busy_ms", stage.busy.ms()}});
  }
  return {{"name", split.name},
          {"step_time_ms", split.evaluation.step_time.ms()},
          {"fits", split.evaluation.fits},
          {"imbalance", Imbalance(split.stages)},
          {"stages", std::move(stages)}};
}

Json SecondToJson(const SearchProblem& problem, const SearchResult& result,
                  const RankedPlan& second) {
  Json breakdown;
  for (const TimePart& part : BreakdownDifference(result.plans[0].evaluation, second.evaluation)) {
    breakdown[part.name] = part.time.ms();
  }
  return {{"loss", second.score / result.plans[0].score - 1},
          {"differs", ToJson(FromBest(problem, result, second.plan))},
          {"breakdown_difference_ms", std::move(breakdown)}};
}

Json SensitivityToJson(const SearchProblem& problem, const SearchResult& result,
                       const SearchExplanation& explanation) {
  Json changes = Json::array();
  for (const ChangedAnswer& answer : explanation.sensitivity) {
    Json json = {{"change", answer.change.what},
                 {"factor", answer.change.factor},
                 {"stays_best", !answer.better.has_value()},
                 {"optimal", answer.is_optimal},
                 {std::string("old_") + ScoreKey(problem), ShownScore(problem, answer.old_score)},
                 {"loss", answer.Loss()},
                 {"evaluated", answer.evaluated}};
    if (answer.better) {
      json[std::string("best_") + ScoreKey(problem)] = ShownScore(problem, answer.better->score);
      json["differs"] = ToJson(FromBest(problem, result, answer.better->plan));
      json["plan"] = PlanToJson(answer.better->plan, problem.workload);
    }
    changes.push_back(std::move(json));
  }
  return changes;
}

// A line of the table of stages without its first cell, which says for which stages it is.
std::vector<std::string> StageCells(const SearchExplanation& explanation, size_t s) {
  const StageTime& stage = explanation.split.stages[s];
  std::vector<std::string> cells = {
      fmt::format("{}", stage.blocks), fmt::format("{:.2f}", stage.forward.ms()),
      fmt::format("{:.2f}", stage.backward.ms()), fmt::format("{:.1f}", stage.busy.ms())};
  if (!explanation.other) return cells;
  const StageTime& other = explanation.other->stages[s];
  cells.push_back(fmt::format("{}", other.blocks));
  cells.push_back(fmt::format("{:.2f}", (other.forward + other.backward).ms()));
  cells.push_back(fmt::format("{:.1f}", other.busy.ms()));
  return cells;
}

// Prints the table of stages; adjacent stages with equal cells share a line.
void PrintStageTable(const SearchExplanation& explanation, std::ostream& out) {
  std::vector<std::string> headings = {"stages", "layers", "forward ms", "backward ms", "step ms"};
  if (explanation.other) {
    for (const char* heading : {"layers", "forward + backward ms", "step ms"}) {
      headings.push_back(fmt::format("{} split: {}", explanation.other->name, heading));
    }
  }
  TextTable table(headings, 1);
  const size_t count = explanation.split.stages.size();
  for (size_t first = 0, last = 0; first < count; first = last) {
    std::vector<std::string> cells = StageCells(explanation, first);
    while (last < count && StageCells(explanation, last) == cells) ++last;
    const bool is_one = last == first + 1;
    cells.insert(cells.begin(),
                 is_one ? fmt::format("{}", first) : fmt::format("{}-{}", first, last - 1));
    table.Add(std::move(cells));
  }
  table.Print(out);
}

void PrintSplit(const SearchExplanation& explanation, std::ostream& out) {
  if (explanation.split.stages.size() < 2) return;
  fmt::print(out, "\nwhy this split: compute time of one micro-batch, and of the whole step\n");
  PrintStageTable(explanation, out);
  fmt::print(out, "the busiest stage computes {:.3f} times as long as the mean stage",
             Imbalance(explanation.split.stages));
  if (!explanation.other) {
    fmt::print(out, "; the layers are split evenly\n");
    return;
  }
  const TimedSplit& other = *explanation.other;
  const double ratio =
      other.evaluation.step_time.seconds() / explanation.split.evaluation.step_time.seconds();
  fmt::print(out, "; {} split: {:.3f} times, step time {:+.2f} %{}\n", other.name,
             Imbalance(other.stages), 100 * (ratio - 1),
             other.evaluation.fits ? "" : ", does not fit");
  // Unless this flag is given, a search looks only at even splits.
  if (other.spares_head && ratio < 1 && other.evaluation.fits) {
    fmt::print(out, "that would be faster: --embedding-placement redistributed asks for it\n");
  }
}

void PrintSecond(const SearchProblem& problem, const SearchResult& result, const RankedPlan& second,
                 std::ostream& out) {
  fmt::print(out, "\nthe second-best plan is {:.2f} % worse: {}\n",
             100 * (second.score / result.plans[0].score - 1),
             Text(FromBest(problem, result, second.plan)));
  std::vector<TimePart> parts = BreakdownDifference(result.plans[0].evaluation, second.evaluation);
  std::erase_if(parts, [](const TimePart& part) { return part.time == Duration(); });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TimePart& a, const TimePart& b) { return a.time > b.time; });
  std::vector<std::string> texts;
  for (const TimePart& part : parts) {
    texts.push_back(fmt::format("{} {:+.1f}", part.name, part.time.ms()));
  }
  if (!texts.empty())
    fmt::print(out, "  difference on the critical rank, ms: {}\n", fmt::join(texts, ", "));
}

void PrintSensitivity(const SearchProblem& problem, const SearchResult& result,
                      const SearchExplanation& explanation, std::ostream& out) {
  if (explanation.sensitivity.empty()) return;
  TextTable table({"if", "best plan becomes", "current plan loses"}, 2);
  for (const ChangedAnswer& answer : explanation.sensitivity) {
    const std::string unproven = answer.is_optimal ? "" : " (unproven)";
    table.Add(
        {fmt::format("{} {:+.0f} %", answer.change.what, 100 * (answer.change.factor - 1)),
         (answer.better ? Text(FromBest(problem, result, answer.better->plan)) : "(unchanged)") +
             unproven,
         answer.better ? fmt::format("{:.2f} %", 100 * answer.Loss()) : ""});
  }
  fmt::print(out, "\n");
  table.Print(out);
}

}  // namespace

nlohmann::ordered_json ExplanationToJson(const SearchProblem& problem, const SearchResult& result,
                                         const SearchExplanation& explanation, double seconds) {
  Json json = {{"split", SplitToJson(explanation.split)}};
  if (explanation.other) json["split"]["other"] = SplitToJson(*explanation.other);
  if (explanation.second) json["second"] = SecondToJson(problem, result, *explanation.second);
  json["sensitivity"] = SensitivityToJson(problem, result, explanation);
  if (explanation.mixing) json["mixing"] = MixingToJson(problem, *explanation.mixing);
  json["cut_short"] = explanation.is_cut_short;
  json["wall_ms"] = seconds * 1e3;
  return json;
}

void PrintExplanation(const SearchProblem& problem, const SearchResult& result,
                      const SearchExplanation& explanation, double seconds, std::ostream& out) {
  PrintSplit(explanation, out);
  if (explanation.second) PrintSecond(problem, result, *explanation.second, out);
  PrintSensitivity(problem, result, explanation, out);
  if (explanation.mixing) PrintMixing(problem, *explanation.mixing, out);
  fmt::print(out, "explained in {:.1f} s{}\n", seconds,
             explanation.is_cut_short ? "; the budget ended before everything was explained" : "");
}

}  // namespace stagecraft
