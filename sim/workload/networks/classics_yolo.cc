// YOLO v3.
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kImagesPerSample = 1;
constexpr int64_t kBoxesPerPixel = 3;
constexpr int64_t kNumbersPerBox = 4 + 1;  // place and size, and whether it holds an object
constexpr size_t kScales = 3;

// Residual blocks after each halving of the map; the channels double from 64.
constexpr std::array<int, 5> kBlocks = {1, 2, 8, 8, 4};

// Convolutions alternate between these two. Leaky ReLUs move what ReLUs move.
Tensor Narrow(NetworkBuilder& net, Tensor x, int64_t channels) {
  return net.ConvNormRelu(x, channels, Square(1));
}
Tensor Wide(NetworkBuilder& net, Tensor x, int64_t channels, int64_t stride = 1) {
  return net.ConvNormRelu(x, channels, Square(3, stride, 1));
}

// Darknet-53: returns its last three maps, the smallest first.
std::vector<Tensor> Backbone(NetworkBuilder& net, int64_t size) {
  const Tensor image = net.Input(kColours, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  Tensor x = Wide(net, image, 32);
  std::vector<Tensor> maps;
  for (const int blocks : kBlocks) {
    net.BeginLayer("down");
    const int64_t channels = 2 * x.channels;
    x = Wide(net, x, channels, /*stride=*/2);
    for (int block = 0; block < blocks; ++block) {
      net.BeginLayer("residual");
      x = net.Add(Wide(net, Narrow(net, x, channels / 2), channels), x);
    }
    maps.insert(maps.begin(), x);
  }
  maps.resize(kScales);
  return maps;
}

}  // namespace

Workload BuildYoloV3(const std::string& name, int64_t classes, int64_t size) {
  NetworkBuilder net(name);
  const std::vector<Tensor> maps = Backbone(net, size);
  const int64_t hidden = maps[0].channels;
  std::vector<Tensor> scales;
  for (const Tensor& map : maps) {
    net.BeginLayer("scale");
    const int64_t channels = map.channels / 2;
    Tensor x = map;
    if (!scales.empty()) {
      x = net.Concat({net.Upsample(Narrow(net, scales.back(), channels), 2), map});
    }
    x = Wide(net, Narrow(net, x, channels), 2 * channels);
    x = Wide(net, Narrow(net, x, channels), 2 * channels);
    scales.push_back(Narrow(net, x, channels));
  }
  net.BeginLayer("head", LayerRole::kHead);
  Window predictor = Square(1);
  predictor.bias = true;
  for (const Tensor& scale : scales) {
    const Tensor x = Wide(net, scale, 2 * scale.channels);
    // Every number has a logistic loss of its own, which moves what a softmax moves.
    net.Loss(net.Convolution(x, kBoxesPerPixel * (kNumbersPerBox + classes), predictor));
  }
  return net.Finish(kImagesPerSample, hidden, classes);
}

}  // namespace stagecraft
