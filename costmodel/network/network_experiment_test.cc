#include "costmodel/network/network_experiment.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/random.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

NetworkSample Sample(int64_t bytes, int ranks) {
  Fabric fabric;
  fabric.ranks = ranks;
  fabric.ranks_per_node = ranks;
  fabric.intra = {LinkKind::kNvlink, 600_ns, Bandwidth(300e9)};
  NetworkSample sample;
  sample.op = Op::Collective(OpKind::kAllReduce, Bytes(bytes), fabric);
  sample.time = 100_us;
  return sample;
}

// Rows that calibrate are drawn several times, so that a row has several predictions.
TEST(NetworkExperimentTest, TheLargestMessageGetsTheMeanOfAllItsPredictions) {
  const std::vector<NetworkSample> samples = {Sample(1000, 8), Sample(4000, 4), Sample(4000, 8),
                                              Sample(4000, 8), Sample(2000, 8)};
  const auto prediction = [](int sample, Duration time) {
    return NetworkPrediction{sample, time, time, 0.1};
  };
  std::vector<NetworkPrediction> predictions = {
      prediction(0, 9_us), prediction(2, 50_us),  prediction(1, 9_us), prediction(2, 100_us),
      prediction(3, 9_us), prediction(2, 200_us), prediction(4, 9_us)};
  const double measured = BusBandwidth(samples[2].op, 100_us).bytes_per_s();
  // The predictions are twice, once and half as fast as the measurement, in any order.
  const double mean = measured * (2 + 1 + 0.5) / 3;
  Random random(1);
  for (int order = 0; order < 20; ++order) {
    for (size_t i = predictions.size() - 1; i > 0; --i) {
      std::swap(predictions[i],
                predictions[static_cast<size_t>(random.Integer(0, static_cast<int64_t>(i)))]);
    }
    const NetworkAccuracy accuracy = Summarise(samples, predictions);
    EXPECT_EQ(accuracy.largest, Bytes(4000));
    EXPECT_EQ(accuracy.bus_measured.bytes_per_s(), measured);
    EXPECT_NEAR(accuracy.bus_predicted.bytes_per_s() / mean, 1, 1e-12);
  }
}

}  // namespace
}  // namespace stagecraft
