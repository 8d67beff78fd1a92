#include "tools/validation/validation_html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/chart/page_testing.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

ValidatedRow Row(const std::string& id, const std::string& table, double predicted,
                 double measured) {
  ValidatedRow row;
  row.measured = Gpt();
  row.measured.id = id;
  row.measured.table = table;
  row.measured.value = measured;
  row.prediction.value = predicted;
  return row;
}

// Two step times, of which one has an interval; a rate of 4/s where 2/s were measured, of steps of
// 8 tokens; and 12 GiB where 10 were measured.
Validation Small() {
  Validation validation;
  validation.rows = {Row("a-1", "a", 1.2, 1), Row("a-2", "a", 1.1, 1), Row("b-1", "b", 4, 2),
                     Row("m-1", "a", 12.0 * (1 << 30), 10.0 * (1 << 30))};
  validation.rows[0].prediction.spread = 1;
  validation.rows[2].measured.metric_kind = "tokens_per_s";
  validation.rows[2].measured.gpu_id = "h100-sxm5-80gb";
  validation.rows[2].measured.n_gpus = 1;
  validation.rows[2].prediction.metric = StepMetric{.factor = 8, .is_rate = true};
  validation.rows[3].measured.metric_kind = "peak_memory_allocated";
  return validation;
}

void ExpectHas(const std::string& page, const std::string& part) {
  EXPECT_NE(page.find(part), std::string::npos) << part << "\nis not in\n" << page;
}

TEST(ValidationHtmlTest, RatesAreShownAsTimes) {
  const std::string page = ValidationToHtml(Small(), "4 rows of a.csv");
  EXPECT_EQ(FindBadMarkup(page), "");
  ExpectHas(page, "<p>4 rows of a.csv</p>");
  const std::vector<nlohmann::json> charts = ChartsOf(page);
  ASSERT_EQ(charts.size(), 2u);
  const nlohmann::json& times = charts[0];
  EXPECT_EQ(times["x"]["label"], "measured step time (s)");
  EXPECT_EQ(times["y"]["label"], "predicted step time (s)");
  // Both axes reach from 1 s to 4 s and a fifth beyond.
  for (const char* axis : {"x", "y"}) {
    EXPECT_EQ(times[axis]["log"], true);
    EXPECT_NEAR(times[axis]["min"], 0.8, 1e-9);
    EXPECT_NEAR(times[axis]["max"], 4.8, 1e-9);
  }
  ASSERT_EQ(times["items"].size(), 3u + 6u);  // the points, and the ends of three lines
  EXPECT_EQ(times["items"][0], nlohmann::json({0, 1, 1.2,
                                               "a-1\npaper\na100-sxm4-80gb, 16 GPUs, step_time\n"
                                               "predicted 1.2 s, measured 1 s, error +20.0 %",
                                               1}));
  EXPECT_EQ(times["items"][2][3],
            "b-1\npaper\nh100-sxm5-80gb, 1 GPU, tokens_per_s\n"
            "predicted 2 s, measured 4 s, error -50.0 %");
}

TEST(ValidationHtmlTest, LinesAreWherePredictionsAreEqualAndTenPercentOff) {
  const nlohmann::json times = ChartsOf(ValidationToHtml(Small(), ""))[0];
  ASSERT_EQ(times["series"].size(), 4u);
  const std::vector<std::pair<std::string, double>> lines = {
      {"as measured", 1}, {"10 % more", 1.1}, {"10 % less", 0.9}};
  for (size_t line = 0; line < lines.size(); ++line) {
    EXPECT_EQ(times["series"][1 + line]["name"], lines[line].first);
    EXPECT_EQ(times["series"][1 + line]["style"], line == 0 ? "dashed" : "dotted");
    for (const size_t end : {3 + 2 * line, 4 + 2 * line}) {
      const nlohmann::json& point = times["items"][end];
      EXPECT_EQ(point[0], 1 + line);
      EXPECT_NEAR(point[2].get<double>() / point[1].get<double>(), lines[line].second, 1e-5);
    }
  }
}

