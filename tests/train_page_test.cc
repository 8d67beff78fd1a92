// Opens the page of `train --report` in a browser without a window, beside the JSON report of the
// same run: axes, spans, marks, bands, tips, and the width of a phone. Skipped if no Chromium is
// installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"
#include "tests/page_in_browser.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;

constexpr double kHour = 3600e9;  // ns

// What a script sees of a chart, and how it points at one.
constexpr const char* kFunctions = R"(
const figures = [...page.querySelectorAll('figure.chart')];
const chartOf = (title) => view.Chart.getChart(
    figures.find((figure) => figure.querySelector('figcaption').textContent === title)
        .querySelector('canvas'));
const timeCharts = ['Step time', 'Idle share of the pipeline', 'Devices at work'];
// The names and the numbers of the points of a chart's marks.
function marksOf(chart) {
  return chart.spec.series.flatMap((series, number) => series.style === 'mark'
      ? [[series.name, chart.data.datasets[number].data.length]] : []);
}
// The tip of what a pointer at this place of the chart is on; "" if there is nothing.
function tipAt(chart, x, y) {
  const found = chart.getElementsAtEventForMode(
      {type: 'mousemove', x, y, native: true}, 'part', {}, true);
  if (found.length === 0) return '';
  chart.tooltip.setActiveElements(found, {x, y});
  chart.update('none');
  return chart.tooltip.body.flatMap((body) => body.lines).join('\n').replaceAll('\n  ', ' ');
}
function textsOf(chart) {
  return Object.values(chart.scales).map(
      (scale) => [scale.options.title.text, scale.ticks.map((tick) => String(tick.label))]);
}
)";

class TrainPageTest : public PageTest {
 protected:
  // Trains with these flags and returns the JSON report; the page is $T/page.html.
  json Train(const std::string& flags) const {
    const Result result =
        RunLine(Expand("train --micro-batch 2 --cost-model analytical --report $T/page.html --json "
                       "--quiet " +
                       flags));
    EXPECT_EQ(result.code, kExitOk) << result.err;
    return json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }

  // A run of about 24 minutes on two replicas: a device is slow for a while, a node fails and
  // returns, the network is pruned and its layers move, and there are checkpoints.
  json TrainThroughFailures() const {
    Write("events.yaml",
          "events:\n"
          "  - {at_s: 100, device: node1/gpu2, what: SLOW, rate: 0.6}\n"
          "  - {at_s: 200, device: node1/gpu2, what: RECOVER}\n"
          "  - {at_step: 1000, node: node1, what: FAIL}\n"
          "  - {at_s: 900, node: node1, what: RECOVER}\n"
          "  - {at_s: 1000000, node: node0, what: FAIL}\n");
    Write("dynamics.yaml",
          "pruning: {final_sparsity: 0.9, first_step: 500, end_step: 1500, interval: 500, "
          "width_spread: 0.5}\n");
    return Train(
        "--model megatron:24x1024x16 --cluster a100-sxm4-40gb:2x4 --pp 4 --global-batch 64 --seq "
        "2048 --steps 2000 --dynamics $T/dynamics.yaml --events $T/events.yaml --balance partition "
        "--checkpoint 300 --storage-bandwidth 5");
  }

  // As RunInPage(); the script may use kFunctions.
  json Run(const std::string& script) const { return RunInPage("page.html", kFunctions + script); }
};

