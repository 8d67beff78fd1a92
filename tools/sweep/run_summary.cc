#include "tools/sweep/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/statistics.h"
#include "costmodel/text.h"
#include "tools/sweep/run_flags.h"

namespace stagecraft {
namespace {

// A row, and the number by which it is ranked.
struct RankedRow {
  RunRow row;
  std::optional<double> number;
};

// Whether a number is better than another; NULL is worse than any.
bool IsBetter(const RankedRow& a, const RankedRow& b, const RankedBy& by) {
  const std::optional<double>&x = a.number, &y = b.number;
  if (x.has_value() != y.has_value()) return x.has_value();
  if (x && *x != *y) return by.wants_most ? *x > *y : *x < *y;
  return a.row.point < b.row.point;
}

// Returns the number by which a row is ranked.
std::optional<double> NumberOf(const RunRow& row, const RankedBy& by, RunCosts& costs) {
  if (by.total == RunTotal::kNone) return row[by.number];
  const std::optional<TrainingCost> cost = costs.Of(row);
  if (!cost) return {};
  if (by.total == RunTotal::kDays) return cost->days();
  if (!cost->gpu_usd) return {};
  return *cost->gpu_usd + cost->energy_usd.value_or(0);
}

// Keeps the best rows seen so far.
void NoteBest(const RankedRow& row, const RankedBy& by, size_t top, std::vector<RankedRow>& best) {
  const auto place =
      std::upper_bound(best.begin(), best.end(), row,
                       [&](const RankedRow& a, const RankedRow& b) { return IsBetter(a, b, by); });
  if (static_cast<size_t>(place - best.begin()) >= top) return;
  best.insert(place, row);
  if (best.size() > top) best.pop_back();
}

// The text without its numbers, so that sentences alike are counted together.
std::string WithoutNumbers(const std::string& text) {
  std::string kept;
  bool in_number = false;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && !in_number) kept += '#';
    in_number = is_digit || (in_number && c == '.');
    if (!in_number) kept += c;
  }
  return kept;
}

// The points of every value of every flag with several, and the numbers of those that fit.
class ByValue {
 public:
  explicit ByValue(const std::string& definition) {
    for (FlagValues& flag : ValuesOfDefinition(definition)) {
      if (flag.values.size() < 2) continue;
      FlagSummary summary{flag.flag, {}};
      std::map<std::string, size_t>& index = index_.emplace_back();
      for (const std::string& value : flag.values) {
        index.emplace(value, summary.values.size());
        summary.values.push_back({value, 0, 0, {}, {}});
      }
      numbers_.emplace_back(flag.values.size());
      flags_.push_back(std::move(summary));
    }
  }

  void Note(const RunRow& row, std::optional<double> number) {
    const std::map<std::string, std::string> given = FlagsOfRow(row);
    for (size_t f = 0; f < flags_.size(); ++f) {
      const auto value = given.find(flags_[f].flag);
      const auto found = index_[f].find(value == given.end() ? "" : value->second);
      if (found == index_[f].end()) continue;
      ValueSummary& summary = flags_[f].values[found->second];
      ++summary.points;
      if (row.outcome != Outcome::kFits) continue;
      ++summary.fit;
      if (number) numbers_[f][found->second].push_back(*number);
    }
  }

  std::vector<FlagSummary> Finish(const RankedBy& by) {
    for (size_t f = 0; f < flags_.size(); ++f) {
      for (size_t v = 0; v < numbers_[f].size(); ++v) {
        std::vector<double>& numbers = numbers_[f][v];
        if (numbers.empty()) continue;
        const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
        flags_[f].values[v].best = by.wants_most ? *most : *least;
        flags_[f].values[v].median = UpperMedian(std::move(numbers));
      }
    }
    return std::move(flags_);
  }

 private:
  std::vector<FlagSummary> flags_;
  std::vector<std::map<std::string, size_t>> index_;       // by flag: of a value
  std::vector<std::vector<std::vector<double>>> numbers_;  // by flag and value
};

// The most frequent first; equally frequent ones as they came.
std::vector<ReasonSummary> ByFrequency(std::vector<ReasonSummary> reasons) {
  std::stable_sort(
      reasons.begin(), reasons.end(),
      [](const ReasonSummary& a, const ReasonSummary& b) { return a.points > b.points; });
  return reasons;
}

// Adds what runs take with the best points, if that is asked.
void AddCosts(RunCosts& costs, RunSummary& summary) {
  if (summary.best.empty()) return;
  const CostQuestion& question = costs.QuestionOf(summary.best[0]);
  if (!(question.tokens > 0)) return;
  summary.rates = question.rates;
  for (const RunRow& row : summary.best) summary.best_costs.push_back(costs.Of(row));
}

}  // namespace

const std::vector<RankedBy>& Rankings() {
  static const std::vector<RankedBy> rankings = {
      {"tokens-per-s", RunNumber::kTokensPerSecond, true, "tokens/s"},
      {"tokens-per-s-per-gpu", RunNumber::kTokensPerSecondPerGpu, true, "tokens/s/GPU"},
      {"samples-per-s", RunNumber::kSamplesPerSecond, true, "samples/s"},
      {"mfu", RunNumber::kMfu, true, "MFU"},
      {"step-time", RunNumber::kStepTime, false, "step ms"},
      {"memory", RunNumber::kMemoryShare, false, "of capacity"},
      {"days", RunNumber::kStepTime, false, "days", "days", RunTotal::kDays},
      {"cost", RunNumber::kStepTime, false, "USD", "cost_usd", RunTotal::kCost}};
  return rankings;
}

const RankedBy& FindRanking(const std::string& name) {
  std::vector<std::string> names;
  for (const RankedBy& ranking : Rankings()) {
    if (name == ranking.name) return ranking;
    names.emplace_back(ranking.name);
  }
  throw InputError(fmt::format("--by: got \"{}\", want one of {}; {}", name, Join(names, ", "),
                               NearestNames(name, names)));
}

RunSummary Summarize(const RunStore& store, int grid, const RankedBy& by, int top,
                     RunCosts& costs) {
  const GridRecord& record = store.grids()[static_cast<size_t>(grid)];
  RunSummary summary;
  summary.verb = VerbOfDefinition(record.definition);
  summary.points = record.points;
  ByValue values(record.definition);
  std::map<std::string, size_t> reasons;  // index of a sentence without numbers
  std::vector<RankedRow> best;
  store.ForEachRow(grid, [&](const RunRow& row) {
    const bool fits = row.outcome == Outcome::kFits;
    const std::optional<double> number = fits ? NumberOf(row, by, costs) : std::nullopt;
    values.Note(row, number);
    switch (row.outcome) {
      case Outcome::kFits:
        ++summary.fit;
        NoteBest({row, number}, by, static_cast<size_t>(top), best);
        return;
      case Outcome::kDoesNotFit:
        ++summary.misfit;
        break;
      case Outcome::kRefused:
        ++summary.refused;
        break;
    }
    const auto [reason, is_new] =
        reasons.emplace(WithoutNumbers(row.reason), summary.reasons.size());
    if (is_new) summary.reasons.push_back({row.reason, 0});
    ++summary.reasons[reason->second].points;
  });
  for (RankedRow& one : best) summary.best.push_back(std::move(one.row));
  AddCosts(costs, summary);
  summary.flags = values.Finish(by);
  summary.reasons = ByFrequency(std::move(summary.reasons));
  return summary;
}

}  // namespace stagecraft
