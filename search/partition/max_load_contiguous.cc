#include <algorithm>
#include <limits>
#include <map>

#include "search/partition/device_load.h"
#include "search/partition/downsets.h"
#include "search/partition/max_load.h"
#include "search/partition/placement_units.h"

namespace stagecraft {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Prefix is the best way to have a downset done on a number of devices.
struct Prefix {
  int64_t max_load_ps = kNever;
  int before = -1;  // the downset that is done before the last device
  bool is_on_accelerator = false;
};

class ContiguousPlacer {
 public:
  ContiguousPlacer(const PlacementProblem& problem, const StopSign& stop)
      : problem_(problem),
        costs_(problem),
        stop_(stop),
        units_(FindPlacementUnits(problem)),
        downsets_(FindDownsets(units_.dag, problem.name, kMostDownsets, stop)) {
    std::map<NodeSet, int> numbers;
    for (const NodeSet& downset : downsets_) {
      numbers.emplace(downset, static_cast<int>(numbers.size()));
    }
    larger_.resize(downsets_.size());
    for (size_t d = 0; d < downsets_.size(); ++d) {
      stop.Check();
      for (int unit = 0; unit < units_.dag.size(); ++unit) {
        if (downsets_[d].test(unit)) continue;
        NodeSet next = downsets_[d];
        const auto found = numbers.find(next.set(unit));
        if (found != numbers.end()) larger_[d].push_back({unit, found->second});
      }
    }
  }

  std::optional<MaxLoad> Place() {
    // Limits grow until one is no less than the answer: stages beyond the limit need not be
    // examined.
    constexpr double kFirst = 1.2, kGrowth = 1.5;
    double bound_ms = LeastMaxLoadMs(problem_);
    for (double limit = kFirst * (bound_ms * kPicosecondsPerMs + 1);; limit *= kGrowth) {
      const bool is_done = Fill(static_cast<int64_t>(limit));
      const int used = BestCount();
      if (At(used, Last()).max_load_ps <= limit_ps_) {
        MaxLoad found = Collect(used);
        found.bound_ms = is_done ? found.max_load_ms : bound_ms;
        return found;
      }
      if (!is_done) throw Stopped();
      if (limit > MostLoad()) return std::nullopt;
      bound_ms = static_cast<double>(limit_ps_) / kPicosecondsPerMs;
    }
  }

 private:
  struct Step {
    int unit;
    int downset;  // the downset that has this unit in addition
  };

  int Last() const { return static_cast<int>(downsets_.size()) - 1; }
  // The index `used` encodes the numbers of accelerators and of CPUs as one number.
  int Counts() const { return (problem_.accelerators + 1) * (problem_.cpus + 1); }
  Prefix& At(int used, int downset) { return prefixes_[downset * Counts() + used]; }

  // Returns the load of a device that does everything, and transfers every output in and out.
  double MostLoad() const {
    double ms = 0;
    for (const PlacementNode& node : problem_.nodes) {
      const double accelerator_ms = node.runs_on_accelerator ? node.accelerator_ms : 0;
      ms += std::max(accelerator_ms, node.cpu_ms) + 2 * node.transfer_ms;
    }
    return ms * kPicosecondsPerMs;
  }

  int BestCount() {
    int best = 0;
    for (int used = 1; used < Counts(); ++used) {
      if (At(used, Last()).max_load_ps < At(best, Last()).max_load_ps) best = used;
    }
    return best;
  }

  // Fills prefixes_ within the limit. Returns false if it was stopped; what is filled is valid even
  // then.
  bool Fill(int64_t limit) {
    limit_ps_ = limit;
    prefixes_.assign(downsets_.size() * Counts(), Prefix());
    for (int used = 0; used < Counts(); ++used) At(used, 0).max_load_ps = 0;
    seen_by_.assign(downsets_.size(), -1);
    DeviceLoad accelerator(costs_, true), cpu(costs_, false);
    for (int done = 0; done < Last(); ++done) {
      if (stop_.IsUp()) return false;
      if (At(Counts() - 1, done).max_load_ps > limit) continue;
      accelerator_work_ps_ = 0;
      Extend(done, done, accelerator, cpu);
    }
    return true;
  }

