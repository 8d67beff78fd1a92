// The accuracy that the network model must have on the shared tables of collectives.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/curve_features.h"
#include "costmodel/network/network_experiment.h"
#include "costmodel/network/network_files_testing.h"
#include "costmodel/network/time_curve.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

class NetworkAccuracyTest : public testing::Test {
 protected:
  // Both tables are read once for all tests.
  static void SetUpTestSuite() {
    if (!HasSharedData()) return;
    const std::string folder = std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/";
    samples_ = ReadCollectiveTable(folder + "collectives.csv.gz").samples;
    for (NetworkSample& sample :
         ReadCollectiveTable(folder + "nd_a100_v4_all_reduce.csv").samples) {
      samples_.push_back(std::move(sample));
    }
  }
  void SetUp() override {
    if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  }

  using Claim = std::function<bool(const NetworkSample&)>;

  // Returns the MAPE of the test rows of at least this many bytes; rows for which `is_unseen` is
  // true train nothing.
  double Mape(const Claim& is_test, const Claim& is_unseen, int64_t least_bytes) {
    SampleSplit split;
    for (int i = 0; i < static_cast<int>(samples_.size()); ++i) {
      const NetworkSample& sample = samples_[i];
      if (!is_unseen(sample)) split.train.push_back(i);
      const bool judges = is_test(sample) && WhyNotSimulated(sample) == nullptr;
      if (judges && sample.op.bytes.count() >= least_bytes) split.test.push_back(i);
    }
    return Summarise(samples_, PredictLeftOut(samples_, split)).mape;
  }

  NetworkAccuracy Run(const std::string& spec) {
    NetworkExperimentOptions options;
    options.split = spec;
    options.least_bytes = Bytes(4096);
    return RunNetworkExperiment(samples_, options).overall_rows;
  }

  static inline std::vector<NetworkSample> samples_;
};

// A matrix of correlations has no negative eigenvalue; otherwise weights would mean nothing.
TEST_F(NetworkAccuracyTest, CorrelationsOfMeasuredCurvesHaveNoNegativeEigenvalue) {
  std::vector<int> all(samples_.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<TimeCurve> curves = MakeCurves(samples_, all, Harnesses());
  const auto n = static_cast<Eigen::Index>(curves.size());
  for (size_t regime = 0; regime < kRegimes.size(); ++regime) {
    const auto correlations = Eigen::MatrixXd::NullaryExpr(n, n, [&](auto i, auto j) {
      return Correlations(curves[i].features, curves[j].features)[regime];
    });
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(correlations,
                                                                Eigen::EigenvaluesOnly);
    EXPECT_GT(solver.eigenvalues().minCoeff(), -1e-9);
  }
}

TEST_F(NetworkAccuracyTest, SizesLeftOut) {
  const NetworkAccuracy accuracy = Run("leave-out:bytes");
  RecordProperty("mape", fmt::format("{:.4f}", accuracy.mape));
  EXPECT_LE(accuracy.mape, 0.04);
}

// The goal is 10 %; docs/cost-model.md says where the rest of the error comes from.
TEST_F(NetworkAccuracyTest, GroupsLeftOut) {
  const NetworkAccuracy accuracy = Run("leave-out:group");
  RecordProperty("mape", fmt::format("{:.4f}", accuracy.mape));
  EXPECT_LE(accuracy.mape, 0.148);
}

TEST_F(NetworkAccuracyTest, AWholeMeshLeftOut) {
  EXPECT_LE(Run("leave-out:system=p3.16xlarge 4x8").mape, 0.15);
}

TEST_F(NetworkAccuracyTest, GroupsThatShareAnInterface) {
  const auto shares = [](const NetworkSample& sample) {
    return sample.source == "alpa-osdi22" && sample.op.fabric.nodes > 1 && sample.groups >= 4;
  };
  const double mape = Mape(shares, shares, 64 << 10);
  RecordProperty("mape", fmt::format("{:.4f}", mape));
  EXPECT_LE(mape, 0.15);
}

TEST_F(NetworkAccuracyTest, MoreNodesThanMeasured) {
  const auto has = [](int ranks) {
    return [ranks](const NetworkSample& sample) {
      return sample.source == "nd-a100-v4" && sample.op.fabric.ranks >= ranks;
    };
  };
  const double wider = Mape(has(32), has(32), 1 << 20);
  RecordProperty("mape_32_ranks", fmt::format("{:.4f}", wider));
  EXPECT_LE(wider, 0.12);
  const auto sixteen = [&](const NetworkSample& sample) {
    return has(16)(sample) && !has(32)(sample);
  };
  const double from_one = Mape(sixteen, has(16), 1 << 20);
  RecordProperty("mape_16_ranks", fmt::format("{:.4f}", from_one));
  EXPECT_LE(from_one, 0.25);
}

}  // namespace
}  // namespace stagecraft
