// Opens the pages of `simulate`, `explain` and `search` in a browser without a window, beside the
// JSON of the same answers: axes and units, counts, tips, zooming, the width of a phone. Skipped if
// no Chromium is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "tests/bad_input.h"
#include "tests/page_in_browser.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;

const std::string kJob =
    " --model llama2-7b --cluster h100-sxm:2x4 --global-batch 32 --seq 2048 "
    "--cost-model analytical --report $T/page.html --json --quiet ";
const std::string kPlan = "--tp 2 --pp 2 --dp 2 --micro-batch 1 ";

constexpr const char* kFunctions = R"(
const figures = [...page.querySelectorAll('figure.chart')];
const charts = figures.map((figure) => view.Chart.getChart(figure.querySelector('canvas')));
const titles = figures.map((figure) => figure.querySelector('figcaption').textContent);
const chartOf = (title) => charts[titles.indexOf(title)];
const countOf = (chart, name) => chart.data.datasets.filter((set) => set.label === name).reduce(
    (sum, set) => sum + set.data.length, 0);
)";

class ReportPageTest : public PageTest {
 protected:
  json Answer(const std::string& line) const {
    const Result result = RunLine(Expand(line));
    EXPECT_EQ(result.code, kExitOk) << result.err;
    return json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }
  json Run(const std::string& script) const { return RunInPage("page.html", kFunctions + script); }
};

// Each chart: its title, the labels of its axes, and the number of its bars or points.
constexpr const char* kFacts = R"(
return charts.map((chart, i) => [titles[i], chart.scales.x.options.title.text,
    chart.scales.y.options.title.text, chart.legend.legendItems.length > 0,
    chart.data.datasets.reduce((sum, set) => sum + set.data.length, 0)]);
)";

TEST_F(ReportPageTest, ChartsOfAStepHaveUnitsLegendsAndAllPasses) {
  const json answer = Answer("simulate" + kJob + kPlan);
  const json seen = Run(kFacts);
  ASSERT_EQ(seen.size(), 5u) << seen;
  EXPECT_EQ(seen[0][0], "The plan: stages over devices");
  EXPECT_EQ(seen[0][4], 4);  // two copies of two stages
  EXPECT_EQ(seen[1][1], "time since the step began (ms)");
  EXPECT_EQ(seen[2][1], "time (ms)");
  EXPECT_EQ(seen[3][1], "time (ms)");
  EXPECT_EQ(seen[4][1], "memory (GiB)");
  for (const json& chart : seen) EXPECT_EQ(chart[3], true) << chart;
  const json counts = Run(R"(
    const passes = chartOf('Passes of the pipeline');
    return [countOf(passes, 'forward'), countOf(passes, 'backward'), passes.scales.x.max];)");
  // Two stages, of which one copy is drawn, with half of the 32 micro-batches.
  EXPECT_EQ(counts[0], 32);
  EXPECT_EQ(counts[1], 32);
  EXPECT_NEAR(counts[2].get<double>(), answer["step_time_ms"].get<double>(),
              1e-5 * counts[2].get<double>());
}

TEST_F(ReportPageTest, ReadersZoomIntoThePassesAndBackToTheWhole) {
  Answer("simulate" + kJob + kPlan);
  const json seen = Run(R"(
    const chart = chartOf('Passes of the pipeline');
    const figure = figures[titles.indexOf('Passes of the pipeline')];
    const range = () => [chart.scales.x.min, chart.scales.x.max];
    const press = (what) => {
      figure.querySelector(`[data-zoom="${what}"]`).click();
      return range();
    };
    return [range(), press('in'), press('in'), press('left'), press('right'), press('out'),
            press('whole')];)");
  ASSERT_EQ(seen.size(), 7u) << seen;
  const double end = seen[0][1];
  const auto expect = [&](size_t i, double from, double to) {
    EXPECT_NEAR(seen[i][0].get<double>() / end, from, 1e-6) << i;
    EXPECT_NEAR(seen[i][1].get<double>() / end, to, 1e-6) << i;
  };
  expect(0, 0, 1);
  expect(1, 0.25, 0.75);
  expect(2, 0.375, 0.625);
  expect(3, 0.25, 0.5);
  expect(4, 0.375, 0.625);
  expect(5, 0.25, 0.75);
  expect(6, 0, 1);
}

TEST_F(ReportPageTest, MemoryAddsUpToThePeakBesideTheCapacity) {
  const json answer = Answer("simulate" + kJob + kPlan);
  const json seen = Run(R"(
    const chart = chartOf('Memory of the stages');
    return [0, 1].map((row) => {
      const bars = chart.data.datasets.flatMap((set) => set.data).filter((bar) => bar.y === row);
      const limit = bars.find((bar) => !Array.isArray(bar.x));
      return [Math.max(...bars.filter((bar) => bar !== limit).map((bar) => bar.x[1])), limit.x];
    });)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  for (size_t stage = 0; stage < 2; ++stage) {
    const json& memory = answer["memory"][stage];
    EXPECT_NEAR(seen[stage][0].get<double>(), memory["peak"].get<double>(), 1e-4);
    EXPECT_NEAR(seen[stage][1].get<double>(), memory["capacity"].get<double>(), 1e-4);
  }
}

