// AmoebaNet-D: torchgpipe's benchmarks/models/amoebanet.
#include <array>
#include <utility>
#include <vector>

#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr int64_t kClasses = 1000;

enum class Step { kNone, kConv1x1, kConv3x3, kConv1x7, kMaxPool2x2, kMaxPool3x3, kAveragePool };

// A state is the sum of two operations, each on an earlier state; states 0 and 1 are the outputs of
// the cell before and of the one before that.
struct CellShape {
  std::array<std::pair<int, Step>, 10> steps;
  std::vector<int> outputs;
};

CellShape NormalCell() {
  return {{{{1, Step::kConv1x1},
            {1, Step::kMaxPool3x3},
            {1, Step::kNone},
            {0, Step::kConv1x7},
            {0, Step::kConv1x1},
            {0, Step::kConv1x7},
            {2, Step::kMaxPool3x3},
            {2, Step::kNone},
            {1, Step::kAveragePool},
            {5, Step::kConv1x1}}},
          {0, 3, 4, 6}};
}

CellShape ReductionCell() {
  return {{{{0, Step::kMaxPool2x2},
            {0, Step::kMaxPool3x3},
            {2, Step::kNone},
            {1, Step::kConv3x3},
            {2, Step::kConv1x7},
            {2, Step::kMaxPool3x3},
            {3, Step::kNone},
            {1, Step::kMaxPool2x2},
            {2, Step::kAveragePool},
            {3, Step::kConv1x1}}},
          {4, 5, 6}};
}

// A ReLU that is not in place, then convolution and batch norm.
Tensor ReluConvNorm(NetworkBuilder& net, Tensor x, int64_t channels, const Window& window) {
  return net.BatchNorm(net.Convolution(net.Relu(x), channels, window));
}

// Halves the resolution by two 1x1 convolutions: one sees every other pixel, the second the pixels
// in between.
Tensor FactorizedReduction(NetworkBuilder& net, Tensor x, int64_t channels) {
  x = net.Relu(x);
  const Tensor even = net.Convolution(x, channels / 2, Square(1, 2));
  const Tensor odd = net.Convolution(x, channels / 2, Square(1, 2));
  return net.BatchNorm(net.Concat({even, odd}));
}

// Convolutions in the middle work on a quarter of the channels.
Tensor Take(NetworkBuilder& net, Step step, Tensor x, int64_t stride) {
  const int64_t channels = x.channels;
  switch (step) {
    case Step::kNone:
      return x;  // of states of the cell's own size only
    case Step::kConv1x1:
      return ReluConvNorm(net, x, channels, Square(1, stride));
    case Step::kConv3x3:
      x = ReluConvNorm(net, x, channels / 4, Square(1));
      x = ReluConvNorm(net, x, channels / 4, Square(3, stride, 1));
      return ReluConvNorm(net, x, channels, Square(1));
    case Step::kConv1x7:
      x = ReluConvNorm(net, x, channels / 4, Square(1));
      x = ReluConvNorm(net, x, channels / 4, {1, 7, 1, stride, 0, 3});
      x = ReluConvNorm(net, x, channels / 4, {7, 1, stride, 1, 3, 0});
      return ReluConvNorm(net, x, channels, Square(1));
    case Step::kMaxPool2x2:
      return net.MaxPool(x, Square(2, stride));
    case Step::kMaxPool3x3:
      return net.MaxPool(x, Square(3, stride, 1));
    case Step::kAveragePool:
      return net.AveragePool(x, Square(3, stride, 1));
  }
  return x;
}

// The outputs of the last two cells.
struct Trail {
  Tensor last;
  Tensor before;
};

void AddCell(NetworkBuilder& net, Trail& trail, int64_t channels, bool reduces) {
  net.BeginLayer(reduces ? "reduction_cell" : "cell");
  const CellShape shape = reduces ? ReductionCell() : NormalCell();
  Tensor before = trail.before;
  if (before.height != trail.last.height) {
    before = FactorizedReduction(net, before, channels);
  } else if (before.channels != channels) {
    before = ReluConvNorm(net, before, channels, Square(1));
  }
  std::vector<Tensor> states = {ReluConvNorm(net, trail.last, channels, Square(1)), before};
  const auto state_after = [&](const std::pair<int, Step>& step) {
    const bool halves = reduces && step.first < 2;
    return Take(net, step.second, states[step.first], halves ? 2 : 1);
  };
  for (size_t i = 0; i < shape.steps.size(); i += 2) {
    const Tensor first = state_after(shape.steps[i]);
    const Tensor second = state_after(shape.steps[i + 1]);
    states.push_back(net.Add(first, second));
  }
  std::vector<Tensor> outputs;
  for (const int state : shape.outputs) outputs.push_back(states[state]);
  trail = {net.Concat(outputs), trail.last};
}

}  // namespace

Workload BuildAmoebaNetD(const std::string& name, const AmoebaNetConfig& config, int64_t size) {
  NetworkBuilder net(name);
  int64_t channels = config.filters / 4;
  Tensor x = net.Input(3, size, size);
  net.BeginLayer("stem", LayerRole::kEmbedding);
  x = net.BatchNorm(net.Convolution(x, channels, Square(3, 2, 1)));
  Trail trail{x, x};
  for (int stem = 0; stem < 2; ++stem) AddCell(net, trail, channels *= 2, /*reduces=*/true);
  for (int group = 0; group < 3; ++group) {
    if (group > 0) AddCell(net, trail, channels *= 2, /*reduces=*/true);
    for (int i = 0; i < config.cells / 3; ++i) AddCell(net, trail, channels, /*reduces=*/false);
  }
  net.BeginLayer("head", LayerRole::kHead);
  net.Loss(net.Linear(net.Flatten(net.AdaptivePool(trail.last, 1)), kClasses));
  return net.Finish(/*max_sequence=*/1, channels, kClasses);
}

}  // namespace stagecraft
