#include "search/partition/stages/stage_exact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "search/partition/downsets.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {
namespace {

constexpr double kMostExactSteps = 2e10;  // steps of Extend(); one core does 3e8 a second
constexpr double kMostExactDownsets = 2000;

constexpr double kNever = std::numeric_limits<double>::infinity();

// best_[d][u] is the slowest of the stages behind downset d, which take exactly the devices u, a
// number with one digit for each kind.
class ExactProgramme {
 public:
  ExactProgramme(const StageProblem& problem, int most_downsets, const StopSign& stop)
      : costs_(problem),
        stop_(stop),
        choices_(ReplicaChoices(problem)),
        downsets_(FindDownsets(problem.graph.dag, problem.graph.name, most_downsets, stop)) {
    for (const StageDeviceKind& kind : problem.kinds) {
      digits_.push_back(uses_);
      uses_ *= kind.count + 1;
    }
    for (const NodeSet& done : downsets_) {
      StageSizes sizes;
      for (const int node : Members(done)) sizes += costs_.of(node);
      sizes_.push_back(sizes);
      crossing_.push_back(Crossing(done));
    }
    best_.assign(downsets_.size(), std::vector<Step>(uses_));
    best_.back()[0].score = 0;
  }

  std::optional<ExactStages> Solve() {
    const bool is_done = Fill();
    std::optional<ExactStages> best = Best();
    if (!best && !is_done) throw Stopped();
    if (best) best->bound = is_done ? best->score : costs_.LeastSeconds();
    return best;
  }

 private:
  struct Step {
    double score = kNever;
    int end = 0;
    StageReplicas on = {};
  };

  int64_t Crossing(const NodeSet& done) const {
    int64_t bytes = 0;
    for (const int node : Members(done)) {
      const std::vector<int>& consumers = costs_.dag().consumers[node];
      const bool is_read = std::any_of(consumers.begin(), consumers.end(),
                                       [&](int consumer) { return !done.test(consumer); });
      if (is_read) bytes += costs_.of(node).activations;
    }
    return bytes;
  }

  int Digit(int use, int kind) const {
    return use / digits_[kind] % (costs_.problem().kinds[kind].count + 1);
  }

  int Behind(int use) const {
    int behind = 0;
    for (size_t kind = 0; kind < digits_.size(); ++kind) {
      behind += Digit(use, static_cast<int>(kind));
    }
    return behind;
  }

  // Works from back to front. What follows a downset is known before the first stage that ends
  // there is tried, so best_[0] has the best plan so far at any time. Returns false if it was
  // stopped.
  bool Fill() {
    const int last = static_cast<int>(downsets_.size()) - 1;
    for (int begin = last; begin > 0; --begin) {
      for (int end = begin + 1; end <= last; ++end) {
        if (downsets_[begin].is_subset_of(downsets_[end]) && !Extend(begin, end)) return false;
      }
      if (!Extend(0, begin)) return false;
    }
    return true;
  }

  // Tries the stage between the two downsets in front of everything that is known behind `end`;
  // among equals the stage that ends first wins. Returns false if it was stopped.
  bool Extend(int begin, int end) {
    StageSizes sizes = sizes_[end];
    sizes -= sizes_[begin];
    const int64_t out = begin > 0 ? crossing_[end] : 0;
    for (const StageReplicas& on : choices_) {
      if (stop_.IsUp()) return false;
      const double seconds = costs_.Seconds(sizes, on, crossing_[begin], out);
      const int count = costs_.problem().kinds[on.kind].count;
      for (int use = 0; use < uses_; ++use) {
        if (Digit(use, on.kind) + on.replicas > count) continue;
        const double score = std::max(seconds, best_[end][use].score);
        Step& step = best_[begin][use + on.replicas * digits_[on.kind]];
        if (score > step.score || (score == step.score && end >= step.end)) continue;
        if (costs_.Excess(sizes, on, Behind(use)) > 0) continue;
        step = {score, end, on};
      }
    }
    return true;
  }

  std::optional<ExactStages> Best() const {
    int use = 0;
    for (int other = 1; other < uses_; ++other) {
      if (best_[0][other].score < best_[0][use].score) use = other;
    }
    if (best_[0][use].score == kNever) return std::nullopt;
    ExactStages exact{best_[0][use].score, {}, 0};
    exact.plan.stage_of.assign(costs_.dag().size(), 0);
    for (int begin = 0; begin + 1 < static_cast<int>(downsets_.size());) {
      const Step& step = best_[begin][use];
      for (const int node : Members(downsets_[step.end] - downsets_[begin])) {
        exact.plan.stage_of[node] = exact.plan.stages();
      }
      exact.plan.replicas.push_back(step.on);
      use -= step.on.replicas * digits_[step.on.kind];
      begin = step.end;
    }
    return exact;
  }

  const StageCosts costs_;
  const StopSign& stop_;
  const std::vector<StageReplicas> choices_;
  const std::vector<NodeSet> downsets_;
  std::vector<int> digits_;  // by kind: what one of its devices adds to a use
  int uses_ = 1;
  std::vector<StageSizes> sizes_;  // by downset
  std::vector<int64_t> crossing_;  // by downset
  std::vector<std::vector<Step>> best_;
};

}  // namespace

std::optional<ExactStages> SolveStagesExactly(const StageProblem& problem, int most_downsets,
                                              const StopSign& stop) {
  return ExactProgramme(problem, most_downsets, stop).Solve();
}

int MostExactDownsets(const StageProblem& problem) {
  double steps = 0.5 * static_cast<double>(ReplicaChoices(problem).size());  // of two downsets
  for (const StageDeviceKind& kind : problem.kinds) steps *= kind.count + 1;
  return static_cast<int>(std::min(kMostExactDownsets, std::sqrt(kMostExactSteps / steps)));
}

}  // namespace stagecraft
