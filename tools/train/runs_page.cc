#include "tools/train/runs_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "costmodel/units.h"
#include "sim/job/history.h"
#include "sim/job/history_output.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/commas.h"
#include "tools/train/run_time_unit.h"

namespace stagecraft {
namespace {

constexpr int kTimeColour = 0, kLostColour = 3;

std::vector<std::string> TableRow(const std::string& what, const RunQuantiles& quantiles,
                                  double unit, int decimals) {
  return {what, WithCommas(quantiles.mean / unit, decimals),
          WithCommas(quantiles.p5 / unit, decimals), WithCommas(quantiles.p50 / unit, decimals),
          WithCommas(quantiles.p95 / unit, decimals)};
}

// The time to finish of the mean run and of those at three quantiles.
BarsChart FinishChart(const RunsSummary& summary, const TimeUnit& unit) {
  BarsChart chart{.title = "Time to finish",
                  .note = "5 %, half and 95 % of the histories take at most this long.",
                  .x = {.label = fmt::format("time to finish ({})", unit.name), .min = 0},
                  .row_label = "",
                  .rows = {},
                  .series = {{"time to finish", SeriesStyle::kBar, kTimeColour}},
                  .bars = {}};
  const auto add = [&](const char* name, double seconds) {
    const int row = static_cast<int>(chart.rows.size());
    chart.rows.push_back(name);
    chart.bars.push_back({row, 0, 0, seconds / unit.seconds, "",
                          fmt::format("{}: {:.3f} {}", name, seconds / unit.seconds, unit.name)});
  };
  add("5 %", summary.time_s.p5);
  add("half", summary.time_s.p50);
  add("mean", summary.time_s.mean);
  add("95 %", summary.time_s.p95);
  return chart;
}

// The mean GPU-hours lost to each cause, and what 95 % of the histories do not exceed.
BarsChart LostChart(const RunsSummary& summary) {
  BarsChart chart{.title = "Lost GPU-hours by cause",
                  .note = "Bars are means; 95 % of the histories lose no more than the lines say.",
                  .x = {.label = "lost time (GPU-hours)"},
                  .row_label = "",
                  .rows = {},
                  .series = {{"mean", SeriesStyle::kBar, kLostColour},
                             {"95 % of the histories", SeriesStyle::kLimit, kGreyColour}},
                  .bars = {}};
  for (int kind = 0; kind < kPhaseKinds; ++kind) {
    const RunQuantiles& lost = summary.lost_gpu_hours[static_cast<size_t>(kind)];
    if (lost.mean == 0 && lost.p95 == 0) continue;
    const int row = static_cast<int>(chart.rows.size());
    const char* cause = CauseOf(static_cast<PhaseKind>(kind));
    const std::string tip =
        fmt::format("{}: {:.4g} GPU-hours on average; 5 %: {:.4g}, half: {:.4g}, 95 %: {:.4g}",
                    cause, lost.mean, lost.p5, lost.p50, lost.p95);
    chart.rows.push_back(cause);
    chart.bars.push_back({row, 0, std::min(lost.mean, 0.0), std::max(lost.mean, 0.0), "", tip});
    chart.bars.push_back({row, 1, 0, lost.p95, "", tip});
  }
  return chart;
}

std::string Table(const RunsSummary& summary, const TimeUnit& unit) {
  constexpr double kPercent = 100;
  std::vector<std::vector<std::string>> rows;
  rows.push_back(
      TableRow(fmt::format("time to finish ({})", unit.name), summary.time_s, unit.seconds, 3));
  rows.push_back(TableRow("useful time (%)", summary.goodput, 1 / kPercent, 2));
  rows.push_back(TableRow("failures", summary.failures, 1, 2));
  for (int kind = 0; kind < kPhaseKinds; ++kind) {
    const RunQuantiles& lost = summary.lost_gpu_hours[static_cast<size_t>(kind)];
    if (lost.mean == 0 && lost.p95 == 0) continue;
    rows.push_back(TableRow(
        fmt::format("GPU-hours lost to {}", CauseOf(static_cast<PhaseKind>(kind))), lost, 1, 1));
  }
  return HtmlCards({"what", "mean", "5 %", "half", "95 %"}, rows, CardCells::kNumbersFromSecond);
}

}  // namespace

std::string RunsPage(const PlannedJob& job, const TrainRequest& request,
                     const TrainAnswer& answer) {
  const RunsSummary& summary = *answer.summary;
  const TimeUnit unit = UnitFor(Duration::Seconds(summary.time_s.p95));
  std::string html = fmt::format("<h1>{} on {}</h1>\n", EscapeXml(job.workload.name),
                                 EscapeXml(job.cluster.name()));
  html += fmt::format("<p>{} histories of {} steps, seed {}.</p>\n",
                      WithCommas(std::to_string(summary.runs)),
                      WithCommas(std::to_string(request.steps)), request.seed);
  html += ToHtml(FinishChart(summary, unit));
  const BarsChart lost = LostChart(summary);
  html += lost.rows.empty() ? "<p>No time is lost.</p>\n" : ToHtml(lost);
  html += "<h2>Quantiles</h2>\n" + Table(summary, unit);
  return HtmlPage(fmt::format("Training {} on {}", job.workload.name, job.cluster.name()), html,
                  Charts());
}

}  // namespace stagecraft
