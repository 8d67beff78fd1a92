#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/test_flops.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

Workload Yolo(const std::string& name = "yolov3") {
  return BuildClassic(name, AttentionBackend::kFlash).value();
}

// In units of the square of its channels c, a halving 3x3 convolution from c / 2 has 9/2 weights
// and a block 1/2 + 9/2; channels and blocks of the five groups are below. Each normalised channel
// has a scale and a shift. Of the three scales, with c channels in their narrow convolutions, the
// first has 3 x 2 for 1x1 and 3 x 18 for 3x3 convolutions; the others have 2 more before the
// upsampling and 1 more behind the concatenation. Each scale predicts 3 x 85 numbers from 2c.
TEST(YoloTest, HasTheParametersOfItsConvolutions) {
  constexpr int64_t kGroups[5][2] = {{64, 1}, {128, 2}, {256, 8}, {512, 8}, {1024, 4}};
  int64_t backbone = 27 * 32 + 2 * 32;
  for (const auto& [c, blocks] : kGroups) {
    backbone += (9 + 10 * blocks) * c * c / 2 + (2 + 3 * blocks) * c;
  }
  EXPECT_EQ(backbone, 40'584'928);
  const int64_t scales = 60 * 512 * 512 + 63 * (256 * 256 + 128 * 128) +  // weights
                         18 * 512 + 20 * (256 + 128) +                    // batch norms
                         255 * (1024 + 512 + 256 + 3);                    // predictions
  EXPECT_EQ(Yolo().Parameters(), backbone + scales);
  EXPECT_EQ(Yolo().Parameters(), 61'949'149);
}

// Darknet's yolov3.weights has 248,007,048 bytes: a header of 20, and in 32 bits the parameters and
// the mean and variance of 26,304 normalised channels.
TEST(YoloTest, HasTheParametersOfDarknetsFile) {
  EXPECT_EQ(20 + 4 * (Yolo().Parameters() + 2 * 26'304), 248'007'048);
}

// Channels times side of a map are 64 x 208 in every group and 512 x 13 in every scale, where the
// 1x1 convolution before an upsampling runs on a quarter of the pixels.
TEST(YoloTest, HasTheFlopsOfItsConvolutions) {
  const double stem = 27.0 * 32 * 416 * 416;
  const double backbone = (5 * 4.5 + 5 * (1 + 2 + 8 + 8 + 4)) * (64.0 * 208) * (64.0 * 208);
  const double scales = (60 + 2 * (61 + 2 / 4.0)) * (512.0 * 13) * (512.0 * 13);
  const double predictions = 255.0 * (1024 * 13 * 13 + 512 * 26 * 26 + 256 * 52 * 52);
  const double flops = 2 * (stem + backbone + scales + predictions);
  EXPECT_EQ(flops, 65'864'075'264);
  EXPECT_DOUBLE_EQ(ForwardFlops(Yolo()), flops);
}

TEST(YoloTest, VocHasTwentyClassesInPlaceOfEighty) {
  EXPECT_EQ(Yolo().vocabulary, 80);
  EXPECT_EQ(Yolo("yolov3-voc").vocabulary, 20);
  EXPECT_EQ(Yolo().Parameters() - Yolo("yolov3-voc").Parameters(),
            3 * (80 - 20) * (1024 + 512 + 256 + 3));
}

TEST(YoloTest, PredictsThreeBoxesForEveryPixelOfThreeMaps) {
  const Workload net = Yolo();
  const LayerKind& head = net.layer(net.layer_count() - 1);
  int64_t boxes = 0;
  for (const Operator& op : head.operators) {
    if (op.kind != OperatorKind::kLoss) continue;
    EXPECT_EQ(op.out_features, 3 * (4 + 1 + 80));
    boxes += 3 * op.positions;
  }
  EXPECT_EQ(boxes, 3 * (13 * 13 + 26 * 26 + 52 * 52));
}

// The maps of 52 x 52 and 26 x 26 pixels wait for their scales: after the backbone, beside the last
// map.
TEST(YoloTest, MapsTravelToTheScalesThatReadThem) {
  const Workload net = Yolo();
  constexpr int kBackboneLayers = 1 + 5 + 23;
  const LayerKind& last = net.layer(kBackboneLayers - 1);
  EXPECT_EQ(last.boundary_features * last.boundary_positions,
            1024 * 13 * 13 + 512 * 26 * 26 + 256 * 52 * 52);
  EXPECT_EQ(net.layer_count(), kBackboneLayers + 3 + 1);
}

}  // namespace
}  // namespace stagecraft
