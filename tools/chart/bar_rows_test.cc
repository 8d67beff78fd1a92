#include "tools/chart/bar_rows.h"

#include <gtest/gtest.h>

#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

// The plot reaches from x = 124 to 424.
TEST(BarRowsTest, BarsBeginAtZero) {
  const std::string html = ToHtml(BarRows{"hours", {{"waiting", 2, "w"}, {"restart", 1, "r"}}});
  EXPECT_NE(html.find("x=\"124.00\" y=\"13.0\" width=\"300.00\""), html.npos) << html;
  EXPECT_NE(html.find("x=\"124.00\" y=\"39.0\" width=\"150.00\""), html.npos);
  EXPECT_EQ(CountOf(html, "<rect"), 2);
  EXPECT_NE(html.find(">waiting<"), html.npos);
  EXPECT_NE(html.find(">hours<"), html.npos);
}

TEST(BarRowsTest, GainsGoToTheLeftOfZero) {
  const std::string html = ToHtml(BarRows{"hours", {{"slower steps", -2, ""}, {"waiting", 1, ""}}});
  EXPECT_NE(html.find("x=\"124.00\" y=\"13.0\" width=\"200.00\""), html.npos) << html;
  EXPECT_NE(html.find("x=\"324.00\" y=\"39.0\" width=\"100.00\""), html.npos);
  EXPECT_NE(html.find(">-2<"), html.npos);
}

TEST(BarRowsTest, NamesAndTipsAreText) {
  const std::string html = ToHtml(BarRows{"<h>", {{"<a>", 1, "<b>"}}});
  for (const char* markup : {"<h>", "<a>", "<b>"}) EXPECT_EQ(CountOf(html, markup), 0) << markup;
}

}  // namespace
}  // namespace stagecraft
