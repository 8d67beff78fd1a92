#include "tools/train/train_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "search/training/plan_division.h"
#include "tools/chart/html_page.h"
#include "tools/chart/svg_parts.h"

namespace stagecraft {
namespace {

constexpr int kWidth = 960, kHeight = 230;
constexpr int kPlotWidth = kWidth - kChartLeft - 20;
constexpr int kPlotHeight = kHeight - kChartTop - kChartBottom;
constexpr double kSecondsPerHour = 3600;

// A value that holds from one time to another; gaps are times when nothing is computed.
struct Span {
  double begin = 0, end = 0, value = 0;
  std::string title;
};

// Draws a line of steps over the hours of the run.
std::string SpansChart(const std::string& label, const std::vector<Span>& spans, double hours) {
  double most = 0;
  for (const Span& span : spans) most = std::max(most, span.value);
  if (most <= 0) most = 1;
  const auto x = [&](double at) { return kChartLeft + kPlotWidth * at / hours; };
  const auto y = [&](double value) {
    return kChartTop + kPlotHeight * (1 - value / (1.05 * most));
  };
  std::string svg = SvgBegin(kWidth, kHeight);
  const double step = TickStep(1.05 * most);
  for (double value = 0; value <= 1.05 * most; value += step) {
    svg += SvgLine(kChartLeft, y(value), kChartLeft + kPlotWidth, y(value), "grid");
    svg += SvgText(kChartLeft - 6, y(value) + 4, "end", fmt::format("{:g}", value));
  }
  const double tick = TickStep(hours);
  for (double at = 0; at <= hours * 1.0001; at += tick) {
    svg += SvgText(x(at), kChartTop + kPlotHeight + 16, "middle", fmt::format("{:g}", at));
  }
  svg += SvgText(kChartLeft + kPlotWidth / 2.0, kHeight - 10, "middle", "hours since the start");
  svg += SvgYLabel(kChartTop + kPlotHeight / 2, label);
  for (const Span& span : spans) {
    const double width = std::max(x(span.end) - x(span.begin), 0.4);
    svg += fmt::format(
        "<rect class=\"span\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\"><title>{}</title></rect>\n",
        x(span.begin), y(span.value), width, kChartTop + kPlotHeight - y(span.value),
        SeriesColour(0), EscapeXml(span.title));
  }
  return svg + "</svg>\n";
}

double HoursOf(Duration time) { return time.seconds() / kSecondsPerHour; }

std::vector<Span> SpansOf(const History& history,
                          const std::function<double(const RunPhase&)>& value) {
  std::vector<Span> spans;
  for (const RunPhase& phase : history.phases) {
    if (phase.length <= Duration()) continue;
    const double begin = HoursOf(phase.start);
    std::string title = fmt::format("{} from step {}, {:.3f} h to {:.3f} h", Name(phase.kind),
                                    phase.first_step, begin, HoursOf(phase.start + phase.length));
    if (!phase.reason.empty()) title += ": " + phase.reason;
    spans.push_back({begin, HoursOf(phase.start + phase.length), value(phase), std::move(title)});
  }
  return spans;
}

std::string LostTable(const RunTotals& totals) {
  std::string table =
      "<table>\n" + HtmlRow({"what the time went to", "hours", "share", "GPU-hours"}, "th");
  const auto row = [&](const std::string& name, Duration time) {
    table += HtmlRow({name, fmt::format("{:.3f}", HoursOf(time)),
                      fmt::format("{:.2f} %", 100 * time.seconds() / totals.time.seconds()),
                      fmt::format("{:.1f}", totals.GpuHours(time))},
                     "td");
  };
  row("useful steps", totals.useful);
  for (int kind = 0; kind < kPhaseKinds; ++kind) {
    const auto cause = static_cast<PhaseKind>(kind);
    if (totals.Lost(cause) == Duration()) continue;
    row(cause == PhaseKind::kComputing ? "slower steps" : Name(cause), totals.Lost(cause));
  }
  return table + "</table>\n";
}

}  // namespace

std::string TrainPage(const PlannedJob& job, const TrainRequest& request,
                      const TrainAnswer& answer) {
  const History& history = *answer.history;
  const RunTotals& totals = history.totals;
  const double hours = std::max(HoursOf(totals.time), 1e-9);
  std::string body = fmt::format("<h1>{} on {}</h1>\n", EscapeXml(job.workload.name),
                                 EscapeXml(job.cluster.name()));
  body += fmt::format(
      "<p>{} of {} steps in {:.3f} hours; {:.2f} % of the time is useful; {} failures, {} "
      "checkpoints, {} steps computed again.</p>\n",
      totals.steps, request.steps, HoursOf(totals.time), 100 * totals.Goodput(), totals.failures,
      totals.checkpoints, totals.steps_redone);
  if (!history.stopped.empty()) body += "<p>" + EscapeXml(history.stopped) + "</p>\n";
  body += "<h2>Step time</h2>\n" +
          SpansChart("ms",
                     SpansOf(history,
                             [](const RunPhase& phase) { return phase.step_time.seconds() * 1e3; }),
                     hours);
  body += "<h2>Idle share of the pipeline</h2>\n" +
          SpansChart("%",
                     SpansOf(history,
                             [&](const RunPhase& phase) {
                               if (phase.step_time == Duration()) return 100.0;
                               const TrainedState& state = StateAt(answer.states, phase.first_step);
                               return 100 * state.evaluation.profile.bubble_fraction;
                             }),
                     hours);
  body += "<h2>Devices at work</h2>\n" +
          SpansChart("devices",
                     SpansOf(history,
                             [](const RunPhase& phase) {
                               return phase.step_time == Duration()
                                          ? 0.0
                                          : static_cast<double>(phase.working_devices);
                             }),
                     hours);
  body += "<h2>Where the time went</h2>\n" + LostTable(totals);
  body += "<h2>The network and its plans</h2>\n<table>\n" +
          HtmlRow({"from step", "network", "layers of stages", "step time", "idle", "why"}, "th");
  for (const TrainedState& state : answer.states) {
    std::string layers;
    for (const int count : DivisionOf(state.plan)) {
      layers += (layers.empty() ? "" : ", ") + fmt::format("{}", count);
    }
    body += HtmlRow(
        {fmt::format("{}", state.step), state.change.empty() ? "as given" : state.change, layers,
         fmt::format("{:.3f} ms", state.evaluation.step_time.seconds() * 1e3),
         fmt::format("{:.1f} %", 100 * state.evaluation.profile.bubble_fraction), state.decision},
        "td");
  }
  body += "</table>\n";
  return HtmlPage(fmt::format("Training {} on {}", job.workload.name, job.cluster.name()), body);
}

}  // namespace stagecraft
