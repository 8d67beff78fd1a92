#include "tools/report/measured_step.h"

#include <gtest/gtest.h>

#include <sstream>

#include "costmodel/check.h"
#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

// 100 ms: 80 of computation, 20 of exposed all-reduces.
Evaluation Predicted() {
  Evaluation evaluation;
  evaluation.step_time = 100_ms;
  evaluation.step_time_low = 90_ms;
  evaluation.step_time_high = 110_ms;
  evaluation.profile.breakdown.compute = 80_ms;
  evaluation.profile.breakdown.data = 20_ms;
  return evaluation;
}

TEST(MeasuredStepTest, ASlowerStepIsExplainedByThePartThatWouldHaveToChangeLeast) {
  const MeasuredStep step = CompareMeasured(120_ms, Predicted());
  EXPECT_FALSE(step.is_within());
  EXPECT_NEAR(step.error(), -1.0 / 6, 1e-12);
  ASSERT_EQ(step.explanations.size(), 2);
  EXPECT_DOUBLE_EQ(step.explanations[0].factor, 1.25);  // 80 + 20
  EXPECT_EQ(step.explanations[0].part, 80_ms);
  EXPECT_DOUBLE_EQ(step.explanations[1].factor, 2);  // 20 + 20
}

TEST(MeasuredStepTest, APartThatIsTooShortCannotExplainAFasterStep) {
  const MeasuredStep step = CompareMeasured(75_ms, Predicted());
  ASSERT_EQ(step.explanations.size(), 1);  // 25 ms are more than the 20 of all-reduces
  EXPECT_DOUBLE_EQ(step.explanations[0].factor, 55.0 / 80);
}

TEST(MeasuredStepTest, TheReportSaysWhetherTheIntervalHolds) {
  std::ostringstream within, outside;
  PrintMeasured(CompareMeasured(105_ms, Predicted()), within);
  PrintMeasured(CompareMeasured(120_ms, Predicted()), outside);
  EXPECT_NE(within.str().find("4.8 % too low, within its 80 % interval"), std::string::npos)
      << within.str();
  EXPECT_NE(outside.str().find("16.7 % too low, outside of its 80 % interval"), std::string::npos)
      << outside.str();
  EXPECT_NE(outside.str().find("20.0 ms a step of what is not simulated"), std::string::npos);
}

TEST(MeasuredStepTest, TimesHaveUnits) {
  EXPECT_EQ(ParseMeasured("--measured", "1.23s"), 1230_ms);
  EXPECT_EQ(ParseMeasured("--measured", "850ms"), 850_ms);
  EXPECT_EQ(ParseMeasured("--measured", "900us"), 900_us);
  for (const char* text : {"1.23", "0s", "-1s", "nans", "1e9s", "s", "", "1h"}) {
    EXPECT_NE(
        ErrorOf([&] { ParseMeasured("--measured", text); }).find("want a time of a step above 0"),
        std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace stagecraft
