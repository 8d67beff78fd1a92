#include "sim/workload/networks/classics_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Returns the elements of `tensor` for each row of `op`, rounded up. A sequence is taken to have as
// many rows as the operator.
int64_t PerRow(const Tensor& tensor, const Operator& op) {
  if (tensor.positions() == op.positions || tensor.positions() == 0) return tensor.channels;
  return DivideUp(tensor.elements(), op.positions);
}

// Whether it multiplies by weights, whose gradient needs its input.
bool HasWeightGradient(OperatorKind kind) {
  return kind == OperatorKind::kLinear || kind == OperatorKind::kConvolution;
}

// PyTorch keeps the place of each maximum as a 64-bit number.
constexpr int kPlaceBytes = 8;
constexpr int64_t kPlaceElements = kPlaceBytes / 2;  // in 16-bit elements

}  // namespace

Tensor NetworkBuilder::NewTensor(int64_t channels, int64_t height, int64_t width) {
  const Tensor tensor{static_cast<int>(values_.size()), channels, height, width};
  values_.emplace_back().tensor = tensor;
  return tensor;
}

Tensor NetworkBuilder::Input(int64_t channels, int64_t height, int64_t width) {
  return NewTensor(channels, height, width);
}

void NetworkBuilder::BeginLayer(std::string name, LayerRole role) {
  LayerKind& kind = workload_.kinds.emplace_back();
  kind.name = std::move(name);
  kind.role = role;
}

Tensor NetworkBuilder::Emit(Operator op, const std::vector<Tensor>& inputs, Tensor out,
                            const std::vector<Tensor>& keeps) {
  LayerKind& kind = workload_.kinds.back();
  const Place here{layer(), kind.operators.size()};
  op.name += "_" + std::to_string(here.vertex);
  if (op.positions == 0) op.positions = out.positions();
  if (op.out_features == 0) op.out_features = out.channels;
  if (op.kind == OperatorKind::kConvolution) workload_.lists_kernels = true;
  kind.operators.Add(std::move(op));
  for (const Tensor& input : inputs) {
    Value& value = values_[input.id];
    if (value.maker.layer == here.layer) {
      kind.operators.AddEdge(value.maker.vertex, here.vertex);
    } else {
      kind.operators[here.vertex].reads_layer_input = true;
    }
    value.last_reader = here.layer;
    ++value.readers;
  }
  for (const Tensor& kept : keeps) values_[kept.id].keepers.push_back(here);
  const Tensor made = NewTensor(out.channels, out.height, out.width);
  values_.back().maker = here;
  return made;
}

void NetworkBuilder::Keep(Tensor made) {
  Value& value = values_[made.id];
  value.keepers.push_back(value.maker);
}

Tensor NetworkBuilder::Slide(Tensor in, int64_t channels, const Window& window,
                             bool rounds_up) const {
  const auto side = [&](int64_t size, int64_t window_size, int64_t stride, int64_t pad) {
    const int64_t room = size + 2 * pad - window_size;
    if (room < 0) {
      throw InputError(
          fmt::format("{}: layer {}: got a feature map of {}x{}, want at least {}x{}: "
                      "use larger images",
                      workload_.name, workload_.kinds.back().name, in.height, in.width,
                      window.height - 2 * window.pad_height, window.width - 2 * window.pad_width));
    }
    return (rounds_up ? DivideUp(room, stride) : room / stride) + 1;
  };
  return {-1, channels, side(in.height, window.height, window.stride_height, window.pad_height),
          side(in.width, window.width, window.stride_width, window.pad_width)};
}

Tensor NetworkBuilder::Convolution(Tensor in, int64_t channels, const Window& window) {
  Operator op{.name = "conv", .kind = OperatorKind::kConvolution};
  op.in_features = in.channels / window.groups * window.height * window.width;
  op.out_features = channels;
  op.groups = static_cast<int>(window.groups);
  op.input_elements = in.elements();
  op.parameters = op.in_features * channels + (window.bias ? channels : 0);
  return Emit(std::move(op), {in}, Slide(in, channels, window, false), {in});
}