// Returns whether a text of the chart is `text`.
bool Has(const json& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

std::vector<json> PhasesOf(const json& report, const std::string& kind) {
  std::vector<json> phases;
  for (const json& phase : report["history"]["phases"]) {
    if (phase["kind"] == kind) phases.push_back(phase);
  }
  return phases;
}

TEST_F(TrainPageTest, EveryChartHasAxesWithUnits) {
  TrainThroughFailures();
  const json seen = Run(R"(
    return figures.map((figure) => {
      const chart = view.Chart.getChart(figure.querySelector('canvas'));
      return [figure.querySelector('figcaption').textContent, textsOf(chart),
              chart.legend.legendItems.length > 0];
    });)");
  const std::vector<std::vector<std::string>> want = {
      {"Step time", "minutes since the start", "ms per step"},
      {"Idle share of the pipeline", "minutes since the start", "% of the time"},
      {"Devices at work", "minutes since the start", "devices"},
      {"Layers of the stages", "minutes since the start", "stage"},
      {"Lost time by cause", "lost time (minutes)", ""}};
  ASSERT_EQ(seen.size(), want.size()) << seen;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(seen[i][0], want[i][0]);
    EXPECT_EQ(seen[i][1][0][0], want[i][1]);
    EXPECT_EQ(seen[i][1][1][0], want[i][2]);
    EXPECT_GT(seen[i][1][0][1].size(), 2u) << seen[i];  // ticks
    EXPECT_EQ(seen[i][2], true);
  }
  EXPECT_TRUE(Has(seen[0][1][1][1], "600"));  // ms
  EXPECT_TRUE(Has(seen[1][1][1][1], "100"));  // %
  EXPECT_TRUE(Has(seen[2][1][1][1], "8"));    // devices
  EXPECT_EQ(seen[3][1][1][1], json({"0", "1", "2", "3"}));
}

TEST_F(TrainPageTest, AreasAreThePhasesOfTheHistory) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    return ['Step time', 'Devices at work'].map((title) =>
        chartOf(title).data.datasets[0].data.map((point) => [point.x, point.y]));)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  const json& phases = report["history"]["phases"];
  ASSERT_GT(phases.size(), 10u);
  // A point for the beginning of each phase, and one for the end of the last.
  ASSERT_EQ(seen[0].size(), phases.size() + 1);
  ASSERT_EQ(seen[1].size(), phases.size() + 1);
  for (size_t i = 0; i < phases.size(); ++i) {
    const double minutes = phases[i]["start_ns"].get<double>() / kHour * 60;
    EXPECT_NEAR(seen[0][i][0].get<double>(), minutes, 1e-5 * (1 + minutes)) << phases[i];
    const double step_ms = phases[i]["step_time_ns"].get<double>() / 1e6;
    EXPECT_NEAR(seen[0][i][1].get<double>(), step_ms, 1e-5 * (1 + step_ms)) << phases[i];
    const bool computes = phases[i]["step_time_ns"] > 0;
    EXPECT_EQ(seen[1][i][1].get<double>(),
              computes ? phases[i]["working_devices"].get<double>() : 0)
        << phases[i];
  }
  const double end = report["history"]["time_ns"].get<double>() / kHour * 60;
  EXPECT_NEAR(seen[0].back()[0].get<double>(), end, 1e-5 * end);
}

TEST_F(TrainPageTest, AllChartsMarkTheSameEventsAndTheLegendCountsThem) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    return [timeCharts.map((title) => marksOf(chartOf(title))),
            chartOf('Step time').legend.legendItems.map((item) => item.text),
            page.querySelectorAll('.events tr').length - 1];)");
  ASSERT_EQ(seen.size(), 3u) << seen;
  const size_t failures = report["history"]["failures"];
  const size_t checkpoints = PhasesOf(report, "CHECKPOINT").size();
  const size_t changes = report["states"].size() - 1;
  ASSERT_EQ(failures, 1u);
  ASSERT_EQ(checkpoints, 4u);
  ASSERT_GE(changes, 1u);
  const std::map<std::string, size_t> kinds = {
      {"failure", failures},
      {"goes on", failures},
      {"slow or missing parts", 2},        // the event, and the steps that it slows
      {"parts return, join or leave", 3},  // two events, and steps at full speed
      {"the network changes", changes},
      {"rebalancing", PhasesOf(report, "REBALANCING").size()},
      {"checkpoint", checkpoints}};
  size_t events = 0;
  for (const auto& [name, count] : kinds) {
    EXPECT_TRUE(Has(seen[1], name + " (" + std::to_string(count) + ")")) << name << seen[1];
    events += count;
  }
  EXPECT_EQ(seen[2], events);  // in the list
  for (int chart = 0; chart < 3; ++chart) {
    EXPECT_EQ(seen[0][chart].size(), kinds.size());
    EXPECT_EQ(seen[0][chart], seen[0][0]);
  }
}

