#include "tools/chart/chart_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/chart/html_page.h"
#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

using nlohmann::json;

BarsChart TwoRows() {
  return {.title = "Memory",
          .note = "Of two stages.",
          .x = {.label = "memory (GiB)", .min = 0},
          .row_label = "stage",
          .rows = {"0", "1"},
          .series = {{"weights"}, {"activations"}, {"capacity", SeriesStyle::kLimit, 7}},
          .bars = {{0, 2, 0, 80, "", "80 GiB"}}};
}

// Row 0 holds 3 GiB and 5 GiB, row 1 only 2 GiB of the second part.
TEST(ChartPageTest, BarsOfAStackStandBehindEachOther) {
  BarsChart chart = TwoRows();
  AddStack(chart, 0, {3, 5});
  AddStack(chart, 1, {0, 2});
  const std::vector<json> charts = ChartsOf(ToHtml(chart));
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0]["kind"], "bars");
  EXPECT_EQ(charts[0]["x"], (json{{"label", "memory (GiB)"}, {"min", 0.0}}));
  EXPECT_EQ(charts[0]["y"], (json{{"label", "stage"}}));
  EXPECT_EQ(charts[0]["rows"], json({"0", "1"}));
  EXPECT_EQ(charts[0]["series"][1],
            (json{{"name", "activations"}, {"colour", 1}, {"style", "bar"}}));
  EXPECT_EQ(charts[0]["series"][2],
            (json{{"name", "capacity"}, {"colour", 7}, {"style", "limit"}}));
  EXPECT_EQ(charts[0]["items"],
            json({{0, 2, 0, 80, "", "80 GiB"}, {0, 0, 0, 3}, {0, 1, 3, 8}, {1, 1, 0, 2}}));
}

TEST(ChartPageTest, PointsThatAnAxisCannotShowAreLeftOut) {
  const double inf = std::numeric_limits<double>::infinity();
  PointsChart chart{
      .title = "t",
      .x = {.label = "x (s)", .is_logarithmic = true},
      .y = {.label = "y (s)"},
      .series = {{"a", SeriesStyle::kPoints}},
      .points = {{0, 0, 1}, {0, 2, -1}, {0, inf, 1}, {0, 3, std::nan("")}, {0, 4, 0}}};
  EXPECT_EQ(ChartsOf(ToHtml(chart))[0]["items"], json({{0, 2, -1}, {0, 4, 0}}));
  chart.y.is_logarithmic = true;
  EXPECT_EQ(ChartsOf(ToHtml(chart))[0]["items"], json::array());
}

TEST(ChartPageTest, NumbersHaveSevenDigits) {
  const PointsChart chart{.title = "t",
                          .x = {.label = "x"},
                          .y = {.label = "y"},
                          .series = {{"a", SeriesStyle::kPoints}},
                          .points = {{0, 1.0 / 3, 1e9 / 7, "tip", 5}}};
  EXPECT_EQ(ChartsOf(ToHtml(chart))[0]["items"][0], json({0, 0.3333333, 142857100.0, "tip", 5}));
}

// The axes go from 1 to 10, about a fifth beyond the points. The lines are y = x, a tenth more and
// a tenth less. The line of a tenth more leaves the chart where x is 10 / 1.1.
TEST(ChartPageTest, TheDiagonalHasLinesBesideItThatEndWithTheChart) {
  PointsChart chart{
      .title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}, .points = {}};
  AddDiagonal(chart, 1.25, 10 / 1.2);
  for (const ChartAxis& axis : {chart.x, chart.y}) {
    EXPECT_DOUBLE_EQ(axis.min.value(), 1);
    EXPECT_DOUBLE_EQ(axis.max.value(), 10);
  }
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[1].name, "10 % more");
  ASSERT_EQ(chart.points.size(), 6u);
  EXPECT_DOUBLE_EQ(chart.points[1].y, 10);
  EXPECT_DOUBLE_EQ(chart.points[3].x, 10 / 1.1);
  EXPECT_DOUBLE_EQ(chart.points[3].y, 10);
  EXPECT_DOUBLE_EQ(chart.points[4].x, 1 / 0.9);
  EXPECT_DOUBLE_EQ(chart.points[4].y, 1);
  EXPECT_DOUBLE_EQ(chart.points[5].y, 9);
  // The least end is one that can be labelled.
  AddDiagonal(chart, 0.0628, 1);
  EXPECT_DOUBLE_EQ(chart.x.min.value(), 0.05);
}

TEST(ChartPageTest, NoTextEndsTheScriptThatHoldsIt) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'&\n<!-- \xff";
  BarsChart chart = TwoRows();
  chart.title = chart.note = chart.x.label = chart.row_label = hostile;
  chart.rows[0] = chart.series[0].name = hostile;
  chart.bars.push_back({0, 0, 0, 1, hostile, hostile});
  const std::string html = ToHtml(chart);
  EXPECT_EQ(CountOf(html, "</script"), 1);
  EXPECT_EQ(CountOf(html, "<img"), 0);
  EXPECT_EQ(CountOf(html, "<!--"), 0);
  const json shown = ChartsOf(html).at(0);
  ASSERT_FALSE(shown.is_discarded());
  EXPECT_EQ(shown["rows"][0], "</script><img src=x onerror=alert(1)>\"'&\n<!-- \xef\xbf\xbd");
}

TEST(ChartPageTest, ThePageHoldsTheLibraryWithItsLicenceAndLoadsNothing) {
  const std::string page = HtmlPage("t", ToHtml(TwoRows()), Charts());
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(CountOf(page, "Chart.js v3.9.1"), 1);
  EXPECT_EQ(CountOf(page, "The MIT License (MIT)"), 1);
  EXPECT_EQ(CountOf(page, "2014-2022 Chart.js Contributors"), 1);
  EXPECT_EQ(CountOf(page, "content=\"default-src 'none'; "), 1);
  for (const char* part : {" src=", " href=", "url(", "@import", "fetch(", "XMLHttpRequest("}) {
    EXPECT_EQ(CountOf(page, part), 0) << part;
  }
  EXPECT_LT(page.size(), 400'000u);
}

TEST(ChartPageTest, ManyRowsAreThin) {
  BarsChart chart = TwoRows();
  EXPECT_EQ(CountOf(ToHtml(chart), "data-row=\"26\""), 1);
  chart.rows.assign(1000, "node");
  EXPECT_EQ(CountOf(ToHtml(chart), "data-row=\"2\""), 1);
  EXPECT_EQ(CountOf(ToHtml(chart), "height: 2110px"), 1);
}

}  // namespace
}  // namespace stagecraft
