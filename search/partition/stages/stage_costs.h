// StageCosts: a stage problem as numbers to be added up, and what a stage of given sums takes. This
// is the one place where the objective is defined.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

// Whole nanoseconds and bytes: what is added can be subtracted again exactly.
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

  // Seconds per minibatch of a stage of compute C and parameters P on r devices of speed v with
  // bandwidth B between them, as in PipeDream's program on one level (pipedream.h):
  //   max((C / v + 4 (r-1) P / (B r)) / r, 2 in / (B r), 2 out / (B r))
  // in and out are the bytes of outputs, each counted once, that cross the cut in front of and
  // behind the stage; 0 at the ends. As there, the first stage's own output counts only as the
  // input of the next. Unlike there (pipedream.h counts some outputs of branches that are done),
  // only what a later stage reads crosses.
  double Seconds(const StageSizes& sizes, const StageReplicas& on, int64_t in, int64_t out) const;

  // How much more than its memory a device needs, as a share of it; 0 if it fits. With m devices
  // behind, a stage on r devices keeps ceil((m + r) / r) minibatches (PipeDream's number in flight)
  // of parameters and activations.
  double Excess(const StageSizes& sizes, const StageReplicas& on, int behind) const;

  // Seconds below which no plan lies: all work on all devices at once.
  double LeastSeconds() const;

  // Less is better. Plans that do not fit come behind all that do, by the rule of HeteroG (CoNEXT
  // 2020): their time counts a thousand times.
  static double Score(double slowest_s, double excess);

 private:
  const StageProblem& problem_;
  std::vector<StageSizes> nodes_;
  bool has_memory_ = false;
};

// Scores plans from scratch, in O(nodes + edges); keeps its buffers.
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
