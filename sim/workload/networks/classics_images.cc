// VGG, AlexNet, ResNet and SSD.
#include <initializer_list>
#include <utility>
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kImageNetClasses = 1000;
constexpr int64_t kCifarClasses = 10;
constexpr int64_t kCocoClasses = 81;  // with the background
constexpr int64_t kImagesPerSample = 1;

Window Biased(Window window) {
  window.bias = true;
  return window;
}

// A layer of dropout (if `drops`), a linear layer and its ReLU.
Tensor HiddenLinear(NetworkBuilder& net, Tensor x, int64_t features, bool drops) {
  net.BeginLayer(drops ? "linear_with_dropout" : "linear");
  if (drops) x = net.Dropout(x);
  return net.Relu(net.Linear(x, features));
}

void ClassifierHead(NetworkBuilder& net, Tensor x, int64_t classes, bool drops) {
  net.BeginLayer("head", LayerRole::kHead);
  if (x.positions() > 1) x = net.AdaptivePool(x, 1);
  if (drops) x = net.Dropout(x);
  net.Loss(net.Linear(net.Flatten(x), classes));
}

// A residual block; `channels` are those of the narrow part.
Tensor ResidualBlock(NetworkBuilder& net, Tensor in, int64_t channels, int64_t stride,
                     bool is_bottleneck) {
  const int64_t out_channels = is_bottleneck ? 4 * channels : channels;
  Tensor x = in;
  if (is_bottleneck) {
    x = net.ConvNormRelu(x, channels, Square(1));
    x = net.ConvNormRelu(x, channels, Square(3, stride, 1));
    x = net.BatchNorm(net.Convolution(x, out_channels, Square(1)));
  } else {
    x = net.ConvNormRelu(x, channels, Square(3, stride, 1));
    x = net.BatchNorm(net.Convolution(x, out_channels, Square(3, 1, 1)));
  }
  Tensor shortcut = in;
  if (stride != 1 || in.channels != out_channels) {
    shortcut = net.BatchNorm(net.Convolution(in, out_channels, Square(1, stride)));
  }
  return net.Relu(net.Add(x, shortcut));
}

Tensor ResidualGroup(NetworkBuilder& net, Tensor x, int group, int blocks, int64_t stride,
                     bool has_bottlenecks) {
  const int64_t channels = int64_t{64} << group;
  for (int block = 0; block < blocks; ++block) {
    net.BeginLayer("group" + std::to_string(group + 1));
    x = ResidualBlock(net, x, channels, block == 0 ? stride : 1, has_bottlenecks);
  }
  return x;
}

Tensor ImageNetStem(NetworkBuilder& net, int64_t size) {
  const Tensor image = net.Input(kColours, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  return net.MaxPool(net.ConvNormRelu(image, 64, Square(7, 2, 3)), Square(3, 2, 1));
}

}  // namespace

Workload BuildVgg16(const std::string& name, int64_t size) {
  NetworkBuilder net(name);
  Tensor x = net.Input(kColours, size, size);
  bool is_stem = true;
  for (const auto& [convolutions, channels] : std::initializer_list<std::pair<int, int64_t>>{
           {2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}) {
    for (int i = 0; i < convolutions; ++i) {
      net.BeginLayer(is_stem ? "stem" : "conv",
                     is_stem ? LayerRole::kEmbedding : LayerRole::kBlock);
      is_stem = false;
      x = net.Relu(net.Convolution(x, channels, Biased(Square(3, 1, 1))));
      if (i + 1 == convolutions) x = net.MaxPool(x, Square(2, 2));
    }
  }
  x = net.Flatten(net.AdaptivePool(x, 7));
  x = HiddenLinear(net, x, 4096, /*drops=*/false);
  x = HiddenLinear(net, x, 4096, /*drops=*/true);
  ClassifierHead(net, x, kImageNetClasses, /*drops=*/true);
  return net.Finish(kImagesPerSample, 512, kImageNetClasses);
}

Workload BuildAlexNet(const std::string& name, int64_t size) {
  NetworkBuilder net(name);
  Tensor x = net.Input(kColours, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  x = net.MaxPool(net.Relu(net.Convolution(x, 64, Biased(Square(11, 4, 2)))), Square(3, 2));
  net.BeginLayer("conv");
  x = net.MaxPool(net.Relu(net.Convolution(x, 192, Biased(Square(5, 1, 2)))), Square(3, 2));
  for (const int64_t channels : {384, 256, 256}) {
    net.BeginLayer("conv");
    x = net.Relu(net.Convolution(x, channels, Biased(Square(3, 1, 1))));
  }
  x = net.Flatten(net.AdaptivePool(net.MaxPool(x, Square(3, 2)), 6));
  x = HiddenLinear(net, x, 4096, /*drops=*/true);
  x = HiddenLinear(net, x, 4096, /*drops=*/true);
  ClassifierHead(net, x, kImageNetClasses, /*drops=*/false);
  return net.Finish(kImagesPerSample, 256, kImageNetClasses);
}

Workload BuildResNet(const std::string& name, const ResNetConfig& config, int64_t size) {
  NetworkBuilder net(name);
  Tensor x;
  if (config.is_cifar) {
    const Tensor image = net.Input(kColours, size, size);
    net.BeginLayer("stem", LayerRole::kEmbedding);
    x = net.ConvNormRelu(image, 64, Square(3, 1, 1));
  } else {
    x = ImageNetStem(net, size);
  }
  for (int group = 0; group < 4; ++group) {
    x = ResidualGroup(net, x, group, config.blocks[group], group == 0 ? 1 : 2,
                      config.has_bottlenecks);
  }
  const int64_t classes = config.is_cifar ? kCifarClasses : kImageNetClasses;
  const int64_t hidden = x.channels;
  ClassifierHead(net, x, classes, /*drops=*/false);
  return net.Finish(kImagesPerSample, hidden, classes);
}

Workload BuildSsd300(const std::string& name, int64_t size) {
  NetworkBuilder net(name);
  Tensor x = ImageNetStem(net, size);
  x = ResidualGroup(net, x, 0, 3, 1, true);
  x = ResidualGroup(net, x, 1, 4, 2, true);
  x = ResidualGroup(net, x, 2, 6, 1, true);
  std::vector<Tensor> maps = {x};
  // The last two extra blocks shrink the map because they do not pad.
  for (const auto& [middle, out, stride] : std::initializer_list<std::array<int64_t, 3>>{
           {256, 512, 2}, {256, 512, 2}, {128, 256, 2}, {128, 256, 1}, {128, 256, 1}}) {
    net.BeginLayer("extra");
    x = net.ConvNormRelu(x, middle, Square(1));
    x = net.ConvNormRelu(x, out, Square(3, stride, stride == 2 ? 1 : 0));
    maps.push_back(x);
  }
  net.BeginLayer("head", LayerRole::kHead);
  constexpr std::array<int64_t, 6> kBoxes = {4, 6, 6, 6, 4, 4};
  constexpr int64_t kCorners = 4;
  for (size_t m = 0; m < maps.size(); ++m) {
    net.Convolution(maps[m], kBoxes[m] * kCorners, Biased(Square(3, 1, 1)));
    net.Loss(net.Convolution(maps[m], kBoxes[m] * kCocoClasses, Biased(Square(3, 1, 1))));
  }
  return net.Finish(kImagesPerSample, 1024, kCocoClasses);
}

}  // namespace stagecraft
