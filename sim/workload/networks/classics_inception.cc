// Inception-v3: torchvision's modules A to E.
#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr int64_t kClasses = 1000;

Window Wide(int64_t height, int64_t width) { return {height, width, 1, 1, height / 2, width / 2}; }

Tensor PoolBranch(NetworkBuilder& net, Tensor in, int64_t channels) {
  return net.ConvNormRelu(net.AveragePool(in, Square(3, 1, 1)), channels, Square(1));
}

Tensor ModuleA(NetworkBuilder& net, Tensor in, int64_t pool_channels) {
  net.BeginLayer("module_a");
  const Tensor one = net.ConvNormRelu(in, 64, Square(1));
  Tensor five = net.ConvNormRelu(in, 48, Square(1));
  five = net.ConvNormRelu(five, 64, Square(5, 1, 2));
  Tensor three = net.ConvNormRelu(in, 64, Square(1));
  three = net.ConvNormRelu(three, 96, Square(3, 1, 1));
  three = net.ConvNormRelu(three, 96, Square(3, 1, 1));
  return net.Concat({one, five, three, PoolBranch(net, in, pool_channels)});
}

Tensor ModuleB(NetworkBuilder& net, Tensor in) {
  net.BeginLayer("module_b");
  const Tensor three = net.ConvNormRelu(in, 384, Square(3, 2));
  Tensor twice = net.ConvNormRelu(in, 64, Square(1));
  twice = net.ConvNormRelu(twice, 96, Square(3, 1, 1));
  twice = net.ConvNormRelu(twice, 96, Square(3, 2));
  return net.Concat({three, twice, net.MaxPool(in, Square(3, 2))});
}

// Splits 7x7 windows into rows and columns of seven.
Tensor ModuleC(NetworkBuilder& net, Tensor in, int64_t narrow) {
  net.BeginLayer("module_c");
  const Tensor one = net.ConvNormRelu(in, 192, Square(1));
  Tensor seven = net.ConvNormRelu(in, narrow, Square(1));
  seven = net.ConvNormRelu(seven, narrow, Wide(1, 7));
  seven = net.ConvNormRelu(seven, 192, Wide(7, 1));
  Tensor twice = net.ConvNormRelu(in, narrow, Square(1));
  twice = net.ConvNormRelu(twice, narrow, Wide(7, 1));
  twice = net.ConvNormRelu(twice, narrow, Wide(1, 7));
  twice = net.ConvNormRelu(twice, narrow, Wide(7, 1));
  twice = net.ConvNormRelu(twice, 192, Wide(1, 7));
  return net.Concat({one, seven, twice, PoolBranch(net, in, 192)});
}

Tensor ModuleD(NetworkBuilder& net, Tensor in) {
  net.BeginLayer("module_d");
  Tensor three = net.ConvNormRelu(in, 192, Square(1));
  three = net.ConvNormRelu(three, 320, Square(3, 2));
  Tensor seven = net.ConvNormRelu(in, 192, Square(1));
  seven = net.ConvNormRelu(seven, 192, Wide(1, 7));
  seven = net.ConvNormRelu(seven, 192, Wide(7, 1));
  seven = net.ConvNormRelu(seven, 192, Square(3, 2));
  return net.Concat({three, seven, net.MaxPool(in, Square(3, 2))});
}

Tensor Fork(NetworkBuilder& net, Tensor in) {
  return net.Concat({net.ConvNormRelu(in, 384, Wide(1, 3)), net.ConvNormRelu(in, 384, Wide(3, 1))});
}

Tensor ModuleE(NetworkBuilder& net, Tensor in) {
  net.BeginLayer("module_e");
  const Tensor one = net.ConvNormRelu(in, 320, Square(1));
  const Tensor three = Fork(net, net.ConvNormRelu(in, 384, Square(1)));
  Tensor twice = net.ConvNormRelu(in, 448, Square(1));
  twice = Fork(net, net.ConvNormRelu(twice, 384, Square(3, 1, 1)));
  return net.Concat({one, three, twice, PoolBranch(net, in, 192)});
}

}  // namespace

Workload BuildInceptionV3(const std::string& name, int64_t size) {
  NetworkBuilder net(name);
  Tensor x = net.Input(3, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  x = net.ConvNormRelu(x, 32, Square(3, 2));
  x = net.ConvNormRelu(x, 32, Square(3));
  x = net.MaxPool(net.ConvNormRelu(x, 64, Square(3, 1, 1)), Square(3, 2));
  net.BeginLayer("conv");
  x = net.ConvNormRelu(x, 80, Square(1));
  x = net.MaxPool(net.ConvNormRelu(x, 192, Square(3)), Square(3, 2));
  for (const int64_t pool_channels : {32, 64, 64}) x = ModuleA(net, x, pool_channels);
  x = ModuleB(net, x);
  for (const int64_t narrow : {128, 160, 160, 192}) x = ModuleC(net, x, narrow);
  x = ModuleD(net, x);
  x = ModuleE(net, x);
  x = ModuleE(net, x);
  net.BeginLayer("head", LayerRole::kHead);
  x = net.Flatten(net.Dropout(net.AdaptivePool(x, 1)));
  net.Loss(net.Linear(x, kClasses));
  return net.Finish(/*max_sequence=*/1, 2048, kClasses);
}

}  // namespace stagecraft