// The ratios of times are 1.2, 1.1 and 0.5. By the median, 1.1, they leave errors of 0.1 / 1.1, 0
// and 0.6 / 1.1.
TEST(ValidationHtmlTest, GroupsHaveTheErrorsOfTheirRows) {
  const std::string page = ValidationToHtml(Small(), "");
  ExpectHas(page, ">3 rows: MAPE 26.7 %, bias -6.7 %, level 21.2 %</p>");
  ExpectHas(page,
            "data-by=\"class of work\" data-group=\"0\">large models, 16 bits or fewer</button>"
            "</td><td>3</td><td>26.7</td><td>-6.7</td><td>21.2</td><td>100.0</td>");
  // Bars are full from 50 % on.
  ExpectHas(page,
            "data-by=\"table\" data-group=\"1\">a</button><span class=\"origin\">paper</span>"
            "</td><td>2</td><td>15.0</td><td>+15.0</td><td>4.3</td><td>100.0</td>"
            "<td class=\"bar\"><i style=\"width: 30.0%\">");
  ExpectHas(page,
            "data-by=\"table\" data-group=\"2\">b</button><span class=\"origin\">paper</span>"
            "</td><td>1</td><td>50.0</td><td>-50.0</td><td>0.0</td><td>-</td>"
            "<td class=\"bar\"><i style=\"width: 100.0%\">");
  ExpectHas(page, ">h100-sxm5-80gb</button></td><td>1</td><td>50.0</td><td>-50.0</td>");
  ExpectHas(page, ">9-64</button></td><td>2</td><td>15.0</td><td>+15.0</td>");
  ExpectHas(page, ">bf16, megatron-core</button></td><td>3</td><td>26.7</td>");
}

TEST(ValidationHtmlTest, TheLargestErrorIsTheFirstOfTheList) {
  const std::string page = ValidationToHtml(Small(), "");
  const size_t list = page.find("<h3>Rows with the largest errors</h3>");
  const size_t first = page.find(">b-1</td>", list), second = page.find(">a-1</td>", list);
  EXPECT_LT(first, second);
  EXPECT_LT(second, page.find(">a-2</td>", list));
  // Entries are numbered in the order of the tables: class, tables a and b, two GPU types ...
  ExpectHas(page,
            "<tr class=\"row\" data-groups=\"0 2 4 5 7 8 10\" data-ratio=\"0.5\">"
            "<td data-name=\"row\">b-1</td><td data-name=\"error\">-50.0 %</td>"
            "<td data-name=\"predicted\">2 s</td><td data-name=\"measured\">4 s</td>"
            "<td data-name=\"GPUs\">1</td><td data-name=\"GPU type\">h100-sxm5-80gb</td>"
            "<td data-name=\"metric\">tokens_per_s</td><td data-name=\"source\">paper</td></tr>");
  ExpectHas(page,
            "<tr class=\"row\" data-groups=\"0 1 3 6 7 8 9\" data-ratio=\"1.2\">"
            "<td data-name=\"row\">a-1</td>");
}

TEST(ValidationHtmlTest, MemoryIsASectionOfItsOwn) {
  const std::string page = ValidationToHtml(Small(), "");
  const std::string memory = page.substr(page.find("<h2>Peak memory</h2>"));
  ExpectHas(memory, ">1 row: MAPE 20.0 %, bias +20.0 %, level 0.0 %</p>");
  const nlohmann::json chart = ChartsOf(page).at(1);
  EXPECT_EQ(chart["x"]["label"], "measured peak memory (GiB)");
  ASSERT_EQ(chart["items"].size(), 1u + 6u);
  EXPECT_EQ(chart["items"][0][1], 10);
  EXPECT_EQ(chart["items"][0][2], 12);
  ExpectHas(chart["items"][0][3], "predicted 12 GiB, measured 10 GiB, error +20.0 %");
}

