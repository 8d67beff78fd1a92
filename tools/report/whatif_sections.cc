#include "tools/report/whatif_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/answer_charts.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDrawn = 60;    // rows of a chart
constexpr size_t kMostLetters = 15;  // of a row's label

// The step as asked for, or after a change.
struct Row {
  const Json* json = nullptr;
  std::string name;   // "network=0.5x and tp=4"
  std::string label;  // of charts
  bool has_step = false;
};

std::string NameOf(const Json& row) {
  if (!row.contains("changes")) return "as given";
  std::string name;
  for (const Json& change : row.at("changes")) {
    name += (name.empty() ? "" : " and ") + change.get<std::string>();
  }
  return name;
}

std::vector<Row> RowsOf(const Json& answer) {
  std::vector<Row> rows;
  const auto add = [&](const Json& json) {
    Row row{&json, NameOf(json), "", json.contains("step_time_ms")};
    const bool is_short = row.name.size() <= kMostLetters;
    row.label = is_short ? row.name : fmt::format("change {}", rows.size());
    rows.push_back(std::move(row));
  };
  add(answer.at("base"));
  for (const Json& change : answer.at("changes")) add(change);
  return rows;
}

// The rows that charts draw.
std::vector<Row> Drawn(const std::vector<Row>& rows) {
  std::vector<Row> drawn;
  for (const Row& row : rows) {
    if (row.has_step && drawn.size() < kMostDrawn) drawn.push_back(row);
  }
  return drawn;
}

double Number(const Row& row, const char* key) { return row.json->at(key).get<double>(); }
bool Fits(const Row& row) { return row.json->at("fits").get<bool>(); }

BarsChart EmptyChart(const std::vector<Row>& rows, const std::string& title,
                     const std::string& note, const ChartAxis& x) {
  BarsChart chart{.title = title, .note = note, .x = x, .rows = {}, .series = {}, .bars = {}};
  for (const Row& row : rows) chart.rows.push_back(row.label);
  return chart;
}

std::string StepTimes(const std::vector<Row>& rows) {
  BarsChart chart =
      EmptyChart(rows, "Step time", "Of the step as it is asked for, and after each change.",
                 {.label = "step time (ms)", .min = 0});
  chart.series = {{"fits", SeriesStyle::kBar, 0},
                  {"does not fit into memory", SeriesStyle::kBar, 3}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const double time = Number(rows[i], "step_time_ms");
    const Json& interval = rows[i].json->at("step_time_interval_ms");
    const std::string tip =
        fmt::format("{}\n{:.1f} ms (80 %: {:.1f} to {:.1f} ms)", rows[i].name, time,
                    interval.at(0).get<double>(), interval.at(1).get<double>());
    chart.bars.push_back({static_cast<int>(i), Fits(rows[i]) ? 0 : 1, 0, time, "", tip});
  }
  return ToHtml(chart);
}

std::string Gains(const std::vector<Row>& rows) {
  const std::vector<Row> changes(rows.begin() + 1, rows.end());
  BarsChart chart = EmptyChart(changes, "Throughput gained or lost",
                               "Tokens per second, relative to the step as it is asked for.",
                               {.label = "change of throughput (%)"});
  chart.series = {{"more", SeriesStyle::kBar, 2}, {"less", SeriesStyle::kBar, 3}};
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!changes[i].json->contains("tokens_per_s_change_percent")) continue;
    const double gain = Number(changes[i], "tokens_per_s_change_percent");
    if (gain == 0) continue;
    chart.bars.push_back({static_cast<int>(i), gain < 0 ? 1 : 0, std::min(gain, 0.0),
                          std::max(gain, 0.0), "",
                          fmt::format("{}\n{:+.1f} %", changes[i].name, gain)});
  }
  return chart.bars.empty() ? "" : ToHtml(chart);
}

