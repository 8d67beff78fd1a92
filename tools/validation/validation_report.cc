#include "tools/validation/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kWorst = 10;
constexpr size_t kSourceWidth = 30;

Json OrNull(const std::optional<double>& value) {
  return value.has_value() ? Json(*value) : Json();
}

void AddErrors(const ErrorStats& stats, Json& object) {
  object["rows"] = stats.rows;
  object["simulated"] = stats.simulated;
  object["mape"] = OrNull(stats.mape);
  object["median_ape"] = OrNull(stats.median_ape);
  object["p90_ape"] = OrNull(stats.p90_ape);
  object["bias"] = OrNull(stats.bias);
  object["spearman"] = OrNull(stats.spearman);
  object["regret"] = OrNull(stats.regret);
  object["primary"] = stats.counted;
}

Json BaselineToJson(const ErrorStats& stats) {
  Json object;
  object["source"] = stats.source;
  object["metric_kind"] = stats.metric_kind;
  object["rows"] = stats.baseline_rows;
  object["mape"] = OrNull(stats.baseline_own);
  object["constant_rate_mape"] = OrNull(stats.constant_rate);
  object["ridge_mape"] = OrNull(stats.ridge);
  return object;
}

Json RowToJson(const ValidatedRow& row) {
  Json object;
  object["id"] = row.measured.id;
  object["predicted"] = OrNull(row.prediction.value);
  object["measured"] = row.measured.value;
  object["unit"] = Unit(row.measured.metric_kind);
  object["ape"] = OrNull(row.ape());
  object["reason"] = row.prediction.reason;
  object["defaults_used"] = row.prediction.defaults_used;
  object["source"] = row.measured.source;
  object["metric_kind"] = row.measured.metric_kind;
  object["primary"] = row.measured.is_primary;
  return object;
}

std::string Cell(const std::optional<double>& value, int digits = 1) {
  return value.has_value() ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// At most kSourceWidth columns; the source's names are ASCII but for a few.
std::string Short(const std::string& text) {
  if (text.size() <= kSourceWidth) return text;
  size_t end = kSourceWidth - 2;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "..";
}

void PrintLine(const ErrorStats& stats, const std::string& name, std::ostream& out) {
  out << fmt::format("{:<30} {:<21} {:>5} {:>5} {:>6} {:>6} {:>6} {:>6} {:>5} {:>6} {:>6}\n",
                     Short(name), stats.metric_kind, stats.rows, stats.simulated, Cell(stats.mape),
                     Cell(stats.median_ape), Cell(stats.p90_ape), Cell(stats.bias),
                     Cell(stats.spearman, 2), Cell(stats.constant_rate), Cell(stats.ridge));
}

void PrintTable(const Validation& validation, std::ostream& out) {
  out << "errors in percent, over rows that count once (primary); rows: scored, sim: simulated;\n"
         "rank: Spearman within groups of at least 4, median; const, ridge: MAPE of baselines\n\n"
      << fmt::format("{:<30} {:<21} {:>5} {:>5} {:>6} {:>6} {:>6} {:>6} {:>5} {:>6} {:>6}\n",
                     "source", "metric kind", "rows", "sim", "MAPE", "median", "p90", "bias",
                     "rank", "const", "ridge");
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    PrintLine(stats, stats.source, out);
  }
  out << '\n';
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, true)) {
    PrintLine(stats, "all sources", out);
  }
  for (ErrorStats& stats : SummarizeBy(validation.rows, false, false)) {
    stats.metric_kind = "all";
    PrintLine(stats, "all sources", out);
  }
}

void PrintWorst(const Validation& validation, std::ostream& out) {
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : validation.rows) {
    if (row.ape().has_value() && row.measured.is_primary) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
    return *a->ape() > *b->ape();
  });
  if (rows.size() > kWorst) rows.resize(kWorst);
  if (rows.empty()) return;
  out << "\nworst rows\n";
  for (const ValidatedRow* row : rows) {
    out << fmt::format("  {:<34} {:<21} predicted {:.4g} {}, measured {:.4g}, off {:.1f} %\n",
                       row->measured.id, row->measured.metric_kind, *row->prediction.value,
                       Unit(row->measured.metric_kind), row->measured.value, *row->ape());
  }
}

void PrintCounts(const std::map<std::string, int>& counts, const char* title, std::ostream& out) {
  if (counts.empty()) return;
  out << '\n' << title << '\n';
  std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : order) out << fmt::format("  {:>5}  {}\n", count, reason);
}

}  // namespace

Json ValidationToJson(const Validation& validation) {
  Json report;
  report["sources"] = Json::array();
  report["baselines"] = Json::array();
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    Json object;
    object["source"] = stats.source;
    object["metric_kind"] = stats.metric_kind;
    AddErrors(stats, object);
    report["sources"].push_back(object);
    if (stats.baseline_rows > 0) report["baselines"].push_back(BaselineToJson(stats));
  }
  Json overall;
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, false)) {
    AddErrors(stats, overall);
    report["baselines"].push_back(BaselineToJson(stats));
  }
  overall["metric_kinds"] = Json::array();
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, true)) {
    Json object;
    object["metric_kind"] = stats.metric_kind;
    AddErrors(stats, object);
    overall["metric_kinds"].push_back(object);
  }
  report["overall"] = overall;
  report["rows"] = Json::array();
  for (const ValidatedRow& row : validation.rows) report["rows"].push_back(RowToJson(row));
  report["not_scored"] = Json::array();
  for (const MeasuredRow& row : validation.not_scored) {
    report["not_scored"].push_back({{"id", row.id}, {"reason", row.why_not}});
  }
  return report;
}

void PrintValidation(const Validation& validation, std::ostream& out) {
  PrintTable(validation, out);
  PrintWorst(validation, out);
  std::map<std::string, int> reasons, apart;
  for (const ValidatedRow& row : validation.rows) {
    if (!row.prediction.value.has_value()) ++reasons[row.prediction.reason];
  }
  for (const MeasuredRow& row : validation.not_scored) {
    ++apart[row.why_not.empty() ? "no reason given" : row.why_not];
  }
  PrintCounts(reasons, "scored rows that cannot be simulated (they count against coverage)", out);
  PrintCounts(apart, "rows that are not scored", out);
}

}  // namespace stagecraft
