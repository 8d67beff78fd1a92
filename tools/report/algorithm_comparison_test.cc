#include "tools/report/algorithm_comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

AlgorithmComparison TwoAndOneThatDidNotRun() {
  AlgorithmComparison comparison{"a problem", "step (ms)", 1e-3, "step_s"};
  comparison.algorithms = {{{"walk <1>", {{1, 0.1, 0.004}, {7, 0.5, 0.003}}, 10, 1}, 0.003},
                           {{"short", {{1, 0.1, 5}}, 10, 2}, 5, false},
                           {{"exact", {}, 0, 3}, 0.002, true, true},
                           {{"lists", {}, 0, 0}, 0, true, false, "too many"}};
  comparison.bound = 0.002;
  return comparison;
}

TEST(AlgorithmComparisonTest, TheTableSaysBestAndGapAndWhatWasSpent) {
  std::ostringstream out;
  PrintComparison(TwoAndOneThatDidNotRun(), out);
  EXPECT_EQ(out.str(),
            "a problem\n"
            "\n"
            "algorithm     step (ms)      gap  evaluations  best after evaluation  seconds\n"
            "walk <1>          3.000  50.00 %           10                      7     1.00\n"
            "short      does not fit                    10                      1     2.00\n"
            "exact             2.000   proven                                         3.00\n"
            "lists           not run\n"
            "note: lists: too many\n");
}

TEST(AlgorithmComparisonTest, AnAlgorithmThatEndedWithoutAPlanSaysWhy) {
  AlgorithmComparison comparison{"a problem", "step (ms)", 1e-3, "step_s"};
  comparison.algorithms = {{{"walk", {{1, 0.1, 0.004}}, 10, 1}, 0.004},
                           {{"luck", {}, 12, 2}, 0.003, false, false, "found no plan that fits"}};
  std::ostringstream out;
  PrintComparison(comparison, out);
  EXPECT_EQ(out.str(),
            "a problem\n"
            "\n"
            "algorithm  step (ms)  gap  evaluations  best after evaluation  seconds\n"
            "walk           4.000                10                      1     1.00\n"
            "luck         no plan                12                            2.00\n"
            "note: luck: found no plan that fits\n");
  EXPECT_TRUE(ComparisonToJson(comparison)["algorithms"][1]["step_s"].is_null());
}

TEST(AlgorithmComparisonTest, JsonHasEveryAlgorithmAndItsCurve) {
  const nlohmann::ordered_json json = ComparisonToJson(TwoAndOneThatDidNotRun());
  ASSERT_EQ(json["algorithms"].size(), 4u);
  EXPECT_EQ(json["algorithms"][0]["algorithm"], "walk <1>");
  EXPECT_DOUBLE_EQ(json["algorithms"][0]["step_s"], 0.003);
  EXPECT_NEAR(json["algorithms"][0]["gap_percent"], 50, 1e-9);
  EXPECT_EQ(json["algorithms"][1]["feasible"], false);
  EXPECT_TRUE(json["algorithms"][1]["step_s"].is_null());
  EXPECT_EQ(json["algorithms"][2]["optimal"], true);
  EXPECT_EQ(json["algorithms"][3]["remark"], "too many");
  EXPECT_EQ(json["curves"]["walk <1>"].size(), 2u);
  EXPECT_EQ(json["curves"]["walk <1>"][1]["evaluations"], 7);
}

TEST(AlgorithmComparisonTest, ThePageHasBothPicturesAndEscapesNames) {
  const std::string page = ComparisonToHtml(TwoAndOneThatDidNotRun(), "a & b");
  EXPECT_NE(page.find("<h1>a &amp; b</h1>"), std::string::npos);
  EXPECT_NE(page.find("<td data-name=\"algorithm\">walk &lt;1&gt;</td>"), std::string::npos);
  EXPECT_EQ(page.find("walk <1>"), std::string::npos);
  EXPECT_EQ(FindBadMarkup(page), "");
  const std::vector<nlohmann::json> charts = ChartsOf(page);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0]["title"], "Best so far, over evaluations");
  EXPECT_EQ(charts[1]["x"], (nlohmann::json{{"label", "time (s)"}, {"log", true}}));
}

// The walk found 4 ms after one evaluation and 3 ms after seven, and ended after ten; the dashed
// line is the optimum. The chart has the unit of the table.
TEST(AlgorithmComparisonTest, CurvesGoOnToWhatWasSpentBesideTheOptimum) {
  const auto charts = ChartsOf(ComparisonToHtml(TwoAndOneThatDidNotRun(), "t"));
  ASSERT_EQ(charts.size(), 2u);
  const nlohmann::json& chart = charts[0];
  EXPECT_EQ(chart["y"]["label"], "step (ms)");
  ASSERT_EQ(chart["series"].size(), 3u);
  EXPECT_EQ(chart["series"][0]["name"], "walk <1>");
  EXPECT_EQ(chart["series"][0]["style"], "steps");
  EXPECT_EQ(chart["series"][2]["name"], "optimum");
  EXPECT_EQ(chart["series"][2]["style"], "dashed");
  std::vector<std::vector<double>> walk, bound;
  for (const nlohmann::json& item : chart["items"]) {
    if (item[0] == 0) walk.push_back({item[1], item[2]});
    if (item[0] == 2) bound.push_back({item[1], item[2]});
  }
  EXPECT_EQ(walk, (std::vector<std::vector<double>>{{1, 4}, {7, 3}, {10, 3}}));
  EXPECT_EQ(bound, (std::vector<std::vector<double>>{{1, 2}, {10, 2}}));
}

}  // namespace
}  // namespace stagecraft