TEST_F(ReportPageTest, ExplanationsDrawTheCriticalPathAndTheWaits) {
  const json answer = Answer("explain" + kJob + kPlan);
  const json seen = Run(R"(
    return [chartOf('What stages wait for').spec.items.length,
            chartOf('The critical path').spec.rows.length,
            chartOf('What mechanisms add to the step').spec.rows,
            chartOf('What devices do with their time').spec.rows];)");
  ASSERT_EQ(seen.size(), 4u) << seen;
  const json& plan = answer["plans"][0];
  EXPECT_EQ(seen[0], std::min<size_t>(20, plan["waits"].size()));
  EXPECT_EQ(seen[1], plan["critical_path"].size());
  EXPECT_EQ(seen[2].size(), plan["mechanisms"].size());
  EXPECT_EQ(seen[3], json({"stage 0", "stage 1"}));
}

TEST_F(ReportPageTest, SearchesDrawTheFrontAndTheSensitivity) {
  const json answer = Answer("search" + kJob + "--objective pareto --budget 400evals");
  const json seen = Run(R"(
    const chart = chartOf('Step time and memory');
    return [chart.scales.x.options.title.text, chart.scales.y.options.title.text,
            countOf(chart, 'not beaten') + countOf(chart, 'other plans'),
            countOf(chart, 'not beaten'), titles];)");
  ASSERT_EQ(seen.size(), 5u) << seen;
  EXPECT_EQ(seen[0], "step time (ms)");
  EXPECT_EQ(seen[1], "peak memory (GiB)");
  EXPECT_EQ(seen[2], answer["pareto"].size());
  // A plan is not beaten if none before it, in order of step time, needs less memory.
  size_t best = 0;
  double least = 1e300;
  for (const json& plan : answer["pareto"]) {
    const double memory = plan["evaluation"]["peak_memory_gib"];
    if (memory < least) ++best;
    least = std::min(least, memory);
  }
  EXPECT_EQ(seen[3], best);
  const json explained = Answer("search" + kJob + "--explain --top 2");
  const json sensitivity = Run(R"(
    const chart = chartOf('Sensitivity of the best plan');
    return [chart.scales.x.options.title.text,
            chart.data.datasets.reduce((sum, set) => sum + set.data.length, 0)];)");
  EXPECT_EQ(sensitivity,
            json({"change of the step time (ms)", explained["explanation"]["sensitivity"].size()}));
}

// Both verbs write the same page of a sweep, and its points are the rows that fit.
TEST_F(ReportPageTest, SweepsDrawEveryPointThatFits) {
  Write("grid.yaml",
        "flags:\n  model: gpt2\n  cluster: [h100-sxm:1x1, h100-sxm:1x2, h100-sxm:1x4]\n"
        "  seq: 512\n  tp: [1, 2]\n  global-batch: [8, 16]\n  micro-batch: 1\n"
        "  cost-model: analytical\n");
  const json answer =
      Answer("sweep $T/grid.yaml -o $T/runs.db --report $T/page.html --json --quiet --threads 1");
  const size_t fit = answer["grids"][0]["fit"];
  ASSERT_GE(fit, 8u) << answer;
  const json seen = Run(kFacts);
  ASSERT_GE(seen.size(), 3u) << seen;
  EXPECT_EQ(seen[0][1], "GPUs");
  EXPECT_GE(seen[0][4], fit) << seen[0];
  const std::string page = ReadFile(Expand("$T/page.html"));
  EXPECT_EQ(RunLine(Expand("report $T/runs.db -o $T/again.html")).code, kExitOk);
  EXPECT_EQ(ReadFile(Expand("$T/again.html")), page);
  EXPECT_NE(RunLine(Expand("report $T/runs.db $T/runs.db -o $T/no.html"))
                .err.find("got 2 files, want a database of sweep alone"),
            std::string::npos);
}

TEST_F(ReportPageTest, PagesFitAPhoneAndLoadNothing) {
  for (const std::string& line : {"simulate" + kJob + kPlan, "explain" + kJob + kPlan,
                                  "search" + kJob + "--explain --top 2"}) {
    Answer(line);
    const json seen = Run(R"(
      const plots = charts.map((chart) => chart.chartArea.width);
      return [page.documentElement.scrollWidth, Math.min(...plots),
              page.querySelectorAll('[src], [href], link').length,
              page.querySelector('.licence pre').textContent.includes('Chart.js Contributors'),
              view.performance.getEntriesByType('resource').length];)");
    ASSERT_EQ(seen.size(), 5u) << line;
    EXPECT_LE(seen[0], kPhoneWidth) << line;
    EXPECT_GT(seen[1], 0.4 * kPhoneWidth) << line;
    EXPECT_EQ(seen[2], 0) << line;
    EXPECT_EQ(seen[3], true);
    EXPECT_EQ(seen[4], 0) << line;
  }
}

}  // namespace
}  // namespace stagecraft::bad_input
