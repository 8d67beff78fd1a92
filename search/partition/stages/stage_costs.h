// StageCosts: a stage problem as numbers to be added up, and how long a stage with given sums
// takes. This is the only place that defines the objective.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

// StageSizes are whole nanoseconds and bytes, so that what was added can be subtracted exactly.
struct StageSizes {
  int64_t compute_ns = 0;
  int64_t parameters = 0;
  int64_t activations = 0;
  StageSizes& operator+=(const StageSizes& other);
  StageSizes& operator-=(const StageSizes& other);
  friend auto operator<=>(const StageSizes&, const StageSizes&) = default;
};

class StageCosts {
 public:
  // `problem` must be valid and outlive this object.
  explicit StageCosts(const StageProblem& problem);

  const StageProblem& problem() const { return problem_; }
  const Dag& dag() const { return problem_.graph.dag; }
  const StageSizes& of(int node) const { return nodes_[node]; }
  bool has_memory() const { return has_memory_; }

  // Returns the seconds per minibatch of a stage with compute C and parameters P on r devices of
  // speed v with bandwidth B between them, as in PipeDream's program on one level (pipedream.h):
  //   max((C / v + 4 (r-1) P / (B r)) / r, 2 in / (B r), 2 out / (B r))
  // `in` and `out` are the bytes of outputs, each counted once, that cross the cut in front of and
  // behind the stage; 0 at the ends. As in pipedream.h, the first stage's own output counts only as
  // the input of the next. Only what a later stage reads crosses a cut; pipedream.h also counts
  // some outputs of branches that are done.
  double Seconds(const StageSizes& sizes, const StageReplicas& on, int64_t in, int64_t out) const;

  // Returns how much more memory a device needs than it has, as a share of what it has; 0 if the
  // stage fits. With m devices behind, a stage on r devices keeps ceil((m + r) / r) minibatches
  // (PipeDream's number in flight) of parameters and activations.
  double Excess(const StageSizes& sizes, const StageReplicas& on, int behind) const;

  // Returns a lower bound of the seconds of any plan: all work shared evenly by all devices.
  double LeastSeconds() const;

  // Returns the score of a plan; less is better. A plan that does not fit comes behind all that do,
  // by the rule of HeteroG (CoNEXT 2020): its time counts a thousand times or, if much is missing,
  // more.
  static double Score(double slowest_s, double excess);

 private:
  const StageProblem& problem_;
  std::vector<StageSizes> nodes_;
  bool has_memory_ = false;
};

// StageScorer scores plans from scratch, in O(nodes + edges); it reuses its buffers.
class StageScorer {
 public:
  explicit StageScorer(const StageCosts& costs) : costs_(costs) {}
  // `plan` must be valid.
  double Score(const StagePlan& plan);

 private:
  const StageCosts& costs_;
  std::vector<StageSizes> sizes_;  // by stage
  std::vector<int64_t> crossing_;  // bytes, by the stage in front of the cut
};

}  // namespace stagecraft
