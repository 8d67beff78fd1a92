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
const charts = [...page.querySelectorAll('.chart.time')];
const chartOf = (label) => charts.find((chart) => chart.getAttribute('aria-label') === label);
function boxes(chart, what) {
  return [...chart.querySelectorAll(what)].map((mark) => {
    const box = mark.getBBox();
    return [box.x, box.y, box.width, box.height];
  });
}
function texts(chart) {
  return [...chart.querySelectorAll('svg text')].map((text) => text.textContent);
}
// Points `across` pixels beside the middle of a mark.
function pointAt(chart, mark, across, kind) {
  const box = mark.getBoundingClientRect();
  chart.querySelector('svg').dispatchEvent(new view.PointerEvent(kind, {
    clientX: box.left + box.width / 2 + across, clientY: box.top + box.height / 2,
    pointerType: 'mouse', bubbles: true}));
  const tip = chart.querySelector('.tip');
  return tip.offsetHeight > 0 ? tip.textContent : '';
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
  const json seen = Run("return charts.map((c) => [c.getAttribute('aria-label'), texts(c)]);");
  const std::vector<std::string> labels = {"ms per step", "% of the time", "devices", "stage",
                                           "minutes lost"};
  ASSERT_EQ(seen.size(), labels.size()) << seen;
  for (size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(seen[i][0], labels[i]);
    EXPECT_TRUE(Has(seen[i][1], labels[i])) << seen[i];
    EXPECT_TRUE(Has(seen[i][1], "0")) << seen[i];  // the first tick, or the first stage
    EXPECT_EQ(Has(seen[i][1], "minutes since the start"), i < 4) << seen[i];
  }
  EXPECT_TRUE(Has(seen[0][1], "600"));  // ms
  EXPECT_TRUE(Has(seen[1][1], "100"));  // %
  EXPECT_TRUE(Has(seen[2][1], "8"));    // devices
  EXPECT_TRUE(Has(seen[3][1], "3"));    // the last stage
}

TEST_F(TrainPageTest, SpansAreThePhasesOfTheHistory) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    return ['ms per step', 'devices'].map((label) => boxes(chartOf(label), '.span'));)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  const json& phases = report["history"]["phases"];
  ASSERT_GT(phases.size(), 10u);
  ASSERT_EQ(seen[0].size(), phases.size());
  ASSERT_EQ(seen[1].size(), phases.size());
  const double left = seen[0][0][0];
  const double width = seen[0].back()[0].get<double>() + seen[0].back()[2].get<double>() - left;
  const double time = report["history"]["time_ns"];
  // The first phase computes on all eight devices.
  const double step_height = seen[0][0][3], first_step = phases[0]["step_time_ns"];
  const double device_height = seen[1][0][3];
  for (size_t i = 0; i < phases.size(); ++i) {
    EXPECT_NEAR((seen[0][i][0].get<double>() - left) / width,
                phases[i]["start_ns"].get<double>() / time, 1e-3)
        << phases[i];
    EXPECT_NEAR(seen[0][i][2].get<double>() / width, phases[i]["length_ns"].get<double>() / time,
                1e-3)
        << phases[i];
    EXPECT_NEAR(seen[0][i][3].get<double>() / step_height,
                phases[i]["step_time_ns"].get<double>() / first_step, 2e-3)
        << phases[i];
    const bool computes = phases[i]["step_time_ns"] > 0;
    EXPECT_NEAR(seen[1][i][3].get<double>() / device_height,
                computes ? phases[i]["working_devices"].get<double>() / 8 : 0, 2e-3)
        << phases[i];
  }
}

TEST_F(TrainPageTest, AllChartsMarkTheSameEventsAndTheLegendCountsThem) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const legend = [...page.querySelectorAll('.marks span')].map((entry) => entry.textContent);
    const marks = charts.slice(0, 4).map((chart) =>
        [...chart.querySelectorAll('.mark')].map((mark) => Number(mark.dataset.count)));
    const shapes = charts.slice(0, 4).map((chart) => chart.querySelectorAll('.mark path').length);
    return [legend.map((text) => text.trim()), marks, shapes,
            page.querySelectorAll('.events tr').length - 1];)");
  ASSERT_EQ(seen.size(), 4u) << seen;
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
  EXPECT_EQ(seen[0].size(), kinds.size()) << seen[0];
  for (const auto& [name, count] : kinds) {
    EXPECT_TRUE(Has(seen[0], name + " (" + std::to_string(count) + ")")) << name << seen[0];
    events += count;
  }
  for (int chart = 0; chart < 4; ++chart) {
    size_t sum = 0;
    for (const json& count : seen[1][chart]) sum += count.get<size_t>();
    EXPECT_EQ(sum, events);
    EXPECT_EQ(seen[1][chart], seen[1][0]);
    EXPECT_EQ(seen[2][chart], seen[1][chart].size());
  }
  EXPECT_EQ(seen[3], events);  // in the list
}

TEST_F(TrainPageTest, BandsShowTheLayersOfEachStageOverTime) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('stage');
    return [[...chart.querySelectorAll('.band')].map((band) => Number(band.dataset.row)),
            [...chart.querySelectorAll('.number')].map((number) => Number(number.textContent))];)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  std::vector<int> rows, numbers;
  for (int stage = 0; stage < 4; ++stage) {
    int last = -1;
    for (const json& state : report["states"]) {
      const int layers = state["stage_layers"][stage];
      if (layers == last) continue;
      rows.push_back(stage);
      numbers.push_back(layers);
      last = layers;
    }
  }
  EXPECT_GT(rows.size(), 4u);  // some layers move
  std::vector<int> drawn = seen[0], written = seen[1];
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, rows);
  std::sort(written.begin(), written.end());
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(written, numbers);
}