TEST_F(TrainPageTest, BandsShowTheLayersOfEachStageOverTime) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('Layers of the stages');
    return chart.data.datasets.flatMap((set) => set.data.map(
        (bar) => [bar.y, Number(bar.text), set.label]));)");
  std::vector<std::pair<int, int>> want, drawn;
  for (int stage = 0; stage < 4; ++stage) {
    int last = -1;
    for (const json& state : report["states"]) {
      const int layers = state["stage_layers"][stage];
      if (layers != last) want.emplace_back(stage, layers);
      last = layers;
    }
  }
  EXPECT_GT(want.size(), 4u);  // some layers move
  for (const json& bar : seen) {
    drawn.emplace_back(bar[0], bar[1]);
    EXPECT_EQ(bar[2], std::to_string(bar[1].get<int>()) + " layers");
  }
  std::sort(drawn.begin(), drawn.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(drawn, want);
}

TEST_F(TrainPageTest, ManyStagesAreASentence) {
  Train(
      "--model megatron:40x512x8 --cluster h100-sxm:5x8 --pp 40 --global-batch 80 --seq 512 "
      "--steps 10");
  const json seen = Run("return [figures.length, page.body.textContent.includes('40 stages')];");
  EXPECT_EQ(seen, json({3, true})) << seen;  // and no bars, since no time is lost
}

TEST_F(TrainPageTest, BarsShowWhatTimeWasLostTo) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('Lost time by cause');
    return [chart.data.datasets[0].data.map((bar) => bar.x[1] + bar.x[0]), chart.spec.rows,
            chart.getDatasetMeta(0).data.map((bar) => tipAt(chart, (bar.x + bar.base) / 2, bar.y))];)");
  ASSERT_EQ(seen.size(), 3u) << seen;
  std::vector<double> minutes;
  for (const json& loss : report["history"]["losses"]) {
    const double time = loss["time_ns"].get<double>() / kHour * 60;
    if (time != 0) minutes.push_back(time);
  }
  ASSERT_EQ(seen[0].size(), minutes.size());
  for (size_t i = 0; i < minutes.size(); ++i) {
    EXPECT_NEAR(seen[0][i].get<double>(), minutes[i], 1e-5 * (1 + minutes[i]));
    char value[80];
    std::snprintf(value, sizeof value, ": %.4g minutes, ", minutes[i]);
    // A bar that is too thin for a pointer has no tip.
    if (minutes[i] < 0.05) continue;
    EXPECT_NE(seen[2][i].get<std::string>().find(value), std::string::npos) << seen[2][i] << value;
  }
  for (const char* cause : {"slower steps", "waiting", "redone"}) {
    EXPECT_TRUE(Has(seen[1], cause)) << cause;
  }
}

