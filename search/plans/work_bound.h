// WorkBound: a lower bound of the scores of all plans of a problem, however unequal their stages
// are, from the work that devices must do.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "costmodel/units.h"
#include "search/layer_times.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// CommonChoices is what all stages of a plan share, as far as it decides what layers take.
struct CommonChoices {
  int context = 1;
  int expert = 1;
  int64_t micro_batch = 1;
  bool splits_tokens = false;    // sequence parallelism
  bool overlaps_tensor = false;  // StepOptions::overlap_tensor
  friend auto operator<=>(const CommonChoices&, const CommonChoices&) = default;
};
CommonChoices CommonOf(const PlanDraft& draft, const SearchProblem& problem);

// A sample costs the devices of a pool a least time in each layer: tensor ranks x context ranks x
// the time of the layer / samples of a micro-batch, at the best tensor degree and recomputation and
// on the best devices. No device works longer than the step takes. So a step takes at least as long
// as the pools need for all layers of all samples if layers and samples could be shared out at
// will. That is a linear programme. By its duality any prices of the layers give a lower bound of
// it: the price of all work over what the devices of all pools can earn in a second, each with the
// layer that pays it best. Prices are the times in one of the pools; the pool that gives the
// greatest bound counts.
//
// The bound holds for every plan that PlanMaker makes: stages of any number and width, replicas of
// a stage in several pools and with unequal shares of the batch, every pipeline schedule, sharding
// and recomputation. Nodes may be asymmetric: a group may begin at any device of a pool.
// Collectives are left out where groups may lie anywhere or run beside passes: with experts that
// are shared, with rank orders other than the two usual ones, and with schedules that pair passes;
// and in pools of thousands of devices that several switches join.
class WorkBound {
 public:
  // The problem must outlive it.
  explicit WorkBound(const SearchProblem& problem);

  // Returns a number that is never more than the Score() of a plan of PlanMaker.
  double LeastScore();
  // Returns the same for the plans that share these choices; infinity if there is none.
  double LeastScore(const CommonChoices& common);

 private:
  using ByKind = std::vector<double>;  // by kind of layer

  std::vector<CommonChoices> AllChoices() const;
  // Returns the device-seconds of a sample in each pool; empty for a pool without such plans.
  std::vector<ByKind> NeedsOf(const CommonChoices& common);
  ByKind NeedsIn(int pool, const CommonChoices& common);
  // Lowers what is needed to what plans of these degrees need, if that is less.
  void LowerNeeds(int pool, const PlanDegrees& degrees, ByKind& needs);
  // Returns the different ways in which the groups of a stage may lie in a pool.
  const std::vector<ShardSpec>& PlacesIn(int pool, const PlanDegrees& degrees);
  std::vector<ShardSpec> FindPlaces(int pool, const PlanDegrees& degrees);
  // Returns how many places of a pool to look at: behind them the same ones repeat.
  int FirstPlaces(int pool);
  // Returns a plan of one stage of one replica, on consecutive devices.
  Plan ProbeOf(const PlanDegrees& degrees, int first_device) const;
  ShardSpec ShardAt(int first_device, const PlanDegrees& degrees) const;
  // Returns the shard without its places: collectives then take no time.
  ShardSpec DivisionOf(const PlanDegrees& degrees) const;
  double LeastSeconds(const std::vector<ByKind>& needs) const;
  double LeastCost(const std::vector<ByKind>& needs) const;
  double LeastMemoryShare() const;

  const SearchProblem& problem_;
  const std::vector<Pool> pools_;
  const int most_devices_;          // of a pool
  const std::vector<int> tensors_;  // the tensor degrees that divide layers
  std::vector<int> first_places_;   // by pool; 0: not known yet
  std::vector<double> layers_;      // by kind: how many
  bool knows_groups_ = true;        // whether ranks of a group are consecutive devices
  bool pairs_passes_ = false;
  LayerTimesMemo memo_;
  std::map<std::array<int, 5>, std::vector<ShardSpec>> places_;
  std::map<CommonChoices, double> least_;
};

}  // namespace stagecraft