TEST(ValidationHtmlTest, OnlyTheFirstRowsOfALongListAreShown) {
  Validation validation;
  for (int i = 0; i < 30; ++i) validation.rows.push_back(Row("r", "a", 1 + 0.01 * i, 1));
  const std::string page = ValidationToHtml(validation, "");
  EXPECT_EQ(CountOf(page, "<tr class=\"row\""), 30);
  EXPECT_EQ(CountOf(page, " hidden=\"\"><td data-name=\"row\">r</td>"), 10);
}

TEST(ValidationHtmlTest, WhatIsLeftOutIsCountedWithItsReason) {
  Validation validation = Small();
  validation.rows[1].measured.is_primary = false;
  validation.rows[2].prediction.value.reset();
  validation.rows[2].prediction.reason = "no such GPU";
  validation.rows.push_back(Row("k-1", "a", 1, 1));
  validation.rows.back().measured.metric_kind = "bubble_rate";
  validation.not_scored = {Gpt(), Gpt()};
  validation.not_scored[0].why_not = validation.not_scored[1].why_not = "a guess";
  const std::string page = ValidationToHtml(validation, "");
  ExpectHas(page, ">1 row: MAPE 20.0 %, bias +20.0 %, level 0.0 %</p>");
  const std::string rest = page.substr(page.find("<summary>5 rows in neither section</summary>"));
  ExpectHas(rest, "<td>not scored: a guess</td><td>2</td>");
  ExpectHas(rest, "<td>scored, but cannot be simulated: no such GPU</td><td>1</td>");
  ExpectHas(rest, "<td>restates what another row of the run says (not primary)</td><td>1</td>");
  ExpectHas(rest, "<td>neither the time of a training step nor memory: bubble_rate</td><td>1</td>");
}

TEST(ValidationHtmlTest, FactsThatTheRowsGaveAwayAreRemarkedOn) {
  Validation validation = Small();
  EXPECT_EQ(ValidationToHtml(validation, "").find("inferred"), std::string::npos);
  validation.rows[0].prediction.inferred = {{{"vocabulary 32000", "assumption", false}, 0.7}};
  ExpectHas(ValidationToHtml(validation, ""),
            "The predictions of 1 row rest on facts that were inferred");
}

TEST(ValidationHtmlTest, NoTextOfATableIsMarkup) {
  const std::string hostile = "</title><script>alert('1')</script>\" onload=\"x&amp;";
  Validation validation = Small();
  for (ValidatedRow& row : validation.rows) {
    row.measured.id = row.measured.source = row.measured.table = hostile;
    row.measured.gpu_id = row.measured.dtype = row.measured.stack = hostile;
  }
  validation.rows.push_back(Row(hostile, hostile, 1, 1));
  validation.rows.back().prediction.value.reset();
  validation.rows.back().prediction.reason = hostile;
  validation.not_scored = {Gpt()};
  validation.not_scored[0].why_not = hostile;
  const std::string page = ValidationToHtml(validation, hostile);
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(CountOf(page, "<script"), 3);  // the page's own, and the data of two charts
  ASSERT_EQ(ChartsOf(page).size(), 2u);
  EXPECT_EQ(ChartsOf(page)[0]["items"][0][3].get<std::string>().substr(0, hostile.size()), hostile);
  // Quotes are entities in HTML, and have a backslash in JSON.
  EXPECT_EQ(CountOf(page, "\" onload"), CountOf(page, "\\\" onload"));
  ExpectHas(page,
            "<td data-name=\"row\">&lt;/title&gt;&lt;script&gt;alert('1')&lt;/script&gt;&quot; "
            "onload=&quot;x&amp;amp;</td>");
}

TEST(ValidationHtmlTest, AValidationWithoutRowsIsAPageThatSaysSo) {
  const std::string page = ValidationToHtml({}, "0 rows of empty.csv");
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(CountOf(page, "<p>There are no rows.</p>"), 2);
  EXPECT_EQ(CountOf(page, "<figure"), 0);
}

TEST(ValidationHtmlTest, ThePageIsTheSameEveryTime) {
  EXPECT_TRUE(ValidationToHtml(Small(), "").starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(ValidationToHtml(Small(), ""), ValidationToHtml(Small(), ""));
}

}  // namespace
}  // namespace stagecraft