TEST_F(TrainPageTest, TipsSayWhatPhasesMarksAndBandsAre) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('Step time'), plan = chartOf('Layers of the stages');
    const marks = chart.spec.series.findIndex((series) => series.name.startsWith('slow or'));
    const mark = chart.getDatasetMeta(marks).data[0];
    const phases = chart.getDatasetMeta(0).data;
    const middle = (phases[4].x + phases[5].x) / 2;
    const band = plan.getDatasetMeta(0).data[0];
    const {y: stage, text: layers} = plan.data.datasets[0].data[0];
    return [tipAt(chart, mark.x + 1, mark.y), tipAt(chart, middle, phases[4].y + 30),
            tipAt(plan, (band.x + band.base) / 2, band.y), tipAt(plan, 1, 1),
            `stage ${stage}: ${layers} layer`];)");
  ASSERT_EQ(seen.size(), 5u) << seen;
  const auto slow_from = report["history"]["phases"][1]["first_step"].get<int64_t>();
  EXPECT_EQ(seen[0], "1.667 min: steps from " + std::to_string(slow_from) +
                         " on run with 1 device slow\n1.667 min: node1/gpu2 slowed to 0.6 of its "
                         "speed");
  const json& phase = report["history"]["phases"][4];
  ASSERT_EQ(phase["kind"], "COMPUTING");
  char words[200];
  const double start = phase["start_ns"], length = phase["length_ns"];
  std::snprintf(
      words, sizeof words,
      "computing from step %lld: %.3f ms with tp 1 x pp 4 x dp 2, 1f1b\n%.3f min to %.3f min",
      static_cast<long long>(phase["first_step"]), phase["step_time_ns"].get<double>() / 1e6,
      start / kHour * 60, (start + length) / kHour * 60);
  EXPECT_EQ(seen[1], words);
  EXPECT_TRUE(seen[2].get<std::string>().starts_with(seen[4].get<std::string>())) << seen;
  EXPECT_EQ(seen[3], "");
}

TEST_F(TrainPageTest, ThePageFitsAPhoneAndNeedsNothingElse) {
  TrainThroughFailures();
  const json seen = Run(R"(
    const rights = [...page.querySelectorAll('body *')].map(
        (part) => part.getBoundingClientRect().right);
    const plots = figures.map(
        (figure) => view.Chart.getChart(figure.querySelector('canvas')).chartArea.width);
    return [page.documentElement.scrollWidth, Math.max(...rights), Math.min(...plots),
            page.querySelectorAll('[src], [href], link').length];)");
  ASSERT_EQ(seen.size(), 4u) << seen;
  EXPECT_LE(seen[0], kPhoneWidth);
  EXPECT_LE(seen[1], kPhoneWidth);
  EXPECT_GT(seen[2], 0.5 * kPhoneWidth);  // of the plots, without the labels beside them
  EXPECT_EQ(seen[3], 0);
}

TEST_F(TrainPageTest, NamesAndReasonsAreNoMarkup) {
  const std::string name = "<img src=x onerror=parent.hit=1><script>parent.hit=1</script>'&amp;";
  Write("cluster.yaml",
        "name: \"" + name + "\"\nnode_groups:\n  - {node_type: dgx-h100, count: 1}\n");
  Write("events.yaml",
        "events:\n  - {at_s: 1, link: \"node0/gpu0 -> node0/nvswitch\", what: SLOW, rate: 0.5}\n");
  Train(
      "--model megatron:16x512x8 --cluster $T/cluster.yaml --pp 8 --global-batch 32 --seq 512 "
      "--steps 1000 --events $T/events.yaml");
  const json seen = Run(R"(
    const tips = chartOf('Step time').data.datasets.flatMap((set) => set.data).map(
        (point) => point.tip || '');
    return [page.querySelector('h1').textContent, page.title, tips,
            page.querySelectorAll('img').length, window.hit === undefined];)");
  ASSERT_EQ(seen.size(), 5u) << seen;
  EXPECT_TRUE(seen[0].get<std::string>().ends_with(" on " + name)) << seen[0];
  EXPECT_TRUE(seen[1].get<std::string>().ends_with(" on " + name)) << seen[1];
  bool names_link = false;
  for (const json& tip : seen[2]) {
    names_link |= tip.get<std::string>().find("node0/gpu0 -> node0/nvswitch slowed to 0.5") !=
                  std::string::npos;
  }
  EXPECT_TRUE(names_link) << seen[2];
  EXPECT_EQ(seen[3], 0);
  EXPECT_EQ(seen[4], true);
}

}  // namespace
}  // namespace stagecraft::bad_input
