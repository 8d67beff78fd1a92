// PlanSpace: plans that a search may choose from, by number, with what is known of each
// before it is simulated. There may be millions, so they are enumerated as a search comes to
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/plan_key.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

class LayerTimesMemo;

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

  // Of the plans that are enumerated so far; a plan keeps its number.
  virtual size_t size() const = 0;
  // No plan with schedules of this class that is not enumerated yet scores less; nothing once
  // all are.
  virtual std::optional<double> BoundOfRest(ScheduleClass) const { return std::nullopt; }
  // Enumerates some more of these plans, the ones with the least bound first. Does nothing once
  // all are enumerated. Takes some milliseconds at most.
  virtual void EnumerateMore(ScheduleClass) {}
  // A name in the plural that may follow "one of the", such as "plans of equal stages".
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
  // Plans of the problem that are one share a key, whatever spaces they are of.
  virtual PlanKey Key(size_t index) const = 0;
  // The choices, a few words each.
  virtual std::string Describe(size_t index) const = 0;
  // Its schedule. Bounds of plans with one schedule are about equally tight.
  virtual PipelineOrder Order(size_t index) const = 0;
  // The plans that are enumerated so far, by the same numbers, with bounds for a problem that
  // differs in its cost model alone. This space outlives it and is not enumerated further.
  virtual std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const = 0;

  // The same two calls for plans with any schedule.
  std::optional<double> BoundOfRest() const;
  void EnumerateMore();
  // No more than CostOf() its step.
  double LeastCost(size_t index);
  // No more than the plan's Score(); infinity where it cannot be made.
  double Bound(size_t index);
  const SearchProblem& problem() const { return problem_; }

 private:
  const SearchProblem& problem_;
};

// The best score that a step of at least so long on these devices may have, of a plan of
// which nothing else is known.
double LeastScore(const SearchProblem& problem, Duration least_time,
                  std::span<const int> group_devices);

// Equal stages and replicas (DegreeSpace) on devices of one kind, in the order given. The memo is
// of this problem; its spaces may share one.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices,
                                           std::shared_ptr<LayerTimesMemo> memo);
// The same on all devices of the cluster.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem);

// For clusters of several groups of nodes, each a pool: 1F1B pipelines whose stages each lie
// in one pool, pool after pool in any order. All stages have equally many replicas and one
// micro-batch size; tensor degrees and blocks are each pool's own, the blocks shared out so
// that the slowest stage is as fast as it can be with what fits (by states and saved
// activations). Its bound is StepBound's, stage by stage. Plans use devices of all these kinds
// (KindsOf() the cluster) and of no other.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// The same with any kinds: some pools may stay unused.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem);

// Everything that is tried of plans with devices of all these kinds and of no other: of one
// kind the equal stages on all of its devices and on those in nodes of one type, and stages
// in pools; each plan once.
std::unique_ptr<PlanSpace> MakeSpaceOfKinds(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// Everything that is tried on the cluster: equal stages where its nodes are alike, else what
// MakeSpaceOfKinds() tries of every choice of kinds.
std::unique_ptr<PlanSpace> MakePlanSpace(const SearchProblem& problem);

}  // namespace stagecraft
