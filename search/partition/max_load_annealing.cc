#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/partition/annealing.h"
#include "search/partition/device_load.h"
#include "search/partition/max_load.h"
#include "search/partition/placement_units.h"

namespace stagecraft {
namespace {

// Returns x^32: the busiest devices count, the others hardly do.
double Sharpen(double x) {
  for (int i = 0; i < 5; ++i) x *= x;
  return x;
}

class Annealer {
 public:
  Annealer(const PlacementProblem& problem, const NodePlacement& start, uint64_t seed)
      : problem_(problem), costs_(problem), random_(seed), placement_(start) {
    for (int device = 0; device < problem.devices(); ++device) {
      loads_.emplace_back(costs_, device < problem.accelerators);
    }
    for (size_t node = 0; node < start.size(); ++node) {
      loads_[start[node]].Add(static_cast<int>(node));
    }
    for (size_t group = 0; group < problem.groups.size(); ++group) {
      for (const int node : problem.groups[group]) {
        group_of_.resize(std::max(group_of_.size(), static_cast<size_t>(node) + 1));
        group_of_[node] = static_cast<int>(group);
      }
    }
    for (int node = 0; node < problem.dag.size(); ++node) {
      for (const int consumer : problem.dag.consumers[node]) {
        if (group_of_[node] != group_of_[consumer]) {
          edges_.push_back({group_of_[node], group_of_[consumer]});
        }
      }
    }
    best_ = placement_;
    best_score_ = Score();
  }

  // Cools down several times, each time from the best placement so far.
  MaxLoad Run(int64_t steps, const StopSign& stop) {
    // Temperatures are shares of the energy.
    constexpr Cooling kCooling{.rounds = 3, .hot = 3e-2, .cold = 1e-5, .reheating = 0.3};
    const auto begin = [&] {
      Restore();
      energy_ = Energy();
    };
    if (problem_.devices() > 1) {
      Anneal(kCooling, steps, stop, begin, [&](double temperature) { Try(temperature); });
    }
    return {static_cast<double>(best_score_.second) / kPicosecondsPerMs, best_,
            LeastMaxLoadMs(problem_)};
  }

 private:
  // Bytes beyond the memories, then the maximal load.
  using PlacementScore = std::pair<int64_t, int64_t>;

  PlacementScore Score() const {
    PlacementScore score{0, 0};
    for (const DeviceLoad& load : loads_) {
      score.first += load.excess_bytes();
      score.second = std::max(score.second, load.load_ps());
    }
    return score;
  }

  // Returns roughly the maximal load over the best one, plus the share of memory by which it is
  // exceeded.
  double Energy() const {
    const auto scale = static_cast<double>(std::max<int64_t>(best_score_.second, 1));
    double sum = 0;
    double excess = 0;
    for (const DeviceLoad& load : loads_) {
      sum += Sharpen(static_cast<double>(load.load_ps()) / scale);
      excess += static_cast<double>(load.excess_bytes());
    }
    return std::pow(sum, 1.0 / 32) + 10 * excess / static_cast<double>(costs_.memory_bytes + 1);
  }

  void Move(int group, int device) {
    for (const int node : problem_.groups[group]) {
      loads_[placement_[node]].Remove(node);
      loads_[device].Add(node);
      placement_[node] = device;
    }
  }
  int DeviceOf(int group) const { return placement_[problem_.groups[group][0]]; }
  int Draw(size_t count) {
    return static_cast<int>(random_.Integer(0, static_cast<int64_t>(count) - 1));
  }

  void Restore() {
    for (size_t group = 0; group < problem_.groups.size(); ++group) {
      Move(static_cast<int>(group), best_[problem_.groups[group][0]]);
    }
  }

  // Change is a group and the device to which it goes.
  struct Change {
    int group, device;
  };
  std::vector<Change>& Propose() {
    changes_.clear();
    const double kind = random_.Uniform();
    const int group = Draw(problem_.groups.size());
    if (kind < 0.3) {
      changes_.push_back({group, Draw(loads_.size())});
    } else if (kind < 0.5) {
      const int other = Draw(problem_.groups.size());
      changes_.push_back({group, DeviceOf(other)});
      changes_.push_back({other, DeviceOf(group)});
    } else if (!edges_.empty()) {
      // A group goes to the device of a neighbour, in either direction; sometimes a random group
      // goes to the device that it leaves.
      const auto [from, to] = edges_[Draw(edges_.size())];
      const bool is_forward = random_.Uniform() < 0.5;
      changes_.push_back({is_forward ? from : to, DeviceOf(is_forward ? to : from)});
      if (kind > 0.8) changes_.push_back({group, DeviceOf(is_forward ? from : to)});
    }
    return changes_;
  }

  void Try(double temperature) {
    std::vector<Change>& changes = Propose();
    for (Change& change : changes) {
      const int before = DeviceOf(change.group);
      Move(change.group, change.device);
      change.device = before;
    }
    const double energy = Energy();
    const double rise = energy - energy_;
    // Draws no number if none is needed.
    if (rise > 0 && !KeepsChange(rise, temperature, random_.Uniform())) {
      for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        Move(change->group, change->device);
      }
      return;
    }
    energy_ = energy;
    const PlacementScore score = Score();
    if (score < best_score_) {
      best_score_ = score;
      best_ = placement_;
      energy_ = Energy();
    }
  }

  const PlacementProblem& problem_;
  const PlacementCosts costs_;
  Random random_;
  NodePlacement placement_;
  std::vector<DeviceLoad> loads_;           // by device
  std::vector<int> group_of_;               // by node
  std::vector<std::pair<int, int>> edges_;  // of groups
  std::vector<Change> changes_;
  double energy_ = 0;
  NodePlacement best_;
  PlacementScore best_score_;
};

}  // namespace

double LeastMaxLoadMs(const PlacementProblem& problem) {
  double work_ms = 0;
  for (const PlacementNode& node : problem.nodes) work_ms += FastestMs(problem, node);
  return work_ms / problem.devices();
}

MaxLoad ImproveMaxLoad(const PlacementProblem& problem, const NodePlacement& start, int64_t steps,
                       uint64_t seed, const StopSign& stop) {
  CHECK(start.size() == problem.nodes.size());
  return Annealer(problem, start, seed).Run(steps, stop);
}

NodePlacement SpreadInOrder(const PlacementProblem& problem) {
  const PlacementUnits units = FindPlacementUnits(problem);
  const bool has_accelerators = problem.accelerators > 0;
  const int devices = has_accelerators ? problem.accelerators : problem.cpus;
  const auto time = [&](int node) {
    return has_accelerators ? problem.nodes[node].accelerator_ms : problem.nodes[node].cpu_ms;
  };
  double work_ms = 0;
  for (int node = 0; node < problem.dag.size(); ++node) work_ms += time(node);
  NodePlacement placement(problem.nodes.size(), 0);
  int device = 0;
  double load_ms = 0, bytes = 0;
  for (const int unit : units.dag.order) {
    double unit_ms = 0, unit_bytes = 0;
    for (const int node : units.nodes[unit]) {
      unit_ms += time(node);
      unit_bytes += problem.nodes[node].bytes;
    }
    const bool is_full = load_ms + unit_ms / 2 > work_ms / devices ||
                         (has_accelerators && bytes + unit_bytes > problem.memory_bytes);
    if (is_full && device + 1 < devices) {
      ++device;
      load_ms = bytes = 0;
    }
    load_ms += unit_ms;
    bytes += unit_bytes;
    for (const int node : units.nodes[unit]) placement[node] = device;
  }
  return placement;
}

}  // namespace stagecraft
