#include "sim/workload/networks/classics_recurrent.h"

#include <utility>

namespace stagecraft {
namespace {

// What the rows of a sample add to the gates one after another.
Tensor RecurrentSums(NetworkBuilder& net, Tensor in, int64_t gates, int64_t hidden) {
  const Tensor sums = net.Linear(in, gates * hidden);
  Operator steps{.name = "steps", .kind = OperatorKind::kRecurrent, .in_features = hidden};
  steps.parameters = gates * hidden * (hidden + 1);
  return net.Emit(std::move(steps), {sums}, sums, {});
}

// `out` is what the next row reads, so the backward needs it.
Tensor Cell(NetworkBuilder& net, Operator cell, Tensor sums, int64_t hidden) {
  const Tensor out = net.Emit(std::move(cell), {sums}, {-1, hidden, sums.height, sums.width}, {});
  net.Keep(out);
  return out;
}

}  // namespace

Tensor Lstm(NetworkBuilder& net, Tensor in, int64_t hidden) {
  constexpr int64_t kGates = 4;
  const Tensor sums = RecurrentSums(net, in, kGates, hidden);
  // Reads two sums per gate and a cell, writes gates, cell and output; backward reads gates, two
  // cells and two gradients, writes those of gates and cell.
  Operator cell{.name = "lstm_cell", .in_features = kGates * hidden};
  cell.forward_elements = (2 * kGates + 1 + kGates + 2) * hidden;
  cell.backward_elements = (kGates + 4 + kGates + 1) * hidden;
  cell.saved = {{"gates", kGates * hidden}, {"cell", hidden}};
  return Cell(net, std::move(cell), sums, hidden);
}

Tensor Gru(NetworkBuilder& net, Tensor in, int64_t hidden) {
  constexpr int64_t kSums = 3;  // of reset gate, update gate and candidate
  const Tensor sums = RecurrentSums(net, in, kSums, hidden);
  // Reads two sums each and the last output; writes gates and candidate, the candidate's recurrent
  // sum, by which the reset gate's gradient is multiplied, and the output. Backward reads these and
  // two gradients, and writes those of the three sums, of the candidate's recurrent sum, which is
  // another one, and of the last output.
  Operator cell{.name = "gru_cell", .in_features = kSums * hidden};
  cell.forward_elements = (2 * kSums + 1 + kSums + 2) * hidden;
  cell.backward_elements = (kSums + 2 + 2 + kSums + 2) * hidden;
  cell.saved = {{"gates", kSums * hidden}, {"candidate_sum", hidden}};
  return Cell(net, std::move(cell), sums, hidden);
}

}  // namespace stagecraft
