#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "costmodel/error_of.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/classics_networks.h"
#include "sim/workload/networks/test_flops.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

Workload DeepSpeech2(const std::string& name = "deepspeech2") {
  return BuildClassic(name, AttentionBackend::kFlash).value();
}

// A GRU layer has three matrices for its inputs, three for its last outputs and two biases each,
// in either direction. The convolutions leave 32 channels of 41 of 161 frequencies.
TEST(DeepSpeech2Test, HasTheParametersOfItsLayers) {
  const auto gru = [](int64_t in) { return 2 * 3 * 800 * (in + 800 + 2); };
  const int64_t convolutions = 32 * 41 * 11 + 32 * (32 * 21 * 11) + 2 * (2 * 32);
  const int64_t recurrent = gru(32 * 41) + 4 * (gru(800) + 2 * 800);
  const int64_t head = 2 * 800 + 800 * 29;
  EXPECT_EQ(DeepSpeech2().Parameters(), convolutions + recurrent + head);
  EXPECT_EQ(DeepSpeech2().Parameters(), 41'187'904);
}

// The first convolution makes 81 x 269 of 161 x 537 pixels, the second 41 x 269.
TEST(DeepSpeech2Test, HasTheFlopsOfItsLayers) {
  const double convolutions = 32.0 * 41 * 11 * (81 * 269) + 32.0 * (32 * 21 * 11) * (41 * 269);
  const double recurrent = 269.0 * 2 * 3 * 800 * (32 * 41 + 800 + 4 * (800 + 800));
  const double head = 269.0 * 800 * 29;
  EXPECT_DOUBLE_EQ(ForwardFlops(DeepSpeech2()), 2 * (convolutions + recurrent + head));
  EXPECT_NEAR(ForwardFlops(DeepSpeech2()), 27.84e9, 0.005e9);
}

TEST(DeepSpeech2Test, EveryOtherFrameIsAStepOfTheRecurrentLayers) {
  const Workload net = DeepSpeech2("deepspeech2@1000");
  EXPECT_EQ(net.name, "deepspeech2@1000");
  EXPECT_EQ(net.max_sequence, 1);
  int steps = 0;
  for (const int layer : net.layers) {
    for (const Operator& op : net.kinds[layer].operators) {
      if (op.kind != OperatorKind::kRecurrent) continue;
      ++steps;
      EXPECT_EQ(op.positions, 500);
      EXPECT_EQ(op.in_features, 800);
      EXPECT_EQ(op.out_features, 3 * 800);
    }
  }
  EXPECT_EQ(steps, 5 * 2);
  EXPECT_EQ(net.layer_count(), 1 + 5 + 1);
  EXPECT_EQ(net.layers[2], net.layers[5]);  // all recurrent layers but the first are alike
  EXPECT_EQ(net.layer(0).boundary_features, 32 * 41);
  EXPECT_EQ(net.layer(1).boundary_features, 800);  // the sum of both directions
}

TEST(DeepSpeech2Test, LongerUtterancesHaveTheSameParametersAndMoreFlops) {
  const Workload net = DeepSpeech2("deepspeech2@1074");
  EXPECT_EQ(net.Parameters(), DeepSpeech2().Parameters());
  EXPECT_NEAR(ForwardFlops(net) / ForwardFlops(DeepSpeech2()), 2, 0.01);
}

TEST(DeepSpeech2Test, SizesAreParameters) {
  const Workload net = BuildDeepSpeech2("d", {.recurrent_layers = 1, .hidden = 16}, 100);
  EXPECT_EQ(net.layer_count(), 3);
  EXPECT_EQ(net.hidden, 16);
}

TEST(DeepSpeech2Test, RefusesSizesThatAreNoNumberOfFrames) {
  for (const char* name : {"deepspeech2@", "deepspeech2@0", "deepspeech2@5s", "deepspeech2@4097"}) {
    EXPECT_EQ(ErrorOf([&] { DeepSpeech2(name); }),
              "workload: got '" + std::string(name) +
                  "', want 'deepspeech2@SIZE' with 1 to 4096 frames of 10 ms");
  }
}

}  // namespace
}  // namespace stagecraft
