// Tests of what `validate` does with impossible predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/error_table.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/test_rows.h"
#include "tools/validation/validation_report.h"

namespace stagecraft {
namespace {

// A model whose times are this many times shorter than those of the analytical model.
class FasterModel : public CostModel {
 public:
  explicit FasterModel(double times) : times_(times) {}
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates = AnalyticalModel().Predict(ops, device);
    for (Estimate& estimate : estimates) {
      estimate.time = Duration::Seconds(estimate.time.seconds() / times_);
    }
    return estimates;
  }

 private:
  double times_;
};

// A model whose spreads are not numbers.
class UnknownSpread : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates = AnalyticalModel().Predict(ops, device);
    for (Estimate& estimate : estimates) {
      estimate.spread = std::numeric_limits<double>::quiet_NaN();
    }
    return estimates;
  }
};

Prediction PredictWith(const CostModel& model, const MeasuredRow& row) {
  return PredictRow(row, {StackTable::Embedded(), RowFactTable::Embedded(), model});
}

std::vector<MeasuredRow> RowsOfSteps() {
  std::vector<MeasuredRow> rows;
  for (const char* kind : {"step_time", "tokens_per_s_per_gpu", "samples_per_s"}) {
    for (const char* dtype : {"bf16", "fp16", "fp32"}) {
      for (const int64_t batch : {32, 256}) {
        rows.push_back(Gpt());
        rows.back().id = std::string(kind) + " " + dtype + " " + std::to_string(batch);
        rows.back().metric_kind = kind;
        rows.back().dtype = dtype;
        rows.back().global_batch = batch;
      }
    }
  }
  return rows;
}

TEST(UnsoundPredictionTest, NoImpossibleStepIsScored) {
  for (const MeasuredRow& row : RowsOfSteps()) {
    const Prediction sound = PredictWith(AnalyticalModel(), row);
    EXPECT_TRUE(sound.value.has_value()) << row.id << sound.reason;
    EXPECT_FALSE(sound.is_unsound) << row.id;
    for (const double times : {1e9, 1e12}) {
      const Prediction prediction = PredictWith(FasterModel(times), row);
      EXPECT_TRUE(prediction.is_unsound) << row.id << times;
      EXPECT_FALSE(prediction.value.has_value()) << row.id << times;
      EXPECT_FALSE(prediction.step.has_value()) << row.id << times;  // baselines learn from it
      EXPECT_TRUE(prediction.reason.starts_with("the prediction is impossible: ")) << row.id;
    }
    EXPECT_TRUE(PredictWith(UnknownSpread(), row).is_unsound) << row.id;
  }
}

TEST(UnsoundPredictionTest, ValidationSaysHowManyAndWhich) {
  Validation validation;
  for (const MeasuredRow& row : RowsOfSteps()) {
    validation.rows.emplace_back();
    validation.rows.back().measured = row;
    validation.rows.back().prediction = PredictWith(AnalyticalModel(), row);
  }
  EXPECT_NO_THROW(RequireSound(validation));
  for (const size_t i : {1, 4}) {
    validation.rows[i].prediction = PredictWith(FasterModel(1e12), validation.rows[i].measured);
  }
  try {
    RequireSound(validation);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("2 rows are not simulated, "))
        << error.what();
    EXPECT_NE(std::string(error.what()).find(validation.rows[1].measured.id), std::string::npos);
  }
}

}  // namespace
}  // namespace stagecraft
