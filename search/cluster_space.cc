// MakePlanSpace(): everything that is tried on a cluster.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "search/device_kinds.h"
#include "search/joined_space.h"
#include "search/plan_space.h"
#include "search/space.h"

namespace stagecraft {
namespace {

// Devices of the groups that `is_wanted` says, in order.
template <typename IsWanted>
std::vector<int> DevicesWhere(const Cluster& cluster, IsWanted is_wanted) {
  std::vector<int> devices;
  for (int device = 0; device < cluster.device_count(); ++device) {
    if (is_wanted(cluster.device_group(device))) devices.push_back(device);
  }
  return devices;
}

// All devices of one kind, and where its nodes are of several types those of each type.
std::set<std::vector<int>> PartsOfKind(const Cluster& cluster, const DeviceKinds& kinds, int kind) {
  const auto is_of_kind = [&](int group) { return kinds.of_groups[group] == kind; };
  std::set<std::vector<int>> parts{DevicesWhere(cluster, is_of_kind)};
  const std::vector<Cluster::NodeGroup>& groups = cluster.groups();
  for (int first = 0; first < static_cast<int>(groups.size()); ++first) {
    if (!is_of_kind(first)) continue;
    parts.insert(
        DevicesWhere(cluster, [&](int group) { return groups[group].type == groups[first].type; }));
  }
  return parts;
}

}  // namespace

std::unique_ptr<PlanSpace> MakeSpaceOfKinds(const SearchProblem& problem,
                                            const std::vector<int>& kinds) {
  std::vector<std::unique_ptr<PlanSpace>> spaces;
  std::string name;
  if (kinds.size() == 1) {
    const DeviceKinds all = KindsOf(problem.cluster);
    for (const std::vector<int>& part : PartsOfKind(problem.cluster, all, kinds[0])) {
      spaces.push_back(MakeEqualStages(problem, part));
    }
    const bool is_any = problem.choices.device_counts == DeviceCounts::kAny;
    name = spaces[0]->name() + (is_any ? " of one kind, or " : " on nodes of one kind, or ");
  }
  spaces.push_back(MakePooledStages(problem, kinds));
  name += spaces.back()->name();
  const SpaceOverlap overlap = spaces.size() > 1 ? SpaceOverlap::kSome : SpaceOverlap::kNone;
  return JoinSpaces(std::move(spaces), std::move(name), overlap);
}

std::unique_ptr<PlanSpace> MakePlanSpace(const SearchProblem& problem) {
  if (problem.cluster.homogeneous()) return MakeEqualStages(problem);
  std::vector<std::unique_ptr<PlanSpace>> spaces;
  for (const std::vector<int>& kinds : ChoicesOfKinds(KindsOf(problem.cluster).count())) {
    spaces.push_back(MakeSpaceOfKinds(problem, kinds));
  }
  std::string name = spaces[0]->name();
  return JoinSpaces(std::move(spaces), std::move(name), SpaceOverlap::kNone);
}

}  // namespace stagecraft
