// Opens the page of `validate --report` in a browser without a window: points, tips, filters, and
// the width of a phone. Skipped if no Chromium is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"
#include "tests/page_in_browser.h"
#include "tools/chart/row_filter.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;

// What a script sees of a section of the page.
constexpr const char* kFunctions = R"(
function chartOf(part) { return view.Chart.getChart(part.querySelector('canvas')); }
function look(part) {
  const chart = chartOf(part), drawn = chart.data.datasets.flatMap((set) => set.data);
  const lines = [...part.querySelectorAll('.row')].filter((line) => line.offsetHeight > 0);
  const chosen = [...part.querySelectorAll('[aria-pressed="true"]')];
  return {
    points: chart.spec.items.filter((item) => item.length > 4).length,
    shown: drawn.filter((point) => point.row !== undefined).map((point) => point.row).sort(),
    listed: lines.map((line) => line.cells[0].textContent),
    said: part.querySelector('.chosen').textContent,
    chosen: chosen.map((entry) => entry.textContent),
  };
}
function choose(part, by, name) {
  const entries = [...part.querySelectorAll('.entry')];
  entries.find((entry) => entry.dataset.by === by && entry.textContent === name).click();
  return look(part);
}
// The tip of the point that a pointer finds two pixels beside the middle of this row's; "" if there
// is none.
function tipAt(part, row) {
  const chart = chartOf(part);
  for (const [set, {data}] of chart.data.datasets.entries()) {
    const index = data.findIndex((point) => point.row === row);
    if (index < 0) continue;
    const {x, y} = chart.getDatasetMeta(set).data[index];
    const event = {type: 'mousemove', x: x + 2, y, native: true};
    const found = chart.getElementsAtEventForMode(event, 'nearest', {intersect: true}, true);
    if (found.length === 0) return '';
    chart.tooltip.setActiveElements(found, {x, y});
    chart.update('none');
    return chart.tooltip.body.flatMap((body) => body.lines).join('\n').replaceAll('\n  ', ' ');
  }
  return '';
}
)";

class AccuracyPageTest : public PageTest {
 protected:
  // Validates a table and returns the JSON report; the page is $T/page.html.
  json Validate(const std::string& rows) const {
    Write("rows.csv",
          "id,source,layers,hidden,heads,seq,global_batch,micro_batch,tp,pp,dp,n_gpus,gpu_id,"
          "n_nodes,gpus_per_node,stack,model_kind,dtype,metric_kind,rank,value_norm,primary,"
          "scored\n" +
              rows);
    const Result result =
        RunLine(Expand("validate --against $T/rows.csv --report $T/page.html --json --quiet"));
    EXPECT_EQ(result.code, kExitOk) << result.err;
    return json::parse(result.out);
  }

  // As RunInPage(); the script may use kFunctions.
  json Run(const std::string& script) const { return RunInPage("page.html", kFunctions + script); }
};

std::string Row(const std::string& id, const std::string& gpu, int gpus, const std::string& metric,
                const std::string& value) {
  const std::string count = std::to_string(gpus);
  return id + ",lab,4,1024,16,1024,16,4,1,1," + count + "," + count + "," + gpu + ",1," + count +
         ",megatron-2021,gpt,fp16," + metric + ",max," + value + ",1,1\n";
}

std::string ThreeSteps() {
  return Row("a-1", "a100-sxm4-80gb", 4, "step_time", "0.1") +
         Row("a-2", "a100-sxm4-80gb", 1, "step_time", "0.3") +
         Row("h-1", "h100-sxm5-80gb", 4, "tokens_per_s", "300000") +
         Row("m-1", "a100-sxm4-80gb", 4, "peak_memory_allocated", "6e9");
}