// Training needs two passes over memory, since the statistics of the whole batch come first:
// forward reads x, then reads x and writes y; backward reads x and dy, then reads both again and
// writes dx.
Tensor NetworkBuilder::BatchNorm(Tensor in) {
  Operator op{.name = "batch_norm", .kind = OperatorKind::kNorm};
  op.in_features = in.channels;
  op.parameters = 2 * in.channels;
  op.forward_elements = 3 * in.channels;
  op.backward_elements = 5 * in.channels;
  op.kernels = 2;
  return Emit(std::move(op), {in}, in, {in});
}

// Works in place; the backward reads the output.
Tensor NetworkBuilder::Relu(Tensor in) {
  Operator op{.name = "relu", .in_features = in.channels};
  op.forward_elements = 2 * in.channels;
  op.backward_elements = 3 * in.channels;
  const Tensor out = Emit(std::move(op), {in}, in, {});
  Keep(out);
  return out;
}

Tensor NetworkBuilder::Pool(const char* name, Tensor in, Tensor out, bool keeps_places) {
  Operator op{.name = name, .in_features = in.channels};
  op.positions = out.positions();
  const int64_t moved = PerRow(in, op) + out.channels;
  op.forward_elements = op.backward_elements =
      moved + (keeps_places ? kPlaceElements * out.channels : 0);
  if (keeps_places) op.saved = {{"maximum_places", out.channels, kPlaceBytes}};
  return Emit(std::move(op), {in}, out, {in});
}

Tensor NetworkBuilder::MaxPool(Tensor in, const Window& window, bool rounds_up) {
  return Pool("max_pool", in, Slide(in, in.channels, window, rounds_up), true);
}

Tensor NetworkBuilder::AveragePool(Tensor in, const Window& window) {
  return Pool("average_pool", in, Slide(in, in.channels, window, false), false);
}

Tensor NetworkBuilder::AdaptivePool(Tensor in, int64_t size) {
  if (in.height == size && in.width == size) return in;
  return Pool("average_pool", in, {-1, in.channels, size, size}, false);
}

Tensor NetworkBuilder::Upsample(Tensor in, int64_t factor) {
  Operator op{.name = "upsample", .in_features = in.channels};
  const Tensor out{-1, in.channels, in.height * factor, in.width * factor};
  op.positions = out.positions();
  op.forward_elements = op.backward_elements = PerRow(in, op) + out.channels;
  return Emit(std::move(op), {in}, out, {});
}

// The gradient of a sum is the same tensor for both; it is not copied.
Tensor NetworkBuilder::Add(Tensor a, Tensor b) {
  CHECK(a.channels == b.channels && a.height == b.height && a.width == b.width);
  Operator op{.name = "add", .in_features = a.channels};
  op.forward_elements = 3 * a.channels;
  return Emit(std::move(op), {a, b}, a, {});
}

Tensor NetworkBuilder::Concat(const std::vector<Tensor>& parts) {
  Tensor out = parts[0];
  out.channels = 0;
  for (const Tensor& part : parts) {
    CHECK(part.height == out.height && part.width == out.width);
    out.channels += part.channels;
  }
  Operator op{.name = "concat", .in_features = out.channels};
  op.forward_elements = op.backward_elements = 2 * out.channels;
  return Emit(std::move(op), parts, out, {});
}

Tensor NetworkBuilder::Dropout(Tensor in) {
  Operator op{.name = "dropout", .in_features = in.channels};
  op.forward_elements = op.backward_elements = 2 * in.channels + in.channels / 2;
  op.saved = {{"dropout_mask", in.channels, 1}};
  return Emit(std::move(op), {in}, in, {});
}

Tensor NetworkBuilder::Flatten(Tensor in) const {
  if (in.positions() == 0) return in;
  return {in.id, in.elements(), 1, 1};
}

Tensor NetworkBuilder::Linear(Tensor in, int64_t out, bool bias) {
  Operator op{.name = "linear", .kind = OperatorKind::kLinear};
  op.in_features = in.channels;
  op.out_features = out;
  op.parameters = in.channels * out + (bias ? out : 0);
  return Emit(std::move(op), {in}, {-1, out, in.height, in.width}, {in});
}

// Like the loss of a decoder: logits are cast to fp32, read for the sum and again for the softmax,
// which is kept in fp32.
void NetworkBuilder::Loss(Tensor logits) {
  Operator op{.name = "loss", .kind = OperatorKind::kLoss, .in_features = logits.channels};
  op.forward_elements = 9 * logits.channels;
  op.backward_elements = 7 * logits.channels;
  op.kernels = 3;
  op.saved = {{"softmax", logits.channels, 4}};
  Emit(std::move(op), {logits}, logits, {});
}

