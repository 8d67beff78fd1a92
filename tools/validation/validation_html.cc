#include "tools/validation/validation_html.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/text.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/chart/row_filter.h"
#include "tools/validation/error_section.h"
#include "tools/validation/main_part.h"

namespace stagecraft {
namespace {

constexpr size_t kMostNamedTables = 4;  // in one sentence

// The rows of this quantity whose errors count, in the order of the files.
std::vector<const ValidatedRow*> CountedRows(const Validation& validation, Quantity quantity) {
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : validation.rows) {
    if (!row.measured.is_primary || !row.prediction.value) continue;
    if (QuantityOf(row.measured) == quantity) rows.push_back(&row);
  }
  return rows;
}

// Rows that the two sections leave out, by reason.
std::string LeftOut(const Validation& validation) {
  std::map<std::string, size_t> reasons;
  size_t rows = 0;
  const auto add = [&](const std::string& reason) {
    ++reasons[reason];
    ++rows;
  };
  for (const ValidatedRow& row : validation.rows) {
    if (!row.prediction.value) {
      add("scored, but cannot be simulated: " + row.prediction.reason);
    } else if (!row.measured.is_primary) {
      add("restates what another row of the run says (not primary)");
    } else if (!QuantityOf(row.measured)) {
      add("neither the time of a training step nor memory: " + row.measured.metric_kind);
    }
  }
  for (const MeasuredRow& row : validation.not_scored) {
    add("not scored: " + (row.why_not.empty() ? "no reason given" : row.why_not));
  }
  if (reasons.empty()) return "";
  std::vector<std::pair<std::string, size_t>> sorted(reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string html =
      fmt::format("<details>\n<summary>{} in neither section</summary>\n<table>\n", RowCount(rows));
  html += HtmlRow({"why", "rows"}, "th");
  for (const auto& [reason, count] : sorted) {
    html += HtmlRow({reason, fmt::format("{}", count)}, "td");
  }
  return html + "</table>\n</details>\n";
}

}  // namespace

std::string ValidationToHtml(const Validation& validation, const std::string& origin) {
  std::string html = "<h1>Predicted and measured training steps</h1>\n<p>" + EscapeXml(origin);
  html += fmt::format(
      "</p>\n<p>Choose an entry of a table to see only its rows in the chart and in the list, and "
      "entries of several tables to see the rows that they have in common. The list shows at most "
      "{} rows.</p>\n<details>\n<summary>What the figures mean</summary>\n<p>Errors are in percent "
      "of the measured value; rates count as the time that is their inverse. MAPE: mean absolute "
      "error; bias: mean error; level: the MAPE that is left if all predictions are multiplied by "
      "the factor that makes their median right; in 80 %: how often the 80 % prediction interval "
      "holds. A mechanism is what takes most of the predicted step besides the computation of "
      "layers, if that is at least {:g} % of it, or most of the predicted memory. Bars show the "
      "MAPE, up to {:g} %. On the dashed line of a chart predictions equal "
      "measurements, on the dotted lines they are {:g} % larger and smaller.</p>\n</details>\n",
      kListedRows, 100 * kLeastMainPart, kWidestBar, 100 * kErrorBand);
  for (const Quantity quantity : {Quantity::kTime, Quantity::kMemory}) {
    html += ErrorSection(CountedRows(validation, quantity), quantity);
  }
  return HtmlPage("stagecraft validate", html + LeftOut(validation), RowFilter());
}

std::string ValidationOrigin(size_t scored_rows, const std::vector<std::string>& tables,
                             const std::string& cost_model, const std::string& version) {
  const auto name_of = [](const std::string& file) {
    return std::filesystem::path(file).filename().string();
  };
  const std::string of = tables.size() <= kMostNamedTables
                             ? Join(tables, ", ", name_of)
                             : fmt::format("{} tables", tables.size());
  return fmt::format("{} scored rows of {}; cost model {}; stagecraft {}.", scored_rows, of,
                     name_of(cost_model), version);
}

}  // namespace stagecraft
