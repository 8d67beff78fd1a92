// torchgpipe's simplified U-Net (Kim et al. 2020, benchmarks/models/unet).
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr int kLevels = 5;

// A 3x3 convolution, dropout of whole channels, instance norm, and leaky ReLU. The norm's
// statistics are of one image only, but still come before its output.
Tensor Unit(NetworkBuilder& net, Tensor x, int64_t channels) {
  Window window = Square(3, 1, 1);
  window.bias = true;
  x = net.Convolution(x, channels, window);
  // The noise is one number per channel and image.
  Operator dropout{.name = "dropout", .in_features = channels};
  dropout.forward_elements = dropout.backward_elements = 2 * channels;
  x = net.Emit(dropout, {x}, x, {});
  Operator norm{.name = "instance_norm", .kind = OperatorKind::kNorm, .in_features = channels};
  norm.forward_elements = 3 * channels;
  norm.backward_elements = 5 * channels;
  norm.kernels = 2;
  x = net.Emit(norm, {x}, x, {x});
  return net.Relu(x);
}

Tensor Units(NetworkBuilder& net, Tensor x, int count, int64_t middle, int64_t out) {
  for (int i = 0; i < count; ++i) {
    net.BeginLayer("unit");
    x = Unit(net, x, i + 1 == count ? out : middle);
  }
  return x;
}

}  // namespace

Workload BuildUNet(const std::string& name, const UNetConfig& config, int64_t size) {
  NetworkBuilder net(name);
  const int64_t channels = config.channels;
  Tensor x = net.Input(3, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  x = Unit(net, x, channels);
  std::vector<Tensor> skips;
  for (int level = 0; level < kLevels; ++level) {
    const int64_t wide = channels << level;
    x = Units(net, x, config.convolutions - (level == 0 ? 1 : 0), wide, wide);
    skips.push_back(x);
    x = net.MaxPool(x, Square(2, 2));
  }
  x = Units(net, x, config.convolutions, channels << kLevels, channels << (kLevels - 1));
  for (int level = kLevels - 1; level >= 0; --level) {
    const int64_t narrow = (channels << level) / 2;
    net.BeginLayer("up");
    x = net.Concat({net.Upsample(x, 2), skips[level]});
    x = Unit(net, x, narrow);
    x = Units(net, x, config.convolutions - 1, narrow, narrow);
  }
  net.BeginLayer("head", LayerRole::kHead);
  net.Loss(net.Convolution(x, 1, Square(1)));
  return net.Finish(/*max_sequence=*/1, channels, 1);
}

}  // namespace stagecraft