Tensor NetworkBuilder::Residual(Tensor branch, Tensor stream) {
  const Tensor sum = Add(Dropout(branch), stream);
  Operator norm{.name = "norm", .kind = OperatorKind::kNorm, .in_features = sum.channels};
  norm.parameters = 2 * sum.channels;
  norm.forward_elements = 2 * sum.channels;
  norm.backward_elements = 3 * sum.channels;
  return Emit(std::move(norm), {sum}, sum, {sum});
}

void NetworkBuilder::KeepTensors() {
  for (const Value& value : values_) {
    if (value.keepers.empty()) continue;
    const auto reader =
        std::find_if(value.keepers.begin(), value.keepers.end(),
                     [&](const Place& place) { return place.layer > value.maker.layer; });
    const Place keeper = reader != value.keepers.end() ? *reader : value.keepers.front();
    Operator& op = At(keeper);
    const bool is_own = keeper.layer == value.maker.layer && keeper.vertex == value.maker.vertex;
    // What another layer handed on may be what the backward of its maker reads.
    const bool only_for_weights =
        keeper.layer == value.maker.layer && !is_own &&
        std::all_of(value.keepers.begin(), value.keepers.end(), [&](const Place& place) {
          return place.layer == keeper.layer && HasWeightGradient(At(place).kind);
        });
    op.saved.push_back({.name = op.name + (is_own ? "_output" : "_input"),
                        .features = PerRow(value.tensor, op),
                        .only_for_weights = only_for_weights});
  }
}

// A tensor with several readers gets as many gradients: each but the first is added, which reads
// both and writes the sum.
void NetworkBuilder::SumForkedGradients() {
  for (const Value& value : values_) {
    if (value.readers < 2 || value.maker.layer < 0) continue;
    Operator& op = At(value.maker);
    if (op.kind != OperatorKind::kElementwise && op.kind != OperatorKind::kNorm) continue;
    op.backward_elements += 3 * (value.readers - 1) * PerRow(value.tensor, op);
  }
}

void NetworkBuilder::SetBoundaries() {
  for (int l = 0; l < layer(); ++l) {
    std::vector<Tensor> live;
    for (const Value& value : values_) {
      const bool is_made = value.maker.layer >= 0 && value.maker.layer <= l;
      if (is_made && value.last_reader > l) live.push_back(value.tensor);
    }
    if (live.empty()) continue;
    LayerKind& kind = workload_.kinds[l];
    const int64_t rows = live[0].positions();
    const bool has_equal_rows = std::all_of(live.begin(), live.end(),
                                            [&](const Tensor& t) { return t.positions() == rows; });
    // Feature maps of several sizes count as one row.
    kind.boundary_positions = has_equal_rows ? rows : 1;
    for (const Tensor& tensor : live) {
      kind.boundary_features += has_equal_rows ? tensor.channels : tensor.elements();
    }
  }
}

void NetworkBuilder::MergeEqualKinds() {
  std::vector<LayerKind> kinds;
  for (LayerKind& kind : workload_.kinds) {
    const auto same = std::find(kinds.begin(), kinds.end(), kind);
    workload_.layers.push_back(static_cast<int>(same - kinds.begin()));
    if (same == kinds.end()) kinds.push_back(std::move(kind));
  }
  workload_.kinds = std::move(kinds);
}

void NetworkBuilder::TellKindsApart() {
  std::map<std::string, int> uses;
  for (LayerKind& kind : workload_.kinds) {
    const int use = ++uses[kind.name];
    if (use > 1) kind.name += "_" + std::to_string(use);
  }
}

size_t NetworkBuilder::operator_count() const {
  size_t count = 0;
  for (const LayerKind& kind : workload_.kinds) count += kind.operators.size();
  return count;
}

Workload NetworkBuilder::Finish(int64_t max_sequence, int64_t hidden, int64_t vocabulary) {
  KeepTensors();
  SumForkedGradients();
  SetBoundaries();
  MergeEqualKinds();
  TellKindsApart();
  workload_.hidden = hidden;
  workload_.vocabulary = vocabulary;
  workload_.heads = workload_.kv_heads = 1;
  workload_.max_sequence = max_sequence;
  return std::move(workload_);
}

}  // namespace stagecraft
