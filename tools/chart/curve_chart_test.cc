#include "tools/chart/curve_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace stagecraft {
namespace {

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The points of the first polyline: "x,y x,y ...".
std::string Places(const std::string& svg) {
  const size_t polyline = svg.find("<polyline");
  const size_t begin = svg.find("points=\"", polyline) + 8;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

SearchCurve TwoSteps(const std::string& name) {
  return {name, {{1, 0.1, 100}, {10, 1, 1}}, 100, 10};
}

// The plot reaches from x = 64 to x = 624, with 1, 10 and 100 evaluations at 64, 344 and 624.
TEST(CurveChartTest, ABetterScoreHoldsFromWhereItWasFound) {
  const std::string svg = ToSvg({"score", 1, {TwoSteps("walk")}}, CurveAxis::kEvaluations);
  const std::string places = Places(svg);
  EXPECT_EQ(places.substr(0, 5), "64.0,");
  EXPECT_EQ(Count(places, "344.0,"), 2);
  EXPECT_EQ(Count(places, "624.0,"), 1);
  // The best is as far above the bottom (336) as the worst is below the top (16).
  const double top = std::stod(places.substr(5));
  const double bottom = std::stod(places.substr(places.rfind(',') + 1));
  EXPECT_NEAR(top - 16, 336 - bottom, 0.11);
  EXPECT_LT(top, bottom);
}

TEST(CurveChartTest, EveryAlgorithmHasALineAndAName) {
  const CurveChart chart{"step time (ms)", 1e-3, {TwoSteps("a < b"), TwoSteps("c"), {"d", {}, 0}}};
  for (const CurveAxis axis : {CurveAxis::kEvaluations, CurveAxis::kSeconds}) {
    const std::string svg = ToSvg(chart, axis);
    EXPECT_EQ(Count(svg, "<polyline"), 2);  // d found nothing
    EXPECT_NE(svg.find(">a &lt; b</text>"), std::string::npos);
    EXPECT_NE(svg.find(">d</text>"), std::string::npos);
    EXPECT_NE(svg.find("c: 1000 after 10 evaluations, 1 s"), std::string::npos);
    EXPECT_NE(svg.find(axis == CurveAxis::kSeconds ? ">time (s)<" : ">evaluations<"),
              std::string::npos);
  }
}

TEST(CurveChartTest, TheBoundIsADashedLineWithItsName) {
  CurveChart chart{"score", 1, {TwoSteps("walk")}};
  EXPECT_EQ(Count(ToSvg(chart, CurveAxis::kSeconds), "dashed"), 0);
  chart.bound = 0.5;
  chart.bound_label = "optimum";
  const std::string svg = ToSvg(chart, CurveAxis::kSeconds);
  EXPECT_EQ(Count(svg, "dashed"), 1);
  EXPECT_EQ(Count(svg, ">optimum</text>"), 1);
}

TEST(CurveChartTest, PointsWithoutAPlaceOnALogarithmicAxisAreLeftOut) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const SearchCurve odd{"odd", {{1, 0, kNever}, {2, 0, 5}, {3, 0, 0}}, 4, 0};
  for (const CurveAxis axis : {CurveAxis::kEvaluations, CurveAxis::kSeconds}) {
    const std::string svg = ToSvg({"score", 1, {odd, {"none", {}, 0}}}, axis);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(Count(Places(svg), ","), 2);
  }
  EXPECT_EQ(Count(ToSvg({"score"}, CurveAxis::kSeconds), "nan"), 0);
}

TEST(CurveChartTest, PointsOfEarlierDecadesAreAtTheLeftEdge) {
  const SearchCurve early{"early", {{1, 1e-9, 2}, {2, 1, 1}}, 3, 1};
  EXPECT_EQ(Places(ToSvg({"score", 1, {early}}, CurveAxis::kSeconds)).substr(0, 5), "64.0,");
}

}  // namespace
}  // namespace stagecraft
