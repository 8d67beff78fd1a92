#include "sim/dynamics/dynamics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "costmodel/check.h"
#include "sim/dynamics/expert_load.h"

namespace stagecraft {
namespace {

constexpr double kLeastSparsity = 0.01;
constexpr size_t kMostChanges = 100'000;  // each of them costs a simulated step

// How often something that happens at first, first + interval, ... has happened when `step` begins.
int64_t TimesUntil(int64_t step, int64_t first, int64_t interval) {
  return step < first ? 0 : (step - first) / interval + 1;
}

// The layers that are blocks.
std::vector<int> BlocksOf(const Workload& workload) {
  std::vector<int> blocks;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    if (workload.layer(layer).role == LayerRole::kBlock) blocks.push_back(layer);
  }
  return blocks;
}

// The states of a network at one step after another.
class Unfolding {
 public:
  Unfolding(const Dynamics& dynamics, const Workload& workload, Random random)
      : dynamics_(dynamics), workload_(workload), random_(random), blocks_(BlocksOf(workload)) {}

  // Steps at which something may change.
  std::set<int64_t> Steps(int64_t end) const {
    std::set<int64_t> steps = {0};
    // Steps from `first` to `last`, as far as the run goes.
    const auto add = [&](int64_t first, int64_t interval, int64_t last) {
      last = std::min(last, end - 1);
      for (int64_t step = first; step <= last; step += interval) {
        steps.insert(step);
        if (steps.size() > kMostChanges) {
          throw InputError(fmt::format(
              "--dynamics: got more than {} changes, want fewer, or fewer steps", kMostChanges));
        }
        if (interval > last - step) break;
      }
    };
    if (const auto& pruning = dynamics_.pruning) {
      add(pruning->schedule.first_step, pruning->schedule.interval, pruning->schedule.end_step - 1);
    }
    if (const auto& freezing = dynamics_.freezing) {
      add(freezing->first_step, freezing->interval, end);
    }
    if (const auto& experts = dynamics_.experts) add(0, experts->interval, end);
    if (const auto& exit = dynamics_.early_exit) {
      add(exit->first_step, exit->interval, exit->end_step);
      if (exit->end_step < end) steps.insert(exit->end_step);
    }
    if (const auto& attention = dynamics_.sparse_attention) add(0, attention->interval, end);
    return steps;
  }

  // Returns what the network is from `step` on. Steps must be given in ascending order.
  NetworkChange At(int64_t step) {
    NetworkChange change = {step, std::vector<LayerState>(workload_.layers.size()), {}};
    std::vector<std::string> reasons;
    if (dynamics_.pruning) Prune(step, change.states, reasons);
    if (dynamics_.freezing) Freeze(step, change.states, reasons);
    if (dynamics_.experts) Route(step, change.states, reasons);
    if (dynamics_.early_exit) Exit(step, change.states, reasons);
    if (dynamics_.mixture_of_depths) ChooseTokens(change.states, reasons);
    if (dynamics_.sparse_attention) Sparsify(step, change.states, reasons);
    change.reason = fmt::format("{}", fmt::join(reasons, ", "));
    return change;
  }

 private:
  void Prune(int64_t step, std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const Pruning& pruning = *dynamics_.pruning;
    const int64_t last = LastPruning(pruning.schedule, step);
    if (last < 0) return;
    const double sparsity = SparsityAt(pruning.schedule, last);
    if (sparsity < kLeastSparsity) return;
    std::vector<LayerWeights> weights;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      Random random = random_.Child("width", block);
      const double width = std::exp(pruning.width_spread * random.Normal());
      const auto parameters = static_cast<double>(workload_.layer(blocks_[block]).Parameters());
      weights.push_back({std::max(1.0, parameters), width});
    }
    const std::vector<double> kept = KeptByMagnitude(weights, sparsity);
    for (size_t block = 0; block < blocks_.size(); ++block) {
      states[blocks_[block]].weight_density = kept[block];
      states[blocks_[block]].storage = pruning.storage;
    }
    reasons.push_back(fmt::format("{:.0f} % of the blocks' weights are pruned", 100 * sparsity));
  }

  void Freeze(int64_t step, std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const Freezing& freezing = *dynamics_.freezing;
    const int64_t times = TimesUntil(step, freezing.first_step, freezing.interval);
    const int64_t frozen =
        times > freezing.most_blocks
            ? freezing.most_blocks
            : std::min<int64_t>(freezing.most_blocks, times * freezing.blocks_each);
    if (frozen == 0) return;
    const int end = blocks_[static_cast<size_t>(frozen)];
    for (int layer = 0; layer < end; ++layer) {
      states[layer].is_trained = false;
    }
    const bool detaches = DetachTied(workload_, end, states);
    for (int layer = 0; layer < end; ++layer) {
      states[layer].is_cached = freezing.caches_outputs && !detaches;
    }
    reasons.push_back(fmt::format("{} of {} blocks are frozen{}", frozen, blocks_.size(),
                                  detaches ? " (their shared weights train behind them)" : ""));
  }

