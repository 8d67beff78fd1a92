#include "tools/chart/svg_chart.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/chart/page_testing.h"
#include "tools/chart/svg_parts.h"

namespace stagecraft {
namespace {

Scatter Chart(std::vector<ScatterPoint> points) {
  return {.x_label = "measured", .y_label = "predicted", .series = {"one"}, .points = points};
}

// The plot reaches from x = 64 to 464 and from y = 416 up to 16; a decade of three is 133.3 wide.
TEST(ScatterTest, PointsAreAtTheirLogarithms) {
  const std::string svg = ToSvg(Chart({{1, 1000, 0, "far off"}, {10, 100, 0, "middle"}}));
  EXPECT_NE(svg.find("<circle cx=\"64.0\" cy=\"16.0\" "), std::string::npos) << svg;
  EXPECT_NE(svg.find("<circle cx=\"197.3\" cy=\"149.3\" "), std::string::npos) << svg;
  EXPECT_NE(svg.find("<title>far off</title>"), std::string::npos);
  EXPECT_EQ(svg.find("data-row"), std::string::npos);
  for (const char* label : {">1 us<", ">10 us<", ">100 us<", ">1 ms<"}) {
    EXPECT_EQ(CountOf(svg, label), 2) << label;
  }
}

TEST(ScatterTest, AShortRangeHasMoreTicks) {
  Scatter chart = Chart({{3, 40, 0, ""}});
  for (const char* label : {">2 us<", ">5 us<", ">10 us<", ">20 us<", ">50 us<"}) {
    EXPECT_EQ(CountOf(ToSvg(chart), label), 2) << label;
  }
  chart.unit = ScatterUnit::kGib;
  EXPECT_EQ(CountOf(ToSvg(chart), ">50 GiB<"), 2);
  EXPECT_EQ(CountOf(ToSvg(chart), ">100 GiB<"), 0);
}

TEST(ScatterTest, AValueThatIsATickHasARangeToo) {
  const std::string svg = ToSvg(Chart({{10, 10, 0, ""}}));
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  EXPECT_EQ(CountOf(svg, "<circle"), 2);  // the point, and its series in the legend
}

// From 1 to 100, y = 1.1 x begins at y = 1.1: 400 ln 1.1 / ln 100 = 8.3 above the bottom.
TEST(ScatterTest, TheBandIsTwoDottedLines) {
  Scatter chart = Chart({{1, 100, 0, ""}});
  EXPECT_EQ(CountOf(ToSvg(chart), "dotted"), 0);
  chart.band = 0.1;
  const std::string svg = ToSvg(chart);
  EXPECT_EQ(CountOf(svg, "class=\"dotted\""), 2);
  EXPECT_NE(svg.find("<line x1=\"64.0\" y1=\"407.7\" x2=\"455.7\" y2=\"16.0\" class=\"dotted\"/>"),
            std::string::npos)
      << svg;
  // y = 0.9 x begins where x is 1 / 0.9: 400 ln (1 / 0.9) / ln 100 = 9.2 to the right.
  EXPECT_NE(svg.find("<line x1=\"73.2\" y1=\"416.0\" x2=\"464.0\" y2=\"25.2\" class=\"dotted\"/>"),
            std::string::npos)
      << svg;
}

TEST(ScatterTest, MarksNameTheRowsThatDescribeThem) {
  Scatter chart = Chart({{1, 2, 0, "a", 7}, {2, 1, 12, "b", 0}, {0, 1, 0, "nowhere", 3}});
  chart.is_narrow = true;
  const std::string svg = ToSvg(chart);
  EXPECT_EQ(CountOf(svg, "data-row="), 2);
  EXPECT_NE(svg.find(" data-row=\"7\"><title>a</title></circle>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" data-row=\"0\"><title>b</title></rect>"), std::string::npos) << svg;
  EXPECT_EQ(svg.find(">one<"), std::string::npos);  // no legend
}

TEST(EscapeXmlTest, MarkupIsTextAndLineBreaksStay) {
  EXPECT_EQ(EscapeXml("<a b=\"c\">&amp;\n\x01"), "&lt;a b=&quot;c&quot;&gt;&amp;amp;\n?");
}

}  // namespace
}  // namespace stagecraft