TEST_F(TrainPageTest, ManyStagesAreASentence) {
  Train(
      "--model megatron:40x512x8 --cluster h100-sxm:5x8 --pp 40 --global-batch 80 --seq 512 "
      "--steps 10");
  const json seen = Run("return [charts.length, page.body.textContent.includes('40 stages')];");
  EXPECT_EQ(seen, json({3, true})) << seen;  // and no bars, since no time is lost
}

TEST_F(TrainPageTest, BarsShowWhatTimeWasLostTo) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('minutes lost'), bars = [...chart.querySelectorAll('.bar')];
    return [boxes(chart, '.bar').map((box) => box[2]), texts(chart),
            bars.map((bar) => pointAt(chart, bar, 0, 'pointermove'))];)");
  ASSERT_EQ(seen.size(), 3u) << seen;
  const json& losses = report["history"]["losses"];
  std::vector<double> minutes;
  for (const json& loss : losses) {
    const double time = loss["time_ns"].get<double>() / kHour * 60;
    if (time != 0) minutes.push_back(time);
  }
  ASSERT_EQ(seen[0].size(), minutes.size()) << losses;
  const double longest = *std::max_element(minutes.begin(), minutes.end());
  const double widest = seen[0][std::max_element(minutes.begin(), minutes.end()) - minutes.begin()];
  for (size_t i = 0; i < minutes.size(); ++i) {
    EXPECT_NEAR(seen[0][i].get<double>() / widest, minutes[i] / longest, 3e-3);
    char value[80];
    std::snprintf(value, sizeof value, ": %.4g minutes, ", minutes[i]);
    EXPECT_NE(seen[2][i].get<std::string>().find(value), std::string::npos) << seen[2][i] << value;
  }
  for (const char* cause : {"slower steps", "waiting", "redone"}) {
    EXPECT_TRUE(Has(seen[1], cause)) << cause;
  }
}

TEST_F(TrainPageTest, TipsSayWhatSpansMarksAndBandsAre) {
  const json report = TrainThroughFailures();
  const json seen = Run(R"(
    const chart = chartOf('ms per step'), plan = chartOf('stage');
    const mark = chart.querySelectorAll('.mark')[0], span = chart.querySelectorAll('.span')[4];
    const marked = pointAt(chart, mark, 2, 'pointermove');
    const left = pointAt(chart, mark, 2, 'pointerleave');
    return [marked, left, pointAt(chart, span, 0, 'pointermove'),
            pointAt(plan, plan.querySelector(".band"), 0, 'pointerdown'),
            page.querySelectorAll('svg title').length];)");
  ASSERT_EQ(seen.size(), 5u) << seen;
  const auto slow_from = report["history"]["phases"][1]["first_step"].get<int64_t>();
  EXPECT_EQ(seen[0], "1.667 min: steps from " + std::to_string(slow_from) +
                         " on run with 1 device slow\n1.667 min: node1/gpu2 slowed to 0.6 of its "
                         "speed");
  EXPECT_EQ(seen[1], "");
  const json& phase = report["history"]["phases"][4];
  ASSERT_EQ(phase["kind"], "COMPUTING");
  char words[200];
  const double start = phase["start_ns"], length = phase["length_ns"];
  std::snprintf(
      words, sizeof words,
      "computing from step %lld: %.3f ms with tp 1 x pp 4 x dp 2, 1f1b\n%.3f min to %.3f min",
      static_cast<long long>(phase["first_step"]), phase["step_time_ns"].get<double>() / 1e6,
      start / kHour * 60, (start + length) / kHour * 60);
  EXPECT_EQ(seen[2], words);
  const int layers = report["states"][0]["stage_layers"][0];
  EXPECT_TRUE(
      seen[3].get<std::string>().starts_with("stage 0: " + std::to_string(layers) + " layers\n"))
      << seen[3];
  EXPECT_EQ(seen[4], 0);  // the browser would show them beside the tips
}

TEST_F(TrainPageTest, ThePageFitsAPhoneAndNeedsNothingElse) {
  TrainThroughFailures();
  const json seen = Run(R"(
    const heights = [...page.querySelectorAll('.chart svg text')].map(
        (text) => text.getBoundingClientRect().height);
    const rights = [...page.querySelectorAll('body *')].map(
        (part) => part.getBoundingClientRect().right);
    return [page.documentElement.scrollWidth, Math.max(...rights), Math.min(...heights),
            page.querySelectorAll('[src], [href], link').length];)");
  ASSERT_EQ(seen.size(), 4u) << seen;
  EXPECT_LE(seen[0], kPhoneWidth);
  EXPECT_LE(seen[1], kPhoneWidth);
  EXPECT_GT(seen[2], 9);  // pixels
  EXPECT_EQ(seen[3], 0);
}

TEST_F(TrainPageTest, LabelsDoNotOverlap) {
  TrainThroughFailures();
  const json seen = Run(R"(
    const overlaps = [];
    for (const chart of charts) {
      const labels = [...chart.querySelectorAll('svg text')];
      const places = labels.map((label) => label.getBoundingClientRect());
      for (let i = 0; i < labels.length; ++i) {
        for (let j = 0; j < i; ++j) {
          const a = places[i], b = places[j];
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          // Boxes of text are higher than its letters.
          if (across > 0 && down > 3) overlaps.push([labels[i].textContent, labels[j].textContent]);
        }
      }
    }
    return overlaps;)");
  EXPECT_EQ(seen, json::array());
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
    const chart = charts[0];
    const tips = [...chart.querySelectorAll('.mark')].map(
        (mark) => pointAt(chart, mark, 0, 'pointermove'));
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