  void Route(int64_t step, std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const ExpertDrift& drift = *dynamics_.experts;
    shares_.resize(blocks_.size());
    for (; drawn_ <= step / drift.interval; ++drawn_) {
      for (size_t block = 0; block < blocks_.size(); ++block) {
        const int experts = ExpertsOf(workload_.layer(blocks_[block]));
        if (experts == 0) continue;
        const Random random = random_.Child("experts", block).Child("change", drawn_);
        const std::vector<double> drawn = DrawExpertShares(experts, drift.concentration, random);
        std::vector<double>& shares = shares_[block];
        const double weight = shares.empty() ? 1 : drift.drift;
        shares.resize(drawn.size());
        for (size_t i = 0; i < drawn.size(); ++i) {
          shares[i] = weight * drawn[i] + (1 - weight) * shares[i];
        }
      }
    }
    double fullest = 0;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (shares_[block].empty()) continue;
      std::vector<double>& rows = states[blocks_[block]].expert_rows;
      rows = shares_[block];
      if (drift.capacity_factor > 0) rows = WithinCapacity(rows, drift.capacity_factor);
      const double most = *std::max_element(rows.begin(), rows.end());
      fullest = std::max(fullest, most * static_cast<double>(rows.size()));
    }
    reasons.push_back(fmt::format("the fullest expert takes {:.2f} times the mean", fullest));
  }

  void Exit(int64_t step, std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const EarlyExit& exit = *dynamics_.early_exit;
    const std::vector<int> with_exit = LayersWithExit(exit, workload_);
    for (const int layer : with_exit) states[layer].exit_head = exit.head;
    const bool has_heads = exit.head != ExitHead::kNone;
    if (has_heads) {
      reasons.push_back(fmt::format("{} exits with {} heads", with_exit.size(), Name(exit.head)));
    }
    if (step < exit.first_step) return;
    const int64_t passed = std::min(step, exit.end_step) - exit.first_step;
    const int64_t length = exit.end_step - exit.first_step;
    const double grown =
        length == 0 ? 1 : static_cast<double>(passed) / static_cast<double>(length);
    const double share = exit.share * grown;
    if (share == 0) return;
    double survivors = 1;
    size_t passed_exits = 0;
    for (const int layer : blocks_) {
      if (passed_exits < with_exit.size() && layer > with_exit[passed_exits]) {
        survivors *= 1 - share;
        ++passed_exits;
      }
      states[layer].token_share *= survivors;
    }
    for (int layer = blocks_.back() + 1; layer < workload_.layer_count(); ++layer) {
      states[layer].token_share *= survivors;
    }
    reasons.push_back(fmt::format("{:.0f} % of the tokens reach the last block{}", 100 * survivors,
                                  has_heads ? "" : ", exits without heads"));
  }

  void ChooseTokens(std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const MixtureOfDepths& depths = *dynamics_.mixture_of_depths;
    for (size_t block = depths.every - 1; block < blocks_.size(); block += depths.every) {
      states[blocks_[block]].token_share *= depths.capacity;
    }
    reasons.push_back(fmt::format("every {}. block takes {:.1f} % of the tokens", depths.every,
                                  100 * depths.capacity));
  }

  void Sparsify(int64_t step, std::vector<LayerState>& states, std::vector<std::string>& reasons) {
    const SparseAttention& attention = *dynamics_.sparse_attention;
    const auto change = static_cast<uint64_t>(step / attention.interval);
    double sum = 0;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      Random random = random_.Child("attention", block).Child("change", change);
      const double span = attention.most_density - attention.least_density;
      const double density = attention.least_density + span * random.Uniform();
      states[blocks_[block]].attention_density = density;
      sum += density;
    }
    reasons.push_back(fmt::format("attention computes {:.0f} % of its scores",
                                  100 * sum / static_cast<double>(blocks_.size())));
  }

  static int ExpertsOf(const LayerKind& kind) {
    int experts = 0;
    for (const Operator& op : kind.operators) experts = std::max(experts, op.experts);
    return experts;
  }

  const Dynamics& dynamics_;
  const Workload& workload_;
  const Random random_;
  const std::vector<int> blocks_;            // their layers
  std::vector<std::vector<double>> shares_;  // of experts, by block
  int64_t drawn_ = 0;                        // how often these were drawn
};

}  // namespace

std::vector<int> LayersWithExit(const EarlyExit& exit, const Workload& workload) {
  const std::vector<int> blocks = BlocksOf(workload);
  std::vector<int> layers;
  for (size_t block = static_cast<size_t>(exit.first_block); block < blocks.size();
       block += static_cast<size_t>(exit.every)) {
    layers.push_back(blocks[block - 1]);
  }
  return layers;
}

std::vector<NetworkChange> ChangesOf(const Dynamics& dynamics, const Workload& workload,
                                     int64_t steps, Random random) {
  std::vector<NetworkChange> changes;
  const auto add = [&](NetworkChange change) {
    const std::vector<LayerState> dense(workload.layers.size());
    const auto& before = changes.empty() ? dense : changes.back().states;
    if (change.step < steps && change.states != before) changes.push_back(std::move(change));
  };
  if (!dynamics.measured.empty()) {
    for (const NetworkChange& change : dynamics.measured) add(change);
    return changes;
  }
  Unfolding unfolding(dynamics, workload, random);
  for (const int64_t step : unfolding.Steps(steps)) add(unfolding.At(step));
  return changes;
}

}  // namespace stagecraft