// The words for the rows of these indices.
std::string WordsOf(const json& report, const std::vector<int>& indices) {
  double mape = 0, bias = 0, level = 0;
  std::vector<double> ratios;
  for (const int index : indices) {
    const json& row = report["rows"][index];
    const double ratio = row["predicted"].get<double>() / row["measured"].get<double>();
    ratios.push_back(row["metric_kind"] == "tokens_per_s" ? 1 / ratio : ratio);
  }
  const auto count = static_cast<double>(ratios.size());
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  for (const double ratio : ratios) {
    mape += 100 * std::abs(ratio - 1) / count;
    bias += 100 * (ratio - 1) / count;
    level += 100 * std::abs(ratio / median - 1) / count;
  }
  return RowFilterWords(static_cast<int>(ratios.size()), mape, bias, level);
}

TEST_F(AccuracyPageTest, EntriesChooseWhatTheChartAndTheListShow) {
  const json report = Validate(ThreeSteps());
  const json seen = Run(R"(
    const part = page.querySelector('.filtered');
    return [
      look(part),
      choose(part, 'GPU type', 'a100-sxm4-80gb'),
      choose(part, 'number of GPUs', '2-8'),
      choose(part, 'GPU type', 'h100-sxm5-80gb'),
      choose(part, 'number of GPUs', '1'),
      (part.querySelector('.all').click(), look(part)),
      look(page.querySelectorAll('.filtered')[1]),
    ];)");
  ASSERT_EQ(seen.size(), 7u) << seen;
  EXPECT_EQ(seen[0]["points"], 3);
  EXPECT_EQ(seen[0]["shown"].size(), 3u);
  EXPECT_EQ(seen[0]["said"], WordsOf(report, {0, 1, 2}));
  const json a100 = seen[1], four = seen[2], h100 = seen[3], nothing = seen[4];
  EXPECT_EQ(a100["listed"].size(), 2u) << a100;
  EXPECT_EQ(a100["shown"].size(), 2u);
  EXPECT_EQ(a100["said"], WordsOf(report, {0, 1}) + " (GPU type a100-sxm4-80gb)");
  EXPECT_EQ(four["listed"], json({"a-1"}));
  EXPECT_EQ(four["said"], WordsOf(report, {0}) + " (GPU type a100-sxm4-80gb; number of GPUs 2-8)");
  EXPECT_EQ(four["chosen"], json({"a100-sxm4-80gb", "2-8"}));
  // Another entry of the same table takes the place of the first.
  EXPECT_EQ(h100["listed"], json({"h-1"}));
  EXPECT_EQ(h100["chosen"], json({"h100-sxm5-80gb", "2-8"}));
  EXPECT_EQ(nothing["said"], "no rows (GPU type h100-sxm5-80gb; number of GPUs 1)");
  EXPECT_EQ(nothing["shown"].size(), 0u);
  EXPECT_EQ(seen[5], seen[0]);
  // The section of memory is as it was.
  EXPECT_EQ(seen[6]["points"], 1);
  EXPECT_EQ(seen[6]["listed"], json({"m-1"}));
  EXPECT_EQ(seen[6]["said"], WordsOf(report, {3}));
}

TEST_F(AccuracyPageTest, AnEntryThatIsChosenAgainIsNoLongerChosen) {
  Validate(ThreeSteps());
  const json seen = Run(R"(
    const part = page.querySelector('.filtered');
    return [choose(part, 'table', 'rows'), choose(part, 'table', 'rows')];)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  EXPECT_EQ(seen[0]["chosen"], json({"rows"}));
  EXPECT_EQ(seen[1]["chosen"], json::array());
}

TEST_F(AccuracyPageTest, PointsSayWhatTheyAre) {
  const json report = Validate(ThreeSteps());
  const json seen = Run(R"(
    const part = page.querySelector('.filtered');
    const names = [...part.querySelectorAll('.row')].map((line) => line.cells[0].textContent);
    const row = names.indexOf('a-2');
    const over = tipAt(part, row);
    choose(part, 'GPU type', 'h100-sxm5-80gb');
    return [over, tipAt(part, row)];)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  const double predicted = report["rows"][1]["predicted"];
  char line[200];
  std::snprintf(line, sizeof line, "predicted %.4g ms, measured 300 ms, error %+.1f %%",
                1e3 * predicted, 100 * (predicted / 0.3 - 1));
  EXPECT_EQ(seen[0], std::string("a-2\nlab\na100-sxm4-80gb, 1 GPU, step_time\n") + line);
  EXPECT_EQ(seen[1], "");  // it is filtered out
}

