#include "tools/validation/class_errors.h"

#include <gtest/gtest.h>

#include <vector>

#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

TEST(ClassErrorsTest, ClassesFollowFromNetworkNumbersAndGpu) {
  MeasuredRow row = Gpt();
  EXPECT_EQ(ClassOf(row), WorkClass::kLarge16);
  row.dtype = "tf32";
  EXPECT_EQ(ClassOf(row), WorkClass::kLarge32);
  row.dtype = "fp16";
  row.gpu_id = "a100-sxm4-80gb*8+v100-sxm2-16gb*8";
  EXPECT_EQ(ClassOf(row), WorkClass::kLarge32);
  row.gpu_id = "t4-16gb";
  EXPECT_EQ(ClassOf(row), WorkClass::kClassic);
  row = Gpt();
  row.model_kind = "resnet50";
  EXPECT_EQ(ClassOf(row), WorkClass::kClassic);
  row.metric_kind = "peak_memory_allocated";
  EXPECT_FALSE(ClassOf(row).has_value());
}

// Table a has ratios of predicted to measured times of 1.2 and 1.1, table b of 0.5 as a rate of
// twice what was measured.
TEST(ClassErrorsTest, RatesCountAsTimesAndSourcesAlike) {
  std::vector<ValidatedRow> rows = {TimeRow("a", 1.2, 1), TimeRow("a", 1.1, 1), TimeRow("b", 4, 2)};
  rows[0].prediction.spread = 1;
  rows[1].prediction.spread = 1e-3;
  rows[2].measured.metric_kind = "tokens_per_s";
  rows.push_back(TimeRow("c", 9, 1));
  rows.back().measured.is_primary = false;
  const std::vector<ClassErrors> classes = SummarizeClasses(rows);
  ASSERT_EQ(classes.size(), 1u);
  ASSERT_EQ(classes[0].sources.size(), 2u);
  EXPECT_NEAR(classes[0].sources[0].mape, 15, 1e-9);
  EXPECT_NEAR(classes[0].sources[0].bias, 15, 1e-9);
  EXPECT_NEAR(classes[0].sources[0].mape_factored, 100 * 0.05 / 1.15, 1e-9);
  EXPECT_NEAR(classes[0].sources[1].mape, 50, 1e-9);
  EXPECT_NEAR(classes[0].sources[1].bias, -50, 1e-9);
  EXPECT_NEAR(classes[0].sources[1].mape_factored, 0, 1e-9);
  EXPECT_NEAR(classes[0].by_source, 32.5, 1e-9);
  EXPECT_NEAR(classes[0].by_rows, 80.0 / 3, 1e-9);
  EXPECT_NEAR(*classes[0].interval80_coverage, 50, 1e-9);
  EXPECT_FALSE(classes[0].sources[1].interval80_coverage.has_value());
}

}  // namespace
}  // namespace stagecraft
