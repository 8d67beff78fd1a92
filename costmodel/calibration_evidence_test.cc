#include "costmodel/calibration_evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

TEST(CalibrationEvidenceTest, AClearGainGivesNoWarningAndNoGainGivesOne) {
  const std::vector<double> large = {0.3, 0.31, 0.29, 0.32}, small = {0.02, 0.03, 0.01, 0.02};
  EXPECT_TRUE(WeighCalibration(large, small).ShowsGain());
  EXPECT_EQ(WeighCalibration(large, small).Warning("gemm"), "");
  const std::string warning = WeighCalibration(small, large).Warning("gemm");
  EXPECT_NE(warning.find("4 rows of gemm do not show that calibration helps"), std::string::npos);
  EXPECT_FALSE(WeighCalibration(small, small).ShowsGain());
}

TEST(CalibrationEvidenceTest, TwoRowsAreTooFew) {
  const std::vector<double> large = {0.3, 0.3}, small = {0.1, 0.1};
  EXPECT_NE(WeighCalibration(large, small).Warning("gemm").find("too few"), std::string::npos);
}

// About one in ten of the models that calibration does not help seems to be helped, by chance.
TEST(CalibrationEvidenceTest, ChanceShowsAGainInOneOfTen) {
  Random random(7);
  for (const int rows : {3, 5, 20}) {
    int shown = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> without, with;
      for (int row = 0; row < rows; ++row) {
        double sum = -6;  // plus twelve uniform numbers: nearly normal
        for (int i = 0; i < 12; ++i) sum += random.Uniform();
        without.push_back(1 + 0.1 * sum);
        with.push_back(1);
      }
      shown += WeighCalibration(without, with).ShowsGain() ? 1 : 0;
    }
    EXPECT_NEAR(shown / static_cast<double>(kTrials), 0.1, 0.02) << rows;
  }
}

TEST(CalibrationEvidenceTest, RepeatsOfARowAreLeftOutTogether) {
  const std::vector<std::string> keys = {"a", "b", "a", "c", "b"};
  EXPECT_EQ(LeaveOutParts(keys), (std::vector<int>{0, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace stagecraft
