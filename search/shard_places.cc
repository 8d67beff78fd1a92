#include "search/shard_places.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "search/space.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/topology/interconnect_spec.h"
#include "sim/plan/make_plan.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Returns how many devices the first scale-up domain has; 0 if nodes differ, have explicit links or
// meet at several switches.
int DomainDevices(const Cluster& cluster, const std::vector<int>& devices) {
  if (cluster.has_explicit_links() || !IsSingleSwitch(cluster.interconnect())) return 0;
  const int domain = cluster.domain(cluster.place(devices[0]).node);
  int count = 0;  // in the first domain
  for (const int device : devices) {
    if (cluster.device_group(device) != cluster.device_group(devices[0])) return 0;
    if (cluster.domain(cluster.place(device).node) == domain) ++count;
  }
  return count;
}

int SharingReplicas(const PlanDegrees& degrees) {
  return stagecraft::SharingReplicas(degrees.expert, degrees.context);
}

bool IsConsecutive(const PlanDegrees& degrees, const std::string& rank_order) {
  return rank_order == kDefaultRankOrder ||
         (rank_order == kStagesFirstRankOrder && SharingReplicas(degrees) == 1);
}

}  // namespace

Stage StageWithDegrees(const PlanDegrees& degrees) {
  Stage stage;
  stage.tensor_parallel = degrees.tensor;
  stage.context_parallel = degrees.context;
  stage.expert_parallel = degrees.expert;
  stage.recompute = degrees.recompute;
  return stage;
}

int SharingReplicas(int expert, int context) { return std::lcm(expert, context) / context; }

ShardPlaces::ShardPlaces(const SearchProblem& problem, std::vector<int> devices)
    : problem_(problem),
      devices_(std::move(devices)),
      domain_devices_(DomainDevices(problem.cluster, devices_)) {}

int64_t ShardPlaces::KeyOf(const PlanDegrees& degrees) const {
  if (IsConsecutive(degrees, degrees.rank_order)) return 0;
  const std::vector<std::string> orders = RankOrdersToTry(problem_);
  const auto order = std::find(orders.begin(), orders.end(), degrees.rank_order) - orders.begin();
  return (order + 1) << 48 | int64_t{degrees.data} << 24 | degrees.pipeline;
}

bool ShardPlaces::MayLieElsewhere(const PlanDegrees& degrees) const {
  const int sharing = degrees.tensor * degrees.context * SharingReplicas(degrees);
  if (sharing == 1) return false;
  const Cluster& cluster = problem_.cluster;
  const bool are_alike =
      domain_devices_ > 0 && JoinsAlike(cluster.node(cluster.place(devices_[0]).node));
  // If so, groups of consecutive ranks fill domains, or each lies in one.
  const bool fills =
      are_alike && (sharing % domain_devices_ == 0 || domain_devices_ % sharing == 0);
  for (const std::string& order : RankOrdersToTry(problem_)) {
    if (IsConsecutive(degrees, order)) continue;
    if (order != kStagesFirstRankOrder || !fills) return true;
  }
  return false;
}

std::vector<ShardSpec> ShardPlaces::ShardsOf(const PlanDegrees& degrees) {
  std::vector<ShardSpec> shards;
  for (const Place& place : PlacesOf(degrees)) shards.push_back(ShardAt(degrees, place));
  return shards;
}

const std::vector<ShardPlaces::Place>& ShardPlaces::PlacesOf(const PlanDegrees& degrees) {
  const auto [entry, is_new] =
      places_.try_emplace({degrees.tensor, degrees.context, degrees.expert, KeyOf(degrees)});
  if (is_new) entry->second = FindPlaces(degrees);
  return entry->second;
}

std::vector<ShardPlaces::Place> ShardPlaces::FindPlaces(const PlanDegrees& degrees) const {
  PlanDegrees all = degrees;
  const int sharing = SharingReplicas(degrees);
  if (KeyOf(degrees) == 0) {
    // A single stage that fills all devices has the groups of every plan in such a rank order.
    all.rank_order = kDefaultRankOrder;
    all.pipeline = 1;
    const int set = degrees.tensor * degrees.context;
    all.data = static_cast<int>(devices_.size()) / set / sharing * sharing;
  }
  std::vector<Place> places;
  std::vector<ShardSpec> seen;
  std::set<int> begins;  // places within a domain
  for (int stage = 0; stage < all.pipeline; ++stage) {
    for (int first = 0; first < all.data; first += sharing) {
      const int rank = ReplicaRanks(all, stage, first)[0];
      if (domain_devices_ > 0 && !begins.insert(rank % domain_devices_).second) continue;
      Place place{ReplicasFrom(all, stage, first), 0};
      for (; place.replica < sharing; ++place.replica) {
        const ShardSpec shard = ShardAt(degrees, place);
        if (std::find(seen.begin(), seen.end(), shard) != seen.end()) continue;
        seen.push_back(shard);
        places.push_back(place);
      }
    }
  }
  return places;
}

std::vector<std::vector<int>> ShardPlaces::ReplicasFrom(const PlanDegrees& degrees, int stage,
                                                        int replica) const {
  std::vector<std::vector<int>> replicas;
  for (int r = 0; r < SharingReplicas(degrees); ++r) {
    std::vector<int>& own = replicas.emplace_back(ReplicaRanks(degrees, stage, replica + r));
    for (int& rank : own) rank = devices_[rank];
  }
  return replicas;
}

ShardSpec ShardPlaces::ShardAt(const PlanDegrees& degrees, const Place& place) const {
  Plan probe;
  static_cast<StepOptions&>(probe) = degrees;
  probe.sequence_parallel = degrees.sequence_parallel != 0 && degrees.tensor > 1;
  probe.gradient_bytes =
      degrees.gradient_bytes != 0 ? degrees.gradient_bytes : UsualGradientBytes(probe.precision);
  Stage stage = StageWithDegrees(degrees);
  stage.replicas = place.replicas;
  probe.stages = {std::move(stage)};
  return StageShard(probe, problem_.workload, problem_.cluster, 0, place.replica);
}

}  // namespace stagecraft
