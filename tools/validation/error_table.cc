#include "tools/validation/error_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr size_t kLeastGroup = 4;
constexpr double kPercent = 100;

std::optional<double> MeanOrNone(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return Mean(values);
}

double SignedError(double predicted, double measured) {
  return kPercent * (predicted - measured) / measured;
}

// The rank of each value, counted from 1; equal values have their mean rank.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = (static_cast<double>(begin + end) + 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

struct Group {
  std::vector<double> predicted, measured;
  bool less_is_better = true;
};

double Regret(const Group& group) {
  const auto better = [&](double a, double b) { return group.less_is_better ? a < b : a > b; };
  const auto best = std::min_element(group.measured.begin(), group.measured.end(), better);
  const auto chosen = std::min_element(group.predicted.begin(), group.predicted.end(), better);
  const double got = group.measured[chosen - group.predicted.begin()];
  return kPercent * (group.less_is_better ? got / *best - 1 : *best / got - 1);
}

void RankGroups(std::span<const ValidatedRow* const> rows, ErrorStats& stats) {
  std::map<std::string, Group> groups;
  for (const ValidatedRow* row : rows) {
    const MeasuredRow& measured = row->measured;
    if (!measured.is_primary || !row->prediction.value || measured.group.empty()) continue;
    Group& group = groups[measured.source + '\n' + measured.metric_kind + '\n' + measured.group];
    group.predicted.push_back(*row->prediction.value);
    group.measured.push_back(measured.value);
    group.less_is_better = LessIsBetter(measured.metric_kind);
  }
  std::vector<double> correlations, regrets;
  for (const auto& [name, group] : groups) {
    if (group.measured.size() < kLeastGroup) continue;
    const std::optional<double> correlation = Spearman(group.predicted, group.measured);
    if (!correlation.has_value()) continue;
    correlations.push_back(*correlation);
    regrets.push_back(Regret(group));
  }
  stats.groups = static_cast<int>(correlations.size());
  if (correlations.empty()) return;
  stats.spearman = InterpolatedQuantile(correlations, 0.5);
  stats.regret = InterpolatedQuantile(regrets, 0.5);
  stats.mean_regret = Mean(regrets);
}

void CountIntervals(std::span<const ValidatedRow* const> rows, ErrorStats& stats) {
  int holds = 0;
  for (const ValidatedRow* row : rows) {
    const std::optional<bool> is_in = row->is_in_interval();
    if (!row->measured.is_primary || !is_in.has_value()) continue;
    ++stats.interval_rows;
    if (*is_in) ++holds;
  }
  if (stats.interval_rows > 0) stats.interval80_coverage = kPercent * holds / stats.interval_rows;
}

const InferredPart* FindPart(const ValidatedRow& row, const InferredFacts& facts) {
  for (const InferredPart& part : row.prediction.inferred) {
    if (part.facts == facts) return &part;
  }
  return nullptr;
}

std::optional<double> MapeWithout(std::span<const ValidatedRow* const> counted,
                                  const InferredFacts& facts) {
  std::vector<double> apes;
  for (const ValidatedRow* row : counted) {
    const InferredPart* const part = FindPart(*row, facts);
    const std::optional<double>& value = part ? part->value_without : row->prediction.value;
    if (value.has_value()) apes.push_back(std::abs(SignedError(*value, row->measured.value)));
  }
  return MeanOrNone(apes);
}

void LeaveOutInferred(std::span<const ValidatedRow* const> rows, ErrorStats& stats) {
  std::vector<const ValidatedRow*> counted;
  std::vector<double> apes;
  for (const ValidatedRow* row : rows) {
    if (!row->measured.is_primary || !row->ape().has_value()) continue;
    counted.push_back(row);
    if (const std::optional<double> ape = row->ape_without()) apes.push_back(*ape);
    if (!row->prediction.inferred.empty()) ++stats.inferred_rows;
    for (const InferredPart& part : row->prediction.inferred) {
      const auto is_it = [&](const InferredError& known) { return known.facts == part.facts; };
      if (std::none_of(stats.inferred.begin(), stats.inferred.end(), is_it)) {
        stats.inferred.push_back({part.facts, std::nullopt});
      }
    }
  }
  if (stats.inferred_rows > 0) stats.mape_without = MeanOrNone(apes);
  for (InferredError& known : stats.inferred) {
    known.mape_without = MapeWithout(counted, known.facts);
  }
}

