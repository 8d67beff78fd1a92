#include "tools/validation/step_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "costmodel/analytical_model.h"
#include "costmodel/error_of.h"
#include "tools/validation/class_errors.h"
#include "tools/validation/prediction.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

// Sources whose errors are distances from constants of their own: three from an eager traffic of
// 1.4, and one from 2.2.
std::vector<SourceError> Errors(const StepConstants& constants) {
  std::vector<SourceError> errors;
  for (const auto& [source, traffic] :
       {std::pair("a", 1.4), std::pair("b", 1.4), std::pair("c", 1.4), std::pair("d", 2.2)}) {
    const double mape = 10 * std::abs(constants.eager_traffic - traffic) +
                        0.1 * std::abs(constants.host_dispatch_us - 60);
    errors.push_back({WorkClass::kLarge16, source, 5, mape});
  }
  return errors;
}

TEST(StepFitTest, ConstantsAreThoseOfLeastMeanError) {
  const StepFit fit = FitStepConstants(Errors);
  EXPECT_EQ(fit.fitted, (StepConstants{60, 1.4, 0.5}));
  ASSERT_EQ(fit.sources.size(), 4u);
  EXPECT_NEAR(fit.sources[3].error.in_use, 5.5, 1e-9);
  EXPECT_NEAR(fit.sources[3].error.fitted, 8, 1e-9);
  EXPECT_NEAR(MeanOf(fit, std::nullopt).fitted, 2, 1e-9);
}

// Two sources want 1.4 and one wants 2.2 if one of the first is left out.
TEST(StepFitTest, ASourceThatIsLeftOutHasNoSay) {
  const StepFit fit = FitStepConstants([](const StepConstants& constants) {
    std::vector<SourceError> errors = Errors(constants);
    errors.erase(errors.begin(), errors.begin() + 2);
    return errors;
  });
  ASSERT_EQ(fit.sources.size(), 2u);
  EXPECT_EQ(fit.sources[0].without.eager_traffic, 2.2);
  EXPECT_EQ(fit.sources[1].without.eager_traffic, 1.4);
  EXPECT_NEAR(fit.sources[0].error.left_out, 8, 1e-9);
  EXPECT_NEAR(fit.sources[1].error.left_out, 8, 1e-9);
}

TEST(StepFitTest, MeansAreOfAllTablesAndOfEachClass) {
  const StepFit fit = FitStepConstants([](const StepConstants&) {
    return std::vector<SourceError>{{WorkClass::kLarge16, "a", 100, 4},
                                    {WorkClass::kLarge16, "b", 1, 8},
                                    {WorkClass::kClassic, "a", 1, 30}};
  });
  EXPECT_DOUBLE_EQ(MeanOf(fit, WorkClass::kLarge16).in_use, 6);
  EXPECT_DOUBLE_EQ(MeanOf(fit, WorkClass::kClassic).left_out, 30);
  EXPECT_DOUBLE_EQ(MeanOf(fit, std::nullopt).fitted, 14);
  const nlohmann::ordered_json json = StepFitToJson(fit);
  ASSERT_EQ(json["classes"].size(), 2u);
  EXPECT_EQ(json["classes"][1]["class"], Name(WorkClass::kClassic));
  std::ostringstream text;
  PrintStepFit(fit, text);
  EXPECT_NE(text.str().find("mean over tables"), text.str().rfind("mean over tables"));
}

TEST(StepFitTest, AConstantWithoutEffectKeepsItsValueAndABoundIsNamed) {
  const StepFit fit = FitStepConstants([](const StepConstants& constants) {
    const double mape = 100 - constants.eager_traffic;
    return std::vector<SourceError>{{WorkClass::kLarge16, "a", 1, mape},
                                    {WorkClass::kClassic, "b", 1, mape}};
  });
  EXPECT_EQ(fit.fitted, (StepConstants{75, 3, 0.5}));
  EXPECT_EQ(StepFitToJson(fit)["at_bound"], nlohmann::json::array({"eager-traffic"}));
  std::ostringstream text;
  PrintStepFit(fit, text);
  EXPECT_NE(text.str().find("; ends at a bound"), std::string::npos) << text.str();
}

TEST(StepFitTest, OneSourceIsTooFew) {
  const auto one = [](const StepConstants&) {
    return std::vector<SourceError>{{WorkClass::kLarge16, "a", 1, 5}};
  };
  EXPECT_EQ(ErrorOf([&] { FitStepConstants(one); }),
            "--fit-constants: got steps of 1 tables, want two or more, so that one can be left "
            "out");
}

TEST(StepFitTest, EveryConstantInUseIsACandidate) {
  for (const StepConstant& constant : AllStepConstants()) {
    const double in_use = StepConstants().*constant.value;
    EXPECT_EQ(std::count(constant.candidates.begin(), constant.candidates.end(), in_use), 1)
        << constant.name;
    EXPECT_TRUE(std::is_sorted(constant.candidates.begin(), constant.candidates.end()));
  }
  EXPECT_EQ(StepConstants().host_dispatch_us * 1e3,
            static_cast<double>(KernelConstants().host_dispatch.ns()));
}

// Rows that were measured by a framework that moves 1.4 times the bytes lead to that constant.
TEST(StepFitTest, TheConstantsBehindMeasuredStepsAreFound) {
  const AnalyticalModel model;
  PredictionBasis basis = {StackTable::Embedded(), RowFactTable::Embedded(), model};
  basis.constants.eager_traffic = 1.4;
  std::vector<ValidatedRow> rows;
  for (const char* table : {"a", "b"}) {
    for (const int64_t hidden : {4096, 8192}) {
      ValidatedRow row;
      row.measured = Gpt();
      row.measured.table = table;
      row.measured.hidden = hidden;
      row.measured.seq = 4096;
      row.measured.value = PredictRow(row.measured, basis).value.value();
      rows.push_back(std::move(row));
    }
  }
  const StepFit fit = FitStepConstants(
      [&](const StepConstants& constants) { return TimeErrorsOf(rows, basis, constants); });
  EXPECT_EQ(fit.fitted.eager_traffic, 1.4);
  EXPECT_LT(MeanOf(fit, std::nullopt).left_out, 1e-6);
  EXPECT_GT(MeanOf(fit, std::nullopt).in_use, 0.1);
}

}  // namespace
}  // namespace stagecraft
