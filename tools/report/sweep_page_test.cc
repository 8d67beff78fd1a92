#include "tools/report/sweep_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

SweepPoint Point(const char* tp, const char* model, double gpus, double tokens_per_s) {
  return {{{"tp", tp}, {"model", model}}, "fits", gpus, 100, tokens_per_s, 40};
}

// On 8 GPUs 100 and 120 tokens/s, on 16 GPUs 110 and 300: those of 120 and 300 are not beaten.
std::vector<SweepPoint> Four() {
  return {Point("1", "gpt2", 8, 100), Point("2", "gpt2", 8, 120), Point("1", "gpt2", 16, 110),
          Point("2", "gpt2", 16, 300)};
}

TEST(SweepPageTest, TheFrontHasThePointsThatNoOtherBeats) {
  const std::string page = SweepPage(Four(), "grid.yaml");
  EXPECT_EQ(FindBadMarkup(page), "");
  const nlohmann::json chart = ChartsOf(page).at(0);
  EXPECT_EQ(chart["x"]["label"], "GPUs");
  EXPECT_EQ(chart["y"]["label"], "throughput (tokens/s)");
  std::vector<double> best, others;
  for (const nlohmann::json& item : chart["items"]) {
    (item[0] == 0 ? best : others).push_back(item[2]);
  }
  EXPECT_EQ(best, (std::vector<double>{120, 300}));
  EXPECT_EQ(others, (std::vector<double>{100, 110}));
  EXPECT_EQ(chart["items"][0][3],
            "--model gpt2 --tp 2\n120 tokens/s, 100 ms per step\n8 GPUs, 40 GiB");
}

TEST(SweepPageTest, AFlagOfSeveralValuesHasAChartWithTheBestOfEach) {
  const std::vector<nlohmann::json> charts = ChartsOf(SweepPage(Four(), ""));
  ASSERT_EQ(charts.size(), 3u);  // and none of --model, which is always the same
  EXPECT_EQ(charts[2]["title"], "Best throughput by --tp");
  EXPECT_EQ(charts[2]["rows"], nlohmann::json({"1", "2"}));
  EXPECT_EQ(charts[2]["items"][0][3], 100.0 / 8);
  EXPECT_EQ(charts[2]["items"][1][3], 300.0 / 16);
}

TEST(SweepPageTest, TheTableHasTheFlagsThatVaryAndNumbersInGroups) {
  std::vector<SweepPoint> points = Four();
  points[1].tokens_per_s = 12345.6;
  points[1].step_time_ms = 2345.67;
  const std::string page = SweepPage(points, "");
  EXPECT_NE(page.find("<p>All have --model gpt2.</p>"), std::string::npos);
  EXPECT_NE(page.find("<td data-name=\"place\">1</td><td data-name=\"flags\">tp 2</td>"
                      "<td data-name=\"GPUs\">8</td><td data-name=\"step (ms)\">2,345.7</td>"
                      "<td data-name=\"tokens/s\">12,346</td>"
                      "<td data-name=\"memory (GiB)\">40.00</td>"),
            std::string::npos);
}

TEST(SweepPageTest, PointsThatDoNotFitAreCountedAlone) {
  std::vector<SweepPoint> points = Four();
  points.push_back({{{"tp", "<4>"}}, "does not fit", {}, {}, {}, {}});
  const std::string page = SweepPage(points, "<grid>");
  EXPECT_NE(page.find("<td>does not fit</td><td>1</td>"), std::string::npos);
  EXPECT_NE(page.find("&lt;grid&gt;"), std::string::npos);
  EXPECT_EQ(ChartsOf(page).at(0)["items"].size(), 4u);
  const std::string none = SweepPage({points.back()}, "");
  EXPECT_NE(none.find("No point fits."), std::string::npos);
  EXPECT_EQ(ChartsOf(none).size(), 0u);
}

TEST(SweepPageTest, OfTooManyPointsSomeAreDrawnAndAllThatNoneBeats) {
  std::vector<SweepPoint> points;
  for (int i = 0; i < 50'000; ++i) points.push_back(Point("1", "gpt2", 1 + i % 100, 1 + i % 7));
  points.push_back(Point("1", "gpt2", 3, 1000));
  const nlohmann::json chart = ChartsOf(SweepPage(points, "")).at(0);
  EXPECT_LE(chart["items"].size(), kMostSweepPoints + 10);
  EXPECT_GT(chart["items"].size(), kMostSweepPoints / 2);
  size_t found = 0;
  for (const nlohmann::json& item : chart["items"]) found += item[2] == 1000 ? 1 : 0;
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace stagecraft
