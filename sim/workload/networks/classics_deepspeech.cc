// Deep Speech 2.
#include "sim/workload/networks/classics_builder.h"
#include "sim/workload/networks/classics_networks.h"
#include "sim/workload/networks/classics_recurrent.h"

namespace stagecraft {
namespace {

// Windows of 20 ms at 16 kHz are 320 numbers, whose spectrum has 320 / 2 + 1.
constexpr int64_t kFrequencies = 161;
constexpr int64_t kChannels = 32;
constexpr int64_t kLabels = 29;  // 26 letters, space, apostrophe, CTC's blank
constexpr int64_t kUtterancesPerSample = 1;

// Frequencies are rows, times are columns. Batch norm cancels the bias of what it follows. The
// clipped ReLU moves what a ReLU moves.
Tensor Convolutions(NetworkBuilder& net, Tensor x) {
  const Window first = {.height = 41,
                        .width = 11,
                        .stride_height = 2,
                        .stride_width = 2,
                        .pad_height = 20,
                        .pad_width = 5};
  const Window second = {.height = 21,
                         .width = 11,
                         .stride_height = 2,
                         .stride_width = 1,
                         .pad_height = 10,
                         .pad_width = 5};
  return net.ConvNormRelu(net.ConvNormRelu(x, kChannels, first), kChannels, second);
}

// Makes one row of channels and frequencies for each time, which copies the map.
Tensor TimesAsRows(NetworkBuilder& net, Tensor map) {
  const Tensor out{-1, map.channels * map.height, map.width, 1};
  Operator op{.name = "transpose", .in_features = out.channels};
  op.forward_elements = op.backward_elements = 2 * out.channels;
  return net.Emit(op, {map}, out, {});
}

Tensor Bidirectional(NetworkBuilder& net, Tensor x, int64_t hidden) {
  const Tensor onward = Gru(net, x, hidden);
  const Tensor back = Gru(net, x, hidden);
  return net.Add(onward, back);
}

}  // namespace

// As in the implementations, batch norm is applied to the inputs of every recurrent layer but the
// first, whose convolutions are normalised, since kernels that run a whole recurrent layer leave no
// place for it between their two GEMMs, where the paper has it.
Workload BuildDeepSpeech2(const std::string& name, const DeepSpeech2Config& config,
                          int64_t frames) {
  NetworkBuilder net(name);
  Tensor x = net.Input(1, kFrequencies, frames);
  net.BeginLayer("convolutions", LayerRole::kEmbedding);
  x = TimesAsRows(net, Convolutions(net, x));
  for (int layer = 0; layer < config.recurrent_layers; ++layer) {
    net.BeginLayer("recurrent");
    if (layer > 0) x = net.BatchNorm(x);
    x = Bidirectional(net, x, config.hidden);
  }
  net.BeginLayer("head", LayerRole::kHead);
  // CTC reads and keeps the softmax of every row; its sums over alignments, a few numbers for each
  // label of the transcript and row, are not counted.
  net.Loss(net.Linear(net.BatchNorm(x), kLabels, /*bias=*/false));
  return net.Finish(kUtterancesPerSample, config.hidden, kLabels);
}

}  // namespace stagecraft
