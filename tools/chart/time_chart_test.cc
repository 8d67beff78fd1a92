#include "tools/chart/time_chart.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace stagecraft {
namespace {

TimeAxis TenHours(std::vector<TimeMark> marks = {}) {
  return {"hours", 10, {{"failure", 3}, {"checkpoint", 7}}, std::move(marks)};
}

// 100 ms for five hours, then 210 ms.
TEST(TimeChartTest, AnAreaIsAsHighAsTheValueUntilTheNextOne) {
  const PointsChart chart = ChartOf(
      TimeChart{"Speed", "", "ms", {{0, 5, 100, "fast"}, {5, 10, 210, "slow"}}}, TenHours());
  EXPECT_EQ(chart.x.label, "hours");
  EXPECT_EQ(chart.x.max, 10);
  EXPECT_EQ(chart.y.label, "ms");
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].style, SeriesStyle::kArea);
  ASSERT_EQ(chart.points.size(), 3u);
  EXPECT_EQ(chart.points[0].y, 100);
  EXPECT_EQ(chart.points[1].x, 5);
  EXPECT_EQ(chart.points[1].y, 210);
  EXPECT_EQ(chart.points[1].tip, "slow");
  EXPECT_EQ(chart.points[2].x, 10);
  EXPECT_EQ(chart.points[2].y, 210);
}

TEST(TimeChartTest, BetweenSpansTheValueIsZero) {
  const PointsChart chart =
      ChartOf(TimeChart{"", "", "ms", {{0, 2, 100, ""}, {5, 10, 200, ""}}}, TenHours());
  ASSERT_EQ(chart.points.size(), 4u);
  EXPECT_EQ(chart.points[1].x, 2);
  EXPECT_EQ(chart.points[1].y, 0);
}

TEST(TimeChartTest, SpansThatAreTooShortBecomeOneWithTheMeanValue) {
  TimeChart chart{"", "", "ms", {{0, 5, 100, "first"}}};
  for (int i = 0; i < 1000; ++i) {
    const double begin = 5 + i * 1e-5;
    chart.spans.push_back({begin, begin + 1e-5, i % 2 == 0 ? 0.0 : 100.0, "short"});
  }
  chart.spans.push_back({5.01, 10, 100, "last"});
  const PointsChart drawn = ChartOf(chart, TenHours());
  // The thousand last 0.01 hours, a little more than the share of the axis that one span has.
  ASSERT_EQ(drawn.points.size(), 5u);  // with the end of the last
  EXPECT_NEAR(drawn.points[1].y, 50, 0.2);
  EXPECT_NE(drawn.points[1].tip.find("short\nshort"), std::string::npos);
  EXPECT_NE(drawn.points[1].tip.find("\nand 8"), std::string::npos) << drawn.points[1].tip;
}

TEST(TimeChartTest, MarksThatWouldTouchBecomeOneOfTheFirstKind) {
  const TimeAxis axis = TenHours({{1, 1, "saved"}, {1.01, 0, "broken"}, {5, 1, "saved again"}});
  const PointsChart chart = ChartOf(TimeChart{"", "", "ms", {{0, 10, 1, ""}}}, axis);
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[1].name, "failure (1)");
  EXPECT_EQ(chart.series[1].style, SeriesStyle::kMark);
  EXPECT_EQ(chart.series[1].colour, 3);
  EXPECT_EQ(chart.series[2].name, "checkpoint (2)");
  ASSERT_EQ(chart.points.size(), 4u);
  EXPECT_EQ(chart.points[2].series, 1);
  EXPECT_EQ(chart.points[2].tip, "saved\nbroken");
  EXPECT_EQ(chart.points[3].series, 2);
  EXPECT_EQ(chart.points[3].x, 5);
}

TEST(TimeBandsTest, EveryNumberHasItsColourAndStandsInItsBars) {
  const BarsChart chart =
      ChartOf(TimeBands{"",
                        "",
                        "stage",
                        "layers",
                        2,
                        {{0, 0, 10, 7, "all"}, {1, 0, 0.5, 3, "a"}, {1, 0.5, 10, 7, "b"}}},
              TenHours());
  EXPECT_EQ(chart.rows, (std::vector<std::string>{"0", "1"}));
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "3 layers");
  EXPECT_EQ(chart.series[1].name, "7 layers");
  ASSERT_EQ(chart.bars.size(), 3u);
  EXPECT_EQ(chart.bars[0].series, 1);
  EXPECT_EQ(chart.bars[0].text, "7");
  EXPECT_EQ(chart.bars[1].series, 0);
  EXPECT_EQ(chart.bars[2].row, 1);
  EXPECT_EQ(chart.bars[2].begin, 0.5);
  EXPECT_EQ(chart.bars[2].tip, "b");
}

}  // namespace
}  // namespace stagecraft
