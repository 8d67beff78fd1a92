#include "tools/train/train_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "sim/job/history.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/chart/time_chart.h"
#include "tools/report/commas.h"
#include "tools/train/run_time_unit.h"
#include "tools/train/train_marks.h"

namespace stagecraft {
namespace {

constexpr size_t kMostListed = 200;  // marks in the list
constexpr size_t kMostOpen = 30;     // marks of a list that is shown at first
constexpr double kLeastLost = 0.1;   // below it, lost time is drawn in a smaller unit

constexpr const char* kStyle = R"(
.lost td { white-space: nowrap; }
@media (min-width: 64rem) {
  .beside { display: grid; grid-template-columns: minmax(0, 38rem) auto; gap: 2rem; }
  .beside table { align-self: start; }
}
@media (max-width: 40rem) { .lost :is(th, td) { padding: 0.15rem 0.25rem; font-size: 12px; } }
)";

constexpr int kColours[kRunMarkKinds] = {3, 2, 1, 4, 6, 5, 7};  // of the page, by mark
constexpr int kLostColour = 3;

class Page {
 public:
  explicit Page(const ShownRun& run)
      : run_(run),
        history_(run.history),
        totals_(history_.totals),
        unit_(UnitFor(totals_.time)),
        marks_(run.marks) {
    axis_.label = fmt::format("{} since the start", unit_.name);
    axis_.end = std::max(In(totals_.time), 1e-9);
    for (int kind = 0; kind < kRunMarkKinds; ++kind) {
      axis_.kinds.push_back({Name(static_cast<RunMark::Kind>(kind)), kColours[kind]});
    }
    for (const RunMark& mark : marks_.marks) {
      axis_.marks.push_back({In(mark.at), static_cast<int>(mark.kind),
                             fmt::format("{}: {}", At(mark.at), mark.text)});
    }
  }

  std::string Html() const {
    const std::string title = fmt::format("Training {} on {}", run_.workload, run_.cluster);
    HtmlExtras extras = Charts();
    extras.style += kStyle;
    return HtmlPage(
        title,
        Head() + StepTime() + IdleShare() + Devices() + Plans() + Lost() + Events() + States(),
        extras);
  }

 private:
  double In(Duration time) const { return time.seconds() / unit_.seconds; }
  std::string At(Duration time) const { return fmt::format("{:.3f} {}", In(time), unit_.symbol); }

  std::string Head() const;
  std::string StepTime() const;
  std::string IdleShare() const;
  std::string Devices() const;
  std::string Plans() const;
  std::string Lost() const;
  std::string Events() const;
  std::string States() const;

  // Fills the chart with a value of phases, which `words` put into words.
  std::string Filled(TimeChart chart, const std::function<double(const RunPhase&)>& value,
                     const std::function<std::string(const RunPhase&)>& words) const;
  std::vector<TimeBand> Bands() const;