// Days and USD of the training run, where both are known.
std::string DaysAndCost(const std::vector<Row>& rows) {
  PointsChart chart{
      .title = "Days and cost of the training run",
      .note = "Less is better in both.",
      .x = {.label = "time (days)"},
      .y = {.label = "cost of the GPUs (USD)"},
      .series = {{"as given", SeriesStyle::kPoints, 0}, {"changed", SeriesStyle::kPoints, 1}},
      .points = {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& cost = rows[i].json->at("cost");
    if (!cost.contains("run") || !cost.at("run").contains("cost_usd")) continue;
    const auto days = cost.at("run").at("days").get<double>();
    const auto usd = cost.at("run").at("cost_usd").get<double>();
    chart.points.push_back({i == 0 ? 0 : 1, days, usd,
                            fmt::format("{}\n{:.2f} days\n{} USD", rows[i].name, days,
                                        DecimalText(cost.at("run").at("cost_usd"), 0))});
  }
  return chart.points.empty() ? "" : ToHtml(chart);
}

std::string Parts(const std::vector<Row>& rows) {
  BarsChart chart =
      EmptyChart(rows, "The steps by parts",
                 "Of the device that is busiest; exchanges count where nothing hides them.",
                 {.label = "time (ms)", .min = 0});
  std::vector<const Json*> breakdowns;
  for (const Row& row : rows) breakdowns.push_back(&row.json->at("breakdown_ms"));
  AddBreakdowns(breakdowns, chart);
  return ToHtml(chart);
}

// The stage whose memory is fullest.
const Json& FullestStage(const Row& row) {
  const Json& stages = row.json->at("memory");
  const auto share = [](const Json& stage) {
    return stage.at("peak").get<double>() / stage.at("usable").get<double>();
  };
  return *std::max_element(stages.begin(), stages.end(),
                           [&](const Json& a, const Json& b) { return share(a) < share(b); });
}

std::string Memory(const std::vector<Row>& rows) {
  BarsChart chart = EmptyChart(rows, "Memory of the fullest device",
                               "The line is what it may use: its memory less the margin.",
                               {.label = "memory (GiB)", .min = 0});
  chart.series = {{"usable", SeriesStyle::kLimit, kGreyColour}, {"peak", SeriesStyle::kBar, 2}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& stage = FullestStage(rows[i]);
    const auto peak = stage.at("peak").get<double>(), usable = stage.at("usable").get<double>();
    const auto row = static_cast<int>(i);
    chart.bars.push_back({row, 1, 0, peak, "",
                          fmt::format("{}\nstage {}: {:.2f} of {:.2f} GiB", rows[i].name,
                                      NumberText(stage.at("stage")), peak, usable)});
    chart.bars.push_back({row, 0, 0, usable});
  }
  return ToHtml(chart);
}

std::string PercentOf(const Row& row, const char* key) {
  return row.json->contains(key) ? fmt::format("{:+.1f}", Number(row, key)) : "";
}

std::vector<std::string> CellsOf(const std::vector<Row>& rows, size_t i) {
  const Row& row = rows[i];
  std::vector<std::string> cells = {fmt::format("{}", i), row.name};
  constexpr size_t kCells = 10;
  if (!row.has_step) {
    cells.resize(kCells);
    cells.back() = row.json->contains("refusal") ? "refused" : "no";
    return cells;
  }
  const Json& cost = row.json->at("cost");
  const Json none;
  const Json& run = cost.contains("run") ? cost.at("run") : none;
  const auto of_run = [&](const char* key, int decimals) {
    return run.contains(key) ? DecimalText(run.at(key), decimals) : std::string();
  };
  cells.insert(
      cells.end(),
      {NumberText(row.json->at("gpus")), DecimalText(row.json->at("step_time_ms"), 1),
       PercentOf(row, "step_time_change_percent"), DecimalText(row.json->at("tokens_per_s"), 0),
       of_run("days", 2), of_run("cost_usd", 0), DecimalText(row.json->at("peak_memory_gib"), 1),
       Fits(row) ? "yes" : "no"});
  return cells;
}

std::string Table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (size_t i = 0; i < rows.size(); ++i) cells.push_back(CellsOf(rows, i));
  return HtmlCards({"no.", "change", "GPUs", "step (ms)", "more (%)", "tokens/s", "days",
                    "GPUs (USD)", "memory (GiB)", "fits"},
                   cells, CardCells::kNumbersFromThird);
}

std::string Reasons(const std::vector<Row>& rows) {
  std::string html;
  for (const Row& row : rows) {
    if (!row.json->contains("why")) continue;
    html +=
        "<li>" + EscapeXml(row.name + ": " + row.json->at("why").get<std::string>()) + "</li>\n";
  }
  return html.empty() ? "" : "<h2>Why</h2>\n<ul>\n" + html + "</ul>\n";
}

}  // namespace

std::string WhatIfSections(const Json& answer) {
  const std::vector<Row> rows = RowsOf(answer), drawn = Drawn(rows);
  std::string html = Table(rows) + Reasons(rows) + "<h2>Charts</h2>\n";
  if (drawn.empty()) return html + "<p>No plan fits.</p>\n";
  const bool has_base = !drawn[0].json->contains("changes");
  html += StepTimes(drawn) + (has_base && drawn.size() > 1 ? Gains(drawn) : "") +
          (has_base ? DaysAndCost(drawn) : "") + Parts(drawn) + Memory(drawn);
  return html;
}

}  // namespace stagecraft
