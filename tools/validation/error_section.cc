#include "tools/validation/error_section.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/chart/row_filter.h"
#include "tools/report/in_view.h"
#include "tools/validation/class_errors.h"
#include "tools/validation/ratio_errors.h"
#include "tools/validation/row_groups.h"

namespace stagecraft {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;  // bytes

// A value of the row's metric as the seconds of a step, or as bytes.
double Converted(const ValidatedRow& row, double value) {
  return row.prediction.metric ? row.prediction.metric->ToSeconds(value) : value;
}

std::string TimeText(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

std::string ValueText(const ValidatedRow& row, double value, Quantity quantity) {
  const double converted = Converted(row, value);
  return quantity == Quantity::kTime ? TimeText(converted)
                                     : fmt::format("{:.4g} GiB", converted / kGib);
}

std::string ErrorText(const ValidatedRow& row) {
  return fmt::format("{:+.1f} %", 100 * (RatioOf(row) - 1));
}

class Section {
 public:
  Section(const std::vector<const ValidatedRow*>& rows, Quantity quantity)
      : rows_(rows), quantity_(quantity) {
    for (const Grouping by : kGroupings) groups_.emplace_back(by, GroupRows(rows, by));
    for (size_t row = 0; row < rows.size(); ++row) order_.push_back(row);
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return std::abs(RatioOf(*rows[a]) - 1) > std::abs(RatioOf(*rows[b]) - 1);
    });
  }

  std::string Html() const {
    const RatioErrors all = SummarizeRatios(rows_);
    std::string html = "<div class=\"split\">\n<div class=\"beside\">\n<div class=\"now\">\n";
    html += "<p class=\"chosen\" aria-live=\"polite\">" +
            RowFilterWords(all.rows, all.mape, all.bias, all.mape_factored) + "</p>\n";
    html += "<button type=\"button\" class=\"all\" disabled=\"\">Show all rows</button>\n</div>\n";
    html += Chart() + ColourChoice() + "</div>\n<div>\n" + Tables() + "</div>\n</div>\n";
    return html + "<h3>Rows with the largest errors</h3>\n" + List() + Remarks();
  }

 private:
  // The points have the colours of the first grouping; the page's script can give them others.
  std::string Chart() const {
    const bool is_time = quantity_ == Quantity::kTime;
    std::vector<int> places(rows_.size());  // in the list
    for (size_t place = 0; place < order_.size(); ++place) {
      places[order_[place]] = static_cast<int>(place);
    }
    PointsChart chart;
    chart.title = is_time ? "Times: predicted and measured" : "Memory: predicted and measured";
    chart.x = {is_time ? "measured step time (s)" : "measured peak memory (GiB)", true};
    chart.y = {is_time ? "predicted step time (s)" : "predicted peak memory (GiB)", true};
    chart.is_narrow = true;
    const double unit = is_time ? 1 : kGib;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto& [by, groups] = groups_.front();
    for (const RowGroup& group : groups) {
      const int series = static_cast<int>(chart.series.size());
      chart.series.push_back({group.name, SeriesStyle::kPoints});
      for (const int index : group.rows) {
        const auto i = static_cast<size_t>(index);
        const ValidatedRow& row = *rows_[i];
        const double x = Converted(row, row.measured.value) / unit;
        const double y = Converted(row, *row.prediction.value) / unit;
        if (!(x > 0) || !(y > 0)) continue;
        least = std::min({least, x, y});
        most = std::max({most, x, y});
        chart.points.push_back({series, x, y, Title(row), places[i]});
      }
    }
    if (most > 0 && std::isfinite(most)) AddDiagonal(chart, least, most);
    return ToHtml(chart);
  }

  std::string Title(const ValidatedRow& row) const {
    const MeasuredRow& measured = row.measured;
    return fmt::format("{}\n{}\n{}, {} GPU{}, {}\npredicted {}, measured {}, error {}", measured.id,
                       measured.source, measured.gpu_id, GpusOf(measured),
                       GpusOf(measured) == 1 ? "" : "s", measured.metric_kind,
                       ValueText(row, *row.prediction.value, quantity_),
                       ValueText(row, measured.value, quantity_), ErrorText(row));
  }

  // Chooses the grouping by which points have their colours.
  std::string ColourChoice() const {
    std::string html = "<label>Colours by <select class=\"colours\" disabled=\"\">\n";
    for (const auto& [by, groups] : groups_) {
      html += fmt::format("<option>{}</option>\n", EscapeXml(Name(by)));
    }
    return html + "</select></label>\n";
  }

  std::string Tables() const {
    double most = 0;
    for (const auto& [by, groups] : groups_) {
      for (const RowGroup& group : groups) most = std::max(most, group.errors.mape);
    }
    const double widest = std::min(most, kWidestBar);
    std::string html;
    int index = 0;
    for (const auto& [by, groups] : groups_) {
      html += fmt::format("<details open=\"\">\n<summary>by {}</summary>\n<div class=\"wide\">\n",
                          Name(by));
      html +=
          "<table>\n" + HtmlRow({Name(by), "rows", "MAPE", "bias", "level", "in 80 %", ""}, "th");
      for (const RowGroup& group : groups) html += Entry(by, group, index++, widest);
      html += "</table>\n</div>\n</details>\n";
    }
    return html;
  }

