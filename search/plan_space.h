// PlanSpace: plans from which a search may choose, by number, with what is known of each before it
// is simulated. There may be millions, so they are enumerated as a search comes to them.
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

// The problem must outlive it. Methods that are not const must be called from one thread.
class PlanSpace {
 public:
  explicit PlanSpace(const SearchProblem& problem) : problem_(problem) {}
  virtual ~PlanSpace() = default;

  // The number of plans that are enumerated so far; a plan keeps its number.
  virtual size_t size() const = 0;
  // A score below which no plan lies that has schedules of this class and is not enumerated yet; no
  // value once all are enumerated.
  virtual std::optional<double> BoundOfRest(ScheduleClass) const { return std::nullopt; }
  // Enumerates some more of these plans, those with the least bound first. Does nothing once all
  // are enumerated. Takes some milliseconds at most.
  virtual void EnumerateMore(ScheduleClass) {}
  // A name in the plural that may follow "one of the", such as "plans of equal stages".
  virtual std::string name() const = 0;
  // A lower bound of the plan's step time; Duration::Max() if it cannot be made.
  virtual Duration LeastTime(size_t index) = 0;
  // A lower bound of what one of its devices holds.
  virtual MemoryNeed LeastMemory(size_t index) = 0;
  // How many devices it uses, by node group of the cluster.
  virtual std::vector<int> GroupDevices(size_t index) const = 0;
  // Throws InputError if the plan cannot be made after all. May be called from any thread.
  virtual Plan Make(size_t index) const = 0;
  // Plans of the problem that are the same share a key, whatever their spaces.
  virtual PlanKey Key(size_t index) const = 0;
  // The choices of the plan, in a few words each.
  virtual std::string Describe(size_t index) const = 0;
  // Its pipeline schedule. Bounds of plans with one schedule are about equally tight.
  virtual PipelineSchedule Order(size_t index) const = 0;
  // The plans that are enumerated so far, with the same numbers, with bounds for a problem that
  // differs in its cost model alone. This space must outlive it and must not be enumerated further.
  virtual std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const = 0;

  // The same two calls for plans with any schedule.
  std::optional<double> BoundOfRest() const;
  void EnumerateMore();
  // No more than CostOf() its step.
  double LeastCost(size_t index);
  // A lower bound of the plan's Score(); infinity if it cannot be made.
  double Bound(size_t index);
  const SearchProblem& problem() const { return problem_; }

 private:
  const SearchProblem& problem_;
};

// The best score that a plan can have whose step takes at least this long on these devices, if
// nothing else is known about it.
double LeastScore(const SearchProblem& problem, Duration least_time,
                  std::span<const int> group_devices);

// Plans of equal stages and replicas (DegreeSpace) on devices of one kind, in the order given. The
// memo belongs to this problem; its spaces may share one.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices,
                                           std::shared_ptr<LayerTimesMemo> memo);
// The same on all devices of the cluster.
std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem);

// For clusters of several node groups, each of which is a pool: 1F1B pipelines whose stages each
// lie in one pool, pool after pool in any order. All stages have equally many replicas and one
// micro-batch size; each pool has its own tensor degree and number of layers, shared out so that
// the slowest stage is as fast as possible among splits that fit (by states and saved activations).
// Their bound is that of StepBound, stage by stage. Plans use devices of all these kinds (KindsOf()
// the cluster) and of no other.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// The same with any kinds: some pools may stay unused.
std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem);

// All plans to be tried with devices of all these kinds and of no other: for a single kind the
// equal stages on all of its devices and on those in nodes of one type, and stages in pools; each
// plan once.
std::unique_ptr<PlanSpace> MakeSpaceOfKinds(const SearchProblem& problem,
                                            const std::vector<int>& kinds);
// All plans to be tried on the cluster: equal stages if its nodes are alike, else the plans of
// MakeSpaceOfKinds() for every combination of kinds.
std::unique_ptr<PlanSpace> MakePlanSpace(const SearchProblem& problem);

}  // namespace stagecraft
