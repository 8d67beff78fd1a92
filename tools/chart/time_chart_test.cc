#include "tools/chart/time_chart.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/chart/html_page.h"
#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

TimeAxis TenHours(std::vector<TimeMark> marks = {}) {
  return {"hours", 10, {{"failure", 3}, {"checkpoint", 7}}, std::move(marks)};
}

// The plot reaches from x = 54 to 484, so an hour is 43 wide; its bottom is at y = 162, and its
// height of 130 is 1.05 times the largest value.
TEST(TimeChartTest, ASpanIsAsLongAsItLastsAndAsHighAsItsValue) {
  const std::string html =
      ToHtml(TimeChart{"ms", {{0, 5, 100, "fast"}, {5, 10, 210, "slow"}}}, TenHours());
  EXPECT_EQ(CountOf(html, "class=\"span\""), 2);
  EXPECT_NE(html.find("x=\"54.00\" y=\"103.04\" width=\"215.00\" height=\"58.96\""), html.npos)
      << html;
  EXPECT_NE(html.find("x=\"269.00\" y=\"38.19\" width=\"215.00\" height=\"123.81\""), html.npos);
  EXPECT_NE(html.find("<title>slow</title>"), html.npos);
}

TEST(TimeChartTest, SpansThatAreTooShortBecomeOneWithTheMeanValue) {
  TimeChart chart{"ms", {{0, 5, 100, "first"}}};
  for (int i = 0; i < 1000; ++i) {
    const double begin = 5 + i * 1e-5;
    chart.spans.push_back({begin, begin + 1e-5, i % 2 == 0 ? 0.0 : 100.0, "short"});
  }
  chart.spans.push_back({5.01, 10, 100, "last"});
  const std::string html = ToHtml(chart, TenHours());
  // 0.01 hours are 0.43 wide, which is a little more than the width of 0.4 that one span has.
  EXPECT_EQ(CountOf(html, "class=\"span\""), 4) << html;
  EXPECT_EQ(CountOf(html, " more</title>"), 2);
  EXPECT_EQ(CountOf(html, " y=\"100.10\""), 2);  // at 50 of 105
}

TEST(TimeChartTest, MarksThatWouldTouchBecomeOneOfTheFirstKind) {
  const TimeAxis axis = TenHours({{1, 1, "saved"}, {1.01, 0, "broken"}, {5, 1, "saved again"}});
  const std::string html = ToHtml(TimeChart{"ms", {{0, 10, 1, ""}}}, axis);
  EXPECT_EQ(CountOf(html, "class=\"mark\""), 2);
  EXPECT_NE(html.find("data-kind=\"0\" data-count=\"2\""), html.npos) << html;
  EXPECT_NE(html.find("<title>saved\nbroken</title>"), html.npos);
  EXPECT_NE(html.find("data-kind=\"1\" data-count=\"1\""), html.npos);
  const std::string legend = LegendOf(axis);
  EXPECT_NE(legend.find("failure (1)"), legend.npos) << legend;
  EXPECT_NE(legend.find("checkpoint (2)"), legend.npos);
  EXPECT_EQ(LegendOf(TenHours()), "");
}

TEST(TimeBandsTest, NumbersAreWrittenWhereThereIsRoom) {
  const std::string html = ToHtml(
      TimeBands{"stage", 2, {{0, 0, 10, 7, "all"}, {1, 0, 0.5, 3, "a"}, {1, 0.5, 10, 4, "b"}}},
      TenHours());
  EXPECT_EQ(CountOf(html, "class=\"band\""), 3);
  EXPECT_EQ(CountOf(html, "class=\"number\""), 2);  // half an hour is 21.5 wide
  EXPECT_NE(html.find(">7</text>"), html.npos) << html;
  EXPECT_NE(html.find(">4</text>"), html.npos);
}

TEST(TimeChartTest, ThePageIsWellFormedAndMarkupIsText) {
  const TimeAxis axis = TenHours({{1, 0, "<b>\"broken\"</b>"}});
  const std::string page =
      HtmlPage("t",
               LegendOf(axis) + ToHtml(TimeChart{"<i>", {{0, 10, 1, "<script>"}}}, axis) +
                   ToHtml(TimeBands{"stage", 1, {{0, 0, 10, 1, "</svg>"}}}, axis),
               TimeCharts());
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(CountOf(page, "<b>"), 0);
  EXPECT_EQ(CountOf(page, "<i>"), 0);
}

}  // namespace
}  // namespace stagecraft
