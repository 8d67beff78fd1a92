#include "search/partition/latency.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/partition/annealing.h"
#include "search/partition/placement_units.h"

namespace stagecraft {
namespace {

// LatencyReplay computes the latency of placements; it reuses its working memory.
class LatencyReplay {
 public:
  explicit LatencyReplay(const PlacementProblem& problem)
      : problem_(problem),
        blocks_(problem.accelerators + problem.dag.size()),
        waits_(blocks_),
        end_ms_(blocks_),
        taken_in_(problem.dag.size()) {}

  std::optional<double> Run(const NodePlacement& placement) {
    placement_ = &placement;
    Prepare();
    ready_.clear();
    size_t open = 0;
    for (int block = 0; block < blocks_; ++block) {
      if (members_[block].empty()) continue;
      ++open;
      if (waits_[block] == 0) ready_.push_back(block);
    }
    double latency_ms = 0;
    for (size_t next = 0; next < ready_.size(); ++next) {
      RunBlock(ready_[next]);
      latency_ms = std::max(latency_ms, end_ms_[ready_[next]]);
    }
    if (ready_.size() < open) return std::nullopt;
    return latency_ms;
  }

 private:
  // Returns the block of a node: an accelerator, or an operator on a CPU.
  int BlockOf(int node) const {
    const int device = (*placement_)[node];
    return device < problem_.accelerators ? device : problem_.accelerators + node;
  }

  void Prepare() {
    members_.resize(blocks_);
    for (std::vector<int>& members : members_) members.clear();
    std::fill(waits_.begin(), waits_.end(), 0);
    std::fill(taken_in_.begin(), taken_in_.end(), -1);
    for (int node = 0; node < problem_.dag.size(); ++node) {
      members_[BlockOf(node)].push_back(node);
      for (const int producer : problem_.dag.producers[node]) {
        if (BlockOf(producer) != BlockOf(node)) ++waits_[BlockOf(node)];
      }
    }
  }

  void RunBlock(int block) {
    const bool is_accelerator = block < problem_.accelerators;
    double start_ms = 0;
    double work_ms = 0;
    for (const int node : members_[block]) {
      const PlacementNode& cost = problem_.nodes[node];
      work_ms += is_accelerator ? cost.accelerator_ms : cost.cpu_ms;
      for (const int producer : problem_.dag.producers[node]) {
        if (BlockOf(producer) == block) continue;
        start_ms = std::max(start_ms, end_ms_[BlockOf(producer)]);
        if (!is_accelerator || taken_in_[producer] == block) continue;
        taken_in_[producer] = block;
        work_ms += problem_.nodes[producer].transfer_ms;
      }
      bool is_output = false;
      for (const int consumer : problem_.dag.consumers[node]) {
        if (BlockOf(consumer) == block) continue;
        is_output = true;
        if (--waits_[BlockOf(consumer)] == 0) ready_.push_back(BlockOf(consumer));
      }
      if (is_output && is_accelerator) work_ms += cost.transfer_ms;
    }
    end_ms_[block] = start_ms + work_ms;
  }

  const PlacementProblem& problem_;
  const int blocks_;
  const NodePlacement* placement_ = nullptr;
  std::vector<std::vector<int>> members_;  // by block
  std::vector<int> waits_;                 // by block: edges from blocks that have not ended yet
  std::vector<double> end_ms_;             // by block
  std::vector<int> taken_in_;              // by node: the last block that took it in
  std::vector<int> ready_;
};

class LatencyAnnealer {
 public:
  LatencyAnnealer(const PlacementProblem& problem, uint64_t seed)
      : problem_(problem),
        replay_(problem),
        random_(seed),
        units_(problem.groups),
        bytes_(problem.accelerators),
        pool_(problem.accelerators),
        unit_of_(problem.nodes.size()) {
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      for (const int node : units_[unit]) unit_of_[node] = static_cast<int>(unit);
    }
  }

  std::optional<LatencyPlacement> Run(int64_t steps, const StopSign& stop) {
    if (!Start()) return std::nullopt;
    constexpr Cooling kCooling{.rounds = 4, .hot = 0.3, .cold = 1e-5};  // of the best latency
    const int devices = problem_.accelerators + (problem_.cpus > 0 ? 1 : 0);
    const double bound_ms = LeastLatencyMs(problem_);
    LatencyPlacement best{now_ms_, placement_, bound_ms};
    if (devices <= 1) return best;
    const auto change = [&](double temperature) {
      Try(best.latency_ms * temperature, devices);
      if (now_ms_ < best.latency_ms) best = {now_ms_, placement_, bound_ms};
    };
    Anneal(
        kCooling, steps, stop, [&] { Restore(best); }, change);
    return best;
  }

 private:
  bool RunsOn(const std::vector<int>& unit, int device) const {
    if (device == pool_) return problem_.cpus > 0;
    double bytes = bytes_[device];
    for (const int node : unit) {
      bytes += problem_.nodes[node].bytes;
      if (!problem_.nodes[node].runs_on_accelerator) return false;
    }
    return bytes <= problem_.memory_bytes;
  }

