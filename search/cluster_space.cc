// MakePlanSpace(): all plans that are tried on a cluster.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "search/device_kinds.h"
#include "search/joined_space.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/space.h"

namespace stagecraft {
namespace {

constexpr size_t kMostTypesInEveryOrder = 3;

// Returns the devices of the groups for which is_wanted(group) holds, in order.
template <typename IsWanted>
std::vector<int> DevicesWhere(const Cluster& cluster, IsWanted is_wanted) {
  std::vector<int> devices;
  for (int device = 0; device < cluster.device_count(); ++device) {
    if (is_wanted(cluster.device_group(device))) devices.push_back(device);
  }
  return devices;
}

// Returns the devices of one kind by node type, in the order of the cluster.
std::vector<std::vector<int>> DevicesByType(const Cluster& cluster, const DeviceKinds& kinds,
                                            int kind) {
  const std::vector<Cluster::NodeGroup>& groups = cluster.groups();
  std::vector<std::vector<int>> types;
  std::set<int> known;
  for (int first = 0; first < static_cast<int>(groups.size()); ++first) {
    if (kinds.of_groups[first] != kind || known.contains(first)) continue;
    const auto is_alike = [&](int group) { return groups[group].type == groups[first].type; };
    for (int group = first; group < static_cast<int>(groups.size()); ++group) {
      if (is_alike(group)) known.insert(group);
    }
    types.push_back(DevicesWhere(cluster, is_alike));
  }
  return types;
}

// Returns lists of devices of one kind: all of them and, if their nodes are of several types, those
// of each type, and all of them type after type in every order. Plans use the first devices of a
// list, so with these lists a plan that needs whole types and part of another does not depend on
// the order of the cluster.
std::set<std::vector<int>> PartsOfKind(const Cluster& cluster, const DeviceKinds& kinds, int kind) {
  std::set<std::vector<int>> parts{
      DevicesWhere(cluster, [&](int group) { return kinds.of_groups[group] == kind; })};
  const std::vector<std::vector<int>> types = DevicesByType(cluster, kinds, kind);
  parts.insert(types.begin(), types.end());
  if (types.size() > kMostTypesInEveryOrder) return parts;
  std::vector<size_t> order(types.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    std::vector<int> all;
    for (const size_t type : order) all.insert(all.end(), types[type].begin(), types[type].end());
    parts.insert(std::move(all));
  } while (std::next_permutation(order.begin(), order.end()));
  return parts;
}

// Adds a space of equal stages on each of these parts of a kind.
void AddEqualStages(const SearchProblem& problem, const DeviceKinds& all, int kind,
                    std::vector<std::unique_ptr<PlanSpace>>& spaces) {
  const auto memo = std::make_shared<LayerTimesMemo>(problem);
  for (const std::vector<int>& part : PartsOfKind(problem.cluster, all, kind)) {
    spaces.push_back(MakeEqualStages(problem, part, memo));
  }
}

// Joins spaces of equal stages, if there are any, with one of stages in pools.
std::unique_ptr<PlanSpace> JoinWithPools(const SearchProblem& problem,
                                         std::vector<std::unique_ptr<PlanSpace>> spaces,
                                         std::unique_ptr<PlanSpace> pools) {
  std::string name;
  if (!spaces.empty()) {
    const bool is_any = problem.choices.device_counts == DeviceCounts::kAny;
    name =
        spaces[0]->name() + (is_any ? " of one GPU type, or " : " on nodes of one GPU type, or ");
  }
  name += pools->name();
  spaces.push_back(std::move(pools));
  const SpaceOverlap overlap = spaces.size() > 1 ? SpaceOverlap::kSome : SpaceOverlap::kNone;
  return JoinSpaces(std::move(spaces), std::move(name), overlap);
}

}  // namespace

std::unique_ptr<PlanSpace> MakeSpaceOfKinds(const SearchProblem& problem,
                                            const std::vector<int>& kinds) {
  std::vector<std::unique_ptr<PlanSpace>> spaces;
  if (kinds.size() == 1) AddEqualStages(problem, KindsOf(problem.cluster), kinds[0], spaces);
  return JoinWithPools(problem, std::move(spaces), MakePooledStages(problem, kinds));
}

std::unique_ptr<PlanSpace> MakePlanSpace(const SearchProblem& problem) {
  if (problem.cluster.homogeneous()) return MakeEqualStages(problem);
  const DeviceKinds all = KindsOf(problem.cluster);
  std::vector<std::unique_ptr<PlanSpace>> spaces;
  for (int kind = 0; kind < all.count(); ++kind) AddEqualStages(problem, all, kind, spaces);
  return JoinWithPools(problem, std::move(spaces), MakePooledStages(problem));
}

}  // namespace stagecraft
