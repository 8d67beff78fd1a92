// PlanSpace: plans that a search may choose from, by number, with what is known of each
// before it is simulated.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/plan.h"

namespace stagecraft {

struct MemoryNeed {
  Bytes needed;
  Bytes capacity;

  double Share() const {
    return static_cast<double>(needed.count()) / static_cast<double>(capacity.count());
  }
};

// The problem outlives it. What is not const may be called from one thread.
class PlanSpace {
 public:
  explicit PlanSpace(const SearchProblem& problem) : problem_(problem) {}
  virtual ~PlanSpace() = default;

  virtual size_t size() const = 0;
  // In words: "plans of equal stages".
  virtual std::string name() const = 0;
  // No more than its step takes; Duration::Max() where it cannot be made.
  virtual Duration LeastTime(size_t index) = 0;
  // What one of its devices holds at least.
  virtual MemoryNeed LeastMemory(size_t index) = 0;
  // Devices that it uses, by group of the cluster.
  virtual std::vector<int> GroupDevices(size_t index) const = 0;
  // Throws InputError where the plan cannot be made after all. May be called from any
  // thread.
  virtual Plan Make(size_t index) const = 0;
  // The choices, a few words each.
  virtual std::string Describe(size_t index) const = 0;
  // The same plans, by the same numbers, with bounds for a problem that differs in its
  // cost model alone. This space outlives it.
  virtual std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const = 0;

  // No more than CostOf() its step.
  double LeastCost(size_t index);
  // No more than the plan's Score(); infinity where it cannot be made.
  double Bound(size_t index);
  const SearchProblem& problem() const { return problem_; }

 private:
  const SearchProblem& problem_;
};

// All of EnumerateDegrees(), for clusters of one kind of node.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem);

// For clusters of several kinds of node, each a pool: 1F1B pipelines whose stages each lie
// in one pool, pool after pool in any order, some pools unused. All stages have equally
// many replicas and one micro-batch size; tensor degrees and blocks are each pool's own,
// the blocks shared out so that the slowest stage is as fast as it can be with what fits
// (by states and saved activations). Its bound is StepBound's, stage by stage.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem);

}  // namespace stagecraft