  // Visits all larger downsets, once each; the device holds what lies between `done` and them.
  void Extend(int done, int reached, DeviceLoad& accelerator, DeviceLoad& cpu) {
    for (const Step& step : larger_[reached]) {
      if (seen_by_[step.downset] == done) continue;
      seen_by_[step.downset] = done;
      for (const int node : units_.nodes[step.unit]) {
        accelerator.Add(node);
        cpu.Add(node);
        accelerator_work_ps_ += costs_.nodes[node].accelerator_ps;
      }
      const bool accelerator_may =
          accelerator_work_ps_ <= limit_ps_ && accelerator.excess_bytes() == 0;
      if (accelerator_may || (problem_.cpus > 0 && cpu.load_ps() <= limit_ps_)) {
        Improve(done, step.downset, accelerator_may ? accelerator.load_ps() : kNever,
                cpu.load_ps());
        Extend(done, step.downset, accelerator, cpu);
      }
      for (const int node : units_.nodes[step.unit]) {
        accelerator.Remove(node);
        cpu.Remove(node);
        accelerator_work_ps_ -= costs_.nodes[node].accelerator_ps;
      }
    }
  }

  void Improve(int done, int reached, int64_t accelerator_ps, int64_t cpu_ps) {
    const int row = problem_.cpus + 1;  // by how much `used` grows with an accelerator
    for (int used = 0; used < Counts(); ++used) {
      const int64_t before = At(used, done).max_load_ps;
      if (before > limit_ps_) continue;
      if (used + row < Counts() && accelerator_ps <= limit_ps_) {
        Take(At(used + row, reached), {std::max(before, accelerator_ps), done, true});
      }
      if (used % row < problem_.cpus && cpu_ps <= limit_ps_) {
        Take(At(used + 1, reached), {std::max(before, cpu_ps), done, false});
      }
    }
  }

  static void Take(Prefix& best, const Prefix& other) {
    if (other.max_load_ps < best.max_load_ps) best = other;
  }

  MaxLoad Collect(int used) {
    MaxLoad found;
    found.max_load_ms = static_cast<double>(At(used, Last()).max_load_ps) / kPicosecondsPerMs;
    found.placement.assign(problem_.nodes.size(), -1);
    const int row = problem_.cpus + 1;
    std::vector<int> rank(problem_.nodes.size());  // of the node's device; the last device has 0
    int devices = 0;
    for (int reached = Last(); reached > 0; ++devices) {
      const Prefix& last = At(used, reached);
      used -= last.is_on_accelerator ? row : 1;
      const int device = last.is_on_accelerator ? used / row : problem_.accelerators + used % row;
      for (const int unit : Members(downsets_[reached] - downsets_[last.before])) {
        for (const int node : units_.nodes[unit]) {
          found.placement[node] = device;
          rank[node] = devices;
        }
      }
      reached = last.before;
    }
    PlaceFreeNodes(rank, found.placement);
    return found;
  }

  // Places each free node with its earliest consumer, which has the highest rank.
  void PlaceFreeNodes(const std::vector<int>& rank, NodePlacement& placement) const {
    for (const int node : units_.free_nodes) {
      int first = -1;
      for (const int consumer : problem_.dag.consumers[node]) {
        if (placement[consumer] < 0) continue;
        if (first < 0 || rank[consumer] > rank[first]) first = consumer;
      }
      placement[node] = first < 0 ? 0 : placement[first];
    }
  }

  const PlacementProblem& problem_;
  const PlacementCosts costs_;
  const StopSign& stop_;
  const PlacementUnits units_;
  const std::vector<NodeSet> downsets_;
  std::vector<std::vector<Step>> larger_;  // by downset
  std::vector<Prefix> prefixes_;           // by downset, by devices used
  std::vector<int> seen_by_;               // by downset
  int64_t limit_ps_ = 0;
  int64_t accelerator_work_ps_ = 0;
};

}  // namespace

std::optional<MaxLoad> SolveContiguousMaxLoad(const PlacementProblem& problem,
                                              const StopSign& stop) {
  return ContiguousPlacer(problem, stop).Place();
}

}  // namespace stagecraft