  // One line of a table. `index` is unique within the section; `widest` is the MAPE of a full bar.
  std::string Entry(Grouping by, const RowGroup& group, int index, double widest) const {
    const RatioErrors& errors = group.errors;
    std::string html = fmt::format(
        "<tr><td><button type=\"button\" class=\"entry\" disabled=\"\" aria-pressed=\"false\" "
        "data-by=\"{}\" data-group=\"{}\">{}</button>",
        Name(by), index, EscapeXml(group.name));
    if (by == Grouping::kTable) {
      html += "<span class=\"origin\">" + EscapeXml(SourcesOf(group)) + "</span>";
    }
    const double width = widest > 0 ? 100 * std::min(1.0, errors.mape / widest) : 0;
    return html + fmt::format(
                      "</td><td>{}</td><td>{:.1f}</td><td>{:+.1f}</td><td>{:.1f}</td><td>{}</td>"
                      "<td class=\"bar\"><i style=\"width: {:.1f}%\"></i></td></tr>\n",
                      errors.rows, errors.mape, errors.bias, errors.mape_factored,
                      errors.interval80_coverage
                          ? fmt::format("{:.1f}", *errors.interval80_coverage)
                          : "-",
                      width);
  }

  std::string SourcesOf(const RowGroup& group) const {
    std::set<std::string> seen;
    std::string text;
    for (const int row : group.rows) {
      const std::string& source = rows_[static_cast<size_t>(row)]->measured.source;
      if (!seen.insert(source).second) continue;
      text += (text.empty() ? "" : "; ") + source;
    }
    return text;
  }

  std::string List() const {
    // The groups of each row, as indices of entries.
    std::vector<std::string> members(rows_.size());
    int index = 0;
    for (const auto& [by, groups] : groups_) {
      for (const RowGroup& group : groups) {
        for (const int row : group.rows) {
          std::string& text = members[static_cast<size_t>(row)];
          text += fmt::format("{}{}", text.empty() ? "" : " ", index);
        }
        ++index;
      }
    }
    const std::vector<std::string> names = {"row",  "error",    "predicted", "measured",
                                            "GPUs", "GPU type", "metric",    "source"};
    std::string html = "<div class=\"wide\">\n<table class=\"cards list\">\n<tbody>\n";
    html += HtmlRow(names, "th");
    for (size_t place = 0; place < order_.size(); ++place) {
      const ValidatedRow& row = *rows_[order_[place]];
      const std::string cells = HtmlCardRow(
          names,
          {row.measured.id, ErrorText(row), ValueText(row, *row.prediction.value, quantity_),
           ValueText(row, row.measured.value, quantity_), fmt::format("{}", GpusOf(row.measured)),
           row.measured.gpu_id, row.measured.metric_kind, row.measured.source});
      const std::string tag = fmt::format(
          "<tr class=\"row\" data-groups=\"{}\" data-ratio=\"{}\"{}", members[order_[place]],
          RatioOf(row), place < kListedRows ? "" : " hidden=\"\"");
      html += tag + cells.substr(std::string_view("<tr").size());
    }
    return html + "</tbody>\n</table>\n</div>\n";
  }

  // What a reader must know to judge the errors.
  std::string Remarks() const {
    size_t inferred = 0, in_view = 0;
    for (const ValidatedRow* row : rows_) {
      if (!row->prediction.inferred.empty()) ++inferred;
      const MeasuredRow& measured = row->measured;
      if (!InViewTable::Embedded().OfRows(measured.source, measured.metric_kind).empty()) ++in_view;
    }
    std::string html;
    if (inferred > 0) {
      html += "<p>The predictions of " + RowCount(inferred) +
              " rest on facts that were inferred from these rows themselves; the report that "
              "validate prints has the errors without them.</p>\n";
    }
    if (in_view > 0) {
      html += "<p>Constants of the cost model were chosen with some of " + RowCount(in_view) +
              " in view; the report that validate prints lists them.</p>\n";
    }
    return html;
  }

  const std::vector<const ValidatedRow*>& rows_;
  const Quantity quantity_;
  std::vector<std::pair<Grouping, std::vector<RowGroup>>> groups_;
  std::vector<size_t> order_;  // of the list: the largest error first
};

}  // namespace

std::optional<Quantity> QuantityOf(const MeasuredRow& row) {
  if (ClassOf(row).has_value()) return Quantity::kTime;
  if (std::string_view(Unit(row.metric_kind)) == "bytes") return Quantity::kMemory;
  return std::nullopt;
}

std::string RowCount(size_t rows) { return fmt::format("{} row{}", rows, rows == 1 ? "" : "s"); }

std::string ErrorSection(const std::vector<const ValidatedRow*>& rows, Quantity quantity) {
  const std::string heading =
      quantity == Quantity::kTime ? "Times of training steps" : "Peak memory";
  const std::string begin = "<h2>" + heading + "</h2>\n";
  if (rows.empty()) return "<section>\n" + begin + "<p>There are no rows.</p>\n</section>\n";
  return "<section class=\"filtered\">\n" + begin + Section(rows, quantity).Html() + "</section>\n";
}

}  // namespace stagecraft
