// PlanSpace: the plans from which a search may choose, by number, with what is known of each before
// it is simulated. There may be millions, so they are enumerated only as far as a search needs
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "search/plan_bound.h"
#include "search/plan_key.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

class LayerTimesMemo;

// The bounds of PlanBound by the keys of plans.
using CloseTimes = std::unordered_map<PlanKey, Duration, PlanKeyHash>;

struct MemoryNeed {
  Bytes needed;
  Bytes capacity;

  double Share() const {
    return static_cast<double>(needed.count()) / static_cast<double>(capacity.count());
  }
};

// The problem must outlive the space. Methods that are not const must be called from one thread.
class PlanSpace {
 public:
  explicit PlanSpace(const SearchProblem& problem) : problem_(problem), plan_bound_(problem) {}
  virtual ~PlanSpace() = default;

  // The number of plans that have been enumerated so far; a plan keeps its number.
  virtual size_t size() const = 0;
  // Returns a lower bound of the scores of all plans with schedules of this class, and with such
  // overlaps of tensor parallelism, that are not enumerated yet; no value once all are enumerated.
  virtual std::optional<double> BoundOfRest(ScheduleClass, Overlaps) const { return std::nullopt; }
  // Enumerates some more of these plans, those with the least bounds first. Does nothing once all
  // are enumerated. Takes some milliseconds at most.
  virtual void EnumerateMore(ScheduleClass, Overlaps) {}
  // Returns a name in the plural that may follow "one of the", such as "plans of equal stages".
  virtual std::string name() const = 0;
  // Returns a lower bound of the plan's step time; Duration::Max() if the plan cannot be made.
  virtual Duration LeastTime(size_t index) = 0;
  // Returns a lower bound of what one of the plan's devices holds.
  virtual MemoryNeed LeastMemory(size_t index) = 0;
  // Returns how many devices the plan uses, by node group of the cluster.
  virtual std::vector<int> GroupDevices(size_t index) const = 0;
  // Returns the plan; throws InputError if it cannot be made after all. May be called from any
  // thread.
  virtual Plan Make(size_t index) const = 0;
  // Returns the plan's key. Equal plans of one problem have the same key, whatever their spaces.
  virtual PlanKey Key(size_t index) const = 0;
  // Returns the choices of the plan, in a few words each.
  virtual std::string Describe(size_t index) const = 0;
  // Returns the plan's pipeline schedule. Bounds of plans with the same schedule are about equally
  // tight.
  virtual PipelineSchedule Order(size_t index) const = 0;
  // Returns whether the plan overlaps more than the problem gives, as its choices allow.
  virtual bool ChoosesOverlap(size_t) const { return false; }
  // Returns a space of the plans that are enumerated so far, with the same numbers, but with the
  // bounds of a problem that differs only in its cost model. This space must outlive the result and
  // must not be enumerated further.
  virtual std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const = 0;

  // The same two calls, for plans with any schedule and overlaps.
  std::optional<double> BoundOfRest() const;
  void EnumerateMore();
  // Returns a lower bound of CostOf() the plan's training step.
  double LeastCost(size_t index);
  // Returns a lower bound of the plan's Score(); infinity if the plan cannot be made.
  double Bound(size_t index);
  // Return bounds that are at least LeastTime() and Bound(), and closer: those of PlanBound, which
  // takes some hundred times as long and is remembered.
  Duration CloseTime(size_t index);
  double CloseBound(size_t index);
  // Returns PlanBound's bound of the step time of a plan of the space, which RememberCloseTime()
  // takes in place of CloseTime()'s own computation. May be called from any thread.
  Duration ComputeCloseTime(const Plan& plan) { return plan_bound_.StepTime(plan); }
  // Precondition: CloseTime() of the plan is not known yet. `bound` is ComputeCloseTime(), or
  // Duration::Max() if the plan cannot be made.
  void RememberCloseTime(size_t index, Duration bound);
  // Returns CloseTime() if it is known already, else LeastTime().
  Duration KnownTime(size_t index);
  const SearchProblem& problem() const { return problem_; }
  // Uses what another space remembers of plans, for close bounds. As PlanBound::UseMemoryOf().
  void UseMemoryOf(const PlanSpace& other) { plan_bound_.UseMemoryOf(other.plan_bound_); }
  // Looks close bounds up in `shared`, and adds those that are not there. The spaces that share it
  // have problems that differ at most in which plans they allow, in the memory of devices, in what
  // these cost and in the objective.
  void UseCloseTimes(std::shared_ptr<CloseTimes> shared) { shared_times_ = std::move(shared); }
  // Returns ComputeCloseTime() of the plan if such a space has remembered it. May be called from
  // any thread while none remembers one.
  std::optional<Duration> SharedCloseTime(size_t index) const;

 private:
  const SearchProblem& problem_;
  PlanBound plan_bound_;
  std::shared_ptr<CloseTimes> shared_times_;  // null: none
  std::unordered_map<size_t, Duration> close_times_;
};

// Returns the best score that a plan can have if all that is known is that its step takes at least
// this long and uses these devices.
double LeastScore(const SearchProblem& problem, Duration least_time,
                  std::span<const int> group_devices);

// Returns the plans of equal stages and replicas (DegreeSpace) on devices of one kind, in the given
// order. The memo must be one of this problem; several spaces may share it.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices,
                                           std::shared_ptr<LayerTimesMemo> memo);
// Does the same for all devices of the cluster.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem);

// For clusters of several node groups, each of which is a pool: returns 1F1B pipelines whose stages
// each lie in one pool, pool after pool in any order. All stages have equally many replicas and one
// micro-batch size; each pool has its own tensor degree and number of layers. Layers are shared out
// so that the slowest stage is as fast as possible among splits that fit (by states and saved
// activations). The bound of a plan is that of StepBound, stage by stage. Plans use devices of all
// these kinds (KindsOf() the cluster) and of no other.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// Does the same with any kinds: some pools may stay unused.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem);

// Returns all plans to be tried with devices of all these kinds and of no other, each once: stages
// in pools and, for a single kind, equal stages on all of its devices and on those in nodes of one
// type.
std::unique_ptr<PlanSpace> MakeSpaceOfKinds(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// Returns all plans to be tried on the cluster: equal stages if its nodes are alike, else the plans
// of MakeSpaceOfKinds() for every combination of kinds.
std::unique_ptr<PlanSpace> MakePlanSpace(const SearchProblem& problem);

}  // namespace stagecraft