void CompareBaselines(std::span<const ValidatedRow* const> rows, ErrorStats& stats) {
  std::vector<double> own, constant_rate, ridge;
  for (const ValidatedRow* row : rows) {
    if (!row->measured.is_primary || !row->constant_rate || !row->ridge) continue;
    own.push_back(*row->ape());
    constant_rate.push_back(std::abs(SignedError(*row->constant_rate, row->measured.value)));
    ridge.push_back(std::abs(SignedError(*row->ridge, row->measured.value)));
  }
  stats.baseline_rows = static_cast<int>(own.size());
  stats.baseline_own = MeanOrNone(own);
  stats.constant_rate = MeanOrNone(constant_rate);
  stats.ridge = MeanOrNone(ridge);
}

}  // namespace

std::optional<double> ValidatedRow::ape() const {
  if (!prediction.value.has_value()) return std::nullopt;
  return std::abs(SignedError(*prediction.value, measured.value));
}

std::optional<double> ValidatedRow::ape_without() const {
  if (prediction.inferred.empty()) return ape();
  if (!prediction.value_without.has_value()) return std::nullopt;
  return std::abs(SignedError(*prediction.value_without, measured.value));
}

std::optional<bool> ValidatedRow::is_in_interval() const {
  if (!prediction.value.has_value() || !prediction.spread.has_value()) return std::nullopt;
  const double off = std::abs(std::log(measured.value / *prediction.value));
  return off <= kSigmas80 * *prediction.spread;
}

std::optional<double> Spearman(const std::vector<double>& predicted,
                               const std::vector<double>& measured) {
  CHECK(predicted.size() == measured.size());
  if (predicted.empty()) return std::nullopt;
  const std::vector<double> a = Ranks(predicted);
  const std::vector<double> b = Ranks(measured);
  const double middle = (static_cast<double>(a.size()) + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  if (bb == 0) return std::nullopt;
  return aa == 0 ? 0 : ab / std::sqrt(aa * bb);
}

ErrorStats Summarize(std::span<const ValidatedRow* const> rows) {
  ErrorStats stats;
  stats.rows = static_cast<int>(rows.size());
  std::vector<double> apes, errors;
  for (const ValidatedRow* row : rows) {
    if (!row->prediction.value.has_value()) continue;
    ++stats.simulated;
    if (!row->measured.is_primary) continue;
    errors.push_back(SignedError(*row->prediction.value, row->measured.value));
    apes.push_back(std::abs(errors.back()));
  }
  stats.counted = static_cast<int>(apes.size());
  if (!apes.empty()) {
    stats.mape = Mean(apes);
    stats.median_ape = InterpolatedQuantile(apes, 0.5);
    stats.p90_ape = InterpolatedQuantile(apes, 0.9);
    stats.bias = Mean(errors);
  }
  CountIntervals(rows, stats);
  LeaveOutInferred(rows, stats);
  RankGroups(rows, stats);
  CompareBaselines(rows, stats);
  return stats;
}

std::vector<ErrorStats> SummarizeBy(std::span<const ValidatedRow> rows, bool by_source,
                                    bool by_kind) {
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<std::vector<const ValidatedRow*>> parts;
  for (const ValidatedRow& row : rows) {
    const std::pair<std::string, std::string> key(by_source ? row.measured.source : "",
                                                  by_kind ? row.measured.metric_kind : "");
    const auto found = std::find(keys.begin(), keys.end(), key);
    const size_t part = found - keys.begin();
    if (found == keys.end()) {
      keys.push_back(key);
      parts.emplace_back();
    }
    parts[part].push_back(&row);
  }
  std::vector<ErrorStats> table;
  for (size_t part = 0; part < parts.size(); ++part) {
    ErrorStats stats = Summarize(parts[part]);
    stats.source = keys[part].first;
    stats.metric_kind = keys[part].second;
    table.push_back(std::move(stats));
  }
  return table;
}

}  // namespace stagecraft
