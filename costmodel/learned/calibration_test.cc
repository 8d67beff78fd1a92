#include "costmodel/learned/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <span>
#include <string>

#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/families/tensor_gemm.h"
#include "costmodel/learned/fitted_models_testing.h"

namespace stagecraft {
namespace {

// Returns rows of a site whose GPU is 20 % slower than the model says.
SyntheticRows SlowRows(const FamilyModel& model, const Device& gpu, int count, uint64_t seed) {
  SyntheticRows rows;
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const Op op =
        &model.family() == &TensorGemmFamily() ? RandomProduct(random) : RandomToyOp(random);
    rows.Add(op, gpu, Predict(model, op, gpu).log_seconds + std::log(1.2));
  }
  return rows;
}

TEST(CalibrationTest, FiveRowsOfASlowGpuCutTheError) {
  for (const FamilyModel* model : {&ToyModel(), &ProductModel()}) {
    const Device& gpu = CatalogueGpu("a30-24gb");
    const FamilyModel site = model->Calibrated(SlowRows(*model, gpu, 5, 1).rows).model;
    const SyntheticRows fresh = SlowRows(*model, gpu, 200, 2);
    EXPECT_NEAR(ErrorsOf(*model, fresh).mean, std::log(1.2), 1e-9);
    EXPECT_LT(ErrorsOf(site, fresh).mean, 0.09);
    EXPECT_TRUE(site.Knows(gpu));
    EXPECT_FALSE(model->Knows(gpu));
  }
}

TEST(CalibrationTest, TheReportOfACalibrationSaysWhatChanged) {
  const Device& gpu = CatalogueGpu("a30-24gb");
  const std::string changes = ToyModel().Calibrated(SlowRows(ToyModel(), gpu, 5, 1).rows).changes;
  EXPECT_TRUE(changes.starts_with("toy: all x 1.")) << changes;
  EXPECT_NE(changes.find(", fraction x 0."), std::string::npos) << changes;
  EXPECT_EQ(changes.find("work"), std::string::npos) << changes;
}

// Five rows that the model of a measured GPU type already explains leave that model unchanged.
TEST(CalibrationTest, RowsThatAgreeKeepTheWholeCorrection) {
  const Device& gpu = CatalogueGpu("a100-sxm4-80gb");
  SyntheticRows rows;
  Random random(11);
  for (int i = 0; i < 5; ++i) {
    const Op op = RandomProduct(random);
    rows.Add(op, gpu, Predict(ProductModel(), op, gpu).log_seconds);
  }
  const CalibratedFamily site = ProductModel().Calibrated(rows.rows);
  EXPECT_EQ(site.changes.find("correction"), std::string::npos) << site.changes;
  for (int i = 0; i < 20; ++i) {
    const Op op = RandomProduct(random);
    EXPECT_NEAR(Predict(site.model, op, gpu).log_seconds,
                Predict(ProductModel(), op, gpu).log_seconds, 0.02);
  }
}

// What a site taught about its GPU type holds for an almost equal one, too, but not as certainly: a
// relative never was measured itself.
TEST(CalibrationTest, AStepAwayFromASitesGpuIsASmallOne) {
  const Device& gpu = CatalogueGpu("a30-24gb");
  const FamilyModel site = ToyModel().Calibrated(SlowRows(ToyModel(), gpu, 5, 1).rows).model;
  Device step = gpu;
  step.id = "step";
  step.memory_bandwidth = 1.0001 * gpu.memory_bandwidth;
  Random random(8);
  for (int i = 0; i < 20; ++i) {
    const Op op = RandomToyOp(random);
    const LogTime own = Predict(site, op, gpu);
    const LogTime near = Predict(site, op, step);
    EXPECT_NEAR(near.log_seconds, own.log_seconds, 0.01);
    EXPECT_GT(near.spread, own.spread);
    EXPECT_LT(near.spread, 1.5 * own.spread);
  }
}

TEST(CalibrationTest, ACalibrationLeavesOtherGpusAlone) {
  const FamilyModel site =
      ProductModel()
          .Calibrated(SlowRows(ProductModel(), CatalogueGpu("a30-24gb"), 5, 1).rows)
          .model;
  const Device& other = CatalogueGpu("l40s-48gb");
  Random random(9);
  for (int i = 0; i < 20; ++i) {
    const Op op = RandomProduct(random);
    EXPECT_EQ(Predict(site, op, other).log_seconds, Predict(ProductModel(), op, other).log_seconds);
  }
}

// Devices that differ from what is predicted, some not at all and some by 20 %, and rows with a
// noise of 5 %: over all draws calibration never makes the mean error larger, and more rows make it
// smaller.
TEST(CalibrationTest, CalibrationIsNeverWorseInExpectationAndMoreRowsHelp) {
  const Device& gpu = CatalogueGpu("a30-24gb");
  constexpr int kDraws = 24;
  std::map<int, double> mean;  // by the number of rows
  for (int draw = 0; draw < kDraws; ++draw) {
    Random random = Random(77).Child("draw", draw);
    const double offset = (draw % 4) * 0.06 * (draw % 8 < 4 ? 1 : -1);
    const auto rows_of = [&](int count) {
      SyntheticRows rows;
      for (int i = 0; i < count; ++i) {
        const Op op = RandomProduct(random);
        const double predicted = Predict(ProductModel(), op, gpu).log_seconds;
        rows.Add(op, gpu, predicted + offset + Noise(random, 0.05));
      }
      return rows;
    };
    const SyntheticRows fresh = rows_of(100), site = rows_of(80);
    mean[0] += ErrorsOf(ProductModel(), fresh).mean / kDraws;
    for (const int count : {3, 10, 80}) {
      const auto some = std::span(site.rows).first(static_cast<size_t>(count));
      mean[count] += ErrorsOf(ProductModel().Calibrated(some).model, fresh).mean / kDraws;
    }
  }
  EXPECT_LE(mean[3], mean[0]);
  EXPECT_LE(mean[10], mean[3]);
  EXPECT_LE(mean[80], mean[10]);
  EXPECT_LT(mean[80], 0.06);
}

TEST(CalibrationTest, RowsThatVaryCountLess) {
  const Device& gpu = CatalogueGpu("a30-24gb");
  SyntheticRows rows = SlowRows(ProductModel(), gpu, 5, 1);
  const SyntheticRows fresh = SlowRows(ProductModel(), gpu, 50, 2);
  const double sure = ErrorsOf(ProductModel().Calibrated(rows.rows).model, fresh).mean;
  for (FitRow& row : rows.rows) row.spread = 0.5;
  const double unsure = ErrorsOf(ProductModel().Calibrated(rows.rows).model, fresh).mean;
  EXPECT_GT(unsure, sure + 0.02);
}

// A second calibration does not count again what the first one explained.
TEST(CalibrationTest, CalibratingTwiceDoesNotMoveAwayAgain) {
  const FamilyModel plain(StreamFamily());
  const Device& gpu = CatalogueGpu("a30-24gb");
  SyntheticRows rows;
  Random random(10);
  for (int i = 0; i < 20; ++i) {
    const Op op = RandomToyOp(random);
    rows.Add(op, gpu, Predict(plain, op, gpu).log_seconds + std::log(1.2));
  }
  const FamilyModel once = plain.Calibrated(rows.rows).model;
  const FamilyModel twice = once.Calibrated(rows.rows).model;
  EXPECT_LT(ErrorsOf(twice, rows).mean, ErrorsOf(once, rows).mean + 1e-9);
}

}  // namespace
}  // namespace stagecraft