TEST_F(AccuracyPageTest, ChartsHaveAxesWithUnitsAndALegend) {
  Validate(ThreeSteps());
  const json seen = Run(R"(
    return [...page.querySelectorAll('.filtered')].map((part) => {
      const chart = chartOf(part), {x, y} = chart.scales;
      return [part.querySelector('figcaption').textContent, x.options.title.text,
              y.options.title.text, x.type, y.type, x.min === y.min, x.max === y.max,
              chart.legend.legendItems.map((item) => item.text)];
    });)");
  ASSERT_EQ(seen.size(), 2u) << seen;
  EXPECT_EQ(seen[0],
            json({"Times: predicted and measured",
                  "measured step time (s)",
                  "predicted step time (s)",
                  "logarithmic",
                  "logarithmic",
                  true,
                  true,
                  {"as measured", "10 % more", "10 % less", "large models, 16 bits or fewer"}}))
      << seen[0];
  EXPECT_EQ(seen[1][1], "measured peak memory (GiB)");
  EXPECT_EQ(seen[1][2], "predicted peak memory (GiB)");
}

TEST_F(AccuracyPageTest, ColoursAreByTheGroupingThatIsChosen) {
  Validate(ThreeSteps());
  const json seen = Run(R"(
    const part = page.querySelector('.filtered'), colours = part.querySelector('.colours');
    colours.value = 'GPU type';
    colours.dispatchEvent(new view.Event('change'));
    const sets = () => chartOf(part).data.datasets.slice(0, -3).map(
        (set) => [set.label, set.data.length]);
    const all = sets();
    choose(part, 'number of GPUs', '2-8');
    return [all, sets(), look(part).shown.length];)");
  EXPECT_EQ(seen, json::parse(R"([[["a100-sxm4-80gb", 2], ["h100-sxm5-80gb", 1]],
                                  [["a100-sxm4-80gb", 1], ["h100-sxm5-80gb", 1]], 2])"))
      << seen;
}

TEST_F(AccuracyPageTest, ThePageFitsAPhone) {
  Validate(ThreeSteps() + Row(std::string(200, 'x'), "a100-sxm4-80gb", 8, "step_time", "0.1"));
  const json seen = Run(R"(
    const canvas = page.querySelector('canvas').getBoundingClientRect();
    return [page.documentElement.scrollWidth, canvas.right, canvas.width,
            chartOf(page.querySelector('.filtered')).chartArea.width];)");
  ASSERT_EQ(seen.size(), 4u) << seen;
  EXPECT_LE(seen[0], kPhoneWidth);
  EXPECT_LE(seen[1], kPhoneWidth);
  EXPECT_GT(seen[2], 0.8 * kPhoneWidth);
  EXPECT_GT(seen[3], 0.6 * kPhoneWidth);  // most of which are points, not labels
}

TEST_F(AccuracyPageTest, NamesOfRowsAreNoMarkup) {
  const std::string name = "<img src=x onerror=parent.hit=1><script>parent.hit=1</script>'&amp;";
  Validate(Row(name, "a100-sxm4-80gb", 4, "step_time", "0.1"));
  const json seen = Run(R"(
    const part = page.querySelector('.filtered');
    return [look(part).listed, tipAt(part, 0).split('\n')[0],
            page.querySelectorAll('img').length, window.hit === undefined];)");
  EXPECT_EQ(seen, json({json({name}), name, 0, true})) << seen;
}

TEST_F(AccuracyPageTest, APageWithoutRowsRunsItsScript) {
  Validate("");
  const json seen = Run("return [page.querySelectorAll('section').length];");
  EXPECT_EQ(seen, json({2}));
}

}  // namespace
}  // namespace stagecraft::bad_input
