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

// Whether a number is better than another; NULL is worse than any.
bool IsBetter(const RunRow& a, const RunRow& b, const RankedBy& by) {
  const std::optional<double>&x = a[by.number], &y = b[by.number];
  if (x.has_value() != y.has_value()) return x.has_value();
  if (x && *x != *y) return by.wants_most ? *x > *y : *x < *y;
  return a.point < b.point;
}

// Keeps the best rows seen so far.
void NoteBest(const RunRow& row, const RankedBy& by, size_t top, std::vector<RunRow>& best) {
  const auto place =
      std::upper_bound(best.begin(), best.end(), row,
                       [&](const RunRow& a, const RunRow& b) { return IsBetter(a, b, by); });
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

  void Note(const RunRow& row, const RankedBy& by) {
    const std::map<std::string, std::string> given = FlagsOfRow(row);
    for (size_t f = 0; f < flags_.size(); ++f) {
      const auto value = given.find(flags_[f].flag);
      const auto found = index_[f].find(value == given.end() ? "" : value->second);
      if (found == index_[f].end()) continue;
      ValueSummary& summary = flags_[f].values[found->second];
      ++summary.points;
      if (row.outcome != Outcome::kFits) continue;
      ++summary.fit;
      if (row[by.number]) numbers_[f][found->second].push_back(*row[by.number]);
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

}  // namespace

const std::vector<RankedBy>& Rankings() {
  static const std::vector<RankedBy> rankings = {
      {"tokens-per-s", RunNumber::kTokensPerSecond, true, "tokens/s"},
      {"tokens-per-s-per-gpu", RunNumber::kTokensPerSecondPerGpu, true, "tokens/s/GPU"},
      {"samples-per-s", RunNumber::kSamplesPerSecond, true, "samples/s"},
      {"mfu", RunNumber::kMfu, true, "MFU"},
      {"step-time", RunNumber::kStepTime, false, "step ms"},
      {"memory", RunNumber::kMemoryShare, false, "of capacity"}};
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

RunSummary Summarize(const RunStore& store, int grid, const RankedBy& by, int top) {
  const GridRecord& record = store.grids()[static_cast<size_t>(grid)];
  RunSummary summary;
  summary.verb = VerbOfDefinition(record.definition);
  summary.points = record.points;
  ByValue values(record.definition);
  std::map<std::string, size_t> reasons;  // index of a sentence without numbers
  store.ForEachRow(grid, [&](const RunRow& row) {
    values.Note(row, by);
    switch (row.outcome) {
      case Outcome::kFits:
        ++summary.fit;
        NoteBest(row, by, static_cast<size_t>(top), summary.best);
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
  summary.flags = values.Finish(by);
  summary.reasons = ByFrequency(std::move(summary.reasons));
  return summary;
}

}  // namespace stagecraft
