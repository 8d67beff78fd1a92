#include "search/partition/piper_stage.h"

#include <algorithm>
#include <limits>

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double SyncOf(const std::map<int, double>& sync, int node) {
  const auto found = sync.find(node);
  return found == sync.end() ? 0 : found->second;
}

}  // namespace

PiperStageCost::PiperStageCost(const PiperProblem& problem, const PiperOptions& options,
                               const NodeSet& nodes, int tensor)
    : memory_bytes_(options.memory_bytes) {
  for (const int node : Members(nodes)) {
    const auto found = problem.nodes[node].modes.find(tensor);
    if (found == problem.nodes[node].modes.end()) {
      is_possible_ = false;
      return;
    }
    std::vector<Choice>& choices = choices_.emplace_back();
    for (const PiperMode& mode : found->second) {
      choices.push_back(ChoiceOf(problem, options, nodes, node, mode));
      if (!options.recompute) break;
    }
  }
}

PiperStageCost::Choice PiperStageCost::ChoiceOf(const PiperProblem& problem,
                                                const PiperOptions& options, const NodeSet& nodes,
                                                int node, const PiperMode& mode) const {
  double transferred = 0;  // bytes, there and back
  for (const int producer : problem.dag.producers[node]) {
    if (nodes.test(producer)) continue;
    transferred +=
        2 * (problem.edge_bytes.at({producer, node}) + SyncOf(mode.input_sync_bytes, producer));
  }
  for (const int consumer : problem.dag.consumers[node]) {
    if (nodes.test(consumer)) continue;
    transferred +=
        2 * (problem.edge_bytes.at({node, consumer}) + SyncOf(mode.output_sync_bytes, consumer));
  }
  const double gradients = 4 * mode.parameters_bytes / options.micro_batches;
  return {mode.time_s + transferred / options.bandwidth_bytes_per_s,
          gradients / options.bandwidth_bytes_per_s, mode.bytes_per_micro_batch, mode.fixed_bytes};
}

double PiperStageCost::LeastTime(int replicas) const {
  double time = 0;
  for (const std::vector<Choice>& choices : choices_) {
    double least = kNever;
    for (const Choice& choice : choices) least = std::min(least, choice.Time(replicas));
    time += least;
  }
  return time;
}

bool PiperStageCost::Fits(int in_flight) const {
  double bytes = 0;
  for (const std::vector<Choice>& choices : choices_) {
    double least = kNever;
    for (const Choice& choice : choices) least = std::min(least, choice.Bytes(in_flight));
    bytes += least;
  }
  return bytes <= memory_bytes_;
}

double PiperStageCost::Memory(const std::vector<int>& modes, int in_flight) const {
  double bytes = 0;
  for (size_t n = 0; n < choices_.size(); ++n) bytes += choices_[n][modes[n]].Bytes(in_flight);
  return bytes;
}

// Makes the switch of a node to another mode that costs the least time for each byte of `excess`
// that it saves. Returns false if no switch saves any.
bool PiperStageCost::SwitchOne(int replicas, int in_flight, double excess,
                               std::vector<int>& modes) const {
  double least_price = kNever;
  size_t best_node = 0;
  int best_mode = 0;
  for (size_t n = 0; n < choices_.size(); ++n) {
    const Choice& now = choices_[n][modes[n]];
    for (size_t m = 0; m < choices_[n].size(); ++m) {
      const Choice& other = choices_[n][m];
      const double saved = std::min(now.Bytes(in_flight) - other.Bytes(in_flight), excess);
      if (!(saved > 0)) continue;
      const double price = (other.Time(replicas) - now.Time(replicas)) / saved;
      if (price >= least_price) continue;
      least_price = price;
      best_node = n;
      best_mode = static_cast<int>(m);
    }
  }
  if (least_price == kNever) return false;
  modes[best_node] = best_mode;
  return true;
}

double PiperStageCost::Time(int replicas, int in_flight, std::vector<int>* modes) const {
  std::vector<int> chosen;
  for (const std::vector<Choice>& choices : choices_) {
    const auto fastest = std::min_element(
        choices.begin(), choices.end(),
        [&](const Choice& a, const Choice& b) { return a.Time(replicas) < b.Time(replicas); });
    chosen.push_back(static_cast<int>(fastest - choices.begin()));
  }
  double excess = Memory(chosen, in_flight) - memory_bytes_;
  while (excess > 0) {
    if (!SwitchOne(replicas, in_flight, excess, chosen)) return kNever;
    excess = Memory(chosen, in_flight) - memory_bytes_;
  }
  double time = 0;
  for (size_t n = 0; n < choices_.size(); ++n) time += choices_[n][chosen[n]].Time(replicas);
  if (modes != nullptr) *modes = std::move(chosen);
  return time;
}

}  // namespace stagecraft