  const ShownRun& run_;
  const History& history_;
  const RunTotals& totals_;
  const TimeUnit unit_;
  const RunMarks& marks_;
  TimeAxis axis_;
};

bool Computes(const RunPhase& phase) { return phase.step_time > Duration(); }

std::string Page::Head() const {
  std::string html =
      fmt::format("<h1>{} on {}</h1>\n", EscapeXml(run_.workload), EscapeXml(run_.cluster));
  html += fmt::format(
      "<p>{} of {} steps in {:.3f} {}; {:.2f} % of the time is useful; failures: {}, "
      "checkpoints: {}, steps computed again: {}.</p>\n",
      WithCommas(std::to_string(totals_.steps)), WithCommas(std::to_string(run_.steps)),
      In(totals_.time), unit_.name, 100 * totals_.Goodput(), totals_.failures, totals_.checkpoints,
      totals_.steps_redone);
  if (!history_.stopped.empty()) html += "<p>" + EscapeXml(history_.stopped) + "</p>\n";
  if (marks_.checkpoints_not_marked > 0) {
    html += fmt::format("<p>The {} checkpoints are too many to be marked.</p>\n",
                        marks_.checkpoints_not_marked);
  }
  return html;
}

std::string Page::Filled(TimeChart chart, const std::function<double(const RunPhase&)>& value,
                         const std::function<std::string(const RunPhase&)>& words) const {
  for (const RunPhase& phase : history_.phases) {
    if (phase.length <= Duration()) continue;
    const Duration end = phase.start + phase.length;
    std::string title = fmt::format("{} from step {}", Name(phase.kind), phase.first_step);
    const std::string said = words(phase);
    if (!said.empty()) title += ": " + said;
    title += fmt::format("\n{} to {}", At(phase.start), At(end));
    if (!phase.reason.empty()) title += "\n" + phase.reason;
    chart.spans.push_back({In(phase.start), In(end), value(phase), std::move(title)});
  }
  return ToHtml(ChartOf(chart, axis_));
}

std::string Page::StepTime() const {
  Duration most;
  for (const RunPhase& phase : history_.phases) most = std::max(most, phase.step_time);
  const bool in_seconds = most.seconds() >= 2;
  const auto value = [&](const RunPhase& phase) {
    return in_seconds ? phase.step_time.seconds() : phase.step_time.ms();
  };
  return Filled({"Step time", "", in_seconds ? "s per step" : "ms per step", {}}, value,
                [](const RunPhase& phase) {
                  if (!Computes(phase)) return std::string();
                  std::string words = fmt::format("{:.3f} ms", phase.step_time.ms());
                  if (phase.plan != nullptr) words += " with " + phase.plan->words;
                  return words;
                });
}

std::string Page::IdleShare() const {
  const auto value = [&](const RunPhase& phase) {
    if (!Computes(phase)) return 100.0;
    return 100 * phase.idle_share;
  };
  return Filled({"Idle share of the pipeline", "", "% of the time", {}}, value,
                [&](const RunPhase& phase) { return fmt::format("{:.1f} % idle", value(phase)); });
}

std::string Page::Devices() const {
  const auto value = [](const RunPhase& phase) {
    return Computes(phase) ? static_cast<double>(phase.working_devices) : 0.0;
  };
  return Filled({"Devices at work", "", "devices", {}}, value, [&](const RunPhase& phase) {
    return fmt::format("{:g} of {} devices", value(phase), totals_.devices);
  });
}

// Returns a band for each stage and each time in which the number of its layers stays.
std::vector<TimeBand> Page::Bands() const {
  std::vector<TimeBand> bands;
  std::vector<size_t> open;  // by stage: the number of the band that may go on
  const RunPlan* plan = nullptr;
  for (const RunPhase& phase : history_.phases) {
    if (phase.length <= Duration()) continue;
    // While nothing is computed, the plan is that of the steps before.
    const bool is_other = Computes(phase) && !AreEqual(plan, phase.plan.get());
    if (is_other) plan = phase.plan.get();
    if (plan == nullptr) continue;
    std::vector<size_t> next;
    for (size_t stage = 0; stage < plan->layers.size(); ++stage) {
      const int layers = plan->layers[stage];
      const bool goes_on =
          !is_other || (stage < open.size() && bands[open[stage]].value == layers &&
                        bands[open[stage]].title == plan->words);
      next.push_back(goes_on ? open[stage] : bands.size());
      if (!goes_on) {
        bands.push_back({static_cast<int>(stage), In(phase.start), 0, layers, plan->words});
      }
      bands[next.back()].end = In(phase.start + phase.length);
    }
    open = std::move(next);
  }
  for (TimeBand& band : bands) {
    band.title = fmt::format("stage {}: {} layer{}\n{}\n{:.3f} {} to {:.3f} {}", band.row,
                             band.value, band.value == 1 ? "" : "s", band.title, band.begin,
                             unit_.symbol, band.end, unit_.symbol);
  }
  return bands;
}

std::string Page::Plans() const {
  TimeBands chart{"Layers of the stages", "Numbers are layers.", "stage", "layers", 0, {}};
  for (const RunPhase& phase : history_.phases) {
    if (phase.plan == nullptr) continue;
    chart.rows = std::max(chart.rows, static_cast<int>(phase.plan->layers.size()));
  }
  if (chart.rows > kMostBandRows) {
    return fmt::format(
        "<p>The plan has {} stages, too many to be drawn; the last table has the layers of "
        "each.</p>\n",
        chart.rows);
  }
  chart.bands = Bands();
  return ToHtml(ChartOf(chart, axis_));
}

std::string Page::Lost() const {
  std::string table = "<table class=\"lost\">\n" +
                      HtmlRow({"what the time went to", unit_.name, "share", "GPU-hours"}, "th");
  Duration most;
  const double seconds = std::max(totals_.time.seconds(), 1e-9);
  const auto row = [&](const std::string& name, Duration time) {
    table += HtmlRow({name, fmt::format("{:.3f}", In(time)),
                      fmt::format("{:.2f} %", 100 * time.seconds() / seconds),
                      WithCommas(totals_.GpuHours(time), 1)},
                     "td");
  };
  row("useful steps", totals_.useful);
  for (const Duration lost : totals_.lost) most = std::max({most, lost, Duration() - lost});
  // The bars have the unit of the table unless they would be too short.
  const TimeUnit unit = In(most) >= kLeastLost ? unit_ : UnitFor(most);
  BarsChart chart{.title = "Lost time by cause",
                  .x = {.label = fmt::format("lost time ({})", unit.name)},
                  .row_label = "",
                  .rows = {},
                  .series = {{"lost time", SeriesStyle::kBar, kLostColour}},
                  .bars = {}};
  for (int kind = 0; kind < kPhaseKinds; ++kind) {
    const auto cause = static_cast<PhaseKind>(kind);
    const Duration time = totals_.Lost(cause);
    if (time == Duration()) continue;
    row(CauseOf(cause), time);
    const double value = time.seconds() / unit.seconds;
    chart.bars.push_back(
        {static_cast<int>(chart.rows.size()), 0, std::min(value, 0.0), std::max(value, 0.0), "",
         fmt::format("{}: {:.4g} {}, {:.2f} % of the time, {:.1f} GPU-hours", CauseOf(cause), value,
                     unit.name, 100 * time.seconds() / seconds, totals_.GpuHours(time))});
    chart.rows.push_back(CauseOf(cause));
  }
  table += "</table>\n";
  if (chart.rows.empty())
    return "<h2>Where the time went</h2>\n" + table + "<p>No time was lost.</p>\n";
  return "<h2>Where the time went</h2>\n<div class=\"beside\">\n" + ToHtml(chart) + table +
         "</div>\n";
}

std::string Page::Events() const {
  if (marks_.marks.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const RunMark& mark : marks_.marks) {
    if (rows.size() == kMostListed) break;
    rows.push_back({At(mark.at), Name(mark.kind), mark.text});
  }
  std::string html = fmt::format(
      "<h2>What happened</h2>\n<details class=\"events\"{}>\n<summary>What is marked</summary>\n",
      marks_.marks.size() <= kMostOpen ? " open=\"\"" : "");
  html += HtmlCards({"time", "what", "in words"}, rows) + "</details>\n";
  if (marks_.marks.size() > kMostListed) {
    html += fmt::format("<p>… and {} more; --history writes them all.</p>\n",
                        marks_.marks.size() - kMostListed);
  }
  return html;
}

std::string Page::States() const {
  std::vector<std::vector<std::string>> rows;
  for (const ShownState& state : run_.states) {
    std::string layers;
    for (const int count : state.layers) {
      layers += (layers.empty() ? "" : ", ") + std::to_string(count);
    }
    rows.push_back({WithCommas(std::to_string(state.step)),
                    state.change.empty() ? "as given" : state.change, layers,
                    WithCommas(state.step_time.ms(), 3) + " ms",
                    fmt::format("{:.1f} %", 100 * state.idle_share), state.decision});
  }
  return "<h2>The network and its plans</h2>\n<div class=\"states\">\n" +
         HtmlCards({"from step", "network", "layers of stages", "step time", "idle", "why"}, rows) +
         "</div>\n";
}

}  // namespace

std::string TrainPage(const ShownRun& run) { return Page(run).Html(); }

}  // namespace stagecraft