  void Put(const std::vector<int>& unit, int device) {
    for (const int node : unit) {
      if (placement_[node] < pool_) bytes_[placement_[node]] -= problem_.nodes[node].bytes;
      if (device < pool_) bytes_[device] += problem_.nodes[node].bytes;
      placement_[node] = device;
    }
  }

  void Restore(const LatencyPlacement& best) {
    for (const std::vector<int>& unit : units_) Put(unit, best.placement[unit[0]]);
    now_ms_ = best.latency_ms;
  }

  // Sets the better of two starts: everything on the CPUs, or accelerators filled in order. Returns
  // false if neither is possible.
  bool Start() {
    placement_.assign(problem_.nodes.size(), pool_);
    std::optional<double> on_processors;
    if (problem_.cpus > 0) on_processors = replay_.Run(placement_);
    const PlacementUnits merged = FindPlacementUnits(problem_);
    std::vector<std::vector<int>> in_order;
    for (const int node : merged.free_nodes) in_order.push_back({node});
    for (const int unit : merged.dag.order) in_order.push_back(merged.nodes[unit]);
    int device = 0;
    bool fits = true;
    for (const std::vector<int>& unit : in_order) {
      while (device < pool_ && !RunsOn(unit, device)) ++device;
      fits = fits && RunsOn(unit, device);
      Put(unit, device);
    }
    const std::optional<double> in_turn = fits ? replay_.Run(placement_) : std::nullopt;
    if (in_turn && (!on_processors || *in_turn <= *on_processors)) {
      now_ms_ = *in_turn;
      return true;
    }
    Put(problem_.dag.order, pool_);
    now_ms_ = on_processors.value_or(0);
    return on_processors.has_value();
  }

  int Draw(size_t count) {
    return static_cast<int>(random_.Integer(0, static_cast<int64_t>(count) - 1));
  }

  // Returns a neighbour of an operator of the unit; -1 if the operator has none on the side that
  // was drawn.
  int DrawNeighbour(const std::vector<int>& unit) {
    const int node = unit[Draw(unit.size())];
    const std::vector<int>& neighbours =
        random_.Uniform() < 0.5 ? problem_.dag.producers[node] : problem_.dag.consumers[node];
    return neighbours.empty() ? -1 : neighbours[Draw(neighbours.size())];
  }

  // Moves a unit to a device if it fits there, and notes where it was.
  void Change(int unit, int device) {
    const int before = placement_[units_[unit][0]];
    if (device == before || !RunsOn(units_[unit], device)) return;
    Put(units_[unit], device);
    changes_.push_back({unit, before});
  }

  void Propose(int devices) {
    changes_.clear();
    const int unit = Draw(units_.size());
    const double kind = random_.Uniform();
    const int neighbour = DrawNeighbour(units_[unit]);
    if (kind < 0.3 || neighbour < 0) {
      Change(unit, Draw(devices));
    } else if (kind < 0.6) {  // to where a neighbour is
      Change(unit, placement_[neighbour]);
    } else if (kind < 0.8) {  // with a neighbour
      const int device = Draw(devices);
      Change(unit, device);
      Change(unit_of_[neighbour], device);
    } else {  // in exchange for a neighbour, or another unit
      const int other = kind < 0.9 ? unit_of_[neighbour] : Draw(units_.size());
      const int device = placement_[units_[unit][0]];
      Change(unit, placement_[units_[other][0]]);
      Change(other, device);
    }
  }

  void Try(double temperature_ms, int devices) {
    Propose(devices);
    if (changes_.empty()) return;
    const std::optional<double> then_ms = replay_.Run(placement_);
    const double draw = random_.Uniform();
    if (then_ms && KeepsChange(*then_ms - now_ms_, temperature_ms, draw)) {
      now_ms_ = *then_ms;
      return;
    }
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      Put(units_[change->first], change->second);
    }
  }

  const PlacementProblem& problem_;
  LatencyReplay replay_;
  Random random_;
  const std::vector<std::vector<int>>& units_;  // the groups, which move together
  std::vector<double> bytes_;                   // by accelerator
  const int pool_;                              // the device that stands for all CPUs
  std::vector<int> unit_of_;                    // by node
  std::vector<std::pair<int, int>> changes_;    // unit, and where it was
  NodePlacement placement_;
  double now_ms_ = 0;
};

}  // namespace

std::optional<double> LatencyOf(const PlacementProblem& problem, const NodePlacement& placement) {
  CHECK(placement.size() == problem.nodes.size());
  return LatencyReplay(problem).Run(placement);
}

std::optional<LatencyPlacement> SolveLatency(const PlacementProblem& problem, int64_t steps,
                                             uint64_t seed, const StopSign& stop) {
  return LatencyAnnealer(problem, seed).Run(steps, stop);
}

double LeastLatencyMs(const PlacementProblem& problem) {
  std::vector<double> end_ms(problem.dag.size());
  double latency_ms = 0;
  for (const int node : problem.dag.order) {
    end_ms[node] += FastestMs(problem, problem.nodes[node]);
    latency_ms = std::max(latency_ms, end_ms[node]);
    for (const int consumer : problem.dag.consumers[node]) {
      end_ms[consumer] = std::max(end_ms[consumer], end_ms[node]);
    }
  }
  return latency_ms;
}

}  // namespace stagecraft
